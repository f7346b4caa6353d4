import { appendFileSync, chmodSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Folder } from '../support/pty.js';
import { A, A_FIXED, answersOf, B, CTRL_C, editor, folderOf, start } from '../support/pty-cases.js';

describe('Ctrl-C', () => {
  const untouched = (folder: Folder) => {
    expect(folder.read('a.py')).toBe(A);
    expect(folder.read('b.py')).toBe(B);
  };

  it('at the first question changes nothing', async () => {
    const folder = folderOf();
    const session = start(folder);
    await session.asked('1/4');
    session.type(CTRL_C);
    const { code, result } = await session.ended();
    expect(code).toBe(130);
    expect(result).toMatchObject({ applied: 0, unanswered: 4, files: 0, interrupted: true });
    untouched(folder);
    expect(readdirSync(folder.path).sort()).toEqual(['a.py', 'b.py']);
  });

  it('keeps finished files and discards the one on screen', async () => {
    const folder = folderOf();
    const session = start(folder);
    await session.asked('1/4');
    session.type('yyy');
    await session.asked('4/4');
    session.type(CTRL_C);
    const { code, result, text } = await session.ended();
    expect(code).toBe(130);
    expect(result).toMatchObject({ applied: 2, unanswered: 2, files: 1, interrupted: true });
    expect(text).toContain('b.py was left as it was');
    expect(folder.read('a.py')).toBe(A_FIXED);
    expect(folder.read('b.py')).toBe(B);
  });

  it('inside the reason leaves the reason, and then quits', async () => {
    const folder = folderOf();
    const session = start(folder);
    await session.asked('1/4');
    session.type('s');
    await session.sees('ignore[toy-hold]');
    session.type('half a rea');
    await session.sees('half a rea');
    session.type(CTRL_C);
    expect(await session.asked('1/4')).toContain(
      'Nothing was suppressed. Ctrl-C once more writes what was accepted, and ends.',
    );
    session.type(CTRL_C);
    expect(await session.ended()).toMatchObject({ code: 130, result: { interrupted: true, applied: 0 } });
    untouched(folder);
  });

  it('that ends the editor leaves the card, and the text is offered, on resume too', async () => {
    const folder = folderOf();
    const env = editor(folder, 'echo "    mine(x)" > "$1"; echo READY; exec sleep 60');
    const session = start(folder, { env });
    await session.asked('1/4');
    session.type('e');
    await session.sees('READY');
    session.type(CTRL_C);
    const back = (await session.asked('1/4')).replace(/\s+/g, ' ');
    expect(back).toContain('was ended by Ctrl-C. Press e to try again.');
    expect(back).toContain('you have a draft: e opens it');
    session.type(CTRL_C);
    const ended = await session.ended();
    expect(ended).toMatchObject({ code: 130, result: { interrupted: true, applied: 0 } });
    expect(ended.text).toContain('`memfix apply -i --resume` goes on from here.');
    untouched(folder);
    const resumed = start(folder, { flags: ['--resume'], env: editor(folder, 'echo "    # kept" >> "$1"') });
    const offered = await resumed.asked('1/4');
    expect(offered).toContain('you have a draft: e opens it');
    expect(offered).toContain('You have a draft for a.py:2: e opens it there.');
    resumed.type('e');
    expect(await resumed.asked('1/4')).toContain('+     mine(x)\n  +     # kept');
  });

  it('that the editor takes for itself does not end the session', async () => {
    const folder = folderOf();
    const env = editor(
      folder,
      'trap "echo CAUGHT; sed -i s/release/mine/ \'$1\'; exit 0" INT; echo READY; while :; do sleep 0.1; done',
    );
    const session = start(folder, { env });
    await session.asked('1/4');
    session.type('e');
    await session.sees('READY');
    session.type(CTRL_C);
    expect(await session.asked('1/4')).toContain('+     mine(x)');
  });

  it.each(['SIGINT', 'SIGTERM', 'SIGKILL'])(
    'or %s from outside leaves the files whole and the answers kept',
    async (signal) => {
      const folder = folderOf();
      const session = start(folder);
      await session.asked('1/4');
      session.type('y');
      await session.asked('2/4');
      session.kill(signal);
      await session.gone();
      untouched(folder);
      const resumed = start(folder, { flags: ['--resume'] });
      expect(await resumed.asked('2/4')).toContain('Went on with 1 earlier answer.');
    },
  );
});

