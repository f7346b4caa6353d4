import { bisect } from '../text/bisect.js';
import type { Span } from '../text/lines.js';
import { type Outline, outlineOf } from './outline.js';
import { isBetween } from './within.js';

/** A text before it is parsed: what can be told from a quick reading, made on first use and kept. */
export class Glimpse {
  #outline: Outline | null | undefined;
  #repeating: ReadonlySet<number> | undefined;
  /** By piece of the outline, and for all that is outside of them: each is cut when it is asked for. */
  readonly #stretches: string[] = [];
  readonly #places = new Map<string, readonly number[]>();
  readonly #holders = new Map<string, readonly number[]>();
  readonly #facts = new Map<unknown, unknown>();

  constructor(
    readonly text: string,
    /** Words that are known not to be in the text. */
    private readonly absent: ReadonlySet<string> = new Set(),
  ) {}

  get outline(): Outline | undefined {
    if (this.#outline === undefined) this.#outline = outlineOf(this.text) ?? null;
    return this.#outline ?? undefined;
  }

  /**
   * The code of each outermost function with its decorators, and, last, of all that is outside of them: comments are left out,
   * and strings are empty but for the code in their fields. Where that cannot be told, the whole text is one stretch.
   */
  get stretches(): readonly string[] {
    for (let index = 0; index <= this.#pieces.length; index++) this.stretch(index);
    return this.#stretches;
  }

  /** That of a piece of the outline, or, behind the last, of all that is outside. */
  stretch(index: number): string {
    this.#stretches[index] ??= codeOf(this.text, this.outline, index);
    return this.#stretches[index];
  }

  get outside(): string {
    return this.stretch(this.#pieces.length);
  }

  /** The stretches in which a loop starts. */
  get repeating(): readonly string[] {
    return [...this.#loopers].map((index) => this.stretch(index));
  }

  /** The stretches that have one of some words, none with a quote or a `#` in it: the others are not even cut. */
  stretchesWith(...words: readonly string[]): readonly string[] {
    return this.#holding(words).map((index) => this.stretch(index));
  }

  /** The same, of those in which a loop starts. */
  repeatingWith(...words: readonly string[]): readonly string[] {
    return this.#holding(words).flatMap((index) => (this.#loopers.has(index) ? this.stretch(index) : []));
  }

  /** Where a word, which is not empty, stands in the text. */
  placesOf(word: string): readonly number[] {
    let places = this.#places.get(word);
    if (places === undefined) {
      places = this.absent.has(word) ? [] : placesOf(word, this.text);
      this.#places.set(word, places);
    }
    return places;
  }

  /** What is told from it once: `make` must be a module-level function. */
  memo<V>(make: (glimpse: Glimpse) => V): V {
    if (!this.#facts.has(make)) this.#facts.set(make, make(this));
    return this.#facts.get(make) as V;
  }

  get #pieces(): Outline['pieces'] {
    return this.outline?.pieces ?? [];
  }

  /** Which stretches have a loop. */
  get #loopers(): ReadonlySet<number> {
    this.#repeating ??= new Set(
      this.outline === undefined
        ? [0].filter(() => LOOP.test(this.text))
        : holdersOf(this.outline.loops, this.#pieces),
    );
    return this.#repeating;
  }

  #holding(words: readonly string[]): readonly number[] {
    const all = words.map((word) => {
      const known = this.#holders.get(word);
      if (known !== undefined) return known;
      const places = this.placesOf(word);
      // A word that is nowhere takes no outline.
      const holders = places.length === 0 ? [] : holdersOf(places, this.#pieces, this.outline?.quiet);
      this.#holders.set(word, holders);
      return holders;
    });
    return all.length === 1 ? (all[0] ?? []) : [...new Set(all.flat())].sort((a, b) => a - b);
  }
}

const LOOP = /^[ \t]*(?:async[ \t]+)?(?:for|while)\b/m;

export function placesOf(word: string, text: string): readonly number[] {
  const places: number[] = [];
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1)) places.push(at);
  return places;
}

/** Which pieces have places, in order, and whether what is outside of them has, which counts as the last; quiet places aside. */
function holdersOf(
  places: readonly number[],
  pieces: Outline['pieces'],
  quiet: readonly number[] = [],
): readonly number[] {
  const holders: number[] = [];
  let isOutside = false;
  let index = 0;
  for (const place of places) {
    while (index < pieces.length && (pieces[index]?.end ?? Infinity) <= place) index++;
    const { decorated = Infinity, bodyStart = Infinity } = pieces[index] ?? {};
    const isNew = place >= decorated && holders.at(-1) !== index;
    // The header of a function is outside as well.
    const isNewOutside: boolean = place < bodyStart && !isOutside;
    if (!(isNew || isNewOutside) || isBetween(quiet, place)) continue;
    if (isNew) holders.push(index);
    isOutside ||= isNewOutside;
  }
  return isOutside ? [...holders, pieces.length] : holders;
}

function codeOf(text: string, outline: Outline | undefined, index: number): string {
  if (outline === undefined) return text;
  const { quiet, pieces } = outline;
  const piece = pieces[index];
  if (piece !== undefined) return codeBetween(text, quiet, piece.decorated, piece.end);
  let outside = '';
  let from = 0;
  for (const { bodyStart, end } of pieces) {
    // The body starts on a line of its own.
    outside += codeBetween(text, quiet, from, text.lastIndexOf('\n', bodyStart) + 1);
    from = end;
  }
  return outside + codeBetween(text, quiet, from, text.length);
}

/** A text without what is quiet in it. */
function codeBetween(text: string, quiet: readonly number[], start: number, end: number): string {
  let code = '';
  let at = start;
  for (let next = firstFrom(quiet, start); (quiet[next] ?? end) < end; next += 2) {
    const quietFrom = quiet[next] ?? end;
    code += text.slice(at, quietFrom);
    if (text[quietFrom] !== '#') code += '""';
    at = quiet[next + 1] ?? end;
  }
  return code + text.slice(at, end);
}

/** Of starts and ends in turn, where the first that starts there or behind stands. */
function firstFrom(quiet: readonly number[], offset: number): number {
  const low = bisect(quiet.length >>> 1, (at) => (quiet[at * 2] ?? Infinity) < offset);
  return low * 2;
}

/** Which of some spans, in order, holds an offset. */
export function spanAt(spans: readonly Span[], offset: number): number | undefined {
  const low = bisect(spans.length, (at) => (spans[at]?.start ?? Infinity) <= offset);
  const span = spans[low - 1];
  return span !== undefined && offset < span.end ? low - 1 : undefined;
}
