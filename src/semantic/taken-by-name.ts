import type { PyNode } from '../syntax/node.js';

/** A call that is given one setting of a dict under its own name: `f(x=CONFIG.get("x", 1))`. */
export interface Taker {
  readonly call: PyNode;
  /** What reads the setting: `CONFIG.get("x", 1)`, `CONFIG["x"]`. */
  readonly read: PyNode;
  /** What decides whether it is taken: `args.x` of `args.x or CONFIG["x"]`, the question of a conditional expression. */
  readonly unless: PyNode | undefined;
}

/** The call that takes what this expression reads, by a keyword of this name. */
export function takerOf(read: PyNode, name: string): Taker | undefined {
  let unless: PyNode | undefined;
  for (let node = read; ; ) {
    const { parent } = node;
    if (parent === undefined) return undefined;
    if (parent.type === 'keyword_argument') {
      const call = parent.parent?.parent;
      if (parent.value !== node || parent.name?.text !== name) return undefined;
      return call?.type === 'call' ? { call, read, unless } : undefined;
    }
    if (parent.type !== 'parenthesized_expression') {
      unless = deciderOf(parent, node);
      if (unless === undefined) return undefined;
    }
    node = parent;
  }
}

/** What stands before `or`, or the question of `value if … else …`. */
function deciderOf(parent: PyNode, node: PyNode): PyNode | undefined {
  const [first, question] = parent.named;
  if (parent.type === 'boolean_operator') return parent.operator?.type === 'or' ? first : undefined;
  return parent.type === 'conditional_expression' && question !== node ? question : undefined;
}
