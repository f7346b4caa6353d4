import { diffArrays, diffWordsWithSpace } from 'diff';
import { anchorsBetween } from './anchors.js';
import { countLines, differingPart, lineEndAfter } from './differing.js';

export interface HunkLine {
  readonly kind: ' ' | '-' | '+';
  /** With its `\n`; only the last line of a text can lack one. A `\r` before it is part of the line, as in git. */
  readonly text: string;
}

export interface Hunk {
  /** One-based first line; with no lines on that side, the line before, as unified diffs count. */
  readonly oldStart: number;
  readonly oldLines: number;
  readonly newStart: number;
  readonly newLines: number;
  readonly lines: readonly HunkLine[];
}

/** Zero-based, half-open: these old lines became those new lines. */
interface Change {
  readonly oldFrom: number;
  readonly oldTo: number;
  readonly newFrom: number;
  readonly newTo: number;
}

export const CONTEXT = 3;

/** Line comparisons one stretch between anchors may cost; beyond it the stretch is replaced whole, which is still right. */
const WORK = 80_000_000;
const LONGEST_EDIT = 2_000;

/** Unified hunks from one text to the other, lines ending at `\n` only, with `context` unchanged lines around each. */
export function hunksBetween(before: string, after: string, context = CONTEXT): Hunk[] {
  if (before === after) return [];
  const { start, oldEnd, newEnd } = differingPart(before, after, context);
  const skipped = countLines(before, start);
  const old = splitLines(before.slice(start, oldEnd));
  const now = splitLines(after.slice(start, newEnd));
  const hunks: Hunk[] = [];
  let group: Change[] = [];
  const close = () => {
    if (group.length > 0) hunks.push(hunkOf(group, old, now, context, skipped));
    group = [];
  };
  for (const change of changesBetween(old, now)) {
    const last = group.at(-1);
    if (last !== undefined && change.oldFrom - last.oldTo > 2 * context) close();
    group.push(change);
  }
  close();
  return hunks;
}

export function hunkHeader(hunk: Hunk): string {
  return `@@ -${range(hunk.oldStart, hunk.oldLines)} +${range(hunk.newStart, hunk.newLines)} @@`;
}

export function formatHunk(hunk: Hunk): string {
  let text = `${hunkHeader(hunk)}\n`;
  for (const line of hunk.lines) {
    text += line.kind + line.text;
    if (!line.text.endsWith('\n')) text += '\n\\ No newline at end of file\n';
  }
  return text;
}

function range(start: number, count: number): string {
  return count === 1 ? `${start}` : `${start},${count}`;
}

function splitLines(text: string): string[] {
  const lines: string[] = [];
  for (let start = 0; start < text.length; ) {
    const end = lineEndAfter(text, start);
    lines.push(text.slice(start, end));
    start = end;
  }
  return lines;
}

function changesBetween(old: readonly string[], now: readonly string[]): Change[] {
  const shorter = Math.min(old.length, now.length);
  let head = 0;
  while (head < shorter && old[head] === now[head]) head++;
  let tail = 0;
  while (tail < shorter - head && old[old.length - 1 - tail] === now[now.length - 1 - tail]) tail++;

  const oldMiddle = old.slice(head, old.length - tail);
  const newMiddle = now.slice(head, now.length - tail);
  const changes: Change[] = [];
  let oldFrom = 0;
  let newFrom = 0;
  const closing = { before: oldMiddle.length, after: newMiddle.length };
  for (const anchor of [...anchorsBetween(oldMiddle, newMiddle), closing]) {
    const oldStretch = oldMiddle.slice(oldFrom, anchor.before);
    const newStretch = newMiddle.slice(newFrom, anchor.after);
    for (const change of changesInStretch(oldStretch, newStretch)) {
      changes.push(shift(change, head + oldFrom, head + newFrom));
    }
    oldFrom = anchor.before + 1;
    newFrom = anchor.after + 1;
  }
  return joined(changes);
}

