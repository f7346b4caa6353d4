import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { Desk } from '../../src/workspace/desk.js';

test('files come back in the order in which they were left, also after the ring is full', () => {
  const desk = Desk.for(3);
  expect(desk.take()).toBeUndefined();
  const taken: (number | undefined)[] = [];
  for (const index of [2, 0, 1, 2, 0]) {
    desk.leave(index);
    if (desk.waiting === 3) taken.push(desk.take());
  }
  taken.push(desk.take(), desk.take(), desk.take());
  expect(taken).toEqual([2, 0, 1, 2, 0, undefined]);
});

test('has room until many wait', () => {
  const desk = Desk.for(200);
  let left = 0;
  while (desk.hasRoom) desk.leave(left++);
  expect(left).toBeGreaterThan(10);
  expect(left).toBeLessThan(200);
  desk.take();
  expect(desk.hasRoom).toBe(true);
});

test('its thread waits for what is left to it, and ends when everything has its answer', async () => {
  const desk = Desk.for(4);
  // The same loop as `next`, in a thread that knows no TypeScript.
  const thread = new Worker(
    `const { parentPort, workerData: { slots, counts } } = require('node:worker_threads');
    for (;;) {
      const heard = Atomics.load(counts, 2);
      if (counts[1] < counts[0]) parentPort.postMessage(slots[counts[1]++ % slots.length] - 1);
      else if (Atomics.load(counts, 3) === 0) break;
      else Atomics.wait(counts, 2, heard);
    }`,
    { eval: true, workerData: desk.state },
  );
  for (const index of [3, 1]) {
    desk.leave(index);
    expect(await once(thread, 'message')).toEqual([index]);
  }
  desk.open = 0;
  expect(await once(thread, 'exit')).toEqual([0]);
  // Nothing is left to wait for here, either.
  expect(desk.next()).toBeUndefined();
});
