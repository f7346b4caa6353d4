import { mkdirSync, writeFileSync } from 'node:fs';
import type { Transform } from '../../src/toolkit/contract.js';
import type { PyModule } from '../../src/toolkit/index.js';
import { toy } from '../support/toy.js';

/** The string in a call of this word, such as the path in `linger("/tmp/here")`. */
function argumentOf(word: string, { text }: PyModule): string {
  return new RegExp(`\\b${word}\\("([^"]+)"`).exec(text)?.[1] ?? '';
}

function peril(word: string, look: (argument: string) => void): Transform {
  return {
    ...toy(`${word}-toy`, word, () => undefined),
    detect(module) {
      look(argumentOf(word, module));
      return [];
    },
  };
}

function sleep(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

let isRested = false;

/** What code can do to the process that looks at it. */
export const PERILS: readonly Transform[] = [
  /** Kills the memfix that works on the repository, not only the process that plans it; once, by the folder that it names. */
  peril('fatal', (once) => {
    if (once !== '' && mkdirSync(once, { recursive: true }) !== undefined)
      process.kill(process.connected ? process.ppid : process.pid, 'SIGKILL');
  }),
  /** Ends the process that plans, each time. */
  peril('crash', () => process.abort()),
  /** The same, once. */
  peril('stumble', (once) => {
    if (mkdirSync(once, { recursive: true }) !== undefined) process.abort();
  }),
  /** Takes all of the heap. */
  peril('hoard', () => {
    const kept: number[][] = [];
    for (;;) kept.push(new Array<number>(10_000).fill(kept.length));
  }),
  /** Takes memory that is not of the heap. */
  peril('swell', () => {
    const kept: Buffer[] = [];
    for (;;) {
      kept.push(Buffer.alloc(8 * 1024 * 1024, 1));
      sleep(20);
    }
  }),
  /** Says which process looks, and looks for ever. */
  peril('linger', (file) => {
    writeFileSync(file, String(process.pid));
    for (;;) sleep(1000);
  }),
  /** Takes six seconds, once in a process. */
  peril('dawdle', () => {
    sleep(isRested ? 0 : 6000);
    isRested = true;
  }),
  /** Writes down the environment. */
  peril('spill', (file) => writeFileSync(file, JSON.stringify(process.env))),
];
