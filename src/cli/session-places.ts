import type { Item, Review } from './keys.js';

/** Findings in the order of a review, numbered from 1: alternatives, of which one is taken at most, share a number. */
export function numbersOf(items: readonly Item[]): readonly number[] {
  const groups: Item[][] = [];
  return items.map((item) => {
    const isOne = (group: readonly Item[]) => group.every(({ ref }) => item.rivals.includes(ref));
    const at = item.rivals.length === 0 ? -1 : groups.findIndex(isOne);
    if (at === -1) return groups.push([item]);
    groups[at]?.push(item);
    return at + 1;
  });
}

/** The findings of a review, alternatives together. */
export function placesOf(items: readonly Item[]): readonly (readonly Item[])[] {
  const places: Item[][] = [];
  for (const [at, number] of numbersOf(items).entries()) {
    const item = items[at];
    if (item === undefined) continue;
    const place = places[number - 1];
    if (place === undefined) places[number - 1] = [item];
    else place.push(item);
  }
  return places;
}

/** No to all of its alternatives. */
export function isDeclined(place: readonly Item[], answers: Review['answers']): boolean {
  return place.every(({ ref }) => answers.get(ref)?.kind === 'skip');
}

/** With an answer to each, or one that was taken. */
export function isAnswered(place: readonly Item[], answers: Review['answers']): boolean {
  return place.every(({ ref }) => answers.has(ref));
}
