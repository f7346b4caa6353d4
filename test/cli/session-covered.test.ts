/** A decorator and what is inside its function: one of the two ways is taken, and it is said which. */
import { expect, it } from 'vitest';
import { folderOf, start } from '../support/pty-cases.js';

const TEXT = 'def gather(x):\n    part(x)\n    for y in x:\n        part(y)\n    hold(x)\n';
const DECORATED = `@kept\n${TEXT}`;
const SIZES = [
  [60, 20],
  [80, 24],
  [120, 40],
] as const;

/** The words of a screen, wherever they are wrapped. */
function flat(screen: string): string {
  return screen.replace(/\s+/g, ' ');
}

it.each(SIZES)(
  'asks nothing more inside a function whose decorator was taken, at %i×%i',
  async (cols, rows) => {
    const folder = folderOf({ 'a.py': TEXT });
    const session = start(folder, { cols, rows });
    expect(flat(await session.asked('1/4'))).toContain(
      'covers toy-part (safe) at line 2 and line 4: y leaves',
    );
    session.type('y');
    const next = flat(await session.asked('4/4'));
    expect(next).toContain('It covers 2 findings inside it (toy-part), left out with it.');
    session.type('n');
    const { result, text } = await session.ended();
    expect(folder.read('a.py')).toBe(DECORATED);
    expect(result).toMatchObject({ applied: 1, declined: 1, unanswered: 0 });
    expect(flat(text)).toContain('1 fix applied in 1 file, 1 declined.');
  },
);

it.each(SIZES)('a yes to the decorator takes the place of those inside it, at %i×%i', async (cols, rows) => {
  const folder = folderOf({ 'a.py': TEXT });
  const session = start(folder, { cols, rows });
  await session.asked('1/4');
  session.type('n');
  await session.asked('2/4');
  session.type('y');
  await session.asked('3/4');
  session.type('kk');
  await session.asked('2/4');
  await session.asked('1/4');
  session.type('y');
  await session.asked('4/4');
  session.type('q');
  const { result, text } = await session.ended();
  expect(folder.read('a.py')).toBe(DECORATED);
  expect(result).toMatchObject({ applied: 1, declined: 0, unanswered: 1 });
  expect(flat(text)).toContain('1 fix applied in 1 file, 1 left open. Left open: a.py:5 toy-hold');
});

it('`a` on the decorator takes it, and none of its parts', async () => {
  const folder = folderOf({ 'a.py': TEXT });
  const session = start(folder);
  await session.asked('1/4');
  session.type('a');
  expect((await session.ended()).result).toMatchObject({ applied: 2, declined: 0, unanswered: 0 });
  expect(folder.read('a.py')).toBe(DECORATED.replace('hold', 'release'));
});

it('no to the decorator asks about its parts, and a suppressed one leaves them open', async () => {
  const folder = folderOf({ 'a.py': TEXT });
  const session = start(folder);
  await session.asked('1/4');
  session.type('s');
  await session.sees('ignore[toy-gather]');
  session.type('\r');
  await session.asked('2/4');
  session.type('yy');
  await session.asked('4/4');
  session.type('n');
  expect((await session.ended()).result).toMatchObject({ applied: 2, suppressed: 1, declined: 1 });
  expect(folder.read('a.py')).toContain('whole(x)');
});
