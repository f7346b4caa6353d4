/** memfix as a process, with toys; some take their time, one asks the project, one never ends, one takes its thread down, others more. */
import { writeSync } from 'node:fs';
import { isMainThread, threadId } from 'node:worker_threads';
import { runProcess } from '../../src/cli/process.js';
import type { Transform } from '../../src/toolkit/contract.js';
import { toy } from '../support/toy.js';
import { PERILS } from './toy-perils.js';
import { TOYS } from './toys.js';

/** At once: what a thread hands to `process.stderr` is lost when the process ends before the main thread has passed it on. */
function tell(text: string): void {
  writeSync(2, `${text}\n`);
}

const leisurely = toy('slow-toy', 'slowly', (edit, node) => void edit.replace(node, 'fast'));

const SLOW: Transform = {
  ...leisurely,
  detect(module, options) {
    tell(isMainThread ? 'looking' : 'looking in a thread');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
    return leisurely.detect(module, options);
  },
};

const curious = toy('curious-toy', 'wonder', (edit, node) => void edit.replace(node, 'know'));

const CURIOUS: Transform = {
  ...curious,
  detect(module, options) {
    module.around.summaries({ word: 'wonder', beside: [] }, () => true);
    tell(isMainThread ? 'looking around' : `looking around from afar: ${threadId}`);
    return curious.detect(module, options);
  },
};

const asking = toy('asking-toy', 'asks', (edit, node) => void edit.replace(node, 'knows'), {
  requires: { transformers: '4.46' },
});

/** Looks for versions, and does so only in threads. */
const ASKING: Transform = {
  ...asking,
  detect: (module, options) => (isMainThread ? [] : asking.detect(module, options)),
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

if (!isMainThread) tell('looking from a thread');
await runProcess(async () => [...TOYS, SLOW, CURIOUS, ASKING, ENDLESS, DEADLY, ...PERILS], import.meta.url);
