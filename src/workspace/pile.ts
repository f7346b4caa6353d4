const TAKEN = 0;
const FRONT = 1;
const BACK = 2;

/**
 * The jobs of a run that nobody has taken, the largest in front. Threads take them from there; beside them the main thread,
 * which has to hear signals and leaves what takes long, from the back.
 */
export class Pile {
  constructor(
    private readonly size: number,
    /** Shared by all threads. */
    readonly state: Int32Array<SharedArrayBuffer> = new Int32Array(new SharedArrayBuffer(3 * 4)),
  ) {}

  get left(): number {
    return Math.max(0, this.size - Atomics.load(this.state, TAKEN));
  }

  first(): number | undefined {
    return this.#isOneLeft() ? Atomics.add(this.state, FRONT, 1) : undefined;
  }

  last(): number | undefined {
    return this.#isOneLeft() ? this.size - 1 - Atomics.add(this.state, BACK, 1) : undefined;
  }

  /** There is no more to take. */
  clear(): void {
    Atomics.store(this.state, TAKEN, this.size);
  }

  /** One that nobody else gets: both ends together are taken from as often as there are jobs. */
  #isOneLeft(): boolean {
    return Atomics.add(this.state, TAKEN, 1) < this.size;
  }
}
