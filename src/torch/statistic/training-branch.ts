import { classAround } from '../../semantic/definitions.js';
import { unparenthesized } from '../../semantic/statements.js';
import type { PyNode } from '../../syntax/node.js';

/** Whether a place of a method is only reached in training mode, or only in evaluation mode; undefined where the code does not say. */
export function modeAt(place: PyNode): 'training' | 'evaluation' | undefined {
  const self = classAround(place)?.self;
  let node = place;
  for (let parent = node.parent; parent !== undefined && self !== undefined; parent = node.parent) {
    if (parent.type === 'function_definition') return undefined;
    const found =
      parent.type === 'if_statement'
        ? modeInBranch(parent, node, self)
        : parent.type === 'block'
          ? modeAfterExits(parent, node, self)
          : undefined;
    if (found !== undefined) return found;
    node = parent;
  }
  return undefined;
}

/** In a branch of `if self.training: … else: …`. */
function modeInBranch(choice: PyNode, branch: PyNode, self: string): 'training' | 'evaluation' | undefined {
  const condition = choice.field('condition');
  if (condition === undefined || branch === condition) return undefined;
  const isThen = choice.field('consequence') === branch;
  const mode = asks(condition, self);
  if (mode === undefined) return isThen ? within(condition, self) : undefined;
  return isThen ? mode : opposite(mode);
}

/** Behind `if not self.training: return …`. */
function modeAfterExits(
  block: PyNode,
  statement: PyNode,
  self: string,
): 'training' | 'evaluation' | undefined {
  for (const above of block.named) {
    if (above === statement) return undefined;
    const condition = above.type === 'if_statement' ? above.field('condition') : undefined;
    const then = above.field('consequence');
    const mode = condition && asks(condition, self);
    const isAlone = above.named.every(
      (part) => part === condition || part === then || part.type === 'comment',
    );
    if (mode !== undefined && isAlone && leaves(then)) return opposite(mode);
  }
  return undefined;
}

function leaves(block: PyNode | undefined): boolean {
  const last = block?.named.filter(({ type }) => type !== 'comment').at(-1);
  return last?.type === 'return_statement' || last?.type === 'raise_statement';
}

function opposite(mode: 'training' | 'evaluation'): 'training' | 'evaluation' {
  return mode === 'training' ? 'evaluation' : 'training';
}

/** The mode in which a condition holds, where it asks for nothing else. */
function asks(condition: PyNode, self: string): 'training' | 'evaluation' | undefined {
  const node = unparenthesized(condition);
  if (node.type === 'attribute' && node.text === `${self}.training`) return 'training';
  const inner = node.type === 'not_operator' ? node.field('argument') : undefined;
  const mode = inner && asks(inner, self);
  return mode && opposite(mode);
}

/** The mode in which alone a condition can hold: one of several that must. */
function within(condition: PyNode, self: string): 'training' | 'evaluation' | undefined {
  const node = unparenthesized(condition);
  if (node.type !== 'boolean_operator' || node.field('operator')?.text !== 'and') return undefined;
  for (const side of [node.field('left'), node.field('right')]) {
    const mode = side && (asks(side, self) ?? within(side, self));
    if (mode !== undefined) return mode;
  }
  return undefined;
}
