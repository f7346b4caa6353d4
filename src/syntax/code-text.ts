import { placesOf } from '../text/words.js';

const OPENING = '([{';
const CLOSING = ')]}';

/** Behind the bracket that closes the one at `open`, in code without strings and comments; its end where none does. */
export function behindBracket(code: string, open: number): number {
  let depth = 0;
  for (let at = open; at < code.length; at++) {
    const turn = turnOf(code.charCodeAt(at));
    depth += turn;
    if (turn < 0 && depth === 0) return at + 1;
  }
  return code.length;
}

/** How much deeper a character leads: 1 for a bracket that opens, -1 for one that closes. */
export function turnOf(code: number): number {
  if (code === 40 || code === 91 || code === 123) return 1;
  return code === 41 || code === 93 || code === 125 ? -1 : 0;
}

/** How far back a bracket is looked for. */
const FAR_BACK = 2_000;
const CALLEE = /([\w\u0080-\uffff]*)[\s\\]*$/;

/**
 * What the call is called in whose brackets an offset stands, in code without strings and comments: the last word before
 * them. Empty where there is none, undefined where that would be a long search.
 */
export function calledAround(code: string, offset: number): string | undefined {
  let depth = 0;
  for (let at = offset - 1; at >= 0; at--) {
    const character = code[at] ?? '';
    if (CLOSING.includes(character)) depth++;
    else if (OPENING.includes(character) && --depth < 0)
      return character === '(' ? CALLEE.exec(code.slice(Math.max(0, at - FAR_BACK), at))?.[1] : '';
    if (offset - at > FAR_BACK) return undefined;
  }
  return '';
}

/** From an offset to the end of its logical line, in code without strings and comments. */
export function restOfLine(code: string, from: number): string {
  let depth = 0;
  for (let at = from; at < code.length; at++) {
    const character = code[at] ?? '';
    if (OPENING.includes(character)) depth++;
    else if (CLOSING.includes(character)) depth--;
    else if (character === '\\') at += code[at + 1] === '\r' ? 2 : 1;
    else if ((character === '\n' || character === ';') && depth <= 0) return code.slice(from, at);
  }
  return code.slice(from);
}

/** The line end, or the end of the code, that ends the logical line. */
function endOfLine(code: string, from: number): number {
  let depth = 0;
  const { length } = code;
  for (let at = from; at < length; at++) {
    const character = code.charCodeAt(at);
    if (character === 10) {
      if (depth <= 0) return at;
    } else if (character === 92) at += code.charCodeAt(at + 1) === 13 ? 2 : 1;
    else depth += turnOf(character);
  }
  return length;
}

