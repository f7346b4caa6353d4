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
  #index: ReadonlyMap<number, readonly number[]> | undefined;

  constructor(private readonly text: string) {}

  /** Where a part of the text has a word. */
  of(word: string, part: Span): readonly number[] {
    const { text } = this;
    const { start, end } = part;
    // The empty word is found everywhere, for ever.
    if (word === '') return [];
    this.#searched += end - start;
    if (this.#searched > SEARCHES * text.length) return this.#noted(word, part);
    // A search in the whole text would go on beyond the part.
    const searched = text.slice(start, end);
    const found: number[] = [];
    for (let at = searched.indexOf(word); at !== -1; at = searched.indexOf(word, at + 1))
      if (isWord(text, start + at, word.length)) found.push(start + at);
    return found;
  }

  /** Where a part of the text has one of some words, in order. */
  ofAll(words: ReadonlySet<string>, part: Span): readonly (readonly [at: number, word: string])[] {
    const found: [number, string][] = [];
    for (const word of words) for (const at of this.#noted(word, part)) found.push([at, word]);
    return found.sort(([a], [b]) => a - b);
  }

  #noted(word: string, { start, end }: Span): readonly number[] {
    const { text } = this;
    this.#index ??= wordsOf(text);
    const all = this.#index.get(hashOf(word, 0, word.length)) ?? [];
    const found: number[] = [];
    for (let at = bisect(all.length, (each) => (all[each] ?? Infinity) < start); ; at++) {
      const place = all[at] ?? Infinity;
      if (place >= end) return found;
      // Other words may have the same hash.
      if (text.startsWith(word, place) && !isWordPart(text.charCodeAt(place + word.length)))
        found.push(place);
    }
  }
}

/** By the hash of each word: to cut them out would cost more than all else. */
function wordsOf(text: string): ReadonlyMap<number, readonly number[]> {
  const found = new Map<number, number[]>();
  const { length } = text;
  for (let at = 0; at < length; at++) {
    if (!isWordPart(text.charCodeAt(at))) continue;
    const start = at;
    while (isWordPart(text.charCodeAt(at))) at++;
    const hash = hashOf(text, start, at);
    const known = found.get(hash);
    if (known === undefined) found.set(hash, [start]);
    else known.push(start);
  }
  return found;
}

function hashOf(text: string, start: number, end: number): number {
  let hash = 0;
  for (let at = start; at < end; at++) hash = (Math.imul(hash, 31) + text.charCodeAt(at)) | 0;
  return hash;
}
