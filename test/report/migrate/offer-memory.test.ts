import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { Original } from '../../../src/report/migrate/offer.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const MEGABYTE = 1024 * 1024;

function heapInUse(): number {
  collect();
  return process.memoryUsage().heapUsed;
}

test('the changes of a file hold their own lines, not one changed text of the whole file each', () => {
  const lines = Array.from(
    { length: 10_000 },
    (_, index) => `value_${index} = compute_${index}(some, arguments)\n`,
  );
  const before = lines.join('');
  const original = new Original('a.py', before);
  const start = heapInUse();
  const changes = Array.from({ length: 300 }, (_, index) => {
    const at = before.indexOf(`compute_${index}(`);
    return original.edited([{ start: at, end: at, text: 'recall_' }]);
  });
  expect(heapInUse() - start).toBeLessThan(10 * MEGABYTE);
  expect(changes.at(-1)?.hunks[0]?.lines).toContain('+value_299 = recall_compute_299(some, arguments)');
});
