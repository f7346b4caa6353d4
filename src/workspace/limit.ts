import { Script } from 'node:vm';
import { codeOf } from './failure.js';

const SLOT = Symbol.for('memfix.work');
const slot = globalThis as typeof globalThis & { [SLOT]?: () => void };
const script = new Script('globalThis[Symbol.for("memfix.work")]()');

/**
 * Runs work that does not wait, for at most so many milliseconds; false when it was cut off. JavaScript and wasm can be
 * cut off anywhere, so what the work was at is to be thrown away; a native parser would take the process with it.
 */
export function endsWithin(limit: number, work: () => void): boolean {
  slot[SLOT] = work;
  try {
    script.runInThisContext({ timeout: limit });
    return true;
  } catch (error) {
    if (codeOf(error) !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    return false;
  } finally {
    delete slot[SLOT];
  }
}