const LINK = /[\s\\]*\.[\s\\]*(\w+)[\s\\]*(\()?/y;

/** The methods that are called on the result of the call whose arguments open there, one on the other: `f(…).a().b()`. */
export function* methodsBehind(code: string, open: number): Generator<string> {
  for (let at = behindBracket(code, open); ; ) {
    LINK.lastIndex = at;
    const [link = '', name = '', isCalled] = LINK.exec(code) ?? [];
    if (isCalled === undefined) return;
    yield name;
    at = behindBracket(code, at + link.length - 1);
  }
}

/** A logical line, and the line whose block it stands in. */
export interface CodeLine {
  readonly text: string;
  readonly outer: CodeLine | undefined;
}

/** The logical lines of code without strings and comments, blank ones left out. */
export function linesOf(code: string): readonly CodeLine[] {
  const lines: CodeLine[] = [];
  const open: { readonly line: CodeLine; readonly indent: number }[] = [];
  for (let start = 0; start < code.length; ) {
    let indent = 0;
    let at = start;
    for (; code[at] === ' ' || code[at] === '\t'; at++)
      indent = code[at] === '\t' ? (indent | 7) + 1 : indent + 1;
    const end = endOfLine(code, at);
    start = end + 1;
    const text = code.slice(at, end);
    if (text.trim() === '') continue;
    while ((open.at(-1)?.indent ?? -1) >= indent) open.pop();
    const line = { text, outer: open.at(-1)?.line };
    open.push({ line, indent });
    lines.push(line);
  }
  return lines;
}

const LOOP = /^(?:async[ \t]+)?(?:for|while)\b/;
const ELSE = /^else\b/;

const DEFINITION = /^(?:(?:async[ \t]+)?def|class)\b/;

/** The line of the function that a line stands in; undefined where it is in none, or in a class in between. */
export function functionAround({ outer }: CodeLine): CodeLine | undefined {
  let at = outer;
  while (at !== undefined && !DEFINITION.test(at.text)) at = at.outer;
  return at?.text.startsWith('class') ? undefined : at;
}

/** Whether a line starts a loop, or stands in one; a function in between does not count. */
export function isInLoop(line: CodeLine): boolean {
  return isWithin(line, LOOP);
}

/** The line of the innermost loop that a line starts or stands in. */
export function loopAround(line: CodeLine): CodeLine | undefined {
  let loop: CodeLine | undefined = line;
  while (loop !== undefined && !LOOP.test(loop.text)) loop = loop.outer;
  return loop;
}

/** Tells the lines of a loop, and more: an `else` beside it may be its own. */
export function loopsAmong(lines: readonly CodeLine[]): (loop: CodeLine | undefined) => readonly CodeLine[] {
  const places = new Map(lines.map((line, at) => [line, at]));
  const elses = new Map<CodeLine | undefined, CodeLine[]>();
  for (const line of lines) {
    if (!ELSE.test(line.text)) continue;
    const others = elses.get(line.outer);
    if (others === undefined) elses.set(line.outer, [line]);
    else others.push(line);
  }
  return (loop) => {
    const headers = [...(loop === undefined ? [] : [loop]), ...(elses.get(loop?.outer) ?? [])];
    return headers.flatMap((header) => {
      const first = places.get(header) ?? lines.length;
      let end = first + 1;
      while (isInside(lines[end], header)) end++;
      return lines.slice(first, end);
    });
  };
}

function isInside(line: CodeLine | undefined, header: CodeLine): boolean {
  let outer = line?.outer;
  while (outer !== undefined && outer !== header) outer = outer.outer;
  return outer !== undefined;
}

/** Lines by words that are found in them, in order. */
export function linesBy(
  lines: readonly CodeLine[],
  wordsIn: (text: string) => readonly string[],
): ReadonlyMap<string, readonly CodeLine[]> {
  const found = new Map<string, CodeLine[]>();
  for (const line of lines) {
    for (const word of new Set(wordsIn(line.text))) {
      const known = found.get(word);
      if (known === undefined) found.set(word, [line]);
      else known.push(line);
    }
  }
  return found;
}

/** Whether a line, or one whose block it stands in, reads so. */
export function isWithin(line: CodeLine, header: RegExp): boolean {
  for (let at: CodeLine | undefined = line; at !== undefined; at = at.outer)
    if (header.test(at.text)) return true;
  return false;
}

/** No site has subscripts nested deeper. */
const DEEPEST = 8;
const SUBSCRIPT = /\[[^[\]]*\]/g;

/** Code in which `a[…]` reads `a.at`, also in each other; for what only asks which names follow which. */
export function withoutSubscripts(code: string): string {
  let before = code;
  let after = code.replace(SUBSCRIPT, '.at');
  for (let depth = 1; after !== before && depth < DEEPEST; depth++)
    [before, after] = [after, after.replace(SUBSCRIPT, '.at')];
  return after;
}

/** By name, the lines of a text that have it otherwise than as an attribute: one look at the text for all of them. */
export function linesNaming(text: string, names: Iterable<string>): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const [name, places] of placesOf(new Set(names), text)) {
    const lines: string[] = [];
    let end = -1;
    for (const place of places) {
      if (place < end) continue;
      const start = text.lastIndexOf('\n', place) + 1;
      end = text.indexOf('\n', place);
      if (end === -1) end = text.length;
      lines.push(text.slice(start, end));
    }
    found.set(name, lines);
  }
  return found;
}

/** No other function is defined inside. */
export function isOneFunction(text: string): boolean {
  return text.indexOf('def ') === text.lastIndexOf('def ') && !text.includes('lambda');
}

/** Whether what stands before a word somewhere in a text, a few words of it, reads so. */
export function someBefore(text: string, word: string, before: RegExp): boolean {
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1))
    if (before.test(text.slice(Math.max(0, at - 40), at))) return true;
  return false;
}

/** Where the characters before a place start that are all of a kind. */
export function startOfRun(code: string, end: number, kind: RegExp): number {
  let start = end;
  while (start > 0 && kind.test(code[start - 1] ?? '')) start--;
  return start;
}

/** From an offset to the end of its logical line, or a little further. */
export function restOfStatement(text: string, from: number, reach: number): string {
  let depth = 0;
  for (const match of text
    .slice(from, from + reach)
    .matchAll(/#[^\r\n]*|(["'])(?:\\.|(?!\1).)*\1|[([{]|[)\]}]|\\?\r?\n|\\?\r/g)) {
    const [token] = match;
    if ('([{'.includes(token)) depth++;
    else if (')]}'.includes(token)) depth--;
    else if (/^[\r\n]/.test(token) && depth <= 0) return text.slice(from, from + match.index);
  }
  return text.slice(from, from + reach);
}
