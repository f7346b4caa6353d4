import { Script } from 'node:vm';
import { type SectionWatch, watchSections } from '../syntax/section.js';
import { BUSY, Stretch } from './clock.js';
import { codeOf } from './failure.js';

const SLOT = Symbol.for('memfix.work');
const slot = globalThis as typeof globalThis & { [SLOT]?: () => void };
const script = new Script('globalThis[Symbol.for("memfix.work")]()');

/** Milliseconds that the main thread spends on a file where nothing else is said: in that time it hears no signal. */
const PATIENCE = 2000;
/** Milliseconds that a stay in the parser takes at most, and much more. */
const LONGEST_SECTION = 5000;

/** The main thread has spent enough time on a file. Only `attempt` catches it. */
export class Overdue extends Error {}

class Deadline implements SectionWatch {
  readonly #stretch = new Stretch();

  constructor(private readonly patience: number) {}

  begin(): void {
    if (this.#stretch.isOver(this.patience)) throw new Overdue();
  }

  end(): void {}
}

/**
 * Runs work of the main thread that does not wait. It is `overdue` where it is not done after `patience` milliseconds, as far as
 * it can be stopped there: another thread should do it. It is `cut off` where it does not come back within so many milliseconds. JavaScript and wasm can be cut off
 * anywhere, so what the work was at is to be thrown away; the native parser would abort the process, but work that has
 * taken that long has been kept out of it for seconds, also on a machine that is busy.
 */
export function attempt(limit: number, work: () => void, longest = PATIENCE): 'done' | 'overdue' | 'cut off' {
  const patience = Math.min(longest, limit / 2);
  slot[SLOT] = work;
  watchSections(new Deadline(patience));
  try {
    script.runInThisContext({ timeout: Math.ceil(Math.max(limit, BUSY * patience + LONGEST_SECTION)) });
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
