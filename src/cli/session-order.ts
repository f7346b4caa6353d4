import { SAFETIES } from '../report/report.js';
import type { Item } from './keys.js';

/** By rank, file and place; alternatives come right after the first of them. */
export function inReviewOrder(items: readonly Item[]): readonly Item[] {
  const sorted = inOrder(items);
  const taken = new Set<Item>();
  const ordered: Item[] = [];
  const byRef = new Map(sorted.map((item) => [item.ref, item]));
  for (const item of sorted) {
    const rivals = inOrder(item.rivals.flatMap((ref) => byRef.get(ref) ?? []));
    for (const each of [item, ...rivals]) {
      if (taken.has(each)) continue;
      taken.add(each);
      ordered.push(each);
    }
  }
  return ordered;
}

function inOrder(items: readonly Item[]): readonly Item[] {
  return [...items].sort(
    (a, b) =>
      a.rank - b.rank ||
      compare(a.path, b.path) ||
      a.at - b.at ||
      SAFETIES.indexOf(a.safety) - SAFETIES.indexOf(b.safety) ||
      compare(a.transform, b.transform),
  );
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
