import type { PyNode } from '../syntax/node.js';

/** What `a = v`, `a = b = v` and `a, b = v, w` set, target by target. */
export interface Assigned {
  readonly unpacks: boolean;
  readonly pairs: readonly { readonly target: string; readonly value: string }[];
}

const UNPACKING = /^(?:pattern_list|tuple_pattern|list_pattern)$/;

export function assignedBy(statement: PyNode): Assigned {
  const targets: PyNode[] = [];
  let value = statement.named[0];
  for (; value?.type === 'assignment'; value = value.right) {
    const left = value.left;
    if (left !== undefined) targets.push(left);
  }
  const [pattern, ...others] = targets;
  // Of `a, b = c = v`, every target gets all of the value.
  const unpacks = pattern !== undefined && others.length === 0 && UNPACKING.test(pattern.type);
  const names = unpacks ? pattern.named : targets;
  const pairs = names.map(({ text }, at) => ({
    target: text,
    value: (unpacks ? value?.named[at] : value)?.text ?? '',
  }));
  return { unpacks, pairs };
}
