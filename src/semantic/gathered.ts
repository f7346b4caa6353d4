/** What a search has found, for all that go through it: each goes on where the furthest stopped. */
export class Gathered<T> implements Iterable<T> {
  readonly #known: T[] = [];

  constructor(private readonly search: Iterator<T>) {}

  *[Symbol.iterator](): Generator<T> {
    for (let at = 0; ; at++) {
      if (at === this.#known.length) {
        const next = this.search.next();
        if (next.done === true) return;
        this.#known.push(next.value);
      }
      yield this.#known[at] as T;
    }
  }
}
