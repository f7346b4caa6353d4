/** What a stretch of Python is, for its colour. */
export type TokenKind =
  | 'keyword'
  | 'constant'
  | 'builtin'
  | 'string'
  | 'comment'
  | 'number'
  | 'definition'
  | 'call'
  | 'decorator'
  | 'plain';

export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
}

/** The quotes of a string that goes on from the line before; empty between strings. */
export type OpenString = '' | "'" | '"' | "'''" | '"""';

const KEYWORDS = new Set(
  (
    'and as assert async await break case class continue def del elif else except finally for from global if ' +
    'import in is lambda match nonlocal not or pass raise return try while with yield'
  ).split(' '),
);
const CONSTANTS = new Set(['True', 'False', 'None', 'self', 'cls', 'NotImplemented', 'Ellipsis']);
const BUILTINS = new Set(
  (
    'abs all any bool bytes dict enumerate filter float getattr hasattr int isinstance len list map max min next ' +
    'object open print property range repr reversed round set setattr sorted staticmethod classmethod str sum super ' +
    'tuple type zip'
  ).split(' '),
);

/** One token each, from where it stands; every character is some token. */
const TOKEN = new RegExp(
  [
    /(?<comment>#.*)/u,
    /(?<string>\b[rbfut]{0,2}(?:'''|"""|'|")|'''|"""|'|")/u,
    /(?<decorator>@[\w.]+)/u,
    /(?<number>\b(?:0[xob][\da-f_]+|\d[\d_]*(?:\.[\d_]*)?(?:e[+-]?\d+)?)j?)/u,
    /(?<word>[\p{L}_][\p{L}\p{N}_]*)/u,
    /(?<other>\s+|[^\p{L}\p{N}_\s#'"@]+|.)/u,
  ]
    .map(({ source }) => source)
    .join('|'),
  'iuy',
);

/** The tokens of one line without its end, and the string that is open behind it. */
export function tokensOf(
  line: string,
  open: OpenString,
): { readonly tokens: readonly Token[]; readonly open: OpenString } {
  const tokens: Token[] = [];
  let at = 0;
  let inside = open;
  const takeString = (from: number): void => {
    const end = endOfString(line, at, inside);
    const isOver = end !== undefined;
    at = end ?? line.length;
    if (at > from) tokens.push({ kind: 'string', text: line.slice(from, at) });
    if (isOver || (inside.length === 1 && !line.endsWith('\\'))) inside = '';
  };
  if (inside !== '') takeString(0);
  while (at < line.length) {
    TOKEN.lastIndex = at;
    const groups = TOKEN.exec(line)?.groups ?? {};
    const text = Object.values(groups).find((group) => group !== undefined) ?? line.slice(at);
    const from = at;
    at += text.length;
    if (groups['string'] === undefined) tokens.push({ kind: kindOf(groups, line, from, at), text });
    else {
      inside = /(?:'''|"""|'|")$/.exec(text)?.[0] as OpenString;
      takeString(from);
    }
  }
  return { tokens, open: inside };
}

/** Where the string that is open at `from` ends, its quotes included. */
function endOfString(line: string, from: number, quotes: OpenString): number | undefined {
  for (let at = from; at < line.length; at++) {
    if (line[at] === '\\') at++;
    else if (line.startsWith(quotes, at)) return at + quotes.length;
  }
  return undefined;
}

function kindOf(
  groups: Readonly<Record<string, string | undefined>>,
  line: string,
  from: number,
  to: number,
): TokenKind {
  if (groups['comment'] !== undefined) return 'comment';
  if (groups['number'] !== undefined) return 'number';
  if (groups['decorator'] !== undefined) return line.slice(0, from).trim() === '' ? 'decorator' : 'plain';
  const { word } = groups;
  if (word === undefined) return 'plain';
  if (CONSTANTS.has(word)) return 'constant';
  if (KEYWORDS.has(word)) return 'keyword';
  if (/\b(?:def|class)\s+$/.test(line.slice(0, from))) return 'definition';
  if (BUILTINS.has(word) && line[from - 1] !== '.') return 'builtin';
  return line[to] === '(' ? 'call' : 'plain';
}

/** The string that is open behind a line. */
function openAfter(line: string, open: OpenString): OpenString {
  let inside = open;
  for (let at = 0; at < line.length; ) {
    if (inside === '') {
      QUOTE.lastIndex = at;
      const found = QUOTE.exec(line)?.[0] ?? '#';
      if (found === '#') return '';
      inside = found as OpenString;
      at = QUOTE.lastIndex;
    }
    const end = endOfString(line, at, inside);
    if (end === undefined) return inside.length === 3 || line.endsWith('\\') ? inside : '';
    at = end;
    inside = '';
  }
  return inside;
}

const QUOTE = /#|'''|"""|'|"/g;

/** Which string is open where a line begins. */
export class OpenStrings {
  readonly #lines: readonly string[];
  readonly #open: OpenString[] = [''];

  constructor(readonly text: string) {
    this.#lines = text.split('\n');
  }

  /** Zero-based. */
  before(line: number): OpenString {
    for (let at = this.#open.length; at <= Math.min(line, this.#lines.length); at++)
      this.#open.push(openAfter(this.#lines[at - 1] ?? '', this.#open[at - 1] ?? ''));
    return this.#open[line] ?? '';
  }
}
