import type { PyNode } from './node.js';
import type { Outline } from './outline.js';
import type { SyntaxTree } from './parser.js';

/** CPython's own limit; nothing it runs has brackets nested deeper. */
const DEEPEST = 200;

const OPENING = '([{';
const CLOSING = ')]}';

/** Whether brackets nest deeper than Python takes. */
export function isTooDeep(text: string, tree: SyntaxTree, outline: Outline | undefined): boolean {
  if (outline !== undefined) return outline.depth > DEEPEST;
  return apparentDepth(text) > DEEPEST && realDepth(tree.root) > DEEPEST;
}

/** A quick look that also counts brackets in strings and comments. */
function apparentDepth(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (const [bracket] of text.matchAll(/[([{}\])]/g)) {
    depth = OPENING.includes(bracket) ? depth + 1 : Math.max(0, depth - 1);
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}

function realDepth(root: PyNode): number {
  let deepest = 0;
  const pending = [{ node: root, depth: 0 }];
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    deepest = Math.max(deepest, at.depth);
    if (deepest > DEEPEST) return deepest;
    const inside = at.node.children.some((child) => CLOSING.includes(child.type)) ? 1 : 0;
    for (const node of at.node.children) pending.push({ node, depth: at.depth + inside });
  }
  return deepest;
}
