import { Script } from 'node:vm';
import { type SectionWatch, watchSections } from '../syntax/section.js';
import { now } from './clock.js';
import { codeOf } from './failure.js';

const SLOT = Symbol.for('memfix.work');
const slot = globalThis as typeof globalThis & { [SLOT]?: () => void };
const script = new Script('globalThis[Symbol.for("memfix.work")]()');

/** Milliseconds that the main thread spends on a file at most: in that time it hears no signal. */
const PATIENCE = 2000;
/** Milliseconds that a stay in the parser takes at most, and much more. */
const LONGEST_SECTION = 5000;

/** The main thread has spent enough time on a file. Only `attempt` catches it. */
export class Overdue extends Error {}

class Deadline implements SectionWatch {
  readonly #began = spent();
  #at: number;

  /** `last`: when it is too late also for work that has had little of the processor. */
  constructor(
    private readonly patience: number,
    private readonly last: number,
  ) {
    this.#at = now() + patience;
  }

  begin(): void {
    if (now() <= this.#at) return;
    const left = this.patience - (spent() - this.#began);
    if (left <= 0 || now() > this.last) throw new Overdue();
    this.#at = now() + left;
  }

  end(): void {}
}

/** Milliseconds of the processor, for all threads: a machine that is busy with other things makes no file take longer. */
function spent(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/**
 * Runs work of the main thread that does not wait. It is `overdue` where it still parses after a while: another thread
 * should do it. It is `cut off` where it does not come back within so many milliseconds. JavaScript and wasm can be cut off
 * anywhere, so what the work was at is to be thrown away; the native parser would abort the process, but work that has
 * taken that long has been kept out of it for seconds, also on a machine that is busy.
 */
export function attempt(limit: number, work: () => void): 'done' | 'overdue' | 'cut off' {
  const patience = Math.min(PATIENCE, limit / 2);
  const timeout = Math.ceil(Math.max(limit, patience + LONGEST_SECTION));
  slot[SLOT] = work;
  watchSections(new Deadline(patience, now() + timeout - LONGEST_SECTION));
  try {
    script.runInThisContext({ timeout });
    return 'done';
  } catch (error) {
    if (error instanceof Overdue) return 'overdue';
    if (codeOf(error) !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    return 'cut off';
  } finally {
    watchSections(undefined);
    delete slot[SLOT];
  }
}
