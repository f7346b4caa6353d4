import { spawnSync } from 'node:child_process';
import { readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commit, folderWith, git, listing, repositoryWith } from '../workspace/folders.js';
import { memfix } from './command-line.js';

const AWKWARD = {
  'plain.py': 'x = 1\nhold()\ny = 2\n',
  'crlf.py': 'x = 1\r\nhold()\r\n',
  'mixed.py': 'x = 1\r\nhold()\ny = 2\r',
  'no end.py': 'hold()',
  'sub folder/naïve "q".py': '\ufeffhold()\n',
  'latin.py': Buffer.from('# coding: latin-1\nx = "\xe9"; hold()\n', 'latin1'),
  'tab\tname.py': 'hold()\n',
  'sub/deep.py': 'if x:\n\thold()\n',
};

function applied(patch: Uint8Array, root: string): void {
  const answer = spawnSync('git', ['apply'], { cwd: root, input: patch, encoding: 'utf8' });
  expect(answer.stderr).toBe('');
}

test.each([['.'], ['sub'], ['sub folder']])(
  'git apply at the root gives what apply writes, from %s',
  async (place) => {
    const [one, two] = [repositoryWith(AWKWARD), repositoryWith(AWKWARD)];
    const { code, data, stderr } = await memfix({ cwd: join(one, place) }, 'diff', one);
    expect(code).toBe(0);
    expect(stderr).toMatch(/^8 fixes in 8 files: 8 free memory\.\n/);
    applied(data, one);
    await memfix({ cwd: two }, 'apply');
    for (const name of Object.keys(AWKWARD)) {
      expect([name, readFileSync(join(one, name))]).toEqual([name, readFileSync(join(two, name))]);
    }
  },
);

test('writes nothing, and says where its paths start', async () => {
  const cwd = repositoryWith({ 'sub/a.py': 'hold()\n' });
  const { stdout, stderr } = await memfix({ cwd: join(cwd, 'sub') }, 'diff');
  expect(stdout).toBe(
    'diff --git a/sub/a.py b/sub/a.py\n--- a/sub/a.py\n+++ b/sub/a.py\n@@ -1 +1 @@\n-hold()\n+release()\n',
  );
  expect(stderr).toBe(`1 fix in 1 file: 1 frees memory.\nPaths are relative to ${cwd}.\n`);
  expect(listing(cwd)).toEqual(['sub/a.py']);
});

test('exits with 0, and with --exit-code 1 when there is something to change', async () => {
  const cwd = repositoryWith({ 'a.py': 'hold()\n', 'b.py': 'risk()\n' });
  expect((await memfix({ cwd }, 'diff')).code).toBe(0);
  expect((await memfix({ cwd }, 'diff', '--exit-code')).code).toBe(1);
  expect(await memfix({ cwd }, 'diff', '--exit-code', 'b.py')).toMatchObject({
    code: 0,
    stdout: '',
    stderr: expect.stringMatching(/^Nothing to change without an answer\. 1 fix is unsafe: /),
  });
});

test('-o writes the patch to a file', async () => {
  const cwd = repositoryWith({ 'a.py': 'hold()\n' });
  expect((await memfix({ cwd }, 'diff', '-o', 'fixes.patch')).stdout).toBe('');
  git(cwd, 'apply', 'fixes.patch');
  expect(readFileSync(join(cwd, 'a.py'), 'utf8')).toBe('release()\n');
});

test('is coloured on a terminal only', async () => {
  const cwd = repositoryWith({ 'a.py': 'hold()\n' });
  expect((await memfix({ cwd, terminals: ['stdout'] }, 'diff')).stdout).toContain(
    '\x1b[32m+release()\x1b[39m\n',
  );
  expect((await memfix({ cwd }, 'diff')).stdout).not.toContain('\x1b');
  expect((await memfix({ cwd, env: { FORCE_COLOR: '1' } }, 'diff')).stdout).not.toContain('\x1b');
  expect((await memfix({ cwd }, 'diff', '--color', 'always')).stdout).toContain('\x1b[32m+release()');
});

test('outside git, paths are relative to the working folder', async () => {
  const cwd = folderWith({ 'sub/a.py': 'hold()\n' });
  expect((await memfix({ cwd }, 'diff', 'sub')).stdout).toContain('--- a/sub/a.py\n');
});

test('reaches into a nested repository by its path, and patches what a symlink points to', async () => {
  const cwd = repositoryWith({ 'a.py': 'hold()\n', 'inner/b.py': 'hold()\n' });
  git(join(cwd, 'inner'), 'init', '--quiet');
  symlinkSync('a.py', join(cwd, '0.py'));
  commit(join(cwd, 'inner'));
  const { code, data } = await memfix({ cwd }, 'diff');
  expect(code).toBe(0);
  applied(data, cwd);
  expect(readFileSync(join(cwd, 'a.py'), 'utf8')).toBe('release()\n');
  expect(readFileSync(join(cwd, 'inner/b.py'), 'utf8')).toBe('release()\n');
});

test('files of two repositories do not go into one patch', async () => {
  const [one, two] = [repositoryWith({ 'a.py': 'hold()\n' }), repositoryWith({ 'b.py': 'hold()\n' })];
  expect(await memfix({ cwd: one }, 'diff', one, two)).toMatchObject({
    code: 2,
    stdout: '',
    stderr: `memfix: One patch cannot span several repositories\n  the changes lie in\n    ${one}\n    ${two}\n  Next: Run \`memfix diff\` once for each of them.\n`,
  });
  expect((await memfix({ cwd: one }, 'diff', two)).stdout).toContain('--- a/b.py\n');
});

test('a patch that git does not take is not printed', async () => {
  // A work tree whose repository is gone: git refuses whatever it is asked here.
  const cwd = folderWith({ 'a.py': 'hold()\n', '.git': 'gitdir: /nowhere\n' });
  const answer = await memfix({ cwd }, 'diff');
  expect(answer.code).toBe(2);
  expect(answer.stdout).toBe('');
  expect(answer.stderr).toMatch(/^memfix: The patch does not apply\n {2}`git apply --check` in .* says:\n/);
  expect(answer.stderr).toContain('No patch was printed.');
});

test('says where there was nothing to look at, and where there is nothing to change', async () => {
  const setting = { cwd: folderWith({ 'a.txt': 'hold()\n' }) };
  expect((await memfix(setting, 'diff')).stderr).toBe('There were no Python files to look at.\n');
  expect((await memfix({ cwd: folderWith({ 'a.py': 'x = 1\n' }) }, 'diff')).stderr).toBe(
    'Nothing to change.\n',
  );
});
