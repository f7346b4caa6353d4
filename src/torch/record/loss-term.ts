import { ofTensor } from '../../library/library.js';
import type { Answer } from '../../semantic/answer.js';
import { calledDefinition } from '../../semantic/definitions.js';
import { reachingDefinitions } from '../../semantic/flow.js';
import { qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { roleOf } from '../../semantic/names.js';
import { argumentsOf, methodName, receiverOf, unparenthesized } from '../../semantic/statements.js';
import type { PyNode } from '../../syntax/node.js';
import { valueOf } from '../../values/index.js';
import { isTorchCode } from '../framework.js';

/** A value that is added to a total: whether it is a 0-dim tensor, and of floating point. */
export interface LossTerm {
  readonly scalar: Answer;
  readonly floating: Answer;
}

/** Definitions are followed this far in search of a clue. */
const MAX_HOPS = 4;

/** Undefined when nothing says that the value is a tensor at all: most totals are of Python floats. */
export function lossTerm(module: PyModule, value: PyNode): LossTerm | undefined {
  const kind = valueOf(module, value).kind;
  if (kind === 'number') return undefined;
  if (kind !== 'unknown')
    return { scalar: valueOf(module, value).isScalar, floating: valueOf(module, value).isFloating };
  if (isTorchCode(module) === 'no') return undefined;
  switch (clue(module, value, 0)) {
    case 'tensor':
      return {
        scalar: 'unknown',
        floating: countsTruths(module, value) ? 'no' : valueOf(module, value).isFloating,
      };
    case 'mixed':
      return { scalar: 'no', floating: 'unknown' };
    default:
      return undefined;
  }
}

/** `(a == b).sum()` is an integer, of whatever array it is. */
function countsTruths(module: PyModule, value: PyNode): boolean {
  const node = unparenthesized(value);
  const receiver = node.type === 'call' ? receiverOf(node) : undefined;
  const reduction = ofTensor(methodName(node) ?? '');
  return (
    receiver !== undefined &&
    reduction?.shape === 'one' &&
    reduction.dtype === 'same' &&
    argumentsOf(node).length === 0 &&
    valueOf(module, receiver).isFloating === 'no'
  );
}

/** `mixed`: a tensor on one path, a Python number on another. */
type Clue = 'tensor' | 'mixed' | 'none';

const OPAQUE_LOSS = /(?:^|_)crit(?:erion|eria)?(?:_\w+)?$|(?:^|_)loss_?(?:fn|func|function)$/i;

function clue(module: PyModule, value: PyNode, hops: number): Clue {
  const node = unparenthesized(value);
  switch (node.type) {
    case 'unary_operator':
      return operandClue(module, [node.argument], hops);
    case 'binary_operator':
      return operandClue(module, [node.left, node.right], hops);
    case 'conditional_expression':
      return pathClue(module, [node.named[0], node.named[2]], hops);
    case 'attribute':
      return node.attribute?.text === 'loss' ? 'tensor' : 'none';
    case 'call':
      return callClue(module, node, hops);
    case 'identifier': {
      if (hops >= MAX_HOPS) return 'none';
      const definitions = reachingDefinitions(module, node) ?? [];
      const values = definitions.flatMap((found) => (found.kind === 'value' ? [found.value] : []));
      return values.length === 0 ? 'none' : pathClue(module, values, hops + 1);
    }
    default:
      return 'none';
  }
}

function callClue(module: PyModule, call: PyNode, hops: number): Clue {
  const method = methodName(call);
  const receiver = receiverOf(call);
  if (method !== undefined && receiver !== undefined) {
    const known = ofTensor(method);
    const reduces = known?.shape === 'one' && known.dtype !== 'whole';
    if (reduces && argumentsOf(call).length === 0) return isForeign(module, receiver) ? 'none' : 'tensor';
    if (known?.shape === 'same' || known?.shape === 'fewer') return clue(module, receiver, hops);
  }
  // A helper of this file whose returns prove nothing may as well give a float.
  if (calledDefinition(module, call) !== undefined) return 'none';
  const callee = call.function;
  const name = callee?.type === 'attribute' ? callee.attribute?.text : callee?.text;
  return name !== undefined && OPAQUE_LOSS.test(name) ? 'tensor' : 'none';
}

/** Arrays and frames reduce like tensors. */
function isForeign(module: PyModule, value: PyNode): boolean {
  for (const node of value.walk()) {
    if (node.type !== 'identifier') continue;
    if (node.text === 'numpy' || node.text === 'values') return true;
    const read = roleOf(node) === 'read';
    if (read && /^(?:numpy|pandas|jax|tensorflow|scipy)\b/.test(qualifiedName(module, node) ?? ''))
      return true;
    const definitions = read ? (reachingDefinitions(module, node) ?? []) : [];
    if (
      definitions.some(
        (found) => found.kind === 'value' && /\b(?:np|numpy|pd|pandas|jnp|tf)\./.test(found.value.text),
      )
    )
      return true;
  }
  return false;
}

function operandClue(module: PyModule, operands: readonly (PyNode | undefined)[], hops: number): Clue {
  const clues = operands.map((operand) => (operand === undefined ? 'none' : clue(module, operand, hops)));
  return clues.includes('mixed') ? 'mixed' : clues.includes('tensor') ? 'tensor' : 'none';
}

function pathClue(module: PyModule, values: readonly (PyNode | undefined)[], hops: number): Clue {
  const clues = values.map((value): Clue | 'number' => {
    if (value === undefined) return 'none';
    const kind = valueOf(module, value).kind;
    if (kind === 'number') return 'number';
    return kind === 'unknown' ? clue(module, value, hops) : 'tensor';
  });
  if (clues.includes('mixed')) return 'mixed';
  if (!clues.includes('tensor')) return 'none';
  return clues.includes('number') ? 'mixed' : 'tensor';
}
