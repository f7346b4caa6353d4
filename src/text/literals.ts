/**
 * Finds which of many ASCII literals occur in bytes, all of them in one pass: the automaton of Aho and Corasick with its
 * failure links worked out beforehand, so that each byte costs one step however many literals there are.
 */
export class Literals {
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
    this.#longest = Math.max(0, ...literals.map(({ length }) => length));
    let width = 1;
    for (const literal of literals) {
      for (const byte of Buffer.from(literal, 'latin1')) {
        if (this.#columns[byte] === 0) this.#columns[byte] = width++;
      }
    }
    this.#width = width;
    const trie = buildTrie(literals, this.#columns);
    const order = [...trie.keys()].sort((a, b) => endsAt(trie, a) - endsAt(trie, b));
    const place = new Map(order.map((state, index) => [state, index]));
    this.#table = new Uint32Array(trie.length * width);
    for (const [index, state] of order.entries()) {
      trie[state]?.next.forEach((to, column) => {
        this.#table[index * width + column] = (place.get(to) ?? 0) * width;
      });
    }
    this.#ends = order.map((state) => trie[state]?.ends ?? []);
    const first = this.#ends.findIndex((ends) => ends.length > 0);
    this.#endings = (first === -1 ? trie.length : first) * width;
  }

  /** The positions, in the list of literals, of those that occur. */
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

interface TrieState {
  readonly next: number[];
  readonly ends: number[];
}

function endsAt(trie: readonly TrieState[], state: number): number {
  return trie[state]?.ends.length === 0 ? 0 : 1;
}

/** State 0 is the start; every state has a next one for every column. */
function buildTrie(literals: readonly string[], columns: Uint8Array): readonly TrieState[] {
  const width = Math.max(0, ...columns) + 1;
  const trie: TrieState[] = [{ next: new Array<number>(width).fill(-1), ends: [] }];
  literals.forEach((literal, index) => {
    let state = 0;
    for (const byte of Buffer.from(literal, 'latin1')) {
      const column = columns[byte] ?? 0;
      let next = trie[state]?.next[column] ?? -1;
      if (next === -1) {
        next = trie.push({ next: new Array<number>(width).fill(-1), ends: [] }) - 1;
        (trie[state] as TrieState).next[column] = next;
      }
      state = next;
    }
    trie[state]?.ends.push(index);
  });
  link(trie);
  return trie;
}

/** Fills each missing step with the one from the longest suffix that is itself a state, nearest states first. */
function link(trie: readonly TrieState[]): void {
  const start = trie[0] as TrieState;
  const queue: { state: TrieState; fallback: TrieState }[] = [];
  start.next.forEach((to, column) => {
    if (to === -1) start.next[column] = 0;
    else queue.push({ state: trie[to] as TrieState, fallback: start });
  });
  for (let at = 0; at < queue.length; at++) {
    const { state, fallback } = queue[at] as (typeof queue)[number];
    state.ends.push(...fallback.ends);
    state.next.forEach((to, column) => {
      const behind = fallback.next[column] ?? 0;
      if (to === -1) state.next[column] = behind;
      else queue.push({ state: trie[to] as TrieState, fallback: trie[behind] as TrieState });
    });
  }
}
