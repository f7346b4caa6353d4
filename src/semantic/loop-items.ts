import type { PyNode } from '../syntax/node.js';
import type { PyModule } from './module.js';
import { argumentsOf, unparenthesized } from './statements.js';

/** The sequence whose items a target of a loop gets: `a` for `x` of `for i, (x, y) in enumerate(zip(a, b))`. */
export function itemsOf(module: PyModule, target: PyNode, iterable: PyNode): PyNode | undefined {
  const places: number[] = [];
  let at = target;
  for (let holder = at.parent; holder !== undefined && !/^for_/.test(holder.type); holder = at.parent) {
    if (!/pattern|tuple/.test(holder.type)) return undefined;
    places.unshift(holder.named.indexOf(at));
    at = holder;
  }
  return itemsAt(module, iterable, places);
}

function itemsAt(module: PyModule, iterable: PyNode, places: readonly number[]): PyNode | undefined {
  const node = unparenthesized(iterable);
  const callee = node.type === 'call' ? node.function : undefined;
  const isFree = callee?.type === 'identifier' && module.resolve(callee) === undefined;
  const called = isFree ? callee.text : undefined;
  const [place, ...rest] = places;
  if (place === undefined) return called === 'enumerate' || called === 'zip' ? undefined : node;
  const given = argumentsOf(node);
  const items = given[called === 'enumerate' ? 0 : place];
  // `zip(*pairs)`
  if (items === undefined || given.some(({ type }) => type.endsWith('_splat'))) return undefined;
  if (called !== 'zip' && (called !== 'enumerate' || place !== 1)) return undefined;
  return itemsAt(module, items, rest);
}
