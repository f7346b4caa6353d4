/** memfix as a process, with toy transforms; some take their time, one never ends, and one takes its thread down. */
import { isMainThread } from 'node:worker_threads';
import { runProcess } from '../../src/cli/process.js';
import type { Transform } from '../../src/toolkit/contract.js';
import { toy } from '../support/toy.js';
import { TOYS } from './toys.js';

const leisurely = toy('slow-toy', 'slowly', (edit, node) => void edit.replace(node, 'fast'));

const SLOW: Transform = {
  ...leisurely,
  detect(module, options) {
    process.stderr.write(isMainThread ? 'looking\n' : 'looking in a thread\n');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
    return leisurely.detect(module, options);
  },
};

const ENDLESS: Transform = {
  ...toy('endless-toy', 'forever', () => undefined),
  detect() {
    for (;;);
  },
};

const DEADLY: Transform = {
  ...toy('deadly-toy', 'deadly', () => undefined),
  detect() {
    if (!isMainThread) process.exit();
    return [];
  },
};

if (!isMainThread) process.stderr.write('looking from a thread\n');
await runProcess(async () => [...TOYS, SLOW, ENDLESS, DEADLY], import.meta.url);
