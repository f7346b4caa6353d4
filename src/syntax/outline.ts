import { isClause, isDefinition, isLoop } from './line-start.js';

/** A function whose body can be parsed apart from the rest of the file. */
export interface Piece {
  /** Where `def` or `async def` starts. */
  readonly start: number;
  /** Where its first decorator starts, or the same. */
  readonly decorated: number;
  /** The statements of its body: from the first character of the first to the last of the last. */
  readonly bodyStart: number;
  readonly bodyEnd: number;
  /** Where the next statement's line starts: comments in between may belong to the body. */
  readonly end: number;
}

/** What a quick reading of a text shows without a parser. */
export interface Outline {
  /** Where each statement of the module starts, with its decorators; a clause such as `else` belongs to its statement. */
  readonly statements: readonly number[];
  /** Functions that stand in no other function, in source order. */
  readonly pieces: readonly Piece[];
  /** Starts and ends, in turn, of comments and of strings; of one with fields, what stands around them. */
  readonly quiet: readonly number[];
  /** Where lines start with `for` or `while`, also inside brackets. */
  readonly loops: readonly number[];
  /** How deep brackets nest. */
  readonly depth: number;
  /** How many comments and line continuations follow each other without code in between, at most; never too few. */
  readonly longestRun: number;
}

const TAB = 9;
const NEWLINE = 10;
const FORM_FEED = 12;
const RETURN = 13;
const SPACE = 32;
const DOUBLE = 34;
const HASH = 35;
const SINGLE = 39;
const COLON = 58;
const AT = 64;
const BACKSLASH = 92;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;

/** By character: 1 for those that say nothing about lines, strings and brackets. */
const PLAIN = new Uint8Array(128).fill(1);
for (const code of [0, NEWLINE, FORM_FEED, RETURN, DOUBLE, HASH, SINGLE, COLON, BACKSLASH]) PLAIN[code] = 0;
for (const bracket of '()[]{}') PLAIN[bracket.charCodeAt(0)] = 0;

function isBlank(code: number): boolean {
  return code === SPACE || code === TAB || code === NEWLINE || code === RETURN || code === BACKSLASH;
}

/** What the reader leaves to the parser: text that is not Python, or too odd, such as a statement after a lone backslash. */
class Odd extends Error {}

/**
 * Reads a text once, by lines, strings and brackets; undefined where that is not enough to tell what stands where.
 * Whoever relies on it has the parser confirm each piece.
 */
export function outlineOf(text: string): Outline | undefined {
  const reader = new OutlineReader(text);
  try {
    return reader.read();
  } catch (error) {
    if (error instanceof Odd) return undefined;
    throw error;
  }
}

interface OpenPiece {
  readonly start: number;
  readonly decorated: number;
  readonly indent: number;
  /** Behind the colon of its header. */
  headerEnd: number;
  bodyStart: number;
}

class OutlineReader {
  readonly #statements: number[] = [];
  readonly #pieces: Piece[] = [];
  readonly #quiet: number[] = [];
  readonly #loops: number[] = [];
  #deepest = 0;
  #run = 0;
  #longestRun = 0;
  #at = 0;
  /** Behind the last character of code. */
  #codeEnd = 0;
  #piece: OpenPiece | undefined;
  /** Where the decorators start that a definition is to follow. */
  #decorated: number | undefined;

  constructor(private readonly text: string) {}

  read(): Outline {
    while (this.#at < this.text.length) this.#readLine();
    this.#close(this.text.length);
    return {
      statements: this.#statements,
      pieces: this.#pieces,
      quiet: this.#quiet,
      loops: this.#loops,
      depth: this.#deepest,
      longestRun: this.#longestRun,
    };
  }

  /** One logical line, or a blank one. */
  #readLine(): void {
    const { text } = this;
    const lineStart = this.#at;
    let at = lineStart;
    let indent = 0;
    for (let code = text.charCodeAt(at); code === SPACE || code === TAB; code = text.charCodeAt(++at)) {
      indent = code === TAB ? (indent | 7) + 1 : indent + 1;
    }
    this.#at = at;
    const first = text.charCodeAt(at);
    if (first === BACKSLASH) throw new Odd();
    if (first === HASH) this.#lengthenRun();
    else if (first !== NEWLINE && first !== RETURN && at < text.length) {
      this.#run = 0;
      this.#startStatement(at, indent, lineStart);
    }
    if (isLoop(text, at)) this.#loops.push(at);
    this.#readCode();
  }

