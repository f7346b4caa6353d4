import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { A, editor, folderOf, start } from '../support/pty-cases.js';

describe('the editor', () => {
  it('gives the replacement that y applies', async () => {
    const folder = folderOf();
    const session = start(folder, { env: editor(folder, 'sed -i s/release/let_go/ "$1"') });
    await session.asked('1/4');
    session.type('e');
    const again = await session.asked('1/4');
    expect(again).toContain('+     let_go(x)');
    expect(again).toContain('toy-hold · your own replacement');
    // What is proven and measured is so of the proposed fix.
    expect(again.slice(again.lastIndexOf('── 1/4'))).not.toMatch(/bit-identical|effect/);
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
    // The replacement is not on the screen yet: a yes that was typed ahead means something else.
    session.type('en');
    await session.asked('1/2');
    session.type('y');
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
    expect(reply).toContain('+     release(x)');
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

  it.each([
    ['fails', 'exit 3', 'Nothing was taken over'],
    ['changes nothing', 'true', 'Nothing was changed'],
  ])('that %s leaves what is typed meanwhile unanswered', async (_, end, words) => {
    const folder = folderOf();
    const begun = join(folder.path, 'begun');
    const session = start(folder, {
      env: editor(folder, `echo open > /dev/tty; touch '${begun}'; sleep 1; ${end}`),
    });
    await session.asked('1/4');
    session.type('e');
    await session.sees('open');
    session.type('yyq');
    expect(await session.asked('1/4')).toContain(words);
    session.type('n');
    await session.asked('2/4');
    session.type('q');
    expect((await session.ended()).result).toMatchObject({ applied: 0, declined: 1 });
    expect(folder.read('a.py')).toBe(A);
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

  it('is the one that the user has git open, where none is set, and never that of the repository', async () => {
    const folder = folderOf();
    const { EDITOR: script = '' } = editor(folder, 'sed -i s/release/let_go/ "$1"');
    folder.write('.gitconfig', `[core]\n\teditor = ${script}\n`);
    const home = { HOME: folder.path, XDG_CONFIG_HOME: folder.path };
    const session = start(folder, { env: home });
    await session.asked('1/4');
    session.type('e');
    expect(await session.asked('1/4')).toContain('+     let_go(x)');
    // A stranger's repository may say what it likes.
    const other = folderOf();
    execFileSync('git', ['init', '--quiet'], { cwd: other.path });
    execFileSync('git', ['config', 'core.editor', script], { cwd: other.path });
    mkdirSync(join(other.path, 'bin'));
    symlinkSync(execFileSync('which', ['git'], { encoding: 'utf8' }).trim(), join(other.path, 'bin', 'git'));
    const env = { PATH: join(other.path, 'bin'), HOME: other.path, XDG_CONFIG_HOME: other.path };
    const careful = start(other, { env });
    await careful.asked('1/4');
    careful.type('e');
    expect(await careful.asked('1/4')).toContain('no editor was found');
  });

  it('goes back to the proposed fix when it saves nothing', async () => {
    const folder = folderOf();
    const session = start(folder, { env: editor(folder, 'echo "    mine(x)" > "$1"') });
    await session.asked('1/4');
    session.type('e');
    expect(await session.asked('1/4')).toContain('+     mine(x)');
    editor(folder, ': > "$1"');
    session.type('e');
    expect(await session.asked('1/4')).toContain('+     release(x)');
  });
});
