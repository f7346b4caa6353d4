import type { PyNode } from '../syntax/node.js';
import type { PyModule } from './module.js';

type Fact<V> = (module: PyModule, node: PyNode, depth?: number) => V;

/**
 * A fact that is followed from node to node, so many steps deep: computed once for each node and depth. Ways that part and
 * meet again, as those of a value that is computed from itself in several places, would take exponential time otherwise.
 */
export function once<V>(compute: (module: PyModule, node: PyNode, depth: number) => V): Fact<V> {
  const nothing = (): Map<PyNode, V>[] => [];
  return (module, node, depth = 0) => {
    const byDepth = module.memo(nothing, module);
    byDepth[depth] ??= new Map();
    const known = byDepth[depth];
    if (known.has(node)) return known.get(node) as V;
    const value = compute(module, node, depth);
    known.set(node, value);
    return value;
  };
}
