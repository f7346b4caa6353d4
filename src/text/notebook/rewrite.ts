import { type Change, changesBetween } from '../changes.js';
import type { Span } from '../lines.js';
import { escaped, unitPlaces } from './json.js';
import { cellsIn, type Masked, type Notebook, stringsOf } from './notebook.js';

/**
 * The JSON of a notebook whose program has become `program`: every byte is as it was, but for what is written for changed
 * characters. Undefined where the change does not stay within cells, or touches what is masked.
 */
export function rewritten(notebook: Notebook, program: string): string | undefined {
  const { json, cells, masks } = notebook;
  if (program === notebook.program) return json;
  const before = cellsIn(notebook.program);
  const after = cellsIn(program);
  if (!program.endsWith('\n') || after.length !== before.length) return undefined;
  if (!program.startsWith(notebook.program.slice(0, before[0]?.start ?? 0))) return undefined;
  const isAscii = /^[\0-\x7f]*$/.test(json) && /\\u(?!00[0-7])[0-9a-f]{4}/i.test(json);
  let written = '';
  let from = 0;
  let masked = 0;
  for (const [index, cell] of cells.entries()) {
    const [old, now] = [before[index], after[index]];
    if (old === undefined || now?.number !== cell.number) return undefined;
    const lines = notebook.program.slice(old.start, old.end);
    const own = masks.slice(masked, masked + linesMasked(lines, masks, masked));
    masked += own.length;
    const text = program.slice(now.start, now.end);
    if (text === lines) continue;
    const changes = changesOfCell(own, lines, text);
    if (changes === undefined) return undefined;
    written += json.slice(from, cell.place.start) + sourceJson(json, cell.place, changes, isAscii);
    from = cell.place.end;
  }
  return written + json.slice(from);
}

/** How many of the masks from `first` on are in the text of a cell. */
function linesMasked(text: string, masks: readonly Masked[], first: number): number {
  let count = 0;
  let at = 0;
  for (let mask = masks[first]; mask !== undefined; mask = masks[first + ++count]) {
    at = text.indexOf(mask.shown, at);
    if (at === -1) break;
    at += mask.shown.length;
  }
  return count;
}

/** What changed in a cell's own source; masks have to be where they were, each on a line of its own. */
function changesOfCell(
  masks: readonly Masked[],
  before: string,
  after: string,
): readonly Change[] | undefined {
  const changes: Change[] = [];
  let [old, now, source] = [0, 0, 0];
  const between = (oldEnd: number, nowEnd: number) => {
    const own = changesBetween(before.slice(old, oldEnd), after.slice(now, nowEnd));
    for (const { start, end, text } of own) changes.push({ start: source + start, end: source + end, text });
    source += oldEnd - old;
  };
  for (const mask of masks) {
    const oldAt = before.indexOf(mask.shown, old);
    const nowAt = after.indexOf(mask.shown, now);
    if (nowAt === -1 || !isWholeLine(after, nowAt, mask.shown.length)) return undefined;
    between(oldAt, nowAt);
    source += mask.source.length;
    old = oldAt + mask.shown.length;
    now = nowAt + mask.shown.length;
  }
  between(before.length, after.length);
  return changes;
}

function isWholeLine(text: string, at: number, length: number): boolean {
  const isBreak = (unit: string | undefined) => unit === undefined || unit === '\n' || unit === '\r';
  return isBreak(text[at - 1]) && isBreak(text[at + length]);
}

/** A string of a source as it will be written, without its quotes, and where it begins and ends as one of the old ones did. */
interface Piece {
  readonly inside: string;
  readonly head: number | undefined;
  readonly tail: number | undefined;
}

/** A source with changes in it: a string stays a string; in an array, each line that is new is an element of its own. */
function sourceJson(json: string, place: Span, changes: readonly Change[], ascii: boolean): string {
  const strings = stringsOf(json, place) ?? [];
  const [first, last] = [strings[0], strings.at(-1)];
  const gap = gapIn(json, place, strings);
  if (first === undefined || last === undefined) {
    const lines = linesOf(changes.map(({ text }) => text).join(''));
    return `[${lines.map((line) => `"${escaped(line, ascii)}"`).join(gap)}]`;
  }
  let written = json.slice(place.start, first.start);
  let before: Piece | undefined;
  for (const piece of piecesOf(json, strings, changes, ascii, json[place.start] === '[')) {
    if (before !== undefined) {
      const isAsBefore = before.tail !== undefined && piece.head === before.tail + 1;
      const [old, next] = [strings[before.tail ?? 0], strings[piece.head ?? 0]];
      written += isAsBefore ? json.slice(old?.end, next?.start) : gap;
    }
    written += `"${piece.inside}"`;
    before = piece;
  }
  return written + json.slice(last.end, place.end);
}

function piecesOf(
  json: string,
  strings: readonly Span[],
  changes: readonly Change[],
  ascii: boolean,
  splits: boolean,
): readonly Piece[] {
  const pieces: Piece[] = [];
  let [inside, head, isTouched]: [string, number | undefined, boolean] = ['', 0, false];
  const close = (tail: number | undefined) => {
    if (inside !== '' || !isTouched || !splits) pieces.push({ inside, head, tail });
    [inside, head, isTouched] = ['', tail === undefined ? undefined : tail + 1, false];
  };
  let next = 0;
  let latest: Change | undefined;
  let offset = 0;
  for (const [index, string] of strings.entries()) {
    const places = unitPlaces(json, string);
    const end = offset + places.length - 1;
    const isLast = index === strings.length - 1;
    const kept = (from: number, to: number) => json.slice(places[from - offset], places[to - offset]);
    let at = Math.min(end, Math.max(offset, latest?.end ?? 0));
    if (at > offset) isTouched = true;
    // What is put in between two strings belongs to the second.
    for (let change = changes[next]; change && (change.start < end || isLast); change = changes[++next]) {
      inside += kept(at, Math.max(at, change.start));
      isTouched = true;
      const before = change.start - offset;
      const isAtLine = before > 0 && json.slice(places[before - 1], places[before]) === '\\n';
      if (splits && isAtLine && change.text !== '' && change.start === change.end) close(undefined);
      for (const line of linesOf(change.text)) {
        inside += escaped(line, ascii);
        if (splits && line.endsWith('\n')) close(undefined);
        isTouched = true;
      }
      at = Math.min(end, change.end);
      latest = change;
    }
    inside += kept(at, end);
    offset = end;
    const isJoined =
      latest !== undefined && latest.start < end && end <= latest.end && !latest.text.endsWith('\n');
    if (isLast || !isJoined) close(index);
  }
  return pieces;
}

/** Each with the newline that ends it. */
function linesOf(text: string): readonly string[] {
  return text.match(/[^\n]*\n|[^\n]+/g) ?? [];
}

/** What stands between two strings of this source, or of another where this has one only. */
function gapIn(json: string, place: Span, strings: readonly Span[]): string {
  const [first, second] = strings;
  if (first === undefined) return ', ';
  if (second !== undefined) return json.slice(first.end, second.start);
  const lead = json.slice(place.start + 1, first.start);
  return lead === '' ? ', ' : `,${lead}`;
}
