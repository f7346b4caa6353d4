import { type Gate, placeOf } from '../../semantic/gate.js';
import type { PyModule } from '../../semantic/module.js';
import { ask } from '../../semantic/question.js';
import { usesOfStore } from '../../semantic/uses-elsewhere.js';
import type { PyNode } from '../../syntax/node.js';
import { usesOf } from '../../values/index.js';
import { mayDifferentiate } from '../grad/callers.js';
import { ONLY_READ } from '../questions.js';

/**
 * That no other file of the project differentiates what a store holds: an attribute of a class of this file, or a variable
 * of the module. `needsGraph` tells more uses that need the graph.
 */
export function storeGates(
  module: PyModule,
  store: PyNode,
  needsGraph: (use: PyNode) => boolean = () => false,
): readonly Gate[] {
  const { uses, unread } = usesOfStore(module, store, { may: mayDifferentiate, byName: true });
  const gates = uses.flatMap(({ module: there, node, isCertain }): readonly Gate[] => {
    const fate = usesOf(there, node).find(({ kind }) => kind === 'differentiated')?.node;
    const used = fate ?? (needsGraph(node) ? node : undefined);
    if (used === undefined) return [];
    const place = placeOf(there, used);
    const no = `${place} differentiates what \`${node.text}\` holds`;
    const unknown = ask(
      'another-store',
    )`Is the \`${node.text}\` that ${place} differentiates another one than this?`;
    return [{ answer: isCertain ? 'no' : 'unknown', otherwise: { no, unknown } }];
  });
  return unread === undefined
    ? gates
    : [
        ...gates,
        {
          answer: 'unknown',
          otherwise: ask('only-read')`Is what \`${store.text}\` holds ${ONLY_READ} in ${unread}?`,
        },
      ];
}
