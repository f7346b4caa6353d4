import type { PyModule } from '../semantic/module.js';
import type { PyNode } from '../syntax/node.js';
import { type Fate, RecordTrace } from './uses/record-fate.js';

/**
 * What becomes of a value, wherever it goes: through arithmetic, names, containers, loops, attributes and other files. What
 * only becomes a number, a text or a truth value has no use.
 * `value`: of what stands at these places. `variable`: of all that it ever holds. `target`: of what is assigned to it there.
 */
export function usesOf(
  module: PyModule,
  nodes: PyNode | readonly PyNode[],
  of: 'value' | 'variable' | 'target' = 'value',
): readonly Fate[] {
  const trace = new RecordTrace(module);
  for (const node of [nodes].flat()) {
    if (of === 'variable') trace.variable(node);
    else if (of === 'target') trace.store(node);
    else trace.follow(node);
  }
  return trace.fates;
}
