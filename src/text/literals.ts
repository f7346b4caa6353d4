/** Which literals occur, by their positions in the list; asked while the bytes hold. */
interface Found {
  has(literal: number): boolean;
}

/** Finds which of some ASCII literals occur in bytes. */
export interface LiteralSearch {
  in(bytes: Uint8Array): Found;
}

/** Up to so many are found faster one by one, most of them not even looked for, than all together. */
const FEW = 6;

export function searchFor(literals: readonly string[]): LiteralSearch {
  return literals.length <= FEW ? new FewLiterals(literals) : new ManyLiterals(literals);
}

/** Looks for a literal when it is asked about, with the search that Node has. */
class FewLiterals implements LiteralSearch {
  readonly #codes: readonly Buffer[];

  constructor(literals: readonly string[]) {
    this.#codes = literals.map((literal) => Buffer.from(literal, 'latin1'));
  }

  in(bytes: Uint8Array): Found {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const answers = this.#codes.map((): boolean | undefined => undefined);
    return {
      has: (literal) => {
        answers[literal] ??= buffer.includes(this.#codes[literal] ?? '');
        return answers[literal];
      },
    };
  }
}

/**
 * Looks for all literals in one pass: the automaton of Aho and Corasick with its failure links worked out beforehand, so
 * that each byte costs one step however many literals there are.
 */
class ManyLiterals implements LiteralSearch {
  /** By state and byte: the next state. States at which a literal ends come last. */
  readonly #next: Uint16Array;
  /** The first state at which a literal ends. */
  readonly #endings: number;
  /** By state: the literals that end there. */
  readonly #ends: readonly (readonly number[])[];
  readonly #longest: number;

  constructor(literals: readonly string[]) {
    const codes = literals.map((literal) => Buffer.from(literal, 'latin1'));
    this.#longest = Math.max(0, ...codes.map(({ length }) => length));
    const used = [...new Set(codes.flatMap((code) => [...code]))];
    const { next, ends } = linkedTrie(codes, used);
    const states = [...ends.keys()];
    const order = [
      ...states.filter((state) => !ends[state]?.length),
      ...states.filter((state) => ends[state]?.length),
    ];
    if (order.length > 0xffff) throw new RangeError('too many literals');
    const place = new Uint16Array(states.length);
    order.forEach((state, index) => {
      place[state] = index;
    });
    this.#next = new Uint16Array(states.length << 8);
    for (let cell = 0; cell < states.length * used.length; cell++) {
      const state = Math.floor(cell / used.length);
      const byte = used[cell % used.length] as number;
      this.#next[((place[state] as number) << 8) | byte] = place[next[cell] as number] as number;
    }
    this.#ends = order.map((state) => ends[state] ?? []);
    const first = this.#ends.findIndex((each) => each.length > 0);
    this.#endings = first === -1 ? states.length : first;
  }

  in(bytes: Uint8Array): ReadonlySet<number> {
    const seen = new Uint8Array(this.#ends.length);
    this.#read(bytes, seen);
    const found = new Set<number>();
    for (let state = this.#endings; state < seen.length; state++) {
      if (seen[state] === 1) for (const literal of this.#ends[state] ?? []) found.add(literal);
    }
    return found;
  }

  /** Marks the states at which a literal ends. A loop and nothing else: what V8 has not seen yet would make it start over. */
  #read(bytes: Uint8Array, seen: Uint8Array): void {
    const next = this.#next;
    const endings = this.#endings;
    // Each step waits for the one before it, so four readers, each with a quarter, take hardly longer than one.
    const quarter = Math.ceil(bytes.length / 4);
    const last = bytes.length - quarter;
    const second = Math.min(quarter, last);
    const third = Math.min(2 * quarter, last);
    let a = 0;
    let b = this.#stateBefore(bytes, second);
    let c = this.#stateBefore(bytes, third);
    let d = this.#stateBefore(bytes, last);
    for (let at = 0; at < quarter; at++) {
      a = next[(a << 8) | (bytes[at] as number)] as number;
      b = next[(b << 8) | (bytes[second + at] as number)] as number;
      c = next[(c << 8) | (bytes[third + at] as number)] as number;
      d = next[(d << 8) | (bytes[last + at] as number)] as number;
      if (a >= endings) seen[a] = 1;
      if (b >= endings) seen[b] = 1;
      if (c >= endings) seen[c] = 1;
      if (d >= endings) seen[d] = 1;
    }
  }

  /** The state of a reader that gets there: what is further back than the longest literal does not matter. */
  #stateBefore(bytes: Uint8Array, end: number): number {
    let state = 0;
    for (let at = Math.max(0, end - this.#longest); at < end; at++)
      state = this.#next[(state << 8) | (bytes[at] as number)] as number;
    return state;
  }
}

interface Trie {
  /** By state and place of a byte among those in use: the next state. State 0 is the start. */
  readonly next: Int32Array;
  /** By state: the literals that end there. */
  readonly ends: readonly (readonly number[])[];
}

/** Every state has a next one for every byte in use: where no literal goes on, that of the longest suffix that is itself a state. */
function linkedTrie(codes: readonly Uint8Array[], used: readonly number[]): Trie {
  const width = used.length;
  const columns = new Uint8Array(256);
  used.forEach((byte, column) => {
    columns[byte] = column;
  });
  const most = codes.reduce((sum, { length }) => sum + length, 1);
  const next = new Int32Array(most * width).fill(-1);
  const ends: number[][] = [[]];
  codes.forEach((code, literal) => {
    let state = 0;
    for (const byte of code) {
      const cell = state * width + (columns[byte] as number);
      if (next[cell] === -1) next[cell] = ends.push([]) - 1;
      state = next[cell] as number;
    }
    ends[state]?.push(literal);
  });
  // Nearest states first; `behind` is the state of the longest suffix.
  const queue = [0];
  const behind = new Int32Array(ends.length);
  for (let at = 0; at < queue.length; at++) {
    const state = queue[at] as number;
    const fallback = behind[state] as number;
    if (state !== 0) ends[state]?.push(...(ends[fallback] ?? []));
    for (let column = 0; column < width; column++) {
      const cell = state * width + column;
      const other = state === 0 ? 0 : (next[fallback * width + column] as number);
      const to = next[cell] as number;
      if (to === -1) next[cell] = other;
      else {
        behind[to] = other;
        queue.push(to);
      }
    }
  }
  return { next, ends };
}
