/** What people who know `git add -p` stumbled over, in the three sizes of terminal. */
import { describe, expect, it } from 'vitest';
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
});
