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
  /** Column of a byte in the table; 0 for bytes that no literal has. */
  readonly #columns = new Uint8Array(256);
  /** By state and column: the first cell of the next state. States at which a literal ends come last. */
  readonly #table: Uint32Array;
  /** The first cell of the first state at which a literal ends. */
  readonly #endings: number;
  readonly #width: number;
  /** By state: the literals that end there. */
  readonly #ends: readonly (readonly number[])[];

  readonly #longest: number;

  constructor(literals: readonly string[]) {
    const codes = literals.map((literal) => Buffer.from(literal, 'latin1'));
    this.#longest = Math.max(0, ...codes.map(({ length }) => length));
    let width = 1;
    for (const code of codes) {
      for (const byte of code) if (this.#columns[byte] === 0) this.#columns[byte] = width++;
    }
    this.#width = width;
    const { next, ends } = linkedTrie(codes, this.#columns, width);
    const states = [...ends.keys()];
    const order = [
      ...states.filter((state) => !ends[state]?.length),
      ...states.filter((state) => ends[state]?.length),
    ];
    const place = new Uint32Array(states.length);
    order.forEach((state, index) => {
      place[state] = index * width;
    });
    this.#table = new Uint32Array(states.length * width);
    for (let cell = 0; cell < this.#table.length; cell++) {
      const state = Math.floor(cell / width);
      this.#table[(place[state] as number) + (cell % width)] = place[next[cell] as number] as number;
    }
    this.#ends = order.map((state) => ends[state] ?? []);
    const first = this.#ends.findIndex((each) => each.length > 0);
    this.#endings = (first === -1 ? states.length : first) * width;
  }

  in(bytes: Uint8Array): ReadonlySet<number> {
    const table = this.#table;
    const columns = this.#columns;
    const endings = this.#endings;
    const found = new Set<number>();
    const seen = new Uint8Array(this.#ends.length);
    const note = (state: number): void => {
      const index = state / this.#width;
      if (seen[index] === 1) return;
      seen[index] = 1;
      for (const literal of this.#ends[index] ?? []) found.add(literal);
    };
    // Each step waits for the one before it, so two readers, each with a half, take hardly longer than one.
    const half = bytes.length >>> 1;
    let near = 0;
    let far = 0;
    for (let at = Math.max(0, half - this.#longest); at < half; at++) {
      far = table[far + (columns[bytes[at] as number] as number)] as number;
    }
    for (let at = 0; at < half; at++) {
      near = table[near + (columns[bytes[at] as number] as number)] as number;
      far = table[far + (columns[bytes[half + at] as number] as number)] as number;
      if (near >= endings) note(near);
      if (far >= endings) note(far);
    }
    if (bytes.length % 2 === 1) {
      far = table[far + (columns[bytes[bytes.length - 1] as number] as number)] as number;
      if (far >= endings) note(far);
    }
    return found;
  }
}

interface Trie {
  /** By state and column: the next state. State 0 is the start. */
  readonly next: Int32Array;
  /** By state: the literals that end there. */
  readonly ends: readonly (readonly number[])[];
}

/** Every state has a next one for every column: where no literal goes on, that of the longest suffix that is itself a state. */
function linkedTrie(codes: readonly Uint8Array[], columns: Uint8Array, width: number): Trie {
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
