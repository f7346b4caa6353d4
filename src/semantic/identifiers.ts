import type { PyNode } from '../syntax/node.js';
import { isBetween } from '../syntax/within.js';
import type { PyModule } from './module.js';

/**
 * The identifiers in a node that are one of some names, in source order; statements without one are not looked into.
 * `mayEnd`: whether one that ends there is wanted.
 */
export function* identifiersIn(
  { text, glimpse, root }: PyModule,
  node: PyNode,
  names: ReadonlySet<string>,
  mayEnd: (end: number) => boolean = () => true,
): Generator<PyNode> {
  const quiet = glimpse.outline?.quiet ?? [];
  for (const { 0: word, index } of text.slice(node.start, node.end).matchAll(/[\w\u0080-\uffff]+/g)) {
    const at = node.start + index;
    if (!names.has(word) || isBetween(quiet, at) || !mayEnd(at + word.length)) continue;
    const found = root.descendantAt(at, at + word.length);
    if (found.type === 'identifier' && found.text === word) yield found;
  }
}
