import { chmodSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { A, A_FIXED, answersOf, CTRL_C, editor, folderOf, start } from '../support/pty-cases.js';

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
      'a.py changed on disk and was scanned again; your answer there still holds. The list is numbered anew: 5 findings, not 4.',
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

const SIZES = [
  [60, 20],
  [80, 24],
  [120, 40],
] as const;
const flat = (text: string) => text.replace(/\s+/g, ' ');

describe.each(SIZES)('an answer whose lines change on disk, at %i×%i', (cols, rows) => {
  const changed = A.replace('hold(x)', 'hold(x, 1)');

  it('no longer applies, is named, and is asked again', async () => {
    const folder = folderOf();
    const session = start(folder, { cols, rows });
    await session.asked('1/4');
    session.type('yy');
    await session.asked('3/4');
    folder.write('a.py', changed);
    session.type('nn');
    const again = await session.asked('1/4');
    expect(flat(again)).toContain(
      'a.py changed on disk; your yes at :2 no longer applies: it is asked again; your other answer there still holds.',
    );
    expect(again).toContain('+     release(x, 1)');
    expect(folder.read('a.py')).toBe(changed);
    session.type('y');
    expect((await session.ended()).result).toMatchObject({ applied: 2, declined: 2, unanswered: 0, gone: 0 });
    expect(folder.read('a.py')).toBe(changed.replace('hold', 'release').replace('risk', 'calm'));
  });

  it.each(['q', CTRL_C])('is left by %j, named, and counted', async (key) => {
    // After Ctrl-C a file with an open finding is left as it is.
    const [applied, wanted] = key === 'q' ? [1, changed.replace('risk', 'calm')] : [0, changed];
    const folder = folderOf();
    const session = start(folder, { cols, rows });
    await session.asked('1/4');
    session.type('yy');
    await session.asked('3/4');
    folder.write('a.py', changed);
    session.type(key);
    const { result, text } = await session.ended();
    expect(result).toMatchObject({ applied, unanswered: 4 - applied, gone: 0, files: applied });
    expect(flat(text)).toContain('your yes at :2 no longer applies: it is left open');
    expect(text).toContain('  a.py:2 toy-hold\n');
    expect(folder.read('a.py')).toBe(wanted);
    const resumed = start(folder, { cols, rows, flags: ['--resume'] });
    expect(await resumed.asked(`1/${4 - applied}`)).toContain('+     release(x, 1)');
  });

  it('is told where nothing is found there any more, and the counts add up', async () => {
    const folder = folderOf();
    const session = start(folder, { cols, rows });
    await session.asked('1/4');
    session.type('yyn');
    await session.asked('4/4');
    folder.write('a.py', A.replace('hold(x)', 'other(x)'));
    session.type('q');
    const { result, text } = await session.ended();
    expect(result).toMatchObject({ applied: 1, declined: 1, unanswered: 1, gone: 1 });
    expect(flat(text)).toContain('your yes at :2 no longer applies: nothing is found there now;');
    expect(flat(text)).toContain('1 fix applied in 1 file, 1 declined, 1 left open, 1 no longer there.');
  });

  it('is kept with the person’s own text where other lines change', async () => {
    const folder = folderOf();
    const session = start(folder, { cols, rows, env: editor(folder, 'sed -i s/release/mine/ "$1"') });
    await session.asked('1/4');
    session.type('e');
    await session.asked('1/4');
    session.type('y');
    await session.asked('2/4');
    folder.write('a.py', `# above\n${A}`);
    session.type('q');
    const { result, text } = await session.ended();
    expect(result).toMatchObject({ applied: 1, unanswered: 3 });
    expect(flat(text)).toContain(
      'a.py changed on disk and was scanned again; your answer there still holds.',
    );
    expect(folder.read('a.py')).toBe(`# above\n${A.replace('hold', 'mine')}`);
  });

  it('gives the person’s own text back as a draft', async () => {
    const folder = folderOf();
    const session = start(folder, { cols, rows, env: editor(folder, 'sed -i s/release/mine/ "$1"') });
    await session.asked('1/4');
    session.type('e');
    await session.asked('1/4');
    session.type('yd');
    await session.asked('3/4');
    folder.write('a.py', changed);
    session.type('d');
    const again = flat(await session.asked('1/4'));
    expect(again).toContain('your replacement at :2 no longer applies: it is asked again;');
    expect(again).toContain('Your text is kept as a draft: e opens it.');
    expect(again).toContain('you have a draft: e opens it');
    expect(again).toContain('+ release(x, 1)');
    session.type('e');
    expect(await session.asked('1/4')).toContain('+     mine(x)');
  });

  it.each([
    ['elsewhere', `# above\n${A}`, '+     mine(x)', 'This is your replacement'],
    ['in its lines', changed, '+     release(x, 1)', 'Your text is kept as a draft: e opens it.'],
  ])('also while the editor is open and the file changes %s', async (_, text, shown, words) => {
    const folder = folderOf();
    folder.write('next', text);
    const script = `sed -i s/release/mine/ "$1"; cp '${folder.path}/next' '${folder.path}/a.py'`;
    const session = start(folder, { cols, rows, env: editor(folder, script) });
    await session.asked('1/4');
    session.type('e');
    const again = await session.asked('1/4');
    expect(again).toContain(shown);
    expect(flat(again)).toContain('a.py changed on disk');
    expect(flat(again)).toContain(words);
    expect(folder.read('a.py')).toBe(text);
  });
});

describe('equal lines', () => {
  it('are told apart by what is around them', async () => {
    const twice = 'def f(x):\n    hold(x)\n\n\ndef g(x):\n    y = 1\n    hold(x)\n';
    const folder = folderOf({ 'a.py': twice, 'b.py': 'hint(x)\n' });
    const session = start(folder);
    await session.asked('1/3');
    session.type('ny');
    await session.asked('3/3');
    // A third one above both: no answer may slip to another place.
    folder.write('a.py', `def e(x):\n    hold(x)\n\n\n${twice}`);
    session.type('q');
    const { text } = await session.ended();
    expect(folder.read('a.py')).toBe(
      `def e(x):\n    hold(x)\n\n\n${twice.replace('y = 1\n    hold', 'y = 1\n    release')}`,
    );
    expect(flat(text)).toContain('your no at :2 no longer applies');
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
