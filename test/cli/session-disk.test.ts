import { chmodSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { A, A_FIXED, answersOf, CTRL_C, folderOf, start } from '../support/pty-cases.js';

describe('a file that changes while its question is open', () => {
  it('is scanned again, keeps the answers that still hold, and is never written over', async () => {
    const folder = folderOf();
    const session = start(folder);
    await session.asked('1/4');
    session.type('y');
    await session.asked('2/4');
    const changed = `# a new first line\n${A.replace('return y', 'hold(y)')}`;
    folder.write('a.py', changed);
    session.type('y');
    const again = await session.asked('2/5');
    expect(again.replace(/\s+/g, ' ')).toContain(
      'a.py changed on disk and was scanned again: 1 answer still held, 2 to be asked.',
    );
    expect(again).toContain('a.py:5:5');
    session.type('yyd');
    expect((await session.ended()).result).toMatchObject({ applied: 3, declined: 2, failed: [] });
    expect(folder.read('a.py')).toBe(changed.replaceAll('hold', 'release').replace('risk', 'calm'));
  });

  it('is looked at once more before it is written', async () => {
    const folder = folderOf();
    const session = start(folder);
    await session.asked('1/4');
    session.type('yyy');
    await session.asked('4/4');
    folder.write('a.py', `${A}hold(z)\n`);
    session.type('n');
    expect(await session.asked('3/5')).toContain('a.py:6:1');
    session.type('n');
    await session.ended();
    expect(folder.read('a.py')).toBe(`${A_FIXED}hold(z)\n`);
  });

  it.each([
    ['no longer parses', 'def f(:\n    hold(x)\n'],
    ['has no findings any more', 'def f(x):\n    return x\n'],
  ])('leaves the review when it %s', async (_, changed) => {
    const folder = folderOf();
    const session = start(folder);
    await session.asked('1/4');
    folder.write('a.py', changed);
    session.type('y');
    await session.asked('1/2');
    session.type('nn');
    const { result } = await session.ended();
    expect(result).toMatchObject({ applied: 0, declined: 2 });
    expect(result.failed.map(({ path }) => path)).toEqual(changed.includes('(:') ? ['a.py'] : []);
    expect(folder.read('a.py')).toBe(changed);
  });

  it('on q and on Ctrl-C gets only answers that still hold', async () => {
    for (const [key, expected] of [
      ['q', A_FIXED.replace('y = 1', 'y = 2')],
      [CTRL_C, A_FIXED.replace('y = 1', 'y = 2')],
    ] as const) {
      const folder = folderOf();
      const session = start(folder);
      await session.asked('1/4');
      session.type('yy');
      await session.asked('3/4');
      folder.write('a.py', A.replace('y = 1', 'y = 2'));
      session.type(key);
      await session.ended();
      expect(folder.read('a.py')).toBe(expected);
    }
  });
});

describe('trouble on disk', () => {
  it('is reported for its file, and the others are written', async () => {
    const folder = folderOf();
    chmodSync(join(folder.path, 'a.py'), 0o444);
    const session = start(folder);
    await session.asked('1/4');
    session.type('yyyy');
    const { result } = await session.ended();
    expect(result).toMatchObject({
      applied: 2,
      files: 1,
      failed: [{ path: 'a.py', reason: 'it is read-only' }],
    });
    expect(folder.read('a.py')).toBe(A);
    expect(existsSync(answersOf(folder))).toBe(true);
  });

  it('that keeps answers from being saved is said once, and the session goes on', async () => {
    const folder = folderOf();
    folder.write('state', 'not a folder');
    const session = start(folder, { env: { MEMFIX_STATE_DIR: join(folder.path, 'state') } });
    await session.asked('1/4');
    session.type('y');
    expect(await session.asked('2/4')).toContain('The answers cannot be saved');
    session.type('y');
    expect(await session.asked('3/4')).not.toContain('cannot be saved');
    session.type('nn');
    expect((await session.ended()).result).toMatchObject({ applied: 2, failed: [] });
    expect(folder.read('a.py')).toBe(A_FIXED);
  });
});
