import type { Decision, SourceFile } from '../engine/outcome.js';
import { hunksBetween } from '../report/diff.js';
import { plural } from '../report/prose.js';
import { Lines } from '../text/lines.js';
import { type Item, type Review, toOpen } from './keys.js';
import type { Change, ReviewedFiles } from './session-files.js';
import { inReviewOrder } from './session-order.js';
import { placesOf } from './session-places.js';

/** A finding that is no longer what was shown. */
export interface Lapsed {
  readonly item: Item;
  /** What was said to it. */
  readonly answer: Decision | undefined;
  /** The person's own text for it. */
  readonly text: string | undefined;
  /** What is in its place now, under another name. */
  readonly now: Item | undefined;
}

export interface Rescanned {
  readonly review: Review;
  readonly lapsed: readonly Lapsed[];
}

/** The file changed on disk and was scanned again. An answer holds where what was shown is still the same. */
export function rescanned(
  review: Review,
  { path, items: found, before }: Change,
  now?: SourceFile,
): Rescanned {
  const from = review.items.findIndex((item) => item.path === path);
  const items = inReviewOrder([...review.items.filter((item) => item.path !== path), ...found]);
  const known = new Set(items.map(({ ref }) => ref));
  const held = <T>(all: ReadonlyMap<string, T>) => new Map([...all].filter(([ref]) => known.has(ref)));
  const lapsed = lapsedIn(review, path, found, before, now);
  const renamed = new Map(lapsed.flatMap(({ item, now: next }) => (next ? [[item.ref, next.ref]] : [])));
  const steps = review.steps.flatMap((step) => {
    const { cursor, before: past } = step;
    const left = held(past);
    if (left.size === past.size && !renamed.has(cursor)) return [step];
    const count = Math.min(step.count, left.size);
    return left.size === 0 ? [] : [{ cursor: renamed.get(cursor) ?? cursor, before: left, count }];
  });
  const ref = review.items[review.cursor]?.ref ?? '';
  const here = items.findIndex((item) => item.ref === (renamed.get(ref) ?? ref));
  const moved = {
    ...review,
    ...{ items, answers: held(review.answers), edits: held(review.edits), steps },
    cursor: here === -1 ? from : here,
  };
  if (review.mode === 'quit' || review.mode === 'interrupted') return { review: moved, lapsed };
  const isHere = here !== -1 && review.mode !== 'finished';
  return { review: isHere ? { ...moved, mode: 'asking' } : toOpen(moved, moved.cursor), lapsed };
}

/** How many findings of the earlier review are gone, alternatives counted once. */
export function goneIn({ items }: Review, { lapsed }: Rescanned): number {
  const gone = new Set(lapsed.filter(({ now }) => now === undefined).map(({ item }) => item));
  return placesOf(items).filter((place) => place.every((item) => gone.has(item))).length;
}

function lapsedIn(
  review: Review,
  path: string,
  found: readonly Item[],
  before: SourceFile,
  now: SourceFile | undefined,
): readonly Lapsed[] {
  const old = review.items.filter((item) => item.path === path);
  const stays = new Set(old.map(({ ref }) => ref));
  const fresh = found.filter(({ ref }) => !stays.has(ref));
  const held = new Set(found.map(({ ref }) => ref));
  const next = now && placeAfter(before.source.text, now.source.text);
  return old
    .filter(({ ref }) => !held.has(ref))
    .map((item) => {
      const answer = review.answers.get(item.ref);
      const ofText = answer?.kind === 'edited' ? answer.text : undefined;
      const isThere = next?.(item.at);
      return {
        ...{ item, answer, text: review.edits.get(item.ref) ?? ofText },
        now: fresh.find(
          ({ transform, key, at }) =>
            transform === item.transform && (key === item.key || isThere?.(at) === true),
        ),
      };
    });
}

