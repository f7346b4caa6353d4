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
  constructor(private readonly at: number) {}

  begin(): void {
    if (now() > this.at) throw new Overdue();
  }

  end(): void {}
}

/**
 * Runs work of the main thread that does not wait. It is `overdue` where it still parses after a while: another thread
 * should do it. It is `cut off` where it does not come back within so many milliseconds. JavaScript and wasm can be cut off
 * anywhere, so what the work was at is to be thrown away; the native parser would abort the process, but work that has
 * taken that long has been kept out of it for seconds, also on a machine that is busy.
 */
export function attempt(limit: number, work: () => void): 'done' | 'overdue' | 'cut off' {
  const patience = Math.min(PATIENCE, limit / 2);
  slot[SLOT] = work;
  watchSections(new Deadline(now() + patience));
  try {
    script.runInThisContext({ timeout: Math.ceil(Math.max(limit, patience + LONGEST_SECTION)) });
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
