export interface Span {
  readonly start: number;
  readonly end: number;
}

/** One-based line and column, as editors and compilers count them. */
export interface Position {
  readonly line: number;
  readonly column: number;
  /** Of a notebook, among all its cells, from 1; then the line is counted in the cell. */
  readonly cell?: number;
}

export type Newline = '\n' | '\r\n' | '\r';

/** What a character of two code units begins with. */
const ASTRAL = /[\ud800-\udbff]/;

/** Physical lines by Python's rules: `\n`, `\r\n` and a lone `\r` each end a line; a form feed does not. */
export class Lines {
  #known: readonly number[] | undefined;

  constructor(readonly text: string) {}

  get #starts(): readonly number[] {
    this.#known ??= lineStarts(this.text);
    return this.#known;
  }

  get count(): number {
    return this.#starts.length;
  }

  /** One-based number of the line that holds `offset`. */
  lineAt(offset: number): number {
    let low = 0;
    let high = this.#starts.length;
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if ((this.#starts[middle] ?? Infinity) <= offset) low = middle;
      else high = middle;
    }
    return low + 1;
  }

  /** Columns count characters (code points), so an emoji is one column. */
  position(offset: number): Position {
    const line = this.lineAt(offset);
    const before = this.text.slice(this.start(line), offset);
    const pairs = ASTRAL.test(before) ? before.length - [...before].length : 0;
    return { line, column: before.length - pairs + 1 };
  }

  start(line: number): number {
    return this.#starts[line - 1] ?? this.text.length;
  }

  /** End of the line's content, before its newline. */
  end(line: number): number {
    const next = this.nextStart(line);
    const newline = /(?:\r\n|\r|\n)$/.exec(this.text.slice(Math.max(this.start(line), next - 2), next));
    return next - (newline?.[0].length ?? 0);
  }

  /** Start of the following line, or the end of the text. */
  nextStart(line: number): number {
    return this.#starts[line] ?? this.text.length;
  }

  content(line: number): string {
    return this.text.slice(this.start(line), this.end(line));
  }

  /** The newline that ends this line; undefined on a last line without one. */
  newline(line: number): Newline | undefined {
    const found = this.text.slice(this.end(line), this.nextStart(line));
    return found === '' ? undefined : (found as Newline);
  }

  /** The newline to use for a line inserted at `line`: its own, else the nearest above, else the file's first. */
  newlineNear(line: number): Newline {
    for (let at = line; at >= 1; at--) {
      const found = this.newline(at);
      if (found !== undefined) return found;
    }
    return '\n';
  }
}

function lineStarts(text: string): readonly number[] {
  const starts = [0];
  if (text.includes('\r')) {
    for (const match of text.matchAll(/\r\n|\r|\n/g)) starts.push(match.index + match[0].length);
  } else for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}
