import type { SourceFile } from '../../engine/outcome.js';
import { type Change, changesBetween } from '../../text/changes.js';
import { Lines, type Span } from '../../text/lines.js';
import { shownCell, shownCells } from '../../text/notebook/shown.js';
import type { Position, Range, TextEdit } from './protocol.js';

/** A text of the editor: a file, or a cell of a notebook. */
export interface OpenText {
  readonly uri: string;
  readonly version: number;
  readonly text: string;
}

/** Changes to some of the editor's texts. */
export type EditsByText = readonly { readonly open: OpenText; readonly edits: readonly TextEdit[] }[];

/** A program that is looked at, and the texts of the editor that it is made of. */
export interface Sheet {
  readonly file: SourceFile;
  readonly texts: readonly OpenText[];
  /** Where a span of the program is in the editor. */
  placeOf(span: Span): { readonly open: OpenText; readonly range: Range } | undefined;
  /** What makes another program of it. */
  editsTo(after: string): EditsByText;
}

/** A file that is one text. */
export function sheetOfFile(file: SourceFile, open: OpenText): Sheet {
  return {
    file,
    texts: [open],
    placeOf: (span) => ({ open, range: rangeIn(new Lines(open.text), span) }),
    editsTo: (after) => oneText(open, after),
  };
}

/** A notebook whose cells are texts: `texts` has one for each, also for those that are not Python. */
export function sheetOfCells(file: SourceFile, texts: readonly OpenText[]): Sheet {
  const { source } = file;
  return {
    file,
    texts,
    placeOf: (span) => {
      const cell = shownCell(source, span.start);
      const open = cell && texts[cell.number - 1];
      if (cell === undefined || open === undefined) return undefined;
      const own = { start: cell.at(span.start), end: cell.at(span.end) };
      return { open, range: rangeIn(new Lines(cell.text), own) };
    },
    editsTo: (after) =>
      shownCells(source, after).flatMap(({ number, text }) => {
        const open = texts[number - 1];
        return open === undefined ? [] : oneText(open, text);
      }),
  };
}

function oneText(open: OpenText, after: string): EditsByText {
  const edits = textEdits(open.text, after);
  return edits.length === 0 ? [] : [{ open, edits }];
}

export function textEdits(before: string, after: string): readonly TextEdit[] {
  const lines = new Lines(before);
  const edits: Change[] = [];
  for (const change of changesBetween(before, after)) {
    const last = edits.at(-1);
    const between = last && before.slice(last.end, change.start);
    // What changes in a line is one edit: letters that two names share are no news to a person.
    if (last === undefined || between === undefined || /[\r\n]/.test(between)) edits.push(change);
    else edits.splice(-1, 1, { start: last.start, end: change.end, text: last.text + between + change.text });
  }
  return edits.map((edit) => ({ range: rangeIn(lines, edit), newText: edit.text }));
}

/** Lines from 0, and in them UTF-16 code units, as the protocol counts. */
export function rangeIn(lines: Lines, { start, end }: Span): Range {
  return { start: positionIn(lines, start), end: positionIn(lines, end) };
}

function positionIn(lines: Lines, offset: number): Position {
  const line = lines.lineAt(offset);
  return { line: line - 1, character: offset - lines.start(line) };
}

export function overlaps(a: Range, b: Range): boolean {
  return !isBefore(a.end, b.start) && !isBefore(b.end, a.start);
}

function isBefore(a: Position, b: Position): boolean {
  return a.line < b.line || (a.line === b.line && a.character < b.character);
}
