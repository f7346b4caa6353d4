import type { SourceText } from '../text/decode.js';
import type { Position, Span } from '../text/lines.js';
import { Lines } from '../text/lines.js';
import { shownCell, shownCells } from '../text/notebook/shown.js';

/** A cell that changes, as its reader knows it. A cell has no newline at its end, and nobody wants to hear of it. */
interface ChangedCell {
  readonly cell: number;
  readonly title: string;
  readonly before: string;
  readonly after: string;
}

/** The Python that a reader of a notebook sees change, cell by cell; undefined where it is no notebook. */
export function changedCells(
  source: SourceText,
  { before, after }: { readonly before: string; readonly after: string },
): readonly ChangedCell[] | undefined {
  if (source.notebook === undefined) return undefined;
  const now = shownCells(source, after);
  return shownCells(source, before).flatMap(({ number, text }, index) => {
    const changed = now[index]?.text ?? '';
    return text === changed
      ? []
      : [{ cell: number, title: `cell ${number}`, before: `${text}\n`, after: `${changed}\n` }];
  });
}

/** The first cell that a change shows in, before and after; other texts as they are. */
export function inItsCell<T extends { readonly before: string; readonly after: string }>(
  source: SourceText,
  preview: T,
): T {
  const [first] = changedCells(source, preview) ?? [];
  return first === undefined ? preview : { ...preview, before: first.before, after: first.after };
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
