/** `check --staged` is about what would be committed: the index, not the work tree. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { git, put, repositoryWith } from '../workspace/folders.js';
import { memfix } from './command-line.js';

/** What is committed, then staged, then in the work tree. */
function repositoryAt(
  committed: Readonly<Record<string, string>>,
  staged: Readonly<Record<string, string>>,
  now: Readonly<Record<string, string>>,
): string {
  const cwd = repositoryWith(committed);
  put(cwd, staged);
  git(cwd, 'add', '-A');
  put(cwd, now);
  return cwd;
}

const check = async (cwd: string, ...words: readonly string[]) =>
  memfix({ cwd }, 'check', '--staged', '--output-format', 'concise', ...words);

test('what is staged counts where the work tree has it mended, and the other way round', async () => {
  const hidden = repositoryAt(
    { 'a.py': '' },
    { 'a.py': 'x = 1\nhold()\n' },
    { 'a.py': 'x = 1\nrelease()\n' },
  );
  expect(await check(hidden)).toMatchObject({
    code: 1,
    stdout: 'a.py:2:1: drop-hold [safe] hold costs memory\n',
    stderr: expect.stringContaining('Read as staged, without changes that are not: a.py.'),
  });
  const clean = repositoryAt({ 'a.py': '' }, { 'a.py': 'release()\n' }, { 'a.py': 'hold()\n' });
  for (const _ of [1, 2]) expect(await check(clean)).toMatchObject({ code: 0, stdout: '' });
  // The work tree is what every other run is about, whatever was remembered.
  expect((await memfix({ cwd: clean }, 'check')).code).toBe(1);
  expect(readFileSync(join(clean, 'a.py'), 'utf8')).toBe('hold()\n');
});

test('from a folder of the repository, of notebooks, and of bytes that are no UTF-8', async () => {
  const book = (code: string) =>
    `{"cells": [{"cell_type": "code", "source": ["${code}"]}], "metadata": {}, "nbformat": 4, "nbformat_minor": 4}`;
  const latin = Buffer.from('# -*- coding: latin-1 -*-\nx = "é"; hold()\n', 'latin1');
  const cwd = repositoryWith({ 'sub/b.ipynb': book('x = 1'), 'sub/c.py': '' });
  put(cwd, { 'sub/b.ipynb': book('hold()') });
  writeFileSync(join(cwd, 'sub/c.py'), latin);
  git(cwd, 'add', '-A');
  put(cwd, { 'sub/b.ipynb': book('x = 2'), 'sub/c.py': 'x = 2\n' });
  expect((await check(join(cwd, 'sub'))).stdout).toBe(
    'b.ipynb: cell 1, line 1: drop-hold [safe] hold costs memory\nc.py:2:10: drop-hold [safe] hold costs memory\n',
  );
});

test('a file that is staged and no longer in the work tree is named', async () => {
  const cwd = repositoryAt({ 'a.py': '', 'b.py': '' }, { 'a.py': 'hold()\n', 'b.py': 'hold()\n' }, {});
  rmSync(join(cwd, 'a.py'));
  const { code, stdout } = await check(cwd);
  expect([code, stdout]).toEqual([1, expect.stringContaining('b.py:1:1')]);
  expect(stdout).toContain('a.py: skipped: it is staged, and no longer in the work tree');
});

test('`--staged` is proposed only where it would take the file', async () => {
  const mixed = repositoryAt({ 'a.py': '' }, { 'a.py': 'hold()\n' }, { 'a.py': 'hold()\nx = 1\n' });
  const refused = await memfix({ cwd: mixed }, 'apply', 'a.py');
  expect([refused.code, refused.stderr]).toEqual([2, expect.not.stringContaining('--staged')]);
  const staged = repositoryAt({ 'a.py': '' }, { 'a.py': 'hold()\n' }, {});
  expect((await memfix({ cwd: staged }, 'apply', 'a.py')).stderr).toContain('add `--staged` for what');
});

test('what cannot be staged is said to be written, with both ways on', async () => {
  const cwd = repositoryAt({ 'a.py': '' }, { 'a.py': 'hold()\n' }, {});
  put(cwd, { '.git/index.lock': '' });
  const { code, stderr } = await memfix({ cwd }, 'apply', '--staged');
  expect([code, readFileSync(join(cwd, 'a.py'), 'utf8')]).toEqual([2, 'release()\n']);
  expect(stderr).toContain('Written, but not staged');
  expect(stderr).toMatch(/index\.lock.*File exists/);
  expect(stderr).toContain(
    'Next: `git add a.py` stages what was written once git can; `memfix undo` takes it back.',
  );
  expect(stderr).not.toContain('--allow-dirty');
});
