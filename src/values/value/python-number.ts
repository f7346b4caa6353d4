import type { Answer } from '../../semantic/answer.js';
import { valuesWritten } from '../../semantic/attribute-uses.js';
import { attributeOfSelf } from '../../semantic/definitions.js';
import { reachingDefinitions } from '../../semantic/flow.js';
import type { PyModule } from '../../semantic/module.js';
import { once } from '../../semantic/once.js';
import { argumentsOf, unparenthesized } from '../../semantic/statements.js';
import { isUnbound } from '../../semantic/variables.js';
import type { PyNode } from '../../syntax/node.js';
import { registrationOf } from '../../torch/module/modules.js';
import { kindOf } from './tensor.js';

const MAX_DEPTH = 8;

/** Whether a value is a Python number and no tensor. A parameter whose default is a number counts as one. */
export const isPythonNumber = once(pythonNumber);

function pythonNumber(module: PyModule, expression: PyNode, depth: number): Answer {
  const node = unparenthesized(expression);
  const kind = kindOf(module, node);
  if (kind === 'number') return 'yes';
  if (kind === 'tensor' || kind === 'scalar-tensor') return 'no';
  if (depth > MAX_DEPTH) return 'unknown';
  const of = (inner: PyNode | undefined): Answer =>
    inner === undefined ? 'unknown' : isPythonNumber(module, inner, depth + 1);
  if (node.type === 'binary_operator') return agreed([of(node.left), of(node.right)]);
  if (node.type === 'unary_operator') return of(node.argument);
  if (node.type === 'call') {
    const isNumeric = /^(?:min|max|pow)$/.test(node.function?.text ?? '') && isUnbound(module, node.function);
    return isNumeric ? agreed(argumentsOf(node).map(of)) : 'unknown';
  }
  if (node.type === 'identifier') {
    const definitions = reachingDefinitions(module, node) ?? [];
    return agreed(
      definitions.map((found) => {
        if (found.kind === 'value' || found.kind === 'update') return of(found.value);
        return found.kind === 'parameter' ? of(found.node.parent?.value) : 'unknown';
      }),
    );
  }
  const own = attributeOfSelf(node);
  if (own === undefined) return 'unknown';
  if (['buffer', 'parameter'].includes(registrationOf(module, own.classNode, own.name))) return 'no';
  return agreed(valuesWritten(module, own.classNode, own.name).map(of));
}

/** `no` as soon as one may be a tensor by proof; `yes` only when there is a value and all are numbers. */
function agreed(answers: readonly Answer[]): Answer {
  if (answers.includes('no')) return 'no';
  return answers.length > 0 && answers.every((answer) => answer === 'yes') ? 'yes' : 'unknown';
}
