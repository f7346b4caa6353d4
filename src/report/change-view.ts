import { cellsOf, clip } from './cells.js';
import type { Hunk, HunkLine } from './diff.js';
import type { Paint } from './paint.js';
import { plural } from './prose.js';

export interface ChangeStyle {
  readonly paint: Paint;
  /** Columns of the terminal, margin included. */
  readonly width: number;
  readonly margin: string;
  /** Lines that are shown at most. */
  readonly most: number;
}

/** Unchanged lines around a change. */
const CONTEXT = 2;
/** Columns below which nothing is cut further. */
const NARROWEST = 20;

interface Row {
  readonly kind: HunkLine['kind'];
  /** In the old text; of a line that is added there is none. */
  readonly number: number | undefined;
  readonly text: string;
  /** What differs from the line that it replaces, or that replaces it. */
  readonly strong: readonly [start: number, end: number];
}

/**
 * A change for eyes, with the line numbers of the old text and without the indentation that all of its lines share. Changed lines
 * are folded, never cut; where there are too many, the rest is counted.
 */
export function changeView(hunks: readonly Hunk[], { paint, width, margin, most }: ChangeStyle): string[] {
  const rows = hunks.map((hunk) => withStrong(rowsOf(hunk)));
  const all = rows.flat();
  const indent = sharedIndent(all);
  const digits = `${Math.max(...all.map(({ number = 0 }) => number))}`.length;
  const room = Math.max(NARROWEST, width - margin.length - digits - 5);
  const output: string[] = [];
  let shown = 0;
  for (const [index, part] of rows.entries()) {
    if (shown >= most) break;
    if (index > 0) output.push(paint.dim(`${margin}${' '.repeat(digits)} ┆`));
    for (const row of part) {
      if (shown++ >= most) break;
      const gutter = (number: string) => paint.dim(`${margin}${number.padStart(digits)} │`);
      const lines = painted(row, indent, room, paint);
      output.push(
        ...lines.map((line, at) => gutter(at === 0 ? `${row.number ?? ''}` : '') + (line && ` ${line}`)),
      );
    }
  }
  const left = all.slice(most).filter(({ kind }) => kind !== ' ').length;
  if (left > 0)
    output.push(
      paint.dim(`${margin}${' '.repeat(digits)} ┆ and ${plural(left, 'more changed line')}: memfix diff`),
    );
  return output;
}

/** With at most two unchanged lines before and behind the change. */
function rowsOf(hunk: Hunk): Row[] {
  const isChange = ({ kind }: HunkLine) => kind !== ' ';
  const first = Math.max(0, hunk.lines.findIndex(isChange) - CONTEXT);
  const last = hunk.lines.findLastIndex(isChange) + CONTEXT;
  let number = hunk.oldStart;
  const rows = hunk.lines.map(({ kind, text }): Row => {
    const own = kind === '+' ? undefined : number++;
    return { kind, number: own, text: text.replace(/\n$/, ''), strong: [0, 0] };
  });
  const cut = rows.slice(first, last + 1);
  const isBlank = (row: Row | undefined) => row?.kind === ' ' && row.text.trim() === '';
  while (isBlank(cut.at(-1))) cut.pop();
  while (isBlank(cut[0])) cut.shift();
  return cut;
}

/** Lines that are replaced by as many others are compared one by one. */
function withStrong(rows: readonly Row[]): readonly Row[] {
  const result = [...rows];
  for (let at = 0; at < rows.length; at++) {
    if (rows[at]?.kind !== '-') continue;
    let middle = at;
    while (rows[middle]?.kind === '-') middle++;
    let end = middle;
    while (rows[end]?.kind === '+') end++;
    if (end - middle === middle - at) {
      for (let line = at; line < middle; line++) {
        const [before, after] = [rows[line] as Row, rows[line + middle - at] as Row];
        const { head, tail } = alike(before.text, after.text);
        result[line] = { ...before, strong: [head, before.text.length - tail] };
        result[line + middle - at] = { ...after, strong: [head, after.text.length - tail] };
      }
    }
    at = end - 1;
  }
  return result;
}

function alike(one: string, other: string): { readonly head: number; readonly tail: number } {
  const shorter = Math.min(one.length, other.length);
  let head = 0;
  while (head < shorter && one[head] === other[head]) head++;
  let tail = 0;
  while (tail < shorter - head && one.at(-1 - tail) === other.at(-1 - tail)) tail++;
  return { head, tail };
}

function sharedIndent(rows: readonly Row[]): number {
  const indents = rows.flatMap(({ text }) => (text.trim() === '' ? [] : [/^ */.exec(text)?.[0].length ?? 0]));
  return indents.length === 0 ? 0 : Math.min(...indents);
}

function painted({ kind, text, strong }: Row, indent: number, room: number, paint: Paint): readonly string[] {
  if (kind === ' ') return [`  ${clip(text.slice(indent), room)}`.trimEnd()];
  const tone = kind === '-' ? paint.red : paint.green;
  const lines: string[] = [];
  let [plain, bold, used] = ['', '', 0];
  const settle = () => {
    plain += paint.bold(bold);
    bold = '';
  };
  for (const cell of cellsOf(text.slice(indent), indent)) {
    if (used + cell.width > room) {
      settle();
      lines.push(plain);
      [plain, used] = ['', 0];
    }
    if (cell.offset >= strong[0] && cell.offset < strong[1]) bold += cell.text;
    else {
      settle();
      plain += cell.text;
    }
    used += cell.width;
  }
  settle();
  lines.push(plain);
  return lines.map((line, index) => tone(`${index === 0 ? kind : ' '} ${line}`.trimEnd()));
}
