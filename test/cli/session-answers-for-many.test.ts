/** Answers that reach further than one finding: rows, alternatives, and a yes for good; and how to leave an input. */
import { describe, expect, it } from 'vitest';
import { folderOf, start } from '../support/pty-cases.js';

const SIZES = [
  [60, 20],
  [80, 24],
  [120, 40],
] as const;

describe.each(SIZES)('in %i columns and %i rows', (cols, rows) => {
  it('like findings in a row are answered together', async () => {
    const folder = folderOf({ 'a.py': 'hold(a)\nhold(b)\nhold(c)\nrisk(d)\nhold(e)\n' });
    const session = start(folder, { cols, rows });
    expect(await session.asked('1/5')).toContain('[l]ike it: 3 in a row');
    session.type('l');
    const next = await session.asked('4/5');
    expect(next).toContain('Accepted 3 of those in a row; u takes it back.');
    expect(next).toContain('toy-risk');
    session.type('nn');
    expect((await session.ended()).result).toMatchObject({ applied: 3, declined: 2, unanswered: 0 });
    expect(folder.read('a.py')).toBe('release(a)\nrelease(b)\nrelease(c)\nrisk(d)\nhold(e)\n');
  });

  it('of alternatives, a number shows one, and y takes it and leaves none open', async () => {
    const folder = folderOf({ 'a.py': 'twin(x)\n' });
    const session = start(folder, { cols, rows });
    const first = await session.asked('1/1');
    expect(first).toContain('── 1/1 · way 1 of 2 ── a.py:1:1');
    expect(first).toContain('  + one(x)');
    expect(first).toMatch(/^1 ← {5}this change\n2 {7}toy-two \(unsafe\): Call something else than twin$/m);
    session.type('2');
    const second = await session.asked('1/1');
    expect(second).toContain('── 1/1 · way 2 of 2 ── a.py:1:1');
    expect(second).toContain('  + two(x)');
    expect(second).toContain('?       Is the caller done with `twin`?');
    session.type('3');
    expect(await session.asked('1/1')).toContain('There is no alternative 3 here.');
    session.type('y');
    const { result, text } = await session.ended();
    expect(result).toMatchObject({ applied: 1, declined: 0, unanswered: 0 });
    expect(text).toContain('1 fix applied in 1 file.\n');
    expect(folder.read('a.py')).toBe('two(x)\n');
  });

  it('two transforms with the very same change are one finding', async () => {
    const folder = folderOf({ 'a.py': 'pair(x)\n', 'b.py': 'pair(y)\npair(z)\n' });
    const session = start(folder, { cols, rows });
    const first = await session.asked('1/3');
    expect(first).toContain('── 1/3 · a.py:1:1'.replace(' · ', ' ── '));
    expect(first).toContain('toy-left · also toy-right · safe');
    expect(first).not.toContain('another way');
    session.type('y');
    await session.asked('2/3');
    session.type('s');
    await session.sees('ignore[toy-left]');
    session.type('wanted\r');
    await session.asked('3/3');
    session.type('q');
    const { result, text } = await session.ended();
    expect(result).toMatchObject({ applied: 1, unanswered: 1, declined: 0 });
    expect(text).toContain('1 left open.');
    expect(folder.read('a.py')).toBe('single(x)\n');
    expect(folder.read('b.py')).toMatch(/^pair\(y\) {2}# memfix: ignore\[toy-left\] wanted.*\npair\(z\)\n$/);
    const resumed = start(folder, { cols, rows });
    expect(await resumed.asked('1/1')).toContain('b.py:2:1');
  });

  it('a yes for good is written down as far as it is to reach, and holds for the findings after it', async () => {
    const session = start(folderOf({ 'a.py': 'risk(x)\n', 'b.py': 'risk(y)\n' }), { cols, rows });
    const first = await session.asked('1/2');
    expect(first).toContain('unsafe');
    expect(first).toContain('[Y]es for good');
    session.type('Y');
    await session.sees('[t]his, [f]ile or [a]ll');
    session.type('all\r');
    const second = (await session.asked('2/2')).replace(/\n */g, ' ');
    expect(second).toContain('Remembered toy-risk/caller-done.');
    expect(second).toContain('safe by assumption');
    expect(second).toMatch(/assumed +Is the caller done with `risk`\?/);
    session.type('y');
    expect((await session.ended()).result).toMatchObject({ applied: 2 });
  });

  it('all of a kind means the safe ones where a safe one is asked about', async () => {
    const folder = folderOf({ 'a.py': 'either(x)\n', 'b.py': 'either(y)\n', 'c.py': 'either(z, maybe)\n' });
    const session = start(folder, { cols, rows });
    const first = (await session.asked('1/3')).replace(/\n/g, ' ');
    expect(first).toContain('2 more of this kind');
    expect(first).toContain('[A]ll 2 safe ones');
    session.type('A');
    const last = (await session.asked('3/3')).replace(/\n/g, ' ');
    expect(last).toContain(
      'Accepted 2 of toy-either; u takes it back. Left open: 1 unsafe, which is asked about.',
    );
    session.type('q');
    expect((await session.ended()).result).toMatchObject({ applied: 2, unanswered: 1 });
    expect(folder.read('c.py')).toBe('either(z, maybe)\n');
  });

  it('keys that come in one burst answer what is asked next', async () => {
    const folder = folderOf({ 'a.py': 'risk(x)\n', 'b.py': 'risk(y)\nhold(z)\n' });
    const session = start(folder, { cols, rows });
    await session.asked('1/3');
    session.type('Ya');
    const second = (await session.asked('2/3')).replace(/\n */g, ' ');
    expect(second).toContain('Remembered toy-risk/caller-done.');
    session.type('/hold\r');
    expect(await session.asked('3/3')).toContain('toy-hold');
    session.type('sit is wanted\r');
    await session.asked('2/3');
    session.type('q');
    expect((await session.ended()).result).toMatchObject({ applied: 1, suppressed: 1 });
    expect(folder.read('b.py')).toContain('# memfix: ignore[toy-hold] it is wanted');
  });

  it('Esc leaves an input, and nothing is answered', async () => {
    const folder = folderOf({ 'a.py': 'risk(x)\n' });
    const session = start(folder, { cols, rows });
    await session.asked('1/1');
    session.type('s');
    await session.sees('ignore[toy-risk]');
    session.type('half a reason');
    await session.sees('half a reason');
    session.type('\x1b');
    expect(await session.asked('1/1')).toContain('Nothing was suppressed.');
    session.type('Y');
    await session.sees('[t]his, [f]ile or [a]ll');
    session.type('\x1b');
    expect(await session.asked('1/1')).toContain('Nothing was remembered, and nothing answered.');
    session.type('n');
    expect((await session.ended()).result).toMatchObject({ applied: 0, suppressed: 0, declined: 1 });
    expect(folder.read('a.py')).toBe('risk(x)\n');
  });

  it('a change that is longer than the window is scrolled', async () => {
    const session = start(folderOf({ 'a.py': 'tall(x)\n' }), { cols, rows });
    const top = await session.asked('1/1');
    expect(top).toContain('1 - tall(x)');
    expect(top).not.toContain('step_59()');
    for (let pages = 0; pages < 8; pages++) {
      session.type(' ');
      const screen = await session.asked('1/1');
      if (screen.includes(' + step_59()')) break;
    }
    session.type('\x1b[A');
    expect(await session.asked('1/1')).toMatch(/⋮ \d+ more rows.*: ↑/);
    expect(session.text).toContain(' + step_59()');
    session.type('n');
    await session.ended();
  });

  it('a long session says how far it is, how many like this remain, and what it leaves open by name', async () => {
    const files = Object.fromEntries(
      Array.from({ length: 60 }, (_, at) => [`m${String(at).padStart(2, '0')}.py`, `hold(${at})\n`]),
    );
    const session = start(folderOf(files), { cols, rows });
    expect(await session.asked('1/60')).toContain('59 more of this kind');
    session.type('n'.repeat(30));
    const half = await session.asked('31/60');
    expect(half).toContain('── 31/60 · 50 % ── m30.py:1:1 ');
    expect(half).toContain('29 more of this kind');
    session.type('q');
    const { text } = await session.ended();
    expect(text).toContain(
      'Left open:\n  m30.py:1 toy-hold\n  m31.py:1 toy-hold\n  m32.py:1 toy-hold\n  m33.py:1 toy-hold\n  m34.py:1 toy-hold\n  and 25 more\n',
    );
  });
});
