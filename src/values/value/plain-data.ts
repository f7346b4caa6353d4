import { attributeValues } from '../../semantic/attributes.js';
import { reachingDefinitions } from '../../semantic/flow.js';
import type { PyModule } from '../../semantic/module.js';
import { unparenthesized } from '../../semantic/statements.js';
import type { PyNode } from '../../syntax/node.js';
import { isPythonNumber } from './python-number.js';

const MAX_DEPTH = 6;

/** Whether a value certainly is a number, a text, a flag or a collection of those: nothing that could be run. */
export function isPlainData(module: PyModule, expression: PyNode, depth = 0): boolean {
  const node = unparenthesized(expression);
  const of = (inner: PyNode | undefined): boolean =>
    inner !== undefined && depth < MAX_DEPTH && isPlainData(module, inner, depth + 1);
  switch (node.type) {
    case 'string':
    case 'concatenated_string':
    case 'integer':
    case 'float':
    case 'true':
    case 'false':
    case 'none':
    case 'comparison_operator':
    case 'not_operator':
      return true;
    case 'unary_operator':
      return of(node.argument);
    case 'binary_operator':
    case 'boolean_operator':
      return of(node.left) && of(node.right);
    case 'list':
    case 'tuple':
    case 'conditional_expression':
      return node.named.every(of);
    case 'identifier':
      return isNamedData(module, node, of);
    case 'attribute': {
      const values = attributeValues(module, node) ?? [];
      return values.length > 0 && values.every(of);
    }
    default:
      return isPythonNumber(module, node) === 'yes';
  }
}

function isNamedData(module: PyModule, name: PyNode, of: (value: PyNode) => boolean): boolean {
  const found = reachingDefinitions(module, name) ?? [];
  return (
    found.length > 0 &&
    found.every((each) => {
      if (each.kind === 'value') return of(each.value);
      return each.kind === 'parameter' && isDeclaredPlain(each.node);
    })
  );
}

const PLAIN = /^(?:Optional\[)?(?:bool|float|int|str)\]?(?:\s*\|\s*None)?$/;

/** By what it is declared to be. */
function isDeclaredPlain(name: PyNode): boolean {
  const parameter = name.parent;
  switch (parameter?.type) {
    case 'typed_parameter':
    case 'typed_default_parameter':
      return PLAIN.test(parameter.field('type')?.text ?? '');
    default:
      return false;
  }
}
