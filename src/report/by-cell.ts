import type { SourceText } from '../text/decode.js';
import type { Position, Span } from '../text/lines.js';
import { Lines } from '../text/lines.js';
import { shownCell, shownCells } from '../text/notebook/shown.js';
import type { Hunk } from './diff.js';
import { shownHunks } from './shown-hunks.js';

/** What a reader of a notebook sees change: Python, cell by cell. */
interface CellHunks {
  readonly cell: number;
  readonly hunks: readonly Hunk[];
}

export function hunksByCell(source: SourceText, before: string, after: string): readonly CellHunks[] {
  const now = shownCells(source, after);
  return shownCells(source, before).flatMap(({ number, text }, index) => {
    // A cell has no newline at its end, and nobody wants to hear of it.
    const hunks = shownHunks(`${text}\n`, `${now[index]?.text ?? ''}\n`);
    return hunks.length === 0 ? [] : [{ cell: number, hunks }];
  });
}

/** The first cell that a change shows in, before and after; other texts as they are. */
export function inItsCell<T extends { readonly before: string; readonly after: string }>(
  source: SourceText,
  preview: T,
): T {
  if (source.notebook === undefined) return preview;
  const now = shownCells(source, preview.after);
  const cells = shownCells(source, preview.before);
  const at = cells.findIndex(({ text }, index) => text !== now[index]?.text);
  return { ...preview, before: cells[at]?.text ?? '', after: now[at]?.text ?? '' };
}

export function cellTitle({ cell }: Pick<CellHunks, 'cell'>): string {
  return `cell ${cell}`;
}

/** The lines around a place and the span in them: of a notebook, those of its cell. */
export function linesAround(source: SourceText, lines: Lines, span: Span): { lines: Lines; span: Span } {
  const cell = shownCell(source, span.start);
  if (cell === undefined) return { lines, span };
  return { lines: new Lines(cell.text), span: { start: cell.at(span.start), end: cell.at(span.end) } };
}

/** A span by lines and columns, and by offset: of a notebook, those of its cell. */
export function spanIn(
  source: SourceText,
  lines: Lines,
  span: Span,
): { readonly from: Position; readonly to: Position; readonly start: number; readonly end: number } {
  const around = linesAround(source, lines, span);
  const { start, end } = around.span;
  const cell = shownCell(source, span.start)?.number;
  const from = around.lines.position(start);
  return {
    from: cell === undefined ? from : { ...from, cell },
    to: around.lines.position(end),
    start,
    end,
  };
}
