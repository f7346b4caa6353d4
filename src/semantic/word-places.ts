import { isWordPart } from '../syntax/beside.js';

/** Whether no letter, digit or underscore goes on before or behind. */
export function isWord(text: string, start: number, length: number): boolean {
  return !isWordPart(text.charCodeAt(start - 1)) && !isWordPart(text.charCodeAt(start + length));
}

/** The same for a literal whose ends need not be letters. */
export function isWhole(text: string, start: number, literal: string): boolean {
  const startsWord = isWordPart(literal.charCodeAt(0)) && isWordPart(text.charCodeAt(start - 1));
  return !startsWord && !isWordPart(text.charCodeAt(start + literal.length));
}

/** Whether a text has a literal that is not part of a longer word. A search for what stands alone costs more than one for the literal. */
export function hasWhole(text: string, literal: string): boolean {
  for (let at = text.indexOf(literal); at !== -1; at = text.indexOf(literal, at + 1))
    if (isWhole(text, at, literal)) return true;
  return false;
}

const SET_BEHIND = /(?:[\s\\]|#[^\n]*\n)*(?::|=(?!=))/y;

/** Whether what a whole literal names there is set, or given by name. */
export function isSetAt(text: string, start: number, literal: string): boolean {
  SET_BEHIND.lastIndex = start + literal.length;
  return isWhole(text, start, literal) && SET_BEHIND.test(text);
}

/** The names behind `global` and `nonlocal`, and other words there: going by the text, strings and comments included. */
export function declaredNames({ text }: { readonly text: string }): ReadonlySet<string> {
  const found = new Set<string>();
  for (const [declaration] of text.matchAll(/\b(?:global|nonlocal)[ \t\\](?:[^\r\n\\]|\\(?:\r?\n)?)*/g))
    for (const [word] of declaration.matchAll(/[\w\u0080-\uffff]+/g)) found.add(word);
  return found;
}
