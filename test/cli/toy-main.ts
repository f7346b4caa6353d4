/** memfix as a process, with toy transforms; one of them takes its time and says so. */
import { runProcess } from '../../src/cli/process.js';
import type { Transform } from '../../src/toolkit/contract.js';
import { toy } from '../support/toy.js';
import { TOYS } from './toys.js';

const leisurely = toy('slow-toy', 'slowly', (edit, node) => void edit.replace(node, 'fast'));

const SLOW: Transform = {
  ...leisurely,
  detect(module, options) {
    process.stderr.write('looking\n');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
    return leisurely.detect(module, options);
  },
};

await runProcess(async () => [...TOYS, SLOW], import.meta.url);
