const WORD_AT_END = /[\w\u0080-\uffff]+$/;
const WORD_AT_START = /^[\w\u0080-\uffff]+/;
const COMMENT = /#[^\r\n]*[\r\n]/g;
const GAP = /^[\s()\\]+|[\s()\\]+$/g;
/** How far from an operator its operand is looked for. */
const REACH = 120;

/** The names next to an operator, across spaces, parentheses, comments and line ends, going by the text alone. */
export function namesBeside(text: string, operator: string, side: 'before' | 'around'): ReadonlySet<string> {
  const found = new Set<string>();
  const add = (word: string | undefined): void => {
    if (word !== undefined && !/^\d/.test(word)) found.add(word);
  };
  for (let at = text.indexOf(operator); at !== -1; at = text.indexOf(operator, at + 1)) {
    for (const word of wordsBefore(text, at)) add(word);
    if (side === 'around') for (const word of wordsBehind(text, at + operator.length)) add(word);
  }
  return found;
}

function wordsBefore(text: string, end: number): readonly (string | undefined)[] {
  let at = end - 1;
  while (isGap(text.charCodeAt(at))) {
    // A comment may stand between; a `#` may as well be in a string, so both readings count.
    if (text.charCodeAt(at) === 10) return readings(text.slice(Math.max(0, end - REACH), end), WORD_AT_END);
    at--;
  }
  const last = at + 1;
  const first = startOfWord(text, last);
  return first === last ? [] : [text.slice(first, last)];
}

function wordsBehind(text: string, start: number): readonly (string | undefined)[] {
  let at = start;
  while (isGap(text.charCodeAt(at))) at++;
  if (text.charCodeAt(at) === 35) return readings(text.slice(start, start + REACH), WORD_AT_START);
  const first = at;
  while (isWordPart(text.charCodeAt(at))) at++;
  return first === at ? [] : [text.slice(first, at)];
}

/** The word beside an operator, with comments taken for text and with comments left out. */
function readings(text: string, word: RegExp): readonly (string | undefined)[] {
  return [text, text.replace(COMMENT, '')].map((each) => word.exec(each.replace(GAP, ''))?.[0]);
}

/** Spaces, line ends, parentheses and a backslash. */
function isGap(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13) || code === 40 || code === 41 || code === 92;
}

/** Where the word begins that ends at a place; that place where none does. */
export function startOfWord(text: string, end: number): number {
  let start = end;
  while (isWordPart(text.charCodeAt(start - 1))) start--;
  return start;
}

/** Letters, digits and underscores; all beyond ASCII counts as letters. */
export function isWordPart(code: number): boolean {
  return (
    (code >= 97 && code <= 122) ||
    (code >= 65 && code <= 90) ||
    (code >= 48 && code <= 57) ||
    code === 95 ||
    code >= 128
  );
}
