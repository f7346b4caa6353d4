import type { PyNode } from '../syntax/node.js';
import { classAround } from './definitions.js';
import type { PyModule } from './module.js';
import { alwaysReturns } from './returns.js';
import { unparenthesized } from './statements.js';
import { onlyValue } from './variables.js';

/** What `self.flag` is, true or false, wherever a place of a method is reached; undefined where the code does not say. */
export function flagAt(module: PyModule, place: PyNode, flag: string): boolean | undefined {
  const self = classAround(place)?.self;
  const asked = `${self}.${flag}`;
  let node = place;
  for (let parent = node.parent; parent !== undefined && self !== undefined; parent = node.parent) {
    if (parent.type === 'function_definition') return undefined;
    const found =
      parent.type === 'if_statement'
        ? flagInBranch(module, parent, node, asked)
        : parent.type === 'block'
          ? flagAfterExits(module, parent, node, asked)
          : undefined;
    if (found !== undefined) return found;
    node = parent;
  }
  return undefined;
}

/** In a branch of `if self.flag: … else: …`. */
function flagInBranch(module: PyModule, choice: PyNode, branch: PyNode, asked: string): boolean | undefined {
  const condition = choice.condition;
  if (condition === undefined || branch === condition) return undefined;
  return implied(module, condition, choice.consequence === branch, asked, 0);
}

/** Behind `if not self.flag: return …`. */
function flagAfterExits(
  module: PyModule,
  block: PyNode,
  statement: PyNode,
  asked: string,
): boolean | undefined {
  for (const above of block.named) {
    if (above === statement) return undefined;
    const condition = above.type === 'if_statement' ? above.condition : undefined;
    const then = above.consequence;
    if (condition === undefined || then === undefined || !alwaysReturns(then)) continue;
    const isAlone = above.named.every(
      (part) => part === condition || part === then || part.type === 'comment',
    );
    const found = isAlone ? implied(module, condition, false, asked, 0) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

const MAX_DEPTH = 6;

/** What follows for the flag from a condition that holds, or does not. */
function implied(
  module: PyModule,
  condition: PyNode,
  holds: boolean,
  asked: string,
  depth: number,
): boolean | undefined {
  const node = unparenthesized(condition);
  const of = (inner: PyNode | undefined, isHeld: boolean): boolean | undefined =>
    inner === undefined || depth > MAX_DEPTH ? undefined : implied(module, inner, isHeld, asked, depth + 1);
  if (node.text === asked) return holds;
  if (node.type === 'not_operator') return of(node.argument, !holds);
  if (node.type === 'boolean_operator') {
    // Both sides of an `and` that holds do, and neither of an `or` that does not.
    const isKnown = (node.operator?.text === 'and') === holds;
    return isKnown ? (of(node.left, holds) ?? of(node.right, holds)) : undefined;
  }
  return of(onlyValue(module, node), holds);
}
