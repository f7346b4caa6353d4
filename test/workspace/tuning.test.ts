import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { folderWith } from './folders.js';

const TUNING = join(import.meta.dirname, '../../src/workspace/tuning.ts');

/** Megabytes of the room for new objects after `calls` and much that is new and stays for a while. */
function roomAfter(calls: string, ...flags: readonly string[]): number {
  const folder = folderWith({
    'main.mts': `
      import { getHeapSpaceStatistics } from 'node:v8';
      import { keepHeapSmall, prepareFor, prepareForMany, startBriefly, stopGrowing } from ${JSON.stringify(TUNING)};
      ${calls}
      let alive = [];
      for (let round = 0; round < 2_000_000; round++) alive = round % 400_000 === 0 ? [] : (alive.push([round]), alive);
      const room = getHeapSpaceStatistics().find((each) => each.space_name === 'new_space');
      console.log(room.space_size / 1024 / 1024);
    `,
  });
  const words = [...flags, '--import', import.meta.resolve('tsx'), join(folder, 'main.mts')];
  const { stdout, status } = spawnSync(process.execPath, words, { encoding: 'utf8', timeout: 120_000 });
  expect(status).toBe(0);
  return Number(stdout);
}

test('the room for new objects is kept small, as often as that is said', () => {
  expect(roomAfter('')).toBeGreaterThan(8);
  expect(roomAfter('keepHeapSmall()')).toBeLessThanOrEqual(8);
  expect(roomAfter('prepareForMany()')).toBeLessThanOrEqual(16);
  const again = (bytes: string) => `startBriefly(); prepareFor(${bytes}); stopGrowing(); keepHeapSmall();`;
  expect(roomAfter(again('1e6'))).toBeLessThanOrEqual(8);
  expect(roomAfter(again('1e9'))).toBeLessThanOrEqual(16);
});

test('where there may be no more room, none is waited for', () => {
  expect(roomAfter('stopGrowing(); keepHeapSmall();', '--max-semi-space-size=1')).toBeLessThanOrEqual(2);
});
