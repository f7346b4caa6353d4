import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { A, A_FIXED, answersOf, B, folderOf, start } from '../support/pty-cases.js';

describe('the keys, in a terminal', () => {
  it('y and n answer one by one, and the files are written at the end', async () => {
    const folder = folderOf();
    const session = start(folder);
    const first = await session.asked('1/4');
    expect(first).toContain('── 1/4 ── a.py:2:5 ─');
    expect(first).toContain('toy-hold · safe · bit-identical');
    expect(first).toContain('`hold` holds its tensor until the epoch ends');
    expect(first).toContain('effect  frees memory; Halves the peak of a toy: 8 MiB to 4 MiB.');
    expect(first).toContain('(1/4) [y]es [n]o [A]ll 2 of this kind [e]dit [q]uit ?=more ');
    expect(first).toContain('2 -     hold(x)\n  +     release(x)\n');
    session.type('y');
    const second = await session.asked('2/4');
    expect(second).toContain('toy-risk · unsafe · bit-identical');
    expect(second).toContain('?       Is the caller done with `risk`?');
    session.type('n');
    expect(await session.asked('3/4')).toContain('[y]es, take this advice [n]o [e]dit [q]uit ?=more ');
    expect(folder.read('a.py')).toBe(A);
    session.type('y');
    await session.asked('4/4');
    session.type('n');
    const { code, result } = await session.ended();
    expect(code).toBe(0);
    expect(result).toEqual({
      applied: 2,
      suppressed: 0,
      declined: 2,
      unanswered: 0,
      gone: 0,
      files: 2,
      failed: [],
      interrupted: false,
    });
    expect(folder.read('a.py')).toBe(A.replace('hold', 'release'));
    expect(folder.read('b.py')).toBe(B.replace('hint', 'told'));
    expect(existsSync(answersOf(folder))).toBe(false);
  });

  it('a, A, d and D answer for many, u takes it back, j and k move', async () => {
    const folder = folderOf();
    const session = start(folder);
    await session.asked('1/4');
    session.type('a');
    expect(await session.asked('2/4')).toContain('Accepted 1 of this file; u takes it back.');
    session.type('u');
    expect(await session.asked('1/4')).toContain('Took back the last answer.');
    session.type('k');
    expect(await session.asked('1/4')).toContain('This is the first finding.');
    session.type('A');
    await session.asked('2/4');
    session.type('k');
    expect(await session.asked('1/4')).toContain('answered: apply');
    session.type('D');
    await session.asked('2/4');
    session.type('jj');
    await session.asked('4/4');
    session.type('j');
    expect(await session.asked('4/4')).toContain('This is the last finding.');
    session.type('kd');
    await session.asked('2/4');
    session.type('y');
    const { result } = await session.ended();
    expect(result).toMatchObject({ applied: 2, declined: 2, files: 2 });
    expect(folder.read('a.py')).toBe(A.replace('risk', 'calm'));
    expect(folder.read('b.py')).toBe(B.replace('hold', 'release'));
  });

  it('? and i explain, p prints, and an unknown key says so', async () => {
    const session = start(folderOf());
    await session.asked('1/4');
    session.type('?');
    expect(await session.sees('Any key goes on')).toContain('  y       yes to what is asked');
    session.type('q');
    await session.asked('1/4');
    session.type('i');
    expect(await session.asked('1/4')).toContain('Calls of hold hold every tensor they ever saw.');
    session.type('p');
    expect(await session.asked('1/4')).toContain('── 1/4 ── a.py:2:5');
    session.type('x');
    expect(await session.asked('1/4')).toContain('“x” is not a key here');
    session.type('\x1b[D');
    const arrow = await session.asked('1/4');
    expect(arrow).toContain('That is not a key here');
    expect(arrow).not.toContain('── 1/4');
  });

  it('Enter after a key answers nothing, typed at once or later', async () => {
    const folder = folderOf();
    const session = start(folder);
    await session.asked('1/4');
    session.type('n\r');
    await session.asked('2/4');
    session.type('\r');
    session.type('y\n');
    await session.asked('3/4');
    session.type('q');
    const { result, text } = await session.ended();
    expect(result).toMatchObject({ applied: 1, declined: 1 });
    expect(text).not.toContain('not a key here');
  });

  it('Ctrl-D quits as q does', async () => {
    const folder = folderOf();
    const session = start(folder);
    await session.asked('1/4');
    session.type('y');
    await session.asked('2/4');
    session.type('\x04');
    const { code, result } = await session.ended();
    expect(code).toBe(0);
    expect(result).toMatchObject({ applied: 1, interrupted: false });
    expect(folder.read('a.py')).toBe(A.replace('hold', 'release'));
  });

  it('Y takes its line, and what is typed with it answers no card that nobody has seen', async () => {
    const folder = folderOf();
    const session = start(folder);
    await session.asked('1/4');
    session.type('j');
    await session.asked('2/4');
    session.type('Y');
    await session.sees('[t]his, [f]ile or [a]ll');
    session.type('f\ryyq');
    expect(await session.asked('3/4')).toContain('Remembered toy-risk');
    session.type('q');
    expect((await session.ended()).result).toMatchObject({ applied: 1, declined: 0, unanswered: 3 });
    expect(folder.read('a.py')).toBe(A.replace('risk', 'calm'));
    expect(folder.read('b.py')).toBe(B);
  });

  it('/ and g go to a finding by its number, its path, its transform or its code', async () => {
    const session = start(folderOf());
    await session.asked('1/4');
    const to = async (key: string, words: string, at: string) => {
      session.type(key);
      await session.sees('/ number, file:line or words');
      session.type(`${words}\r`);
      return session.asked(at);
    };
    expect(await to('/', 'b.py', '3/4')).toContain('── 3/4');
    await to('g', '2', '2/4');
    await to('/', 'TOY-HOLD', '4/4');
    // From the top after the last, and never to where it is already.
    await to('/', 'hold(x)', '1/4');
    expect((await to('/', 'nowhere', '1/4')).replace(/\s+/g, ' ')).toContain(
      'No finding has “nowhere” as its number, cell or line, or in its path, transform or code.',
    );
    expect(await to('/', '99', '1/4')).toContain('No finding has “99”');
    // As the title has it, and lines where a number is not one of the list.
    expect(await to('/', 'b.py:3', '4/4')).toContain('b.py:3:5');
    await to('/', 'a.py:4:5', '2/4');
    await to('/', ':2', '3/4');
    await to('/', 'k.py:2', '3/4');
    await to('g', '1', '1/4');
    session.type('/');
    await session.sees('/ number, file:line or words');
    session.type('\x1b');
    await session.asked('1/4');
    session.type('q');
    expect((await session.ended()).text).toContain('No fix applied, 4 left open.');
  });

  it.each([
    [60, 20],
    [80, 24],
    [120, 40],
  ])('at %i×%i, what is pasted answers nothing, in one piece or several', async (cols, rows) => {
    const folder = folderOf();
    const session = start(folder, { cols, rows });
    await session.asked('1/4');
    expect(session.raw).toContain('\x1b[?2004h');
    session.type('\x1b[200~yes please apply all\x1b[201~');
    expect(await session.asked('1/4')).toContain('Pasted text is not taken as keys.');
    session.type('\x1b[200~yes\n');
    session.type('quit\x1b[201~n');
    expect(await session.asked('1/4')).toContain('Pasted text is not taken as keys.');
    await session.asked('2/4');
    session.type('q');
    const { result } = await session.ended();
    expect(result).toMatchObject({ applied: 0, declined: 1, unanswered: 3 });
    expect(session.raw.lastIndexOf('\x1b[?2004l')).toBeGreaterThan(session.raw.lastIndexOf('\x1b[?2004h'));
  });

  it('what is tried out after an answer is said, and erased', async () => {
    const session = start(folderOf());
    await session.asked('1/4');
    session.type('s');
    await session.sees('Type a reason');
    session.type('\r');
    await session.sees('trying it …');
    expect((await session.asked('2/4')).split('\n').filter((line) => line.startsWith('trying it'))).toEqual(
      [],
    );
    session.type('q');
    await session.ended();
  });

  it('s suppresses with a reason and without', async () => {
    const folder = folderOf();
    const session = start(folder);
    await session.asked('1/4');
    session.type('s');
    await session.sees('# memfix: ignore[toy-hold]');
    session.type('wanted\r');
    await session.asked('2/4');
    session.type('s');
    await session.sees('# memfix: ignore[toy-risk]');
    session.type('\r');
    await session.asked('3/4');
    session.type('d');
    expect((await session.ended()).result).toMatchObject({ suppressed: 2, declined: 2, files: 1 });
    const [, first, , second] = folder.read('a.py').split('\n');
    expect(first).toBe('    hold(x)  # memfix: ignore[toy-hold] wanted');
    expect(second).toBe('    risk(x)  # memfix: ignore[toy-risk]');
  });

  it('takes keys that were typed ahead, in order', async () => {
    const folder = folderOf();
    const session = start(folder);
    await session.asked('1/4');
    session.type('yyny');
    expect((await session.ended()).result).toMatchObject({ applied: 3, declined: 1 });
    expect(folder.read('a.py')).toBe(A_FIXED);
  });

  it('q writes what was accepted, also in the file on screen', async () => {
    const folder = folderOf();
    const session = start(folder);
    await session.asked('1/4');
    session.type('y');
    await session.asked('2/4');
    session.type('q');
    const { code, result, text } = await session.ended();
    expect(code).toBe(0);
    expect(result).toMatchObject({ applied: 1, unanswered: 3, files: 1, interrupted: false });
    // The yes is in the file: there is no answer to go on with.
    expect(text).toContain('`memfix apply -i` asks about what is left open');
    expect(folder.read('a.py')).toBe(A.replace('hold', 'release'));
    expect(folder.read('b.py')).toBe(B);
  });
});
