/** A byte that is part of a word, and 0 for others: letters, digits, underscores, and anything beyond ASCII. */
const PARTS = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x80 || /\w/.test(String.fromCharCode(byte)) ? byte : 0,
);

/**
 * Which words may occur in bytes, in a small fraction of their size: three bits of a table for each word. No word that is
 * there is ever missed; of those that are not, about one in three hundred seems to be.
 */
export class Signature {
  readonly #bits: Uint8Array;
  /** Leaves of a hash what numbers a bit of the table. */
  readonly #shift: number;
  /** Files with the same words have different tables, so that what seems to be in one does not in all of them. */
  readonly #salt: number;

  constructor(bytes: Uint8Array) {
    const size = Math.max(9, Math.ceil(Math.log2(bytes.length / 1.5 + 1)));
    this.#bits = new Uint8Array(2 ** (size - 3));
    this.#shift = 32 - size;
    this.#salt = bytes.length;
    // Most words have just been seen.
    const seen = new Int32Array(SEEN);
    const { length } = bytes;
    for (let at = 0; at < length; at++) {
      let part = PARTS[bytes[at] as number] as number;
      if (part === 0) continue;
      let hash = START;
      for (; part !== 0; part = at < length ? (PARTS[bytes[at] as number] as number) : 0) {
        hash = Math.imul(hash ^ part, PRIME);
        at++;
      }
      const slot = (hash ^ (hash >>> 16)) & (SEEN - 1);
      if (seen[slot] === hash) continue;
      seen[slot] = hash;
      this.#add(hash);
    }
  }

  /** `hash`: of the word. */
  mayHave(hash: number): boolean {
    const first = mix(hash ^ this.#salt);
    const second = mix(first);
    return this.#has(first) && this.#has(second) && this.#has(mix(second));
  }

  #add(hash: number): void {
    const first = mix(hash ^ this.#salt);
    const second = mix(first);
    this.#set(first);
    this.#set(second);
    this.#set(mix(second));
  }

  #set(hash: number): void {
    const bit = hash >>> this.#shift;
    this.#bits[bit >>> 3] = (this.#bits[bit >>> 3] as number) | (1 << (bit & 7));
  }

  #has(hash: number): boolean {
    const bit = hash >>> this.#shift;
    return ((this.#bits[bit >>> 3] as number) & (1 << (bit & 7))) !== 0;
  }
}

/** A power of two. */
const SEEN = 2048;

/** Of Fowler, Noll and Vo. */
const START = 0x811c9dc5 | 0;
const PRIME = 0x01000193;

export function hashOf(word: string): number {
  let hash = START;
  for (const byte of Buffer.from(word)) hash = Math.imul(hash ^ byte, PRIME);
  return hash;
}

/** Words that differ in their last letter get bits far apart. */
function mix(hash: number): number {
  const half = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  const most = Math.imul(half ^ (half >>> 13), 0xc2b2ae35);
  return most ^ (most >>> 16);
}

/** Finds an identifier where it stands by itself. */
export function wholeWord(word: string): RegExp {
  return new RegExp(`(?<![\\w\\u0080-\\uffff])${word}(?![\\w\\u0080-\\uffff])`);
}

/** Where names stand that are no attributes: one look at the text for all of them. */
export function placesOf(names: ReadonlySet<string>, text: string): ReadonlyMap<string, readonly number[]> {
  const places = new Map<string, number[]>([...names].map((name) => [name, []]));
  for (const { 0: word, index } of text.matchAll(/(?<!\.)[\w\u0080-\uffff]+/g)) places.get(word)?.push(index);
  return places;
}
