/** A byte that is part of a word, and 0 for others: letters, digits, underscores, and anything beyond ASCII. */
const PARTS = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x80 || /\w/.test(String.fromCharCode(byte)) ? byte : 0,
);

/**
 * Which words occur in bytes, and which words behind a `LEADS` word, by their hashes: nothing that is there is ever missed, and
 * one in billions only seems to be there.
 */
export class Signature {
  /** In order, each once. */
  readonly #hashes: Int32Array;

  constructor(bytes: Uint8Array) {
    const found: number[] = [];
    // Most words have just been seen.
    const seen = new Int32Array(SEEN);
    // Where a hash of 0 would be, that has not been.
    seen[0] = 1;
    const add = (hash: number): void => {
      const slot = (hash ^ (hash >>> 16)) & (SEEN - 1);
      if (seen[slot] === hash) return;
      seen[slot] = hash;
      found.push(hash);
    };
    const { length } = bytes;
    // The hash of what leads to the next word.
    let lead: number | undefined;
    for (let at = 0; at < length; ) {
      const byte = bytes[at] as number;
      let part = PARTS[byte] as number;
      if (part === 0) {
        if (lead !== undefined && BETWEEN[byte] === 0) lead = undefined;
        at++;
        continue;
      }
      let hash = START;
      const from = at;
      for (; part !== 0; part = at < length ? (PARTS[bytes[at] as number] as number) : 0) {
        hash = Math.imul(hash ^ part, PRIME);
        at++;
      }
      add(hash);
      if (lead !== undefined) add(hashBytes(bytes, from, at, lead));
      lead = LEADS.get(hash);
    }
    this.#hashes = eachOnce(Int32Array.from(found).sort());
  }

  /** `hash`: of the word, or of a phrase. */
  mayHave(hash: number): boolean {
    let from = 0;
    let to = this.#hashes.length - 1;
    while (from <= to) {
      const middle = (from + to) >>> 1;
      const there = this.#hashes[middle] as number;
      if (there === hash) return true;
      if (there < hash) from = middle + 1;
      else to = middle - 1;
    }
    return false;
  }
}

/** Of what is in order. */
function eachOnce(sorted: Int32Array): Int32Array {
  let count = 0;
  for (const hash of sorted) if (count === 0 || sorted[count - 1] !== hash) sorted[count++] = hash;
  return sorted.slice(0, count);
}

/** A power of two. */
const SEEN = 2048;

/** Of Fowler, Noll and Vo. */
const START = 0x811c9dc5 | 0;
const PRIME = 0x01000193;

export function hashOf(word: string): number {
  const bytes = Buffer.from(word);
  return hashBytes(bytes, 0, bytes.length, START);
}

function hashBytes(bytes: Uint8Array, from: number, to: number, start: number): number {
  let hash = start;
  for (let at = from; at < to; at++) hash = Math.imul(hash ^ (bytes[at] as number), PRIME);
  return hash;
}

/** Words whose followers are noted with them, and what stands between the two where code is written as usual. */
const LEADS: ReadonlyMap<number, number> = new Map(
  [
    ['def', ' '],
    ['class', ' '],
    ['self', '.'],
  ].map(([word = '', between]) => [hashOf(word), hashOf(`${word}${between}`)]),
);

/** 1 for what may stand there: dots, blanks, ends of lines and what takes them away. */
const BETWEEN = Uint8Array.from({ length: 256 }, (_, byte) =>
  /[.\s\\]/.test(String.fromCharCode(byte)) ? 1 : 0,
);

/** Whether signatures tell that a text occurs: `def name`, `class Name`, `self.name`, however much space is between. */
export function isPhrase(text: string): boolean {
  return /^(?:def |class |self\.)[\w\u0080-\uffff]+$/.test(text);
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
