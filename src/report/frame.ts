import type { Lines, Span } from '../text/lines.js';
import { type Cell, cellsOf } from './cells.js';
import type { Paint, Tone } from './paint.js';
import { plural } from './prose.js';

export interface FrameStyle {
  readonly paint: Paint;
  /** Columns of the terminal, margin included. */
  readonly width: number;
  readonly tone: Tone;
}

const CONTEXT = 2;
/** Lines shown of a span that goes over several. */
const SPAN_LINES = 4;
const MARGIN = '  ';
/** Longer lines are looked at around the span only. */
const LONG_LINE = 10_000;
const NEIGHBOURHOOD = 1_000;
const NARROWEST = 8;
const WIDEST = 500;

interface View {
  /** First visible column: zero but for a line whose span lies beyond the edge. */
  readonly left: number;
  readonly width: number;
}

/** The lines around a span with their numbers, and the span underlined. */
export function frame(lines: Lines, span: Span, style: FrameStyle): string[] {
  const first = lines.lineAt(span.start);
  const last = lines.lineAt(Math.max(span.start, span.end - 1));
  const shownLast = Math.min(last, first + SPAN_LINES - 1);
  const from = firstContextLine(lines, first);
  const to = last > shownLast ? shownLast : lastContextLine(lines, last);

  const digits = `${to}`.length;
  const view = viewOf(lines, span, style.width - MARGIN.length - digits - 3);
  const mark = style.paint[style.tone];
  const gutter = (label: string, isInLongSpan: boolean) => {
    const number = style.paint.dim(`${MARGIN}${label.padStart(digits)} `);
    return number + (isInLongSpan ? mark('┃') : style.paint.dim('│'));
  };

  const output: string[] = [];
  for (let line = from; line <= to; line++) {
    const cells = lineCells(lines, line, line === first ? span.start : lines.start(line));
    const isInLongSpan = last > first && line >= first && line <= last;
    const content = visible(cells, line === first ? view : { ...view, left: 0 });
    output.push(`${gutter(`${line}`, isInLongSpan)}${content === '' ? '' : ` ${content}`}`);
    if (line === first) {
      const { indent, carets } = underline(cells, span, lines, view);
      output.push(`${gutter('', isInLongSpan)} ${' '.repeat(indent)}${mark(carets)}`);
    }
  }
  if (last > shownLast) {
    output.push(`${gutter('', true)} ${style.paint.dim(`… ${plural(last - shownLast, 'more line')}`)}`);
  }
  return output;
}

/** Blank lines at the rim of the context say nothing. */
function firstContextLine(lines: Lines, line: number): number {
  let from = Math.max(1, line - CONTEXT);
  while (from < line && lines.content(from).trim() === '') from++;
  return from;
}

function lastContextLine(lines: Lines, line: number): number {
  let to = Math.min(lines.count, line + CONTEXT);
  while (to > line && lines.content(to).trim() === '') to--;
  return to;
}

/** Scrolls right only as far as the span needs: to its end if all of it fits, else to its start. */
function viewOf(lines: Lines, span: Span, room: number): View {
  const width = Math.min(Math.max(room, NARROWEST), WIDEST);
  const line = lines.lineAt(span.start);
  const lineStart = lines.start(line);
  const cells = lineCells(lines, line, span.start);
  const startColumn = columnAt(cells, span.start - lineStart);
  const endColumn = columnAt(cells, Math.min(span.end, lines.end(line)) - lineStart);
  if (columnAt(cells, Infinity) <= width || endColumn < width) return { left: 0, width };
  const lead = Math.floor(width / 3);
  const fits = endColumn - startColumn + lead <= width - 2;
  return { left: Math.max(Math.min(startColumn - (fits ? lead : 2), endColumn + 2 - width), 0), width };
}

/** Cells with offsets counted from the line's start; of a very long line, those near `around`. */
function lineCells(lines: Lines, line: number, around: number): Cell[] {
  const start = lines.start(line);
  const end = lines.end(line);
  if (end - start <= LONG_LINE) return cellsOf(lines.text.slice(start, end));
  const from = Math.max(start, around - NEIGHBOURHOOD);
  const to = Math.min(end, around + NEIGHBOURHOOD);
  return cellsOf(lines.text.slice(from, to), from - start, from - start);
}

function columnAt(cells: readonly Cell[], offset: number): number {
  const last = cells.at(-1);
  if (last === undefined) return 0;
  const found = cells.findLast((cell) => cell.offset <= offset);
  if (offset > last.offset) return last.column + last.width;
  return found?.column ?? 0;
}

function visible(cells: readonly Cell[], view: View): string {
  const right = view.left + view.width;
  const last = cells.at(-1);
  if (last === undefined || last.column + last.width <= view.left) return '';
  const cutLeft = (cells[0]?.column ?? 0) < view.left;
  const cutRight = last.column + last.width > right;
  const innerLeft = view.left + (cutLeft ? 1 : 0);
  const innerRight = right - (cutRight ? 1 : 0);
  const kept = cells.filter((cell) => cell.column >= innerLeft && cell.column + cell.width <= innerRight);
  // A wide character across the left edge leaves a column to fill.
  const gap = ' '.repeat(Math.max(0, (kept[0]?.column ?? innerLeft) - innerLeft));
  const text = kept.map((cell) => cell.text).join('');
  return `${cutLeft ? '…' : ''}${gap}${text}${cutRight ? '…' : ''}`.trimEnd();
}

/** At least one caret, even for an empty span. */
function underline(
  cells: readonly Cell[],
  span: Span,
  lines: Lines,
  view: View,
): { indent: number; carets: string } {
  const line = lines.lineAt(span.start);
  const lineStart = lines.start(line);
  const end = Math.min(span.end - lineStart, lines.content(line).trimEnd().length);
  const from = columnAt(cells, span.start - lineStart);
  const to = Math.min(columnAt(cells, end), view.left + view.width);
  return { indent: from - view.left, carets: '^'.repeat(Math.max(to - from, 1)) };
}