describe('resuming', () => {
  it('asks only the rest and writes all of it', async () => {
    const folder = folderOf();
    const session = start(folder);
    await session.asked('1/4');
    session.type('y');
    await session.asked('2/4');
    session.type(CTRL_C);
    await session.ended();
    expect(folder.read('a.py')).toBe(A);
    const resumed = start(folder, { flags: ['--resume'] });
    await resumed.asked('2/4');
    resumed.type('ynn');
    expect((await resumed.ended()).result).toMatchObject({ applied: 2, declined: 2, files: 1 });
    expect(folder.read('a.py')).toBe(A_FIXED);
    expect(existsSync(answersOf(folder))).toBe(false);
  });

  it('after q does not ask again what was declined, even in a file that was written', async () => {
    const folder = folderOf();
    const session = start(folder);
    await session.asked('1/4');
    session.type('yn');
    await session.asked('3/4');
    session.type('q');
    await session.ended();
    const resumed = start(folder, { flags: ['--resume'] });
    expect(await resumed.asked('2/3')).toContain('b.py:2:5');
  });

  it('asks again where what was shown has changed, and ignores a torn line', async () => {
    const folder = folderOf();
    const session = start(folder);
    await session.asked('1/4');
    session.type('yyy');
    await session.asked('4/4');
    session.kill('SIGKILL');
    await session.gone();
    appendFileSync(answersOf(folder), '{"path":"b.py","ha');
    folder.write('a.py', `# new\n${A.replace('hold(x)', 'hold(x, 1)')}`);
    const resumed = start(folder, { flags: ['--resume'] });
    expect(await resumed.asked('1/4')).toContain('Went on with 2 earlier answers.');
    resumed.type('nn');
    expect((await resumed.ended()).result).toMatchObject({ applied: 2, declined: 2, files: 2 });
    expect(folder.read('a.py')).toBe(`# new\n${A.replace('hold(x)', 'hold(x, 1)').replace('risk', 'calm')}`);
    expect(folder.read('b.py')).toBe(B.replace('hint', 'told'));
  });

  it('is offered, and an old journal lives until the first new answer', async () => {
    const folder = folderOf();
    const first = start(folder);
    await first.asked('1/4');
    first.type('y');
    await first.asked('2/4');
    first.type(CTRL_C);
    await first.ended();
    const before = readFileSync(answersOf(folder), 'utf8');
    const second = start(folder);
    expect(await second.asked('1/4')).toContain('An earlier session left 1 answer here.');
    expect(readFileSync(answersOf(folder), 'utf8')).toBe(before);
    second.type('n');
    await second.asked('2/4');
    expect(readFileSync(answersOf(folder), 'utf8')).toContain('"skip"');
    expect(readFileSync(answersOf(folder), 'utf8')).not.toContain('"apply"');
  });

  it('asks nothing when everything was answered, and writes', async () => {
    const folder = folderOf();
    chmodSync(join(folder.path, 'a.py'), 0o444);
    const session = start(folder);
    await session.asked('1/4');
    session.type('yynn');
    expect((await session.ended()).result).toMatchObject({ applied: 0, failed: [{ path: 'a.py' }] });
    chmodSync(join(folder.path, 'a.py'), 0o644);
    const { result, text } = await start(folder, { flags: ['--resume'] }).ended();
    expect(result).toMatchObject({ applied: 2, declined: 2, failed: [] });
    expect(text).not.toContain('Apply this fix');
    expect(folder.read('a.py')).toBe(A_FIXED);
  });
});
