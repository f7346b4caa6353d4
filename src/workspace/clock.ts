/** Milliseconds since the process began. The global `performance` does the same, and takes 3 of them to load. */
export function now(): number {
  return process.uptime() * 1000;
}

/** How often a machine that others keep busy may make a wait longer. */
export const BUSY = 3;

/** From when it is made: over when so many milliseconds were worked, or some times that many went by. */
export class Stretch {
  readonly #began = now();
  readonly #worked = process.cpuUsage();

  isOver(limit: number, busy = BUSY): boolean {
    const passed = now() - this.#began;
    return passed > limit && (passed > busy * limit || this.#work > limit);
  }

  /** Of all threads: of one alone Node does not tell. */
  get #work(): number {
    const { user, system } = process.cpuUsage(this.#worked);
    return (user + system) / 1000;
  }
}
