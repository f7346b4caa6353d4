import type { PyNode } from '../syntax/node.js';
import { roleOf } from './names.js';

const TARGETS: ReadonlySet<string> = new Set([
  'as_pattern_target',
  'delete_statement',
  'list_pattern',
  'pattern_list',
  'tuple_pattern',
]);
const LOOKS: ReadonlySet<string> = new Set([
  'boolean_operator',
  'comparison_operator',
  'dictionary_splat',
  'if_statement',
  'not_operator',
]);

/**
 * Whether a use of a variable that holds a mapping leaves the mapping as it is: `c["x"]` that nobody assigns, `c.get("x")`,
 * `f(**c)`, `print(c)`. Given to a function or another name, it may be changed there; `known` are names that are looked at.
 */
export function isLookedAt(use: PyNode, known: ReadonlySet<PyNode> = new Set()): boolean {
  if (roleOf(use) !== 'read') return false;
  let node = use;
  while (node.parent?.type === 'subscript' && node.parent.value === node) node = node.parent;
  const place = node.parent;
  if (place === undefined || TARGETS.has(place.type) || place.left === node) return false;
  if (place.type === 'attribute')
    return ['get', 'items', 'keys', 'values'].includes(place.attribute?.text ?? '');
  if (node !== use || LOOKS.has(place.type)) return true;
  if (place.type === 'argument_list') return place.parent?.function?.text === 'print';
  const target = place.type === 'assignment' ? place.left : undefined;
  return target !== undefined && known.has(target);
}
