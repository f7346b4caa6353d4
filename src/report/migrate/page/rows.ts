import { type OpenString, type Token, tokensOf } from '../../python-tokens.js';
import type { OfferedHunk } from '../offer.js';

/** From and to, in characters. */
export type Stretch = readonly [from: number, to: number];

/** A line on one side of a diff. */
export interface DiffLine {
  readonly number: number;
  readonly text: string;
  readonly tokens: readonly Token[];
  /** What differs from the line on the other side. */
  readonly changed: readonly Stretch[];
}

/** Two lines side by side: the same, or what became of the one. */
export interface DiffRow {
  readonly isChange: boolean;
  readonly old?: DiffLine;
  readonly new?: DiffLine;
}

/** Lines less alike than this are not the same line, changed. */
const ALIKE = 0.45;
/** Comparisons that the best pairing may cost. */
const MOST_PAIRS = 10_000;
const MOST_WORDS = 60_000;

export function rowsOf(hunk: OfferedHunk, isPython: boolean): readonly DiffRow[] {
  const old = linesOf(hunk, '-', hunk.old, isPython);
  const now = linesOf(hunk, '+', hunk.new, isPython);
  const rows: DiffRow[] = [];
  let oldAt = 0;
  let newAt = 0;
  for (let at = 0; at < hunk.lines.length; ) {
    if (hunk.lines[at]?.[0] === ' ') {
      rows.push(rowOf(false, old[oldAt++], now[newAt++]));
      at++;
      continue;
    }
    const removed: DiffLine[] = [];
    const added: DiffLine[] = [];
    for (; at < hunk.lines.length && hunk.lines[at]?.[0] !== ' '; at++) {
      const line = hunk.lines[at]?.[0] === '-' ? old[oldAt++] : now[newAt++];
      if (line !== undefined) (hunk.lines[at]?.[0] === '-' ? removed : added).push(line);
    }
    rows.push(...paired(removed, added));
  }
  return rows;
}

function rowOf(isChange: boolean, old: DiffLine | undefined, now: DiffLine | undefined): DiffRow {
  return { isChange, ...(old && { old }), ...(now && { new: now }) };
}

/** The lines of one side, unchanged ones included. */
function linesOf({ lines, open }: OfferedHunk, own: '-' | '+', first: number, isPython: boolean): DiffLine[] {
  let inside: OpenString = open ?? '';
  let number = first;
  return lines
    .filter(([kind]) => kind === ' ' || kind === own)
    .map((line) => {
      const text = line.slice(1);
      if (!isPython) return { number: number++, text, tokens: [{ kind: 'plain', text }], changed: [] };
      const read = tokensOf(text, inside);
      inside = read.open;
      return { number: number++, text, tokens: read.tokens, changed: [] };
    });
}

/** Lines that became each other side by side, in their order; of the others, what fits. */
function paired(removed: readonly DiffLine[], added: readonly DiffLine[]): DiffRow[] {
  const rows: DiffRow[] = [];
  let oldAt = 0;
  let newAt = 0;
  const flush = (oldTo: number, newTo: number): void => {
    while (oldAt < oldTo || newAt < newTo) {
      const old = oldAt < oldTo ? removed[oldAt++] : undefined;
      const now = newAt < newTo ? added[newAt++] : undefined;
      rows.push(rowOf(true, old, now));
    }
  };
  for (const [oldIndex, newIndex] of bestPairs(removed, added)) {
    flush(oldIndex, newIndex);
    const old = removed[oldIndex];
    const now = added[newIndex];
    if (old !== undefined && now !== undefined) rows.push(compared(old, now));
    oldAt = oldIndex + 1;
    newAt = newIndex + 1;
  }
  flush(removed.length, added.length);
  return rows;
}

