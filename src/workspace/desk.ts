const PUSHED = 0;
const TAKEN = 1;
const NEWS = 2;
const OPEN = 3;

/** Files that wait at most; what is more, whoever has them does. */
const MOST_WAITING = 96;

/** What threads share of a desk. */
export interface DeskState {
  /** One more than the index of each file that waits, in a ring. */
  readonly slots: Int32Array<SharedArrayBuffer>;
  readonly counts: Int32Array<SharedArrayBuffer>;
}

/** Files that take long or ask about the whole project, which one thread reads for all: here they are left to it. */
export class Desk {
  constructor(readonly state: DeskState) {}

  static for(jobs: number): Desk {
    const counts = new Int32Array(new SharedArrayBuffer(4 * 4));
    counts[OPEN] = jobs;
    return new Desk({ slots: new Int32Array(new SharedArrayBuffer(4 * Math.max(1, jobs))), counts });
  }

  get waiting(): number {
    const { counts } = this.state;
    return Atomics.load(counts, PUSHED) - Atomics.load(counts, TAKEN);
  }

  get hasRoom(): boolean {
    return this.waiting < MOST_WAITING;
  }

  leave(index: number): void {
    const { slots, counts } = this.state;
    const slot = Atomics.add(counts, PUSHED, 1) % slots.length;
    Atomics.store(slots, slot, index + 1);
    this.#tell();
  }

  /** The file that has waited longest. Only one thread at a time asks. */
  take(): number | undefined {
    const { slots, counts } = this.state;
    if (this.waiting === 0) return undefined;
    const slot = Atomics.load(counts, TAKEN) % slots.length;
    // Who has counted it is about to write it.
    for (;;) {
      const index = Atomics.exchange(slots, slot, 0) - 1;
      if (index < 0) continue;
      Atomics.add(counts, TAKEN, 1);
      return index;
    }
  }

  /** So many files of the run are without an answer. */
  set open(count: number) {
    Atomics.store(this.state.counts, OPEN, count);
    if (count === 0) this.#tell();
  }

  /** Waits for the next file; undefined when all files of the run have their answers. */
  next(): number | undefined {
    const { counts } = this.state;
    for (;;) {
      const heard = Atomics.load(counts, NEWS);
      const index = this.take();
      if (index !== undefined || Atomics.load(counts, OPEN) === 0) return index;
      Atomics.wait(counts, NEWS, heard);
    }
  }

  #tell(): void {
    Atomics.add(this.state.counts, NEWS, 1);
    Atomics.notify(this.state.counts, NEWS);
  }
}
