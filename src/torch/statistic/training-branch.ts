import { classAround } from '../../semantic/definitions.js';
import type { PyModule } from '../../semantic/module.js';
import { areAlternatives } from '../../semantic/paths.js';
import { alwaysReturns } from '../../semantic/returns.js';
import { unparenthesized } from '../../semantic/statements.js';
import { onlyValue } from '../../semantic/variables.js';
import type { PyNode } from '../../syntax/node.js';

type Mode = 'training' | 'evaluation';

/** A place is only reached in evaluation mode, and never in a call that comes by any of the others. */
export function isEvaluationWithout(module: PyModule, place: PyNode, others: readonly PyNode[]): boolean {
  return (
    modeAt(module, place) === 'evaluation' &&
    others.every((other) => modeAt(module, other) === 'training' || areAlternatives(other, place))
  );
}

/** The mode in which alone a place of a method is reached; undefined where the code does not say. */
function modeAt(module: PyModule, place: PyNode): Mode | undefined {
  const self = classAround(place)?.self;
  let node = place;
  for (let parent = node.parent; parent !== undefined && self !== undefined; parent = node.parent) {
    if (parent.type === 'function_definition') return undefined;
    const found =
      parent.type === 'if_statement'
        ? modeInBranch(module, parent, node, self)
        : parent.type === 'block'
          ? modeAfterExits(module, parent, node, self)
          : undefined;
    if (found !== undefined) return found;
    node = parent;
  }
  return undefined;
}

/** In a branch of `if self.training: … else: …`. */
function modeInBranch(module: PyModule, choice: PyNode, branch: PyNode, self: string): Mode | undefined {
  const condition = choice.condition;
  if (condition === undefined || branch === condition) return undefined;
  return implied(module, condition, choice.consequence === branch, self, 0);
}

/** Behind `if not self.training: return …`. */
function modeAfterExits(module: PyModule, block: PyNode, statement: PyNode, self: string): Mode | undefined {
  for (const above of block.named) {
    if (above === statement) return undefined;
    const condition = above.type === 'if_statement' ? above.condition : undefined;
    const then = above.consequence;
    if (condition === undefined || then === undefined || !alwaysReturns(then)) continue;
    const isAlone = above.named.every(
      (part) => part === condition || part === then || part.type === 'comment',
    );
    const mode = isAlone ? implied(module, condition, false, self, 0) : undefined;
    if (mode !== undefined) return mode;
  }
  return undefined;
}

const MAX_DEPTH = 6;

/** The mode that follows from a condition that holds, or does not. */
function implied(
  module: PyModule,
  condition: PyNode,
  holds: boolean,
  self: string,
  depth: number,
): Mode | undefined {
  const node = unparenthesized(condition);
  const of = (inner: PyNode | undefined, isHeld: boolean): Mode | undefined =>
    inner === undefined || depth > MAX_DEPTH ? undefined : implied(module, inner, isHeld, self, depth + 1);
  if (node.text === `${self}.training`) return holds ? 'training' : 'evaluation';
  if (node.type === 'not_operator') return of(node.argument, !holds);
  if (node.type === 'boolean_operator') {
    // Both sides of an `and` that holds do, and neither of an `or` that does not.
    const isKnown = (node.operator?.text === 'and') === holds;
    return isKnown ? (of(node.left, holds) ?? of(node.right, holds)) : undefined;
  }
  return of(onlyValue(module, node), holds);
}
