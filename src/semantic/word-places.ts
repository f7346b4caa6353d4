import { isWordPart } from '../syntax/beside.js';
import { bisect } from '../text/bisect.js';
import type { Span } from '../text/lines.js';

/** Whether no letter, digit or underscore goes on before or behind. */
function isWord(text: string, start: number, length: number): boolean {
  return !isWordPart(text.charCodeAt(start - 1)) && !isWordPart(text.charCodeAt(start + length));
}

/** The whole word at a place. */
export function wordAround(text: string, offset: number): string {
  let start = offset;
  while (isWordPart(text.charCodeAt(start - 1))) start--;
  let end = offset;
  while (isWordPart(text.charCodeAt(end))) end++;
  return text.slice(start, end);
}

/** Whether a literal whose ends need not be letters is no part of a longer word. */
export function isWhole(text: string, start: number, literal: string): boolean {
  const startsWord = isWordPart(literal.charCodeAt(0)) && isWordPart(text.charCodeAt(start - 1));
  return !startsWord && !isWordPart(text.charCodeAt(start + literal.length));
}

/** Whether a text has a literal that is not part of a longer word. A search for what stands alone costs more than one for the literal. */
export function hasWhole(text: string, literal: string): boolean {
  if (literal === '') return false;
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

/** Searching a text so many times takes as long as noting where all of its words are. */
const SEARCHES = 24;

/** Where words stand in a text. */
export class WordPlaces {
  #searched = 0;
  #index: ReadonlyMap<string, readonly number[]> | undefined;

  constructor(private readonly text: string) {}

  /** Where a part of the text has a word. */
  *of(word: string, part: Span): Generator<number> {
    const { text } = this;
    const { start, end } = part;
    // The empty word is found everywhere, for ever.
    if (word === '') return;
    this.#searched += end - start;
    if (this.#searched > SEARCHES * text.length) {
      const all = this.#all.get(word) ?? [];
      const first = bisect(all.length, (at) => (all[at] ?? Infinity) < start);
      for (let at = first; (all[at] ?? Infinity) < end; at++) yield all[at] ?? Infinity;
      return;
    }
    // A search in the whole text would go on beyond the part.
    const searched = text.slice(start, end);
    for (let at = searched.indexOf(word); at !== -1; at = searched.indexOf(word, at + 1))
      if (isWord(text, start + at, word.length)) yield start + at;
  }

  get #all(): ReadonlyMap<string, readonly number[]> {
    this.#index ??= wordsOf(this.text);
    return this.#index;
  }
}

function wordsOf(text: string): ReadonlyMap<string, readonly number[]> {
  const found = new Map<string, number[]>();
  for (const { 0: word, index } of text.matchAll(/[\w\u0080-\uffff]+/g)) {
    const known = found.get(word);
    if (known === undefined) found.set(word, [index]);
    else known.push(index);
  }
  return found;
}