/** The pairs of alike lines, in order on both sides, that are most alike altogether. */
function bestPairs(removed: readonly DiffLine[], added: readonly DiffLine[]): (readonly [number, number])[] {
  if (removed.length * added.length > MOST_PAIRS) return [];
  const width = added.length + 1;
  const best = new Float64Array((removed.length + 1) * width);
  const bags = added.map(({ text }) => bagOf(text));
  const alike = removed.map(({ text }) => {
    const bag = bagOf(text);
    return bags.map((other) => likeness(bag, other));
  });
  const value = (i: number, j: number) => best[i * width + j] ?? 0;
  for (let i = removed.length - 1; i >= 0; i--) {
    for (let j = added.length - 1; j >= 0; j--) {
      const score = alike[i]?.[j] ?? 0;
      const together = score < ALIKE ? 0 : score + value(i + 1, j + 1);
      best[i * width + j] = Math.max(together, value(i + 1, j), value(i, j + 1));
    }
  }
  const pairs: (readonly [number, number])[] = [];
  for (let i = 0, j = 0; i < removed.length && j < added.length; ) {
    const score = alike[i]?.[j] ?? 0;
    if (score >= ALIKE && value(i, j) === score + value(i + 1, j + 1)) pairs.push([i++, j++]);
    else if (value(i, j) === value(i + 1, j)) i++;
    else j++;
  }
  return pairs;
}

function bagOf(text: string): ReadonlyMap<string, number> {
  const bag = new Map<string, number>();
  for (const word of wordsOf(text)) if (word.trim() !== '') bag.set(word, (bag.get(word) ?? 0) + 1);
  return bag;
}

function likeness(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): number {
  let common = 0;
  for (const [word, count] of a) common += Math.min(count, b.get(word) ?? 0);
  const sum = (bag: ReadonlyMap<string, number>) =>
    [...bag.values()].reduce((total, count) => total + count, 0);
  const all = sum(a) + sum(b);
  return all === 0 ? 1 : (2 * common) / all;
}

function wordsOf(text: string): readonly string[] {
  return text.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? [];
}

function compared(old: DiffLine, now: DiffLine): DiffRow {
  const [oldChanged, newChanged] = differences(wordsOf(old.text), wordsOf(now.text));
  return { isChange: true, old: { ...old, changed: oldChanged }, new: { ...now, changed: newChanged } };
}

/** Where two lines differ: beside what they begin and end with, and the longest common run of words between. */
export function differences(
  old: readonly string[],
  now: readonly string[],
): readonly [readonly Stretch[], readonly Stretch[]] {
  const shorter = Math.min(old.length, now.length);
  let head = 0;
  while (head < shorter && old[head] === now[head]) head++;
  let tail = 0;
  while (tail < shorter - head && old.at(-1 - tail) === now.at(-1 - tail)) tail++;
  const between = commonWords(old.slice(head, old.length - tail), now.slice(head, now.length - tail));
  const changedIn = (words: readonly string[], kept: ReadonlySet<number>) =>
    stretches(words, (at) => at < head || at >= words.length - tail || kept.has(at - head));
  return [
    changedIn(old, new Set(between.map(([i]) => i))),
    changedIn(now, new Set(between.map(([, j]) => j))),
  ];
}

function commonWords(old: readonly string[], now: readonly string[]): (readonly [number, number])[] {
  if (old.length * now.length > MOST_WORDS) return [];
  const isSame = (i: number, j: number) => old[i] === now[j];
  const width = now.length + 1;
  const best = new Uint16Array((old.length + 1) * width);
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = now.length - 1; j >= 0; j--) {
      best[i * width + j] = isSame(i, j)
        ? (best[(i + 1) * width + j + 1] ?? 0) + 1
        : Math.max(best[(i + 1) * width + j] ?? 0, best[i * width + j + 1] ?? 0);
    }
  }
  const kept: (readonly [number, number])[] = [];
  for (let i = 0, j = 0; i < old.length && j < now.length; ) {
    if (isSame(i, j)) kept.push([i++, j++]);
    else if ((best[(i + 1) * width + j] ?? 0) >= (best[i * width + j + 1] ?? 0)) i++;
    else j++;
  }
  return kept;
}

/** What is left between the kept words; two stretches with only a space between them are one. */
function stretches(words: readonly string[], isKept: (index: number) => boolean): readonly Stretch[] {
  const found: [number, number][] = [];
  let offset = 0;
  let gap = '';
  words.forEach((word, index) => {
    const end = offset + word.length;
    const last = found.at(-1);
    if (isKept(index)) gap += word;
    else {
      if (last !== undefined && gap.trim() === '') last[1] = end;
      else found.push([offset, end]);
      gap = '';
    }
    offset = end;
  });
  return found;
}
