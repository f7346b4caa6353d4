import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { Crew } from '../../src/workspace/crew.js';
import { folderWith } from './folders.js';

/** A thread that hangs at a file, where that is number 0, and else does what it was given or finds at the desk. */
const THREAD = `
const { parentPort, workerData: { first, at, owners, name, desk: { slots, counts } } } = require('node:worker_threads');
function* work() {
  yield* first;
  while (counts[1] < counts[0]) yield slots[counts[1]++] - 1;
}
for (const index of work()) {
  Atomics.store(owners, index, name);
  Atomics.store(at, 0, index + 1);
  if (index === 0) for (;;);
  parentPort.postMessage([[index, { sight: { kind: 'nothing' } }]]);
}
Atomics.store(at, 0, 0);
`;

test('what a thread has not got to when it is lost, another does', async () => {
  const entry = pathToFileURL(join(folderWith({ 'thread.cjs': THREAD }), 'thread.cjs'));
  const jobs = ['a.py', 'b.py', 'c.py'].map((path) => ({
    candidate: { path, target: path, explicit: false },
  }));
  const request = { cwd: '.', paths: [], isolated: true, extendSelect: [], ignore: [], unfixable: [] };
  const errand = { request, takesFixes: false, remembers: false, parser: undefined };
  const told = new Map<number, string>();
  const crew = new Crew(
    { entry, errand, limit: 300, others: { areThere: false } },
    jobs,
    (index, { sight }) => told.set(index, sight.kind),
  );
  try {
    for (const index of jobs.map(() => crew.take() ?? -1)) crew.leave(index);
    expect({ untaken: crew.untaken, hasDesk: crew.hasDesk }).toEqual({ untaken: 0, hasDesk: true });
    while (crew.left > 0) await crew.news();
  } finally {
    crew.dismiss();
  }
  expect([...told].sort()).toEqual([
    [0, 'skipped'],
    [1, 'nothing'],
    [2, 'nothing'],
  ]);
});