  #lengthenRun(): void {
    this.#longestRun = Math.max(this.#longestRun, ++this.#run);
  }

  #startStatement(at: number, indent: number, lineStart: number): void {
    if (this.#piece !== undefined && indent <= this.#piece.indent) this.#close(lineStart);
    if (indent === 0 && this.#decorated === undefined && !isClause(this.text, at)) this.#statements.push(at);
    if (this.#piece === undefined) {
      const isDecorator = this.text.charCodeAt(at) === AT;
      if (isDecorator) this.#decorated ??= at;
      else {
        const decorated = this.#decorated ?? at;
        this.#decorated = undefined;
        if (isDefinition(this.text, at))
          this.#piece = { start: at, decorated, indent, headerEnd: -1, bodyStart: -1 };
      }
    } else if (this.#piece.bodyStart === -1) {
      this.#piece.bodyStart = at;
    }
  }

  #close(end: number): void {
    const piece = this.#piece;
    this.#piece = undefined;
    // A body on the line of its `def` stays where it is.
    if (piece === undefined || piece.bodyStart === -1) return;
    const { start, decorated, bodyStart } = piece;
    this.#pieces.push({ start, decorated, bodyStart, bodyEnd: this.#codeEnd, end });
  }

  /** To the end of the logical line. */
  #readCode(): void {
    const { text } = this;
    const { length } = text;
    let depth = 0;
    let at = this.#at;
    const start = at;
    for (; at < length; at++) {
      const code = text.charCodeAt(at);
      if (code > 127 || PLAIN[code] === 1) continue;
      switch (code) {
        case NEWLINE:
          if (depth > 0) {
            this.#continueLine(at + 1);
            continue;
          }
          this.#endLine(start, at);
          this.#at = at + 1;
          return;
        case RETURN:
          if (text.charCodeAt(at + 1) !== NEWLINE) throw new Odd();
          continue;
        case HASH: {
          if (depth === 0) this.#endLine(start, at);
          const end = text.indexOf('\n', at);
          this.#quiet.push(at, end === -1 ? length : end);
          at = (end === -1 ? length : end) - 1;
          if (depth === 0) {
            this.#at = at + 2;
            return;
          }
          continue;
        }
        case BACKSLASH:
          this.#lengthenRun();
          at = this.#behindLineEnd(at + 1) - 1;
          this.#continueLine(at + 1);
          continue;
        case DOUBLE:
        case SINGLE:
          at = this.#behindString(at) - 1;
          continue;
        case 40:
        case 91:
        case OPEN_BRACE:
          depth++;
          if (depth > this.#deepest) this.#deepest = depth;
          continue;
        case 41:
        case 93:
        case CLOSE_BRACE:
          if (--depth < 0) throw new Odd();
          continue;
        case COLON:
          if (depth === 0 && this.#piece?.headerEnd === -1) this.#piece.headerEnd = at + 1;
          continue;
        default:
          throw new Odd();
      }
    }
    if (depth > 0) throw new Odd();
    this.#endLine(start, length);
    this.#at = length;
  }

  /** A line inside a logical one. */
  #continueLine(start: number): void {
    const { text } = this;
    let at = start;
    while (text.charCodeAt(at) === SPACE || text.charCodeAt(at) === TAB) at++;
    if (isLoop(text, at)) this.#loops.push(at);
  }

  /** The code of a logical line lies between these; what is behind it is no code. */
  #endLine(start: number, behind: number): void {
    let end = behind;
    while (end > start && isBlank(this.text.charCodeAt(end - 1))) end--;
    if (end === start) return;
    this.#codeEnd = end;
    if (this.#piece?.bodyStart !== -1) return;
    if (this.#piece.headerEnd === -1) throw new Odd();
    // `def f(): return 1` has no body of its own.
    if (this.#piece.headerEnd < end) this.#piece = undefined;
  }

  /** A backslash joins lines; anything else behind one is no Python. */
  #behindLineEnd(at: number): number {
    const { text } = this;
    const next = text.charCodeAt(at) === RETURN ? at + 1 : at;
    if (text.charCodeAt(next) !== NEWLINE) throw new Odd();
    return next + 1;
  }

  /** Notes a string, but not the code in its fields. */
  #behindString(at: number): number {
    const { text } = this;
    const quote = text.charCodeAt(at);
    const isTriple = text.charCodeAt(at + 1) === quote && text.charCodeAt(at + 2) === quote;
    const isPlain = !isFormatted(text, at);
    const end = isTriple && isPlain ? this.#behindPlainText(at) : undefined;
    if (end !== undefined) this.#quiet.push(at, end);
    if (end !== undefined) return end;
    let quietFrom = at;
    for (let here = at + (isTriple ? 3 : 1); here < text.length; here++) {
      const code = text.charCodeAt(here);
      if (code === quote) {
        const end = here + (isTriple ? 3 : 1);
        if (isTriple && (text.charCodeAt(here + 1) !== quote || text.charCodeAt(here + 2) !== quote))
          continue;
        this.#quiet.push(quietFrom, end);
        return end;
      }
      if (code === BACKSLASH) {
        if (isPlain || text.charCodeAt(here + 1) !== OPEN_BRACE) here++;
        if (!isPlain && text.startsWith('N{', here)) here = this.#behind('}', here);
        if (text.charCodeAt(here) === RETURN) here++;
      } else if (code === NEWLINE && !isTriple) {
        throw new Odd();
      } else if (code === OPEN_BRACE && !isPlain) {
        if (text.charCodeAt(here + 1) === OPEN_BRACE) here++;
        else {
          this.#quiet.push(quietFrom, here);
          here = this.#endOfField(here + 1);
          quietFrom = here + 1;
        }
      }
    }
    throw new Odd();
  }

  /** Most text is documentation without a backslash, and need not be read letter by letter. */
  #behindPlainText(at: number): number | undefined {
    const { text } = this;
    const mark = text.slice(at, at + 3);
    const end = text.indexOf(mark, at + 3);
    const isPlain = end !== -1 && !text.slice(at, end).includes('\\');
    return isPlain ? end + 3 : undefined;
  }

  #behind(mark: string, from: number): number {
    const found = this.text.indexOf(mark, from);
    if (found === -1) throw new Odd();
    return found;
  }

  /** The brace that closes a replacement field of a formatted string. */
  #endOfField(from: number): number {
    const { text } = this;
    let depth = 0;
    for (let at = from; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code === DOUBLE || code === SINGLE) at = this.#behindString(at) - 1;
      else if (code === HASH || code === BACKSLASH) throw new Odd();
      else if (code === 40 || code === 91 || code === OPEN_BRACE) depth++;
      else if (code === 41 || code === 93) depth--;
      else if (code === COLON && depth === 0) return this.#endOfFormat(at + 1);
      else if (code === CLOSE_BRACE && depth-- === 0) return at;
    }
    throw new Odd();
  }

  /** What follows the colon of a field is text again, with fields of its own. */
  #endOfFormat(from: number): number {
    const { text } = this;
    let quietFrom = from;
    for (let at = from; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code === OPEN_BRACE) {
        if (at > quietFrom) this.#quiet.push(quietFrom, at);
        at = this.#endOfField(at + 1);
        quietFrom = at + 1;
      } else if (code === CLOSE_BRACE) {
        if (at > quietFrom) this.#quiet.push(quietFrom, at);
        return at;
      } else if (code === NEWLINE) throw new Odd();
    }
    throw new Odd();
  }
}

const FORMATTED = /(?<![\w\u0080-\uffff])(?:[rR]?[fFtT]|[fFtT][rR])$/;

/** Whether the prefix of the string that starts with this quote has an `f` or a `t`. */
function isFormatted(text: string, quote: number): boolean {
  const last = text.charCodeAt(quote - 1) | 32;
  // f, r, t: the letters that such a prefix ends with.
  if (last !== 102 && last !== 114 && last !== 116) return false;
  return FORMATTED.test(text.slice(Math.max(0, quote - 3), quote));
}
