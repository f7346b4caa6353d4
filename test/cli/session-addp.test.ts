/** What people who know `git add -p` stumbled over, in the three sizes of terminal. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fixturesFolder } from '../../src/dev/fixtures.js';
import { folderOf, start } from '../support/pty-cases.js';

/** The words of a screen, wherever they are wrapped. */
function flat(screen: string): string {
  return screen.replace(/\s+/g, ' ');
}

describe.each([
  [60, 20],
  [80, 24],
  [120, 40],
])('at %i×%i', (cols, rows) => {
  it('a wrong key at “this, file or all” asks that again, and answers nothing', async () => {
    const folder = folderOf({ 'a.py': 'risk(x)\n', 'b.py': 'risk(y)\n' });
    const session = start(folder, { cols, rows });
    await session.asked('1/2');
    session.type('Y');
    await session.sees('[t]his, [f]ile or [a]ll? ');
    session.type('x');
    expect(flat(await session.sees('[t]his, [f]ile or [a]ll? '))).toContain(
      '“x” answers nothing here: t, f or a;',
    );
    session.type('a');
    expect(flat(await session.asked('2/2'))).toContain('Remembered toy-risk/caller-done.');
    session.type('n');
    expect((await session.ended()).result).toMatchObject({ applied: 1, declined: 1 });
  });

  it('`a` says what it accepted, also where that is one', async () => {
    const folder = folderOf({ 'a.py': 'risk(x)\n', 'b.py': 'risk(y)\n' });
    const session = start(folder, { cols, rows });
    await session.asked('1/2');
    session.type('a');
    expect(flat(await session.asked('2/2'))).toContain(
      'Accepted 1 of this file, an unsafe one; u takes it back.',
    );
    session.type('u');
    expect(await session.asked('1/2')).toContain('Took back the last answer.');
    session.type('q');
    expect((await session.ended()).result).toMatchObject({ applied: 0 });
  });

  it('Ctrl-C says what was accepted and not written, and what is open', async () => {
    const folder = folderOf({ 'a.py': 'hold(x)\n', 'b.py': 'hold(y)\nrisk(y)\nhold(z)\n' });
    const session = start(folder, { cols, rows });
    await session.asked('1/4');
    session.type('yyy');
    await session.asked('4/4');
    session.type('\x03');
    const { result, text } = await session.ended();
    expect(result).toMatchObject({ applied: 1, unanswered: 3, interrupted: true });
    const end = flat(text);
    expect(end).toContain('1 fix applied in 1 file, 2 accepted but not written, 1 left open.');
    expect(end).toContain(
      'Not written; --resume has the answers: b.py:1 toy-hold b.py:2 toy-risk Left open: b.py:3 toy-hold',
    );
    expect(end).toContain('Stopped; b.py was left as it was. `memfix apply -i --resume` goes on from here.');
    // Who comes back without --resume, and leaves as told, is told --resume again.
    const again = start(folder, { cols, rows });
    expect(flat(await again.asked('1/3'))).toContain('press q now and add --resume');
    again.type('q');
    expect(flat((await again.ended()).text)).toContain('`memfix apply -i --resume` goes on from here.');
  });

  it('a file that changed meanwhile is taken up again with --allow-dirty', async () => {
    const folder = folderOf({ 'a.py': 'hold(x)\n', 'b.py': 'hold(y)\nhold(z)\n' });
    const session = start(folder, { cols, rows });
    await session.asked('1/3');
    session.type('y');
    await session.asked('2/3');
    folder.write('b.py', '# mine\nhold(y)\nhold(z)\n');
    session.type('n');
    await session.asked('2/3');
    session.type('q');
    expect(flat((await session.ended()).text)).toContain(
      '`memfix apply -i --allow-dirty` asks about what is left',
    );
  });

  it('says so where two fixes are written as one block, with its lines', async () => {
    const text = readFileSync(join(fixturesFolder, 'no-grad-block/fix-two-a-line-apart/input.py'), 'utf8');
    const folder = folderOf({ 'a.py': text });
    const session = start(folder, { cols, rows, flags: ['--real'] });
    await session.sees('?=more ');
    session.type('/no-grad-block\r');
    await session.sees('?=more ');
    session.type('Aq');
    const { text: shown } = await session.ended();
    expect(flat(shown)).toMatch(
      /a\.py:\d+: no-grad-block was joined with the fix beside it, so that this is written:/,
    );
    expect(shown).toMatch(/^ +\+ +with torch\.no_grad\(\):$/m);
  });
});

it.each([
  [60, 10],
  [30, 12],
])('a window of %i×%i shows the place and the change, and Space does so again', async (cols, rows) => {
  const session = start(folderOf({ 'a.py': 'def f(x):\n    y = x\n    risk(x)\n    return y\n' }), {
    cols,
    rows,
  });
  const first = await session.asked('1/1');
  const inWindow = (screen: string) => screen.trimStart().split('\n').slice(-rows).join('\n');
  for (const screen of [first, '']) {
    if (screen === '') session.type(' ');
    const seen = inWindow(screen === '' ? await session.asked('1/1') : screen);
    expect(seen).toContain('a.py:3:5');
    expect(seen).toContain('calm(x)');
  }
  session.type('\x1b[A');
  expect(await session.asked('1/1')).toContain('The whole change is in view.');
});

it('a line that goes on in the next row of the window has a mark of its own', async () => {
  const session = start(folderOf({ 'a.py': `hold(${'long_name, '.repeat(8)}x)\n` }), { cols: 60 });
  const card = await session.asked('1/1');
  expect(card.match(/^ +\+ /gm)).toHaveLength(1);
  expect(card).toMatch(/^ +↪ /m);
});
