import { chmodSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { Folder, type PtyOptions, PtySession } from '../support/pty.js';

const CTRL_C = '\x03';
const A = 'def f(x):\n    hold(x)\n    y = 1\n    risk(x)\n    return y\n';
const B = 'def g(x):\n    hint(x)\n    hold(x)\n';
const A_FIXED = A.replace('hold', 'release').replace('risk', 'calm');
const JOURNAL = '.memfix/answers.jsonl';

const open: { dispose(): void }[] = [];
afterEach(() => {
  for (const thing of open.splice(0)) thing.dispose();
});

function folderOf(files: Readonly<Record<string, string>> = { 'a.py': A, 'b.py': B }): Folder {
  const folder = new Folder(files);
  open.push(folder);
  return folder;
}

function start(folder: Folder, options: PtyOptions = {}): PtySession {
  const session = new PtySession(folder, options);
  open.push(session);
  return session;
}

/** An editor that is a shell script; `$1` is the file it edits. */
function editor(folder: Folder, script: string): Readonly<Record<string, string>> {
  const path = join(folder.path, 'my editor');
  folder.write('my editor', `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return { EDITOR: `'${path}'` };
}

describe('the keys, in a terminal', () => {
  it('y and n answer one by one, and the files are written at the end', async () => {
    const folder = folderOf();
    const session = start(folder);
    const first = await session.asked('1/4');
    expect(first).toContain('── 1/4 ── a.py:2:5 ─');
    expect(first).toContain('toy-hold · safe · bit-identical');
    expect(first).toContain('`hold` holds its tensor until the epoch ends');
    expect(first).toContain('measured   Halves the peak of a toy: 8 MiB to 4 MiB.');
    expect(first).toContain('-    hold(x)\n+    release(x)\n');
    session.type('y');
    const second = await session.asked('2/4');
    expect(second).toContain('toy-risk · unsafe · bit-identical');
    expect(second).toContain('not proven the caller may still need it');
    session.type('n');
    expect(await session.asked('3/4')).toContain('Take this advice');
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
      files: 2,
      failed: [],
      interrupted: false,
    });
    expect(folder.read('a.py')).toBe(A.replace('hold', 'release'));
    expect(folder.read('b.py')).toBe(B.replace('hint', 'told'));
    expect(existsSync(join(folder.path, JOURNAL))).toBe(false);
  });

  it('a, A, d and D answer for many, u takes it back, j and k move', async () => {
    const folder = folderOf();
    const session = start(folder);
    await session.asked('1/4');
    session.type('a');
    expect(await session.asked('3/4')).toContain('Accepted 2 of the rest of this file, 1 of them unsafe');
    session.type('u');
    expect(await session.asked('1/4')).toContain('Took back the last 2 answers.');
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
    expect(await session.asked('1/4')).toContain('  q       quit and keep what was accepted');
    session.type('i');
    expect(await session.asked('1/4')).toContain('Calls of hold hold every tensor they ever saw.');
    session.type('p');
    expect(await session.asked('1/4')).toContain('── 1/4 ── a.py:2:5');
    session.type('x');
    expect(await session.asked('1/4')).toContain('“x” is not a key here');
    session.type('\x1b[A');
    const arrow = await session.asked('1/4');
    expect(arrow).toContain('That is not a key here');
    expect(arrow).not.toContain('── 1/4');
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
    expect(text).toContain('--resume goes on from here');
    expect(folder.read('a.py')).toBe(A.replace('hold', 'release'));
    expect(folder.read('b.py')).toBe(B);
  });
});

describe('the screen', () => {
  it('has no line wider than a terminal of 60 columns, but for code', async () => {
    const session = start(folderOf(), { cols: 60 });
    await session.asked('1/4');
    session.type('?');
    await session.asked('1/4');
    session.type('i');
    await session.asked('1/4');
    for (const line of session.text.split('\n')) expect([...line].length, line).toBeLessThanOrEqual(60);
  });

  it('has no colour where none is wanted, and colours the diff where it is', async () => {
    const plain = start(folderOf());
    await plain.asked('1/4');
    plain.type('s');
    await plain.sees('ignore[toy-hold]');
    expect(plain.raw).not.toMatch(/\x1b\[[\d;]*m/);
    const coloured = start(folderOf(), { flags: ['--color'] });
    await coloured.asked('1/4');
    expect(coloured.raw).toContain('\x1b[32m+    release(x)\x1b[39m');
    expect(coloured.raw).toContain('\x1b[31m-    hold(x)\x1b[39m');
  });

  it('clips a diff that is taller than the terminal, and p shows all of it', async () => {
    const session = start(folderOf({ 'a.py': 'tall(x)\n' }), { rows: 20 });
    const clipped = await session.asked('1/1');
    expect(clipped.split('\n').length).toBeLessThanOrEqual(20);
    expect(clipped).toMatch(/… \d+ more lines; p prints them all/);
    expect(clipped).not.toContain('step_59()');
    session.type('p');
    expect(await session.asked('1/1')).toContain('+step_59()');
  });

  it('shows control characters of the source instead of obeying them', async () => {
    const session = start(folderOf({ 'a.py': "hold('\x1b[2J\x07')\n" }));
    expect(await session.asked('1/1')).toContain("release('␛[2J␇')");
    expect(session.raw).not.toContain('\x1b[2J');
  });

  it('asks again at the new width after a resize', async () => {
    const session = start(folderOf(), { cols: 80 });
    await session.asked('1/4');
    session.resize(60, 20);
    const again = await session.asked('1/4');
    expect(again).toContain(`── 1/4 ── a.py:2:5 ${'─'.repeat(41)}\n`);
    session.type('y');
    await session.asked('2/4');
  });
});

describe('the editor', () => {
  it('gives the replacement that y applies', async () => {
    const folder = folderOf();
    const session = start(folder, { env: editor(folder, 'sed -i s/release/let_go/ "$1"') });
    await session.asked('1/4');
    session.type('e');
    const again = await session.asked('1/4');
    expect(again).toContain('+    let_go(x)');
    expect(again).toContain('your own replacement');
    expect(folder.read('a.py')).toBe(A);
    session.type('y');
    await session.asked('2/4');
    session.type('q');
    expect((await session.ended()).result).toMatchObject({ applied: 1, failed: [] });
    expect(folder.read('a.py')).toBe(A.replace('hold', 'let_go'));
  });

  it('may leave the finding there, and is then left alone', async () => {
    const folder = folderOf({ 'a.py': A });
    const session = start(folder, { env: editor(folder, 'echo "    hold(x)  # mine" > "$1"') });
    await session.asked('1/2');
    session.type('e');
    await session.asked('1/2');
    session.type('yn');
    expect((await session.ended()).result).toMatchObject({ applied: 1, declined: 1, failed: [] });
    expect(folder.read('a.py')).toBe(A.replace('hold(x)', 'hold(x)  # mine'));
  });

  it('keeps CRLF and the lines around', async () => {
    const crlf = A.replaceAll('\n', '\r\n');
    const folder = folderOf({ 'a.py': crlf });
    const env = editor(folder, `printf '    one(x)\\n    two(x)\\n' > "$1"`);
    const session = start(folder, { env });
    await session.asked('1/2');
    session.type('ey');
    await session.asked('2/2');
    session.type('n');
    await session.ended();
    expect(folder.read('a.py')).toBe(crlf.replace('    hold(x)', '    one(x)\r\n    two(x)'));
  });

  it.each([
    ['fails', 'exit 3', 'ended with exit code 3'],
    ['fails after it saved', 'echo "    mine(x)" > "$1"; exit 1', 'ended with exit code 1'],
    ['deletes its file', 'rm "$1"', 'was lost'],
    ['breaks the code', 'echo "    mine(" > "$1"', 'it does not parse (line '],
    ['breaks the block', 'echo "mine(x)" > "$1"', 'was not taken over'],
  ])('that %s leaves the question open and nothing lost', async (_, script, words) => {
    const folder = folderOf();
    const again = join(folder.path, 'seen');
    const env = editor(folder, `[ -e '${again}' ] && cp "$1" '${again}.2'; touch '${again}'; ${script}`);
    const session = start(folder, { env });
    await session.asked('1/4');
    session.type('e');
    const reply = await session.asked('1/4');
    expect(reply.replace(/\s+/g, ' ')).toContain(words);
    expect(reply).toContain('+    release(x)');
    session.type('e');
    await session.asked('1/4');
    const offered = folder.read('seen.2');
    expect(offered).toBe(script.includes('echo') ? `${/"(.*?)"/.exec(script)?.[1]}\n` : '    release(x)\n');
    session.type('y');
    await session.asked('2/4');
    session.type('q');
    await session.ended();
    expect(folder.read('a.py')).toBe(A.replace('hold', 'release'));
  });

  it('that does not exist, or is not set, is named', async () => {
    const missing = start(folderOf(), { env: { VISUAL: 'no-such-editor --wait' } });
    await missing.asked('1/4');
    missing.type('e');
    expect(await missing.asked('1/4')).toContain('“no-such-editor --wait” was not found');
    const folder = folderOf();
    mkdirSync(join(folder.path, 'bin'));
    const unset = start(folder, { env: { PATH: join(folder.path, 'bin') } });
    await unset.asked('1/4');
    unset.type('e');
    expect(await unset.asked('1/4')).toContain('set $VISUAL or $EDITOR');
  });

  it('goes back to the proposed fix when it saves nothing', async () => {
    const folder = folderOf();
    const session = start(folder, { env: editor(folder, 'echo "    mine(x)" > "$1"') });
    await session.asked('1/4');
    session.type('e');
    expect(await session.asked('1/4')).toContain('+    mine(x)');
    editor(folder, ': > "$1"');
    session.type('e');
    expect(await session.asked('1/4')).toContain('+    release(x)');
  });
});

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

  it('inside the reason quits too', async () => {
    const folder = folderOf();
    const session = start(folder);
    await session.asked('1/4');
    session.type('s');
    await session.sees('ignore[toy-hold]');
    session.type('half a rea');
    await session.sees('half a rea');
    session.type(CTRL_C);
    expect(await session.ended()).toMatchObject({ code: 130, result: { interrupted: true, applied: 0 } });
    untouched(folder);
  });

  it('that ends the editor quits, and the text is offered on resume', async () => {
    const folder = folderOf();
    const env = editor(folder, 'echo "    mine(x)" > "$1"; echo READY; exec sleep 60');
    const session = start(folder, { env });
    await session.asked('1/4');
    session.type('e');
    await session.sees('READY');
    session.type(CTRL_C);
    expect(await session.ended()).toMatchObject({ code: 130, result: { interrupted: true, applied: 0 } });
    untouched(folder);
    const resumed = start(folder, { flags: ['--resume'], env: editor(folder, 'echo "    # kept" >> "$1"') });
    await resumed.asked('1/4');
    resumed.type('e');
    expect(await resumed.asked('1/4')).toContain('+    mine(x)\n+    # kept');
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
    expect(await session.asked('1/4')).toContain('+    mine(x)');
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
    expect(existsSync(join(folder.path, JOURNAL))).toBe(false);
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

  it('forgets answers to a file that changed, and ignores a torn line', async () => {
    const folder = folderOf();
    const session = start(folder);
    await session.asked('1/4');
    session.type('yyy');
    await session.asked('4/4');
    session.kill('SIGKILL');
    await session.gone();
    folder.write(JOURNAL, `${folder.read(JOURNAL)}{"path":"b.py","ha`);
    folder.write('a.py', `${A}\n`);
    const resumed = start(folder, { flags: ['--resume'] });
    expect(await resumed.asked('1/4')).toContain('Went on with 1 earlier answer.');
    resumed.type('dn');
    expect((await resumed.ended()).result).toMatchObject({ applied: 1, declined: 3, files: 1 });
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
    const before = folder.read(JOURNAL);
    const second = start(folder);
    expect(await second.asked('1/4')).toContain('An earlier session left 1 answer.');
    expect(folder.read(JOURNAL)).toBe(before);
    second.type('n');
    await second.asked('2/4');
    expect(folder.read(JOURNAL)).toContain('"skip"');
    expect(folder.read(JOURNAL)).not.toContain('"apply"');
  });

  it('writes at once when everything was answered', async () => {
    const folder = folderOf({ 'a.py': A });
    const session = start(folder);
    await session.asked('1/2');
    session.type('y');
    await session.asked('2/2');
    session.kill('SIGKILL');
    await session.gone();
    const line = folder.read(JOURNAL).trim();
    folder.write('a.py', A.replace('risk', 'safe'));
    const only = start(folder, { flags: ['--resume'] });
    await only.asked('1/1');
    only.type(CTRL_C);
    await only.ended();
    folder.write('a.py', A);
    folder.write(JOURNAL, `${line}\n`);
    const resumed = start(folder, { flags: ['--resume'] });
    await resumed.asked('2/2');
    resumed.type('k');
    expect(await resumed.asked('1/2')).toContain('answered: apply');
  });
});

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
    expect(existsSync(join(folder.path, JOURNAL))).toBe(true);
  });

  it('that keeps answers from being saved is said once, and the session goes on', async () => {
    const folder = folderOf();
    folder.write('.memfix', 'not a folder');
    const session = start(folder);
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
