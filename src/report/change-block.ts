import { folded, markedLines } from './change-view.js';
import type { Hunk } from './diff.js';
import { INDENTED, type ShownLine, withIndented } from './indented.js';
import type { Paint } from './paint.js';
import { plural } from './prose.js';

export interface BlockStyle {
  readonly paint: Paint;
  /** Columns of the terminal, margin included. */
  readonly width: number;
  readonly margin: string;
  /** Lines that are shown at most. */
  readonly most: number;
  /** What shows the rest: a command, and the file as it is given to it. */
  readonly command: string;
  readonly file: string;
}

/** Unchanged lines around a change. */
const CONTEXT = 2;
/** Columns below which nothing is cut further. */
const NARROWEST = 20;

interface Row {
  readonly line: ShownLine;
  /** In the old text; of a line that is added there is none. */
  readonly number: number | undefined;
}

/**
 * A change in a report: the line numbers of the old text, little around it, and without the indentation that all of its lines
 * share. Changed lines are folded, never cut; where there are too many, the rest is counted.
 */
export function changeBlock(
  hunks: readonly Hunk[],
  { paint, width, margin, most, command, file }: BlockStyle,
): string[] {
  const parts = dedented(hunks.map(rowsOf));
  const all = parts.flat();
  const digits = `${Math.max(...all.map(({ number = 0 }) => number))}`.length;
  const room = Math.max(NARROWEST, width - margin.length - digits - 5);
  const gutter = (text: string, bar = '│') => paint.dim(`${margin}${text.padStart(digits)} ${bar}`);
  const output: string[] = [];
  let shown = 0;
  for (const [index, part] of parts.entries()) {
    if (shown >= most) break;
    if (index > 0) output.push(gutter('', '┆'));
    const marked = markedLines(part.map(({ line }) => line));
    for (const [at, { line, number }] of part.entries()) {
      if (shown++ >= most) break;
      const isContext = line.kind === ' ' || line.kind === INDENTED;
      const tone = isContext ? (text: string) => text : line.kind === '-' ? paint.red : paint.green;
      const rows = folded(marked[at] ?? [], isContext ? undefined : paint.inverse, room, isContext);
      for (const [row, text] of rows.entries()) {
        const content = tone(`${row === 0 ? line.kind : ' '} ${text}`.trimEnd());
        output.push(gutter(row === 0 ? `${number ?? ''}` : '') + (content === '' ? '' : ` ${content}`));
      }
    }
  }
  const left = all.slice(most).filter(({ line }) => line.kind !== ' ');
  if (left.length > 0) {
    const isIndented = left.every(({ line }) => line.kind === INDENTED);
    const what = isIndented
      ? `${plural(left.length, 'more line')}, indented`
      : plural(left.length, 'more changed line');
    const rest = `┆ and ${what}: ${command}`;
    const isRoomy = margin.length + digits + 2 + rest.length + file.length < width;
    output.push(gutter('', isRoomy ? `${rest} ${file}` : rest));
  }
  return output;
}

/** With few unchanged lines before and after the change. */
function rowsOf(hunk: Hunk): readonly Row[] {
  const isChange = ({ kind }: ShownLine) => kind !== ' ';
  const lines = withIndented(hunk.lines);
  const first = Math.max(0, lines.findIndex(isChange) - CONTEXT);
  const last = lines.findLastIndex(isChange) + CONTEXT;
  let number = hunk.oldStart;
  const rows = lines.map((line): Row => ({ line, number: line.kind === '+' ? undefined : number++ }));
  const cut = rows.slice(first, last + 1);
  const isBlank = (row: Row | undefined) => row?.line.kind === ' ' && row.line.text.trim() === '';
  while (isBlank(cut.at(-1))) cut.pop();
  while (isBlank(cut[0])) cut.shift();
  return cut;
}

function dedented(parts: readonly (readonly Row[])[]): readonly (readonly Row[])[] {
  const indents = parts
    .flat()
    .flatMap(({ line: { text } }) => (text.trim() === '' ? [] : [/^ */.exec(text)?.[0].length ?? 0]));
  const indent = Math.min(...indents);
  return parts.map((rows) =>
    rows.map(({ line, number }) => ({ line: { ...line, text: line.text.slice(indent) }, number })),
  );
}
