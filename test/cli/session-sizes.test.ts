/** The whole session in a pseudo-terminal, with the real transforms, the demo and the example of each transform, in the three sizes that people complain about. */
import { cpSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { fixturesFolder } from '../../src/dev/fixtures.js';
import { transforms } from '../../transforms/index.js';
import { folderOf, start } from '../support/pty-cases.js';

const SIZES = [
  [60, 20],
  [80, 24],
  [120, 40],
] as const;
const CHANGED = /^ *(?:\d+ -|\+) /;

/** Rows that a text takes; none of what the session writes is wider than a row, but for prompts. */
function rowsOf(screen: string, columns: number): number {
  return screen
    .split('\n')
    .reduce((sum, line) => sum + Math.max(1, Math.ceil([...line].length / columns)), 0);
}

it.each(SIZES)('shows what it asks about, all of it on one screen of %i × %i', async (cols, rows) => {
  const folder = folderOf({});
  for (const name of readdirSync(join(fixturesFolder, '_demo')))
    cpSync(join(fixturesFolder, '_demo', name), join(folder.path, name));
  for (const { meta } of transforms)
    cpSync(join(fixturesFolder, meta.id, meta.example, 'input.py'), join(folder.path, `${meta.id}.py`));
  const session = start(folder, { cols, rows, flags: ['--real'] });
  let screen = await session.sees('?=more ');
  const total = Number(/\(1\/(\d+)\) /.exec(screen)?.[1]);
  expect(total).toBeGreaterThan(60);
  for (let position = 1; ; ) {
    expect(screen, screen).toMatch(/^why /m);
    expect(
      screen.split('\n').some((line) => CHANGED.test(line)),
      screen,
    ).toBe(true);
    expect(rowsOf(screen.slice(screen.indexOf('──')), cols), screen).toBeLessThanOrEqual(rows);
    if (/ · unsafe · /.test(screen)) expect(screen, screen).toMatch(/^\? {7}\S/m);
    session.type('n');
    // Alternatives share a number.
    const [, way, ways] = / · way (\d+) of (\d+)/.exec(screen) ?? [];
    if (way === ways) position++;
    if (position > total) break;
    screen = await session.asked(`${position}/${total}`);
  }
  const { result } = await session.ended();
  expect(result).toMatchObject({ applied: 0, declined: total, unanswered: 0 });
});
