import type { Decision } from '../engine/outcome.js';
import { plural } from '../report/prose.js';
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

/** No to all of its alternatives, and to what would do the same. */
export function isDeclined(place: readonly Item[], { items, answers }: Review): boolean {
  return (
    place.every(({ ref }) => answers.get(ref)?.kind === 'skip') &&
    !place.some((item) => isDoneByAnother(item, { items, answers }))
  );
}

/** Another fix was taken that does what this one would do. */
export function isDoneByAnother(
  { ref, rivals, covers }: Item,
  { items, answers }: Pick<Review, 'items' | 'answers'>,
): boolean {
  const isTaken = (other: string) => ['apply', 'edited'].includes(answers.get(other)?.kind ?? 'skip');
  return (
    [...rivals, ...covers].some(isTaken) ||
    items.some((item) => item.covers.includes(ref) && isTaken(item.ref))
  );
}

/** With an answer to each, or one that was taken. */
export function isAnswered(place: readonly Item[], answers: Review['answers']): boolean {
  return place.every(({ ref }) => answers.has(ref));
}

/** What is left out where a finding is answered so. */
export function answeredWith(
  { items, answers }: Review,
  { ref, rivals, covers }: Item,
  answer: Decision | undefined,
): readonly string[] {
  if (answer === undefined || answer.kind === 'skip') return [];
  if (answer.kind === 'suppress') return rivals;
  const around = items.filter((item) => item.covers.includes(ref)).map((item) => item.ref);
  return [...rivals, ...[...covers, ...around].filter((each) => answers.get(each)?.kind !== 'suppress')];
}

/** What is no longer asked about, since it is done with these. */
export function coverNote({ items, answers }: Review, taken: readonly Item[]): string {
  const isOpen = ({ ref }: Item) => answers.get(ref)?.kind !== 'skip';
  const inside = items.filter(
    (item) => isOpen(item) && taken.some(({ covers }) => covers.includes(item.ref)),
  );
  const around = items.filter((item) => isOpen(item) && taken.some(({ ref }) => item.covers.includes(ref)));
  const ids = (some: readonly Item[]) => [...new Set(some.map(({ transform }) => transform))].join(', ');
  return [
    inside.length === 0
      ? ''
      : ` It covers ${plural(inside.length, 'finding')} inside it (${ids(inside)}), left out with it.`,
    around.length === 0 ? '' : ` ${ids(around)}, which would cover it, is left out with it.`,
  ].join('');
}
