import type { Outline } from './outline.js';

/**
 * Whether a text may be something that tree-sitter parses and Python does not: wrong indentation, an empty suite, or arguments in
 * the wrong order. It goes by lines, words and brackets, so it costs next to nothing, and it
 * only raises the question: a second parser answers it. What it does not see, that parser sees before anything is changed.
 */
export function mayBeForgiven(text: string, outline: Outline | undefined): boolean {
  return outline === undefined || new Doubter(text, outline.quiet).finds();
}

/** An open bracket, and what of its items is known so far. */
interface Bracket {
  readonly role: 'arguments' | 'parameters' | 'other';
  /** Parentheses that are not arguments. */
  readonly isTuple: boolean;
  readonly names: string[];
  isKeywordSeen: boolean;
  isMappingSeen: boolean;
  isStarSeen: boolean;
  isCommaSeen: boolean;
  /** Of the item in hand: where its code starts and ends so far, and its `=`. */
  start: number;
  end: number;
  equals: number;
}

/** The indentation of a block; with each tab counted as one column, too: both must agree, or tabs and spaces are mixed. */
interface Indentation {
  readonly width: number;
  readonly narrow: number;
}

const DEFINITION = /(?:^|[^\w.])def[ \t]+\w+$/u;
/** Words after which a bracket opens no arguments. */
const NO_CALLEE =
  /(?:^|[^\w.])(?:and|as|assert|async|await|case|class|del|elif|else|except|for|from|if|import|in|is|lambda|match|not|or|raise|return|while|with|yield)$/u;
const NAME = /^[\p{L}_][\p{L}\p{N}_]*$/u;
/** An operator, or the comma of an import, with nothing after it. */
const UNFINISHED =
  /^(?:from|import)\b.*,$|[-=+*/%&|^~<>.@!]$|\b(?:and|as|await|from|if|import|in|is|lambda|not|or)$/;

/** A star where only several values can follow. */
const STARRED = /(?:[=:]|\b(?:and|assert|await|elif|if|in|not|or|return|while|yield))\s*\*(?!\*)/;

/** `async` before something else. */
const LOST_ASYNC = /\basync\b(?!\s+(?:def|for|with)\b)/;

const STAR_TWICE = /^\*\s+\*/;

/** Only items shorter than this are looked into: in brackets in brackets, the same text is in many of them. */
const NEARBY = 1_000;

const NEWLINE = 10;
const HASH = 35;
const COMMA = 44;
const BACKSLASH = 92;
const STAR = 42;

/** What a character means here: most are part of a word or an operator. A backslash ends a line, which is blank space. */
const [WORD, BLANK, OPEN, CLOSE, SIGN] = [0, 1, 2, 3, 4];
const KINDS = new Uint8Array(128).fill(WORD);
for (const [letters, kind] of [
  [' \t\r\n\\', BLANK],
  ['([{', OPEN],
  [')]}', CLOSE],
  [',=', SIGN],
] as const)
  for (const letter of letters) KINDS[letter.charCodeAt(0)] = kind;

class Doubter {
  #at = 0;
  /** Of the strings and comments, the next one. */
  #quiet = 0;
  readonly #blocks: Indentation[] = [{ width: 0, narrow: 0 }];
  /** The line above ends in a colon: what comes next stands further in. */
  #isBlockAwaited = false;

  constructor(
    private readonly text: string,
    private readonly quiet: readonly number[],
  ) {}

  finds(): boolean {
    while (this.#at < this.text.length) if (this.#doubtsLine()) return true;
    return this.#isBlockAwaited;
  }

  /** One logical line, or a blank one. */
  #doubtsLine(): boolean {
    const { text } = this;
    let width = 0;
    let narrow = 0;
    let at = this.#at;
    for (let code = text.charCodeAt(at); code === 32 || code === 9; code = text.charCodeAt(++at)) {
      width = code === 9 ? (width | 7) + 1 : width + 1;
      narrow++;
    }
    this.#at = at;
    const code = this.#readLine();
    if (code === '') return false;
    if (code === undefined || this.#doubtsIndentation({ width, narrow }) || doubtsCode(code)) return true;
    this.#isBlockAwaited = code.endsWith(':');
    return false;
  }

  #doubtsIndentation(line: Indentation): boolean {
    const blocks = this.#blocks;
    const top = blocks.at(-1);
    if (top === undefined) return true;
    if (this.#isBlockAwaited) {
      blocks.push(line);
      return line.width <= top.width || line.narrow <= top.narrow;
    }
    while ((blocks.at(-1)?.width ?? 0) > line.width) blocks.pop();
    const now = blocks.at(-1);
    return now?.width !== line.width || now.narrow !== line.narrow;
  }