/** Where what began at an offset of one text may begin in the next: in the lines that its line has become. */
function placeAfter(before: string, after: string): (offset: number) => (offset: number) => boolean {
  const [old, now] = [new Lines(before), new Lines(after)];
  const hunks = hunksBetween(before, after, 0);
  return (offset) => {
    const line = old.lineAt(offset);
    let shift = 0;
    for (const { oldStart, oldLines, newStart, newLines } of hunks) {
      // Without a line on its side, a hunk counts from the line before.
      const first = oldLines === 0 ? oldStart + 1 : oldStart;
      if (first > line) break;
      if (line < first + oldLines)
        return (other) => now.lineAt(other) >= newStart && now.lineAt(other) < newStart + newLines;
      shift += newLines - oldLines;
    }
    return (other) => now.lineAt(other) === line + shift;
  };
}

const WORDS: Readonly<Record<Decision['kind'], string>> = {
  apply: 'yes',
  skip: 'no',
  suppress: 'suppression',
  edited: 'replacement',
};
const MOST_NAMED = 4;

/** What a person is told about a file that changed: which answers no longer hold, by name, and what is asked now. */
export function changeNote(
  { path, lost, items }: Change,
  { review: next, lapsed }: Rescanned,
  before: Review,
  files: ReviewedFiles,
): string {
  const old = placesOf(before.items.filter((item) => item.path === path)).length;
  const isOver = next.mode === 'quit' || next.mode === 'interrupted';
  const said = lapsed.filter(({ answer, text }) => answer !== undefined || text !== undefined);
  const held = items.filter(({ ref }) => next.answers.has(ref)).length;
  const [was, is] = [placesOf(before.items).length, placesOf(next.items).length];
  const drafts = lapsed.filter(({ now, text }) => now !== undefined && text !== undefined).length;
  const change =
    lost === undefined
      ? `${path} changed on disk${said.length === 0 ? ' and was scanned again' : ''}`
      : `${path} changed on disk and its ${plural(old, 'finding')} left the review: ${lost}`;
  const others = said.length > 0 ? 'other answer' : 'answer';
  const clauses = [
    change,
    ...(said.length > 0 ? [lapsedWords(said, files, isOver)] : []),
    ...(held > 0
      ? [held === 1 ? `your ${others} there still holds` : `your ${plural(held, others)} there still hold`]
      : []),
  ];
  const sentences = [
    `${clauses.join('; ')}.`,
    ...(drafts > 0
      ? [`Your text is kept as a draft: e opens it${isOver ? ' after --resume --allow-dirty' : ''}.`]
      : []),
    ...(lost === undefined && items.length === held && !isOver ? ['Nothing is left to ask there.'] : []),
    ...(was !== is && !isOver ? [`The list is numbered anew: ${plural(is, 'finding')}, not ${was}.`] : []),
  ];
  return sentences.join(' ');
}

/** `your yes at :80 and :91 no longer applies: it is asked again`. */
function lapsedWords(lapsed: readonly Lapsed[], files: ReviewedFiles, isOver: boolean): string {
  const said = new Map<string, string[]>();
  for (const { item, answer } of lapsed.slice(0, MOST_NAMED)) {
    const word = answer === undefined ? 'replacement' : WORDS[answer.kind];
    const { line, cell } = files.finding(item).at;
    const place = cell === undefined ? `:${line}` : `cell ${cell}, line ${line}`;
    said.set(word, [...(said.get(word) ?? []), place]);
  }
  const named = [...said].map(([word, places]) => `your ${word} at ${places.join(' and ')}`);
  if (lapsed.length > MOST_NAMED) named.push(plural(lapsed.length - MOST_NAMED, 'more answer'));
  const isOne = lapsed.length === 1;
  const again = lapsed.filter(({ now }) => now !== undefined).length;
  const what = isOne
    ? 'it is'
    : again === lapsed.length
      ? 'they are'
      : `${again} of them ${again === 1 ? 'is' : 'are'}`;
  const then = again === 0 ? 'nothing is found there now' : `${what} ${isOver ? 'left open' : 'asked again'}`;
  return `${named.join(', ')} no longer ${isOne ? 'applies' : 'apply'}: ${then}`;
}
