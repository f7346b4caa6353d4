import { existsSync, mkdirSync, rmdirSync, statSync } from 'node:fs';

/** A process that holds a lock for so long is gone. */
const PATIENCE = 20 * 60_000;

/** Does some work while no other process does work under the same lock. A folder can be made by one process only. */
export function inTurn<T>(lock: string, work: () => T): T {
  for (let isMine = false; !isMine; ) {
    try {
      mkdirSync(lock);
      isMine = true;
    } catch (error) {
      if (!existsSync(lock)) continue;
      if (Date.now() - statSync(lock).mtimeMs > PATIENCE) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
    }
  }
  try {
    return work();
  } finally {
    rmdirSync(lock);
  }
}
