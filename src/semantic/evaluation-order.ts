import type { PyNode } from '../syntax/node.js';

const COMPREHENSION = /_comprehension$|^generator_expression$/;

/**
 * Whether a binding in an element happens before another node of it is evaluated: whenever both do (`always`), only in an
 * earlier round of a comprehension (`sometimes`), or never.
 */
export function isBoundBefore(
  binding: PyNode,
  other: PyNode,
  element: PyNode,
): 'always' | 'sometimes' | 'never' {
  return isBefore(binding, other, element, false);
}

function isBefore(
  binding: PyNode,
  other: PyNode,
  element: PyNode,
  isOtherBound: boolean,
): 'always' | 'sometimes' | 'never' {
  const { around, first, second } = commonAncestor(binding, other, element);
  if (around === undefined) return 'never';
  if (first !== undefined) {
    if (second === undefined) return 'always';
    if (rank(around, first, binding, true) < rank(around, second, other, isOtherBound)) return 'always';
  }
  for (let at: PyNode | undefined = around; at !== undefined; at = at.parent) {
    if (COMPREHENSION.test(at.type) && isInRounds(at, binding) && isInRounds(at, other)) return 'sometimes';
    if (at === element) break;
  }
  return 'never';
}

/** The order of two bindings in an element, as a comparison. */
export function compareBindings(binding: PyNode, other: PyNode, element: PyNode): number {
  if (binding === other) return 0;
  return isBefore(binding, other, element, true) === 'always' ? -1 : 1;
}

/** Whether an element may run without a node of it: one in an arm of a conditional, after `and` or `or`, in a comprehension. */
export function mayBeSkipped(node: PyNode, element: PyNode): boolean {
  let child = node;
  while (child !== element && child.parent !== undefined) {
    if (skips(child.parent, child)) return true;
    child = child.parent;
  }
  return false;
}

/** The same, where it is known that another node of the element is evaluated later. */
export function mayBeSkippedBefore(node: PyNode, other: PyNode, element: PyNode): boolean {
  const { first, second } = commonAncestor(node, other, element);
  return first !== undefined && mayBeSkipped(node, second === undefined ? other : first);
}

function skips(around: PyNode, child: PyNode): boolean {
  if (around.type === 'conditional_expression') return around.named[1] !== child;
  if (around.type === 'boolean_operator') return around.right === child;
  // `a < b < c` looks at `c` only where `a < b`.
  if (around.type === 'comparison_operator') return around.named.indexOf(child) > 1;
  if (around.type === 'assert_statement') return around.named[0] !== child;
  // What binds the same name in another alternative does so instead.
  if (around.type === 'union_pattern') return true;
  return COMPREHENSION.test(around.type) && isInRounds(around, child);
}

/** In a comprehension everything but what its first `for` iterates over, which is evaluated once. */
function isInRounds(comprehension: PyNode, node: PyNode): boolean {
  return !comprehension.childOfType('for_in_clause')?.right?.contains(node);
}

/** The innermost node around two, up to an element, and its children that hold them; the second has none where it is that node. */
function commonAncestor(
  node: PyNode,
  other: PyNode,
  element: PyNode,
): { readonly around?: PyNode; readonly first?: PyNode; readonly second?: PyNode } {
  let first = node;
  if (node.contains(other)) return { around: node };
  for (let around = node.parent; around !== undefined; around = around.parent) {
    if (around === other) return { around, first };
    if (around.contains(other)) {
      let second = other;
      while (second.parent !== undefined && second.parent !== around) second = second.parent;
      return { around, first, second };
    }
    if (around === element) break;
    first = around;
  }
  return {};
}

/** The place of a child, which holds a node, in the order in which its parent evaluates or binds what it has. */
function rank(parent: PyNode, child: PyNode, node: PyNode, isBound: boolean): number {
  switch (parent.type) {
    case 'assignment': {
      // Of `a = b[i] = value`, the value comes first, and then the targets from left to right.
      let value = parent.right;
      while (value?.type === 'assignment') value = value.right;
      return value?.contains(node) ? -1 : child.start;
    }
    case 'augmented_assignment':
      return isBound && child === parent.left ? Infinity : child.start;
    case 'named_expression':
    case 'function_definition':
    case 'class_definition':
      // A definition binds its name after its decorators, defaults and bases.
      return child === parent.name ? Infinity : child.start;
    case 'conditional_expression':
      // Of the two arms, only one is evaluated.
      return child === parent.named[1] ? 0 : 1;
    default:
      return COMPREHENSION.test(parent.type) && child === parent.body ? Infinity : child.start;
  }
}
