import type { BesideChange } from '../engine/outcome.js';
import type { SourceText } from '../text/decode.js';
import { changedCells } from './by-cell.js';
import { cellsOf, printable } from './cells.js';
import { changedWords, type Hunk, type HunkLine, type Stretch } from './diff.js';
import { INDENTED, type ShownLine, withIndented } from './indented.js';
import type { Paint } from './paint.js';
import { shownHunks } from './shown-hunks.js';

/** One row of a terminal. */
export interface ChangeRow {
  readonly text: string;
  /** It shows a removed or an added line, and not only what is around it. */
  readonly isChange: boolean;
  /** It shows an added line, which has no number. */
  readonly isAdded?: boolean;
  /** It shows a line that stays as it is; this is shown where such lines are left out. */
  readonly gap?: string;
}

/** A line longer than this is cut off: a file may hold its data in one. */
const LONGEST_LINE = 2_000;

/**
 * A change for a person to judge: line numbers, removed and added lines with the words that differ marked, and no row wider
 * than the terminal. Of a notebook, its cells.
 */
export function changeRows(
  change: { readonly before: string; readonly after: string; readonly beside?: readonly BesideChange[] },
  paint: Paint,
  width: number,
  source?: SourceText,
): readonly ChangeRow[] {
  const cells = source && changedCells(source, change);
  return [
    ...(cells ?? [{ title: undefined, ...change }]).flatMap(({ title, before, after }) => [
      ...(title === undefined || cells?.length === 1 ? [] : [{ text: paint.bold(title), isChange: false }]),
      ...rowsOf({ before, after }, paint, width),
    ]),
    ...(change.beside ?? []).flatMap((other) => [
      { text: paint.bold(`and in ${printable(other.path)}:`), isChange: false },
      ...rowsOf(other, paint, width),
    ]),
  ];
}

/**
 * Without some of what is around it, in at most so many rows where that is enough: first what is far from the change. Between
 * changed lines a mark stands for what is left out; lines that are only added keep one beside them, which has a number.
 */
export function withLessAround(rows: readonly ChangeRow[], most: number): readonly ChangeRow[] {
  const distances = rows.map(({ isChange }) => (isChange ? 0 : rows.length));
  const near = (at: number, other: number) => {
    distances[at] = Math.min(distances[at] ?? 0, 1 + (distances[other] ?? rows.length));
  };
  for (let at = 1; at < rows.length; at++) near(at, at - 1);
  for (let at = rows.length - 2; at >= 0; at--) near(at, at + 1);
  const kept = besideAdded(rows);
  const around = [...rows.keys()]
    .filter((at) => rows[at]?.gap !== undefined && !kept.has(at))
    .sort((a, b) => (distances[b] ?? 0) - (distances[a] ?? 0));
  for (let count = Math.max(rows.length - most, 0); ; count++) {
    const shown = withGaps(rows, new Set(around.slice(0, count)));
    if (shown.length <= most || count >= around.length) return shown;
  }
}

/** The rows without some; a mark where these were between changed lines. A mark for one row would gain nothing. */
function withGaps(rows: readonly ChangeRow[], left: ReadonlySet<number>): readonly ChangeRow[] {
  const shown: ChangeRow[] = [];
  for (let at = 0; at < rows.length; at++) {
    const row = rows[at];
    if (row === undefined) continue;
    if (!left.has(at)) {
      shown.push(row);
      continue;
    }
    let end = at;
    while (left.has(end + 1)) end++;
    const isBetween = isChangeNext(rows, at, -1) && isChangeNext(rows, end, 1);
    if (isBetween) shown.push(end === at ? row : { text: row.gap ?? '', isChange: false });
    at = end;
  }
  return shown;
}

/** Whether a changed line comes before anything but unchanged ones, in that direction. */
function isChangeNext(rows: readonly ChangeRow[], from: number, step: 1 | -1): boolean {
  let at = from;
  while (rows[at]?.gap !== undefined) at += step;
  return rows[at]?.isChange === true;
}

/** For each run of rows that are all added, the unchanged row before it, else after it. */
function besideAdded(rows: readonly ChangeRow[]): ReadonlySet<number> {
  const kept = new Set<number>();
  for (let at = 0; at < rows.length; at++) {
    if (rows[at]?.isChange !== true) continue;
    let end = at;
    while (rows[end + 1]?.isChange === true) end++;
    if (rows.slice(at, end + 1).every(({ isAdded }) => isAdded === true))
      kept.add(rows[at - 1]?.gap === undefined ? end + 1 : at - 1);
    at = end;
  }
  return kept;
}