  /** Its code, with nothing between brackets; undefined where arguments or parameters are in doubt. */
  #readLine(): string | undefined {
    const { text, quiet } = this;
    const open: Bracket[] = [];
    let bracket: Bracket | undefined;
    let code = '';
    let from = this.#at;
    let at = this.#at;
    while ((quiet[this.#quiet] ?? Infinity) < at) this.#quiet += 2;
    let silence = quiet[this.#quiet] ?? Infinity;
    for (; at < text.length; at++) {
      if (at === silence) {
        const isComment = text.charCodeAt(at) === HASH;
        const end = quiet[this.#quiet + 1] ?? text.length;
        if (bracket === undefined) {
          code += text.slice(from, at) + (isComment ? '' : '""');
          from = end;
        } else if (!isComment) touch(bracket, at, end);
        this.#quiet += 2;
        silence = quiet[this.#quiet] ?? Infinity;
        at = end - 1;
        continue;
      }
      const letter = text.charCodeAt(at);
      const kind = letter > 127 ? WORD : (KINDS[letter] ?? WORD);
      if (kind === WORD) {
        if (bracket !== undefined) touch(bracket, at, at + 1);
      } else if (kind === BLANK) {
        if (letter === NEWLINE && bracket === undefined) break;
        if (letter === BACKSLASH) at = text.indexOf('\n', at);
      } else if (kind === OPEN) {
        if (bracket === undefined) code += text.slice(from, at + 1);
        else touch(bracket, at, at + 1);
        bracket = this.#opened(at);
        open.push(bracket);
      } else if (kind === CLOSE) {
        const closed = open.pop();
        if (closed === undefined || doubtsItem(closed, text, false)) return undefined;
        bracket = open.at(-1);
        if (bracket === undefined) from = at;
        else touch(bracket, at, at + 1);
      } else if (bracket !== undefined) {
        if (letter === COMMA) {
          // The commas of a lambda's parameters end no item.
          if (/\blambda\b[^:]*$/.test(text.slice(bracket.start, at))) continue;
          if (doubtsItem(bracket, text, true)) return undefined;
        } else {
          if (bracket.equals === -1 && isAlone(text, at)) bracket.equals = at;
          touch(bracket, at, at + 1);
        }
      }
    }
    if (open.length > 0) return undefined;
    const rest = text.slice(from, Math.min(at, text.length));
    this.#at = at + 1;
    return (code + rest).replace(/\\\r?\n/g, ' ').trim();
  }

  #opened(at: number): Bracket {
    const before = this.text.slice(Math.max(0, at - 200), at).trimEnd();
    const isCall = this.text[at] === '(' && /[\w\])]$/u.test(before) && !NO_CALLEE.test(before);
    const role = !isCall ? 'other' : DEFINITION.test(before) ? 'parameters' : 'arguments';
    return {
      role,
      isTuple: role === 'other' && this.text[at] === '(',
      names: [],
      isKeywordSeen: false,
      isMappingSeen: false,
      isStarSeen: false,
      isCommaSeen: false,
      start: -1,
      end: -1,
      equals: -1,
    };
  }
}

function touch(bracket: Bracket, start: number, end: number): void {
  if (bracket.start === -1) bracket.start = start;
  bracket.end = end;
}

/** A `=` that is no part of `==`, `<=` or `:=`. */
function isAlone(text: string, at: number): boolean {
  return text[at + 1] !== '=' && !/[=!<>:]/.test(text[at - 1] ?? '');
}

/** Whether the item that just ended cannot follow the ones before it. */
function doubtsItem(bracket: Bracket, text: string, isFollowed: boolean): boolean {
  const { role, names, start, end, equals } = bracket;
  bracket.start = -1;
  bracket.equals = -1;
  if (start === -1) return false;
  const item = text.slice(start, end);
  const isStar = text.charCodeAt(start) === STAR;
  if (isStar && STAR_TWICE.test(item)) return true;
  if (item.length < NEARBY && (doubtsNaming(item) || (isFollowed && isGenerator(item)))) return true;
  bracket.isCommaSeen ||= isFollowed;
  // `(*a)` is no tuple, and nothing is `(**a, b)`.
  if (role === 'other') return isStar && bracket.isTuple && (!bracket.isCommaSeen || item.startsWith('**'));
  const named =
    role === 'parameters'
      ? item.replace(/^\*+\s*/, '').split(/[:=]/)[0]
      : text.slice(start, Math.max(start, equals));
  // Python compares names in their normal form.
  const name = named?.trim().normalize('NFKC');
  if (role === 'parameters') {
    if (/:=|\byield\b/.test(item)) return true;
    if (isStar) bracket.isStarSeen = true;
    if (name === undefined || name === '' || name === '/') return false;
    if (names.includes(name)) return true;
    names.push(name);
    if (equals !== -1) bracket.isKeywordSeen = true;
    return equals === -1 && bracket.isKeywordSeen && !bracket.isStarSeen;
  }
  if (equals === -1) {
    if (item.startsWith('**')) bracket.isMappingSeen = true;
    else if (bracket.isMappingSeen || (bracket.isKeywordSeen && !isStar)) return true;
    return false;
  }
  if (name === undefined || !NAME.test(name) || names.includes(name)) return true;
  if (/^\s*\*/.test(text.slice(equals + 1, end))) return true;
  names.push(name);
  bracket.isKeywordSeen = true;
  return false;
}

/** A name for a starred value, or for what a comprehension goes through. */
function doubtsNaming(item: string): boolean {
  // In a condition of the comprehension, a name is as good as anywhere.
  return item.includes(':=') && /:=\s*\*|\bin\b(?:(?!\bif\b).)*:=/s.test(item);
}

/** `x for x in y`, which needs brackets of its own before a comma, or is alone in those it has. */
function isGenerator(item: string): boolean {
  if (!item.includes('for') || !/\bfor\b/.test(item)) return false;
  let bare = item.replace(/(["']).*?\1/gs, '');
  for (let before = ''; before !== bare; ) {
    before = bare;
    bare = bare.replace(/[([{][^()[\]{}]*[)\]}]/g, '');
  }
  // The comma may be one of its targets.
  return /\bfor\b.*\bin\b/s.test(bare);
}

/** A line without the insides of its brackets: an operator without its operand, a target that is none. */
function doubtsCode(code: string): boolean {
  if (UNFINISHED.test(code) && !/(?:\.\.\.|import \*)$/.test(code)) return true;
  return (
    STARRED.test(code) || LOST_ASYNC.test(code) || (code.includes('=') && code.split(';').some(doubtsTargets))
  );
}

/** Targets of an assignment that are several and annotated, a single one with a star, or nothing. */
function doubtsTargets(statement: string): boolean {
  const parts = statement.split(/(?<![=!<>:+\-*/%&|^@])=(?!=)/);
  return parts.slice(0, -1).some((part) => {
    const [target = '', annotation, more] = part.split(/:(?!=)/);
    const bare = target.trim();
    // `if x: y = 1` and `lambda x: y == z` have a colon, too.
    if (
      annotation !== undefined &&
      /^(?:async|case|class|def|elif|else|except|finally|for|if|try|while|with)\b|\blambda\b/.test(bare)
    )
      return false;
    if (more !== undefined) return true;
    if (annotation !== undefined && (bare.includes(',') || parts.length > 2)) return true;
    return bare === '' || (bare.startsWith('*') && !bare.includes(','));
  });
}
