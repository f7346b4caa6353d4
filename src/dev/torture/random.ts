/** Numbers that a seed determines: the same seed gives the same run, on every machine. */
export class Random {
  #state: number;

  constructor(...seeds: readonly number[]) {
    // Neighbouring seeds must not give similar numbers.
    this.#state = 0x9e3779b9;
    for (const seed of seeds) {
      this.#state = Math.imul(this.#state ^ (seed | 0), 0x85ebca6b) ^ (seed / 2 ** 32);
      this.next();
    }
  }

  /** From 0 up to, but not including, 1 (mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from 0 up to, but not including, `limit`. */
  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** Undefined only where there is nothing to choose from. */
  pick<T>(items: readonly T[]): T | undefined {
    return items[this.below(items.length)];
  }

  /** One of at least one. */
  oneOf<T>(first: T, ...others: readonly T[]): T {
    return this.pick([first, ...others]) ?? first;
  }

  /** Another source of numbers, of its own seed. */
  like(seed: number): Random {
    return new Random(seed);
  }
}