function rowsOf(
  { before, after }: { readonly before: string; readonly after: string },
  paint: Paint,
  width: number,
) {
  const all = shownHunks(before, after);
  const last = all.at(-1);
  const digits = String((last?.oldStart ?? 0) + (last?.lines.length ?? 0)).length;
  const hunks = fitting(all, roomFor(width, digits));
  return hunks.flatMap((hunk, at) => [
    ...(at === 0 ? [] : [{ text: gapMark(digits, paint), isChange: false }]),
    ...hunkRows(hunk, digits, paint, width),
  ]);
}

function gapMark(digits: number, paint: Paint): string {
  return paint.dim(`${' '.repeat(digits)} ⋮`);
}

function roomFor(width: number, digits: number): number {
  return Math.max(width - digits - 3, 8);
}

/** Without the indentation that all lines share, where one of them would not fit in so many columns. */
function fitting(hunks: readonly Hunk[], room: number): readonly Hunk[] {
  const texts = hunks.flatMap(({ lines }) => lines.map(({ text }) => text.replace(/\n$/, '')));
  if (texts.every((text) => text.length <= room)) return hunks;
  const indents = texts.flatMap((text) => (text.trim() === '' ? [] : [/^ */.exec(text)?.[0].length ?? 0]));
  const shared = Math.min(...indents);
  const cut = (line: HunkLine): HunkLine => ({
    ...line,
    text: line.text.trim() === '' ? line.text : line.text.slice(shared),
  });
  return hunks.map((hunk) => ({ ...hunk, lines: hunk.lines.map(cut) }));
}

function hunkRows(hunk: Hunk, digits: number, paint: Paint, width: number): readonly ChangeRow[] {
  let old = hunk.oldStart;
  const lines = withIndented(hunk.lines);
  const marked = markedLines(lines);
  return lines.flatMap((line, at) => {
    // Numbers are those of the file as it is: a line that is not in it yet has none.
    const number = line.kind === '+' ? '' : String(old++);
    return lineRows(line.kind, marked[at] ?? [], number.padStart(digits), paint, width);
  });
}

function lineRows(
  kind: ShownLine['kind'],
  stretches: readonly Stretch[],
  number: string,
  paint: Paint,
  width: number,
): readonly ChangeRow[] {
  const room = roomFor(width, number.length);
  const tone = kind === '-' ? paint.red : kind === '+' ? paint.green : (text: string) => text;
  const isKept = kind === ' ' || kind === INDENTED;
  const rows = folded(stretches, isKept ? undefined : paint.inverse, room, isKept);
  return rows.map((content, at) => {
    const gutter = at === 0 ? paint.dim(number) : ' '.repeat(number.length);
    const text = `${gutter} ${tone(`${at === 0 ? kind : '↪'} ${content}`)}`.trimEnd();
    if (kind === ' ') return { text, isChange: false, gap: gapMark(number.length, paint) };
    return { text, isChange: true, isAdded: kind === '+' };
  });
}

/** The stretches in rows of `room` columns; what is only context gets one row. */
export function folded(
  stretches: readonly Stretch[],
  strong: ((text: string) => string) | undefined,
  room: number,
  isContext: boolean,
): readonly string[] {
  const rows: string[] = [''];
  let used = 0;
  let column = 0;
  for (const { text, isChanged } of stretches) {
    let part = '';
    const flush = () => {
      // Indentation that changed is no word: a bar of colour would outshine the rest.
      const isStrong = isChanged && strong !== undefined && part.trim() !== '';
      rows[rows.length - 1] += isStrong ? strong(part) : part;
      part = '';
    };
    for (const cell of cellsOf(text, 0, column)) {
      column = cell.column + cell.width;
      if (used + cell.width > room) {
        flush();
        if (isContext) return [`${rows[0]?.slice(0, -1)}…`];
        rows.push('');
        used = 0;
      }
      part += cell.text;
      used += cell.width;
    }
    flush();
  }
  return rows;
}

/** Removed lines and the added ones right after them are compared one by one. */
export function markedLines(lines: readonly ShownLine[]): readonly (readonly Stretch[])[] {
  const texts = lines.map(({ text }) => text.replace(/\n$/, '').slice(0, LONGEST_LINE));
  const marked: (readonly Stretch[])[] = texts.map((text) => [{ text, isChanged: false }]);
  for (let at = 0; at < lines.length; ) {
    const removed = runLength(lines, at, '-');
    const added = runLength(lines, at + removed, '+');
    for (let pair = 0; pair < Math.min(removed, added); pair++) {
      const [from, to] = [at + pair, at + removed + pair];
      const words = changedWords(texts[from] ?? '', texts[to] ?? '');
      if (words === undefined) continue;
      marked[from] = words.before;
      marked[to] = words.after;
    }
    at += Math.max(removed + added, 1);
  }
  return marked;
}

function runLength(lines: readonly ShownLine[], from: number, kind: ShownLine['kind']): number {
  let length = 0;
  while (lines[from + length]?.kind === kind) length++;
  return length;
}
