import type { PyModule } from '../../src/semantic/module.js';
import type { PyNode } from '../../src/syntax/node.js';
import { isPythonNumber } from '../../src/values/value/python-number.js';
import { readsOf, type Stray } from './loaded-use.js';
import { isSavedPlain } from './saved-entry.js';

/**
 * Whether an entry of a checkpoint is a number, because of what is done with it; or holds no tensor, because nothing that the project saves
 * by its name does: that is the same wherever the rest is.
 */
export function kindOfEntry(
  module: PyModule,
  value: PyNode,
  name: string,
): 'plain' | 'number' | 'likely' | undefined {
  if (isSavedPlain(module, name)) return 'plain';
  return isCounted(module, value, new Set()) ? 'number' : numberByName(name);
}

/** A name under which a number is likely: then that is the question, and proves nothing. */
export function numberByName(name: string): 'likely' | undefined {
  return COUNTS.test(name) ? 'likely' : undefined;
}

export function unprovenNumber(node: PyNode): Stray {
  return { node, does: 'counts something', answer: 'unknown', matter: 'number' };
}

const COUNTS =
  /^(?:(?:start|global|train|last|current|num|n|total|model|next)_)?(?:epochs?|steps?|iters?|iterations?|seed)$/;

/** `range(start, end)` takes no tensor with more than one number. */
function isCounted(module: PyModule, value: PyNode, seen: Set<PyNode>): boolean {
  if (seen.has(value)) return false;
  seen.add(value);
  let part = value;
  while (part.parent?.type === 'binary_operator' || part.parent?.type === 'parenthesized_expression')
    part = part.parent;
  const { parent } = part;
  if (parent?.type === 'argument_list') return isBuiltin(module, parent.parent, 'range');
  const target = parent?.type === 'assignment' && parent.right === part ? parent.left : undefined;
  if (target?.type !== 'identifier') return false;
  return readsOf(module, target).some((read) => isCounted(module, read, seen));
}

function isBuiltin(module: PyModule, call: PyNode | undefined, name: string): boolean {
  const callee = call?.type === 'call' ? call.function : undefined;
  return callee?.text === name && module.resolve(callee) === undefined;
}

/** Whether an operation has only numbers beside a value: then the result is where the value is. */
export function isWithNumber(module: PyModule, operation: PyNode, value: PyNode): boolean {
  return operation.named.every((side) => side === value || isPythonNumber(module, side) === 'yes');
}