function changesInStretch(old: string[], now: string[]): Change[] {
  const whole = { oldFrom: 0, oldTo: old.length, newFrom: 0, newTo: now.length };
  if (old.length === 0 && now.length === 0) return [];
  if (old.length === 0 || now.length === 0) return [whole];
  const affordable = Math.floor(WORK / (old.length + now.length));
  const parts = diffArrays(old, now, { maxEditLength: Math.min(affordable, LONGEST_EDIT) });
  if (parts === undefined) return [whole];
  const changes: Change[] = [];
  let oldAt = 0;
  let newAt = 0;
  for (const part of parts) {
    const oldTo = oldAt + (part.added ? 0 : part.count);
    const newTo = newAt + (part.removed ? 0 : part.count);
    if (part.added || part.removed) changes.push({ oldFrom: oldAt, oldTo, newFrom: newAt, newTo });
    oldAt = oldTo;
    newAt = newTo;
  }
  return changes;
}

function shift(change: Change, old: number, now: number): Change {
  return {
    oldFrom: change.oldFrom + old,
    oldTo: change.oldTo + old,
    newFrom: change.newFrom + now,
    newTo: change.newTo + now,
  };
}

/** Neighbours without a common line between them become one, so that removals come before additions. */
function joined(changes: readonly Change[]): Change[] {
  const result: Change[] = [];
  for (const change of changes) {
    const last = result.at(-1);
    if (last !== undefined && last.oldTo === change.oldFrom && last.newTo === change.newFrom) {
      result[result.length - 1] = { ...last, oldTo: change.oldTo, newTo: change.newTo };
    } else result.push(change);
  }
  return result;
}

function hunkOf(
  group: readonly Change[],
  old: readonly string[],
  now: readonly string[],
  context: number,
  /** Lines before the first of `old` and `now`. */
  skipped: number,
): Hunk {
  const first = group[0];
  const last = group.at(-1);
  if (first === undefined || last === undefined) throw new RangeError('a hunk needs at least one change');
  const lead = Math.min(context, first.oldFrom);
  const trail = Math.min(context, old.length - last.oldTo);
  const oldFrom = first.oldFrom - lead;
  const newFrom = first.newFrom - lead;
  const oldTo = last.oldTo + trail;
  const newTo = last.newTo + trail;

  const lines: HunkLine[] = [];
  const emit = (kind: HunkLine['kind'], from: readonly string[], start: number, end: number) => {
    for (const text of from.slice(start, end)) lines.push({ kind, text });
  };
  let at = oldFrom;
  for (const change of group) {
    emit(' ', old, at, change.oldFrom);
    emit('-', old, change.oldFrom, change.oldTo);
    emit('+', now, change.newFrom, change.newTo);
    at = change.oldTo;
  }
  emit(' ', old, at, oldTo);
  return {
    oldStart: skipped + oldFrom + (oldTo > oldFrom ? 1 : 0),
    oldLines: oldTo - oldFrom,
    newStart: skipped + newFrom + (newTo > newFrom ? 1 : 0),
    newLines: newTo - newFrom,
    lines,
  };
}

/** A part of a line, and whether the other side has another one there. */
export interface Stretch {
  readonly text: string;
  readonly isChanged: boolean;
}

/** Lines that have less than this share of their words in common are two lines, and not one that was changed. */
const LEAST_COMMON = 0.3;

/** What differs between two lines, word by word; undefined where they have too little in common to say. */
export function changedWords(
  before: string,
  after: string,
): { readonly before: readonly Stretch[]; readonly after: readonly Stretch[] } | undefined {
  const parts = diffWordsWithSpace(before, after);
  const common = parts.reduce(
    (sum, { value, added, removed }) => sum + (added || removed ? 0 : value.trim().length),
    0,
  );
  if (common < LEAST_COMMON * Math.max(before.trim().length, after.trim().length)) return undefined;
  return {
    before: parts.flatMap(({ value, added, removed }) =>
      added ? [] : [{ text: value, isChanged: removed }],
    ),
    after: parts.flatMap(({ value, added, removed }) => (removed ? [] : [{ text: value, isChanged: added }])),
  };
}
