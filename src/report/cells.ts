/** One character as a reader sees it, and the terminal columns it takes. */
export interface Cell {
  /** What to print: a tab becomes spaces, an invisible or control character a visible stand-in. */
  readonly text: string;
  /** UTF-16 offset in the text it came from. */
  readonly offset: number;
  readonly column: number;
  readonly width: number;
}

const TAB_STOP = 4;
const PLAIN = /^[\x20-\x7e]*$/;
const HIDDEN = /^[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;
const EMOJI = /\p{Emoji_Presentation}|\uFE0F/u;
/** Made when a text first needs it, for it takes longer than a small run may. */
let graphemes: Intl.Segmenter | undefined;

/** Code points that take two columns (Unicode's East Asian Width W and F), as first and last of each range. */
const WIDE: readonly (readonly [first: number, last: number])[] = [
  [0x1100, 0x115f],
  [0x2e80, 0x303e],
  [0x3041, 0x33ff],
  [0x3400, 0x4dbf],
  [0x4e00, 0xa4cf],
  [0xa960, 0xa97f],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe10, 0xfe19],
  [0xfe30, 0xfe6f],
  [0xff01, 0xff60],
  [0xffe0, 0xffe6],
  [0x16fe0, 0x18cff],
  [0x1aff0, 0x1b2ff],
  [0x1f200, 0x1f2ff],
  [0x20000, 0x3fffd],
];

/** The cells of one line, starting at `column`, from the character at `offset` on. */
export function cellsOf(text: string, offset = 0, column = 0): Cell[] {
  if (PLAIN.test(text))
    return Array.from(text, (part, at) => ({
      text: part,
      offset: offset + at,
      column: column + at,
      width: 1,
    }));
  const cells: Cell[] = [];
  let at = offset;
  let to = column;
  for (const part of segments(text)) {
    const cell =
      part === '\t' ? tab(at, to) : { text: shown(part), offset: at, column: to, width: columnsOf(part) };
    cells.push(cell);
    at += part.length;
    to += cell.width;
  }
  return cells;
}

/** Columns the text takes in a terminal. */
export function widthOf(text: string): number {
  return PLAIN.test(text) ? text.length : cellsOf(text).reduce((sum, cell) => sum + cell.width, 0);
}

/** The text with nothing in it that a terminal would obey rather than show. */
export function printable(text: string): string {
  return PLAIN.test(text)
    ? text
    : cellsOf(text)
        .map((cell) => cell.text)
        .join('');
}

export function padEnd(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)));
}

/** The line's printable text in at most `width` columns, an ellipsis standing for what is cut off. */
export function clip(line: string, width: number): string {
  if (PLAIN.test(line.slice(0, width + 1)))
    return line.length <= width ? line : `${line.slice(0, Math.max(0, width - 1))}…`;
  // A column takes at least a fraction of a character, so a line of megabytes need not be measured to its end.
  const cells = cellsOf(line.length > 8 * width + 1_000 ? line.slice(0, 8 * width + 1_000) : line);
  const last = cells.at(-1);
  if (last === undefined || last.column + last.width <= width) return cells.map((cell) => cell.text).join('');
  const kept = cells.filter((cell) => cell.column + cell.width < width);
  return `${kept.map((cell) => cell.text).join('')}…`;
}

/** The end of a path in at most `width` columns, which says most: from the start of a folder's name where there is one. */
export function clipStart(path: string, width: number): string {
  if (widthOf(path) <= width) return printable(path);
  const cells = cellsOf(path);
  const total = widthOf(path);
  const kept = cells.filter((cell) => total - cell.column < width).map((cell) => cell.text);
  const folder = kept.indexOf('/');
  return `…${kept.slice(folder > kept.length / 2 ? 0 : Math.max(folder, 0)).join('')}`;
}

function* segments(text: string): Generator<string> {
  graphemes ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  for (const { segment } of graphemes.segment(text)) yield segment;
}

function tab(offset: number, column: number): Cell {
  const width = TAB_STOP - (column % TAB_STOP);
  return { text: ' '.repeat(width), offset, column, width };
}

function shown(grapheme: string): string {
  if (!HIDDEN.test(grapheme)) return grapheme;
  const code = grapheme.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? '␡' : '�';
}

function columnsOf(grapheme: string): number {
  if (HIDDEN.test(grapheme)) return 1;
  if (EMOJI.test(grapheme)) return 2;
  const code = grapheme.codePointAt(0) ?? 0;
  return WIDE.some(([first, last]) => code >= first && code <= last) ? 2 : 1;
}
