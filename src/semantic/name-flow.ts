import type { PyNode } from '../syntax/node.js';
import type { PyModule } from './module.js';
import { methodName, ownNodes, receiverOf } from './statements.js';

/**
 * Tells the nodes of a function that the value of `origin` may be in: going by names alone, through all that its
 * statements give to names, in whatever order.
 */
export function carriersOf(
  module: PyModule,
  functionNode: PyNode,
  origin: PyNode,
): (node: PyNode) => boolean {
  const names = new Set<string>();
  const carries = (node: PyNode): boolean => {
    if (node.contains(origin)) return true;
    for (const inner of node.walk()) if (inner.type === 'identifier' && names.has(inner.text)) return true;
    return false;
  };
  const moves = module.memo(movesIn, functionNode);
  for (let before = -1; before !== names.size; ) {
    before = names.size;
    for (const { value, target } of moves) {
      if (!carries(value)) continue;
      for (const inner of target.walk()) if (inner.type === 'identifier') names.add(inner.text);
    }
  }
  return carries;
}

function movesIn(_module: PyModule, functionNode: PyNode): readonly Move[] {
  return ownNodes(functionNode).flatMap(moveOf);
}

interface Move {
  readonly value: PyNode;
  readonly target: PyNode;
}

/** A value that a node gives to names: `target = value`, `for target in value`, `target.append(value)`. */
function moveOf(node: PyNode): readonly Move[] {
  const appends = node.type === 'call' && /^(?:append|extend|insert)$/.test(methodName(node) ?? '');
  const value = appends ? node.arguments : node.right;
  const target = appends ? receiverOf(node) : node.left;
  const moves = appends || /assignment$|^for_/.test(node.type);
  return moves && value !== undefined && target !== undefined ? [{ value, target }] : [];
}
