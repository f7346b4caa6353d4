import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { git, put, repositoryWith } from '../workspace/folders.js';
import { memfix } from './command-line.js';

const BOOK = `{
 "cells": [
  {"cell_type": "markdown", "source": ["hold()"]},
  {
   "cell_type": "code",
   "outputs": [{"text": ["hold()"]}],
   "source": [
    "%time\\n",
    "x = 1\\n",
    "hold(\\"\\u00e9\\")"
   ]
  },
  {"cell_type": "code", "source": "!ls\\nrisk()"}
 ],
 "metadata": {"language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 4
}`;
const FIXED = BOOK.replace('    "hold(', '    "release(');
const read = (cwd: string) => readFileSync(join(cwd, 'a.ipynb'), 'utf8');

describe('notebooks', () => {
  test('that cannot be read are named, also in a folder', async () => {
    const conflict = BOOK.replace(' "cells"', '<<<<<<< HEAD\n "cells"');
    const cwd = repositoryWith({
      'a.ipynb': conflict,
      'b.ipynb': '{"cells": <<<<<<< HEAD',
      'c.py': 'hold()\n',
      'd.ipynb': '\n',
    });
    const { stdout, stderr } = await memfix({ cwd }, 'check');
    expect(stdout).toContain('d.ipynb: skipped: it is empty\n');
    expect(stdout).toContain('a.ipynb: skipped: it has the marks of a merge conflict\n');
    expect(stdout).toContain('b.ipynb: skipped: it is not valid JSON, as a notebook has to be\n');
    expect(stderr).toContain('3 files skipped');
  });

  test('for a forge, which knows no cells, are told by the lines of their JSON, without edits', async () => {
    const cwd = repositoryWith({ 'a.ipynb': BOOK });
    const shown = async (format: string) =>
      (await memfix({ cwd }, 'check', '--output-format', format)).stdout;
    const github = await shown('github');
    expect(github).toContain('file=a.ipynb,line=10,endLine=10,');
    expect(github).toContain('::in cell 2, line 3:%0A');
    expect(github).toContain('file=a.ipynb,line=13,endLine=13,');
    const [first] = JSON.parse(await shown('gitlab'));
    expect(first.location.lines).toEqual({ begin: 10, end: 10 });
    const sarif = JSON.parse(await shown('sarif')).runs[0].results;
    expect(sarif.map(({ fixes }: { fixes?: unknown }) => fixes)).toEqual([undefined, undefined]);
  });

  test('are checked, and places told by cell', async () => {
    const cwd = repositoryWith({ 'a.ipynb': BOOK });
    const { stdout, code } = await memfix({ cwd }, 'check', '--output-format', 'concise');
    expect(code).toBe(1);
    expect(stdout).toBe(
      'a.ipynb: cell 2, line 3: drop-hold [safe] hold costs memory\n' +
        'a.ipynb: cell 3, line 2: calm-risk [unsafe] risk costs memory\n',
    );
    const short = (await memfix({ cwd }, 'check')).stdout;
    expect(short).toContain('  1 │   %time\n  2 │   x = 1\n  3 │ - hold("é")\n    │ + release("é")\n');
    const full = (await memfix({ cwd }, 'check', '--output-format', 'full')).stdout;
    expect(full).toContain('a.ipynb: cell 2, line 3  drop-hold');
    expect(full).toContain('  1 │ %time\n  2 │ x = 1\n  3 │ hold("é")\n');
    expect(full).toContain('  @@ -1,3 +1,3 @@\n   %time\n   x = 1\n  -hold("é")\n  +release("é")\n');
    expect(full).toContain('   !ls\n  -risk()\n  +calm()\n');
    expect(short + full).not.toContain('magic');
  });

  test('are summed up for a pull request by cell', async () => {
    const cwd = repositoryWith({ 'a.ipynb': BOOK });
    const { stdout } = await memfix({ cwd }, 'check', '--output-format', 'markdown');
    expect(stdout).toContain('| `a.ipynb: cell 2, line 3` | `drop-hold` |');
    expect(stdout).toContain('<summary>a.ipynb: cell 3, line 2: Calm it</summary>');
    expect(stdout).toContain(
      '--- a.ipynb: cell 2\n+++ a.ipynb: cell 2\n@@ -1,3 +1,3 @@\n %time\n x = 1\n-hold("é")\n+release("é")\n',
    );
  });

  test('are told to programs by the lines and offsets of their cells', async () => {
    const cwd = repositoryWith({ 'a.ipynb': BOOK, 'b.py': 'hold()\n' });
    const { stdout } = await memfix({ cwd }, 'check', '--output-format', 'json');
    const { findings } = JSON.parse(stdout);
    expect(findings).toMatchObject([
      {
        cell: 2,
        line: 3,
        column: 1,
        fix: { edits: [{ cell: 2, line: 3, start: 12, end: 16, text: 'release' }] },
      },
      { cell: 3, line: 2, column: 1, fix: { edits: [{ cell: 3, line: 2, start: 4, end: 8, text: 'calm' }] } },
      { cell: null, line: 1, fix: { edits: [{ cell: null, start: 0, end: 4 }] } },
    ]);
  });

  test('are fixed in their own bytes, and undone', async () => {
    const cwd = repositoryWith({ 'a.ipynb': BOOK });
    expect((await memfix({ cwd }, 'apply')).code).toBe(1);
    expect(read(cwd)).toBe(FIXED);
    expect((await memfix({ cwd }, 'undo')).code).toBe(0);
    expect(read(cwd)).toBe(BOOK);
  });

  test('that were run since then get their old code back, and keep what the run left', async () => {
    const cwd = repositoryWith({ 'a.ipynb': BOOK });
    await memfix({ cwd }, 'apply');
    expect(read(cwd)).toBe(FIXED);
    // As Jupyter saves it: other outputs, another layout.
    const ran = (book: string) =>
      `${JSON.stringify(JSON.parse(book.replace('"text": ["hold()"]', '"text": ["done"]')), undefined, 2)}\n`;
    put(cwd, { 'a.ipynb': ran(FIXED) });
    const { code, stderr } = await memfix({ cwd }, 'undo');
    expect(code).toBe(0);
    expect(stderr).toContain('restored a.ipynb');
    expect(read(cwd)).toBe(ran(BOOK));
  });

  test('that were only run since the commit are fixed, and are to be reloaded', async () => {
    const cwd = repositoryWith({ 'a.ipynb': BOOK });
    const ran = (book: string) =>
      `${JSON.stringify(JSON.parse(book.replace('"text": ["hold()"]', '"text": ["done"]')), undefined, 2)}\n`;
    put(cwd, { 'a.ipynb': ran(BOOK) });
    const { code, stderr } = await memfix({ cwd }, 'apply', 'a.ipynb');
    expect(code).toBe(1);
    expect(stderr).toContain('Reload the notebook where you have it open, before you save there.\n');
    expect(read(cwd)).toBe(ran(FIXED));
    git(cwd, 'checkout', '-q', 'a.ipynb');
    put(cwd, { 'a.ipynb': BOOK.replace('x = 1', 'x = 2') });
    const own = await memfix({ cwd }, 'apply', 'a.ipynb');
    expect(own.code).toBe(2);
    expect(own.stderr).toContain('uncommitted changes');
    expect(own.stderr).not.toContain('Reload');
  });

  test('that were edited since then, in other cells, get the old code of the fixed ones back', async () => {
    const cwd = repositoryWith({ 'a.ipynb': BOOK });
    await memfix({ cwd }, 'apply');
    const edited = (book: string) => {
      const { cells, ...rest } = JSON.parse(book);
      const added = { cell_type: 'code', source: '%matplotlib inline\ny = 2', outputs: [], metadata: {} };
      const [first, ...others] = cells;
      const last = { ...others.at(-1), source: '!ls\nrisk()  # later' };
      return `${JSON.stringify({ cells: [added, first, ...others.slice(0, -1), last], ...rest }, undefined, 1)}\n`;
    };
    put(cwd, { 'a.ipynb': edited(FIXED) });
    const { code, stderr } = await memfix({ cwd }, 'undo');
    expect([code, stderr]).toEqual([0, expect.stringContaining('restored a.ipynb')]);
    expect(read(cwd)).toBe(edited(BOOK));
  });

  test('whose code has changed since then are left as they are', async () => {
    const cwd = repositoryWith({ 'a.ipynb': BOOK });
    await memfix({ cwd }, 'apply');
    const own = FIXED.replace('x = 1', 'x = 2');
    put(cwd, { 'a.ipynb': own });
    const { code, stderr } = await memfix({ cwd }, 'undo');
    expect(code).toBe(2);
    expect(stderr).toContain('a.ipynb: cell 2 changed after memfix wrote it');
    expect(stderr).not.toContain('git checkout -p');
    expect(read(cwd)).toBe(own);
  });

  test('have a patch for git, and one for eyes', async () => {
    const cwd = repositoryWith({ 'a.ipynb': BOOK });
    const { stdout } = await memfix({ cwd }, 'diff', '--unsafe-fixes');
    expect(stdout).toContain('-    "hold(\\"\\u00e9\\")"\n+    "release(\\"\\u00e9\\")"\n');
    put(cwd, { 'fixes.patch': stdout });
    git(cwd, 'apply', 'fixes.patch');
    expect(read(cwd)).toBe(FIXED.replace('risk', 'calm'));
    git(cwd, 'checkout', '-q', 'a.ipynb');
    const seen = await memfix({ cwd, terminals: ['stdout'], env: { NO_COLOR: '1' } }, 'diff');
    expect(seen.stdout).toBe(
      '--- a/a.ipynb: cell 2\n+++ b/a.ipynb: cell 2\n@@ -1,3 +1,3 @@\n %time\n x = 1\n-hold("é")\n' +
        '+release("é")\n',
    );
  });

  test('come from standard input', async () => {
    const cwd = repositoryWith({ 'b.py': '' });
    const named = ['-', '--stdin-filename', 'a.ipynb'];
    expect((await memfix({ cwd, stdin: BOOK }, 'apply', ...named)).stdout).toBe(FIXED);
    expect((await memfix({ cwd, stdin: '{' }, 'apply', ...named)).stdout).toBe('{');
  });

  test('come from standard input also without a name', async () => {
    const cwd = repositoryWith({ 'b.py': '' });
    const checked = await memfix({ cwd, stdin: BOOK }, 'check', '-', '--output-format', 'concise');
    expect(checked.code).toBe(1);
    expect(checked.stdout).toContain('stdin.ipynb: cell 2, line 3: drop-hold [safe] hold costs memory\n');
    expect((await memfix({ cwd, stdin: BOOK }, 'apply', '-')).stdout).toBe(FIXED);
    const marked = `\ufeff${BOOK}`;
    expect((await memfix({ cwd, stdin: marked }, 'apply', '-')).stdout).toBe(`\ufeff${FIXED}`);
    const { stdout } = await memfix({ cwd, stdin: BOOK }, 'diff', '-');
    expect(stdout).toContain('-    "hold(\\"\\u00e9\\")"\n+    "release(\\"\\u00e9\\")"\n');
    // A dictionary is Python as well.
    const python = '{"nb": hold()}\n';
    expect((await memfix({ cwd, stdin: python }, 'apply', '-')).stdout).toBe('{"nb": release()}\n');
  });

  test('with a cell that is no Python say so, and what the other cells have', async () => {
    const broken = BOOK.replace(
      '"source": "!ls',
      '"source": "x = = 1"},\n  {"cell_type": "code", "source": "!ls',
    );
    const cwd = repositoryWith({ 'a.ipynb': broken });
    const { stdout, stderr, code } = await memfix({ cwd }, 'check', '--output-format', 'concise');
    expect(code).toBe(1);
    expect(stdout).toContain('a.ipynb: cell 2, line 3: drop-hold [safe]');
    expect(stdout).toContain('a.ipynb: cell 4, line 2: calm-risk [unsafe]');
    expect(stdout).toContain('a.ipynb: cell 3, line 1: note: this cell is not valid Python (');
    expect(stderr).toContain('1 note');
    const strict = await memfix({ cwd }, 'check', '--strict');
    expect(strict.code).toBe(2);
    expect(strict.stderr).toContain('1 cell was skipped');
    const { findings, notes } = JSON.parse(
      (await memfix({ cwd }, 'check', '--output-format', 'json')).stdout,
    );
    expect(findings).toHaveLength(2);
    expect(notes).toMatchObject([{ path: 'a.ipynb', cell: 3, line: 1 }]);
    expect((await memfix({ cwd }, 'apply')).stderr).toContain('cell 3');
    expect(read(cwd)).toBe(broken.replace('    "hold(', '    "release('));
  });

  test('that are none are named where they were asked for', async () => {
    const cwd = repositoryWith({ 'a.ipynb': '{}', 'b.ipynb': 'hold()', '.ipynb_checkpoints/c.ipynb': BOOK });
    expect((await memfix({ cwd }, 'check')).stderr).toContain('No file was looked at; 2 files skipped');
    const named = await memfix({ cwd }, 'check', 'a.ipynb', 'b.ipynb');
    expect(named.stdout).toContain('a.ipynb: skipped: it is JSON, but not a notebook of version 2, 3 or 4');
    expect(named.stdout).toContain('b.ipynb: skipped: it is not valid JSON, as a notebook has to be');
  });

  test('are remembered between runs, as they were', async () => {
    const cwd = repositoryWith({ 'a.ipynb': BOOK });
    const setting = { cwd, build: 'one' };
    const first = await memfix(setting, 'check');
    expect((await memfix(setting, 'check')).stdout).toBe(first.stdout);
    expect((await memfix(setting, 'check', '--output-format', 'concise')).stdout).toContain('cell 2, line 3');
  });

  test('silence findings with a comment in the cell, and `# %%` scripts stay plain Python', async () => {
    const cwd = repositoryWith({
      'a.ipynb': BOOK.replace('hold(\\"\\u00e9\\")', 'hold()  # memfix: ignore[drop-hold]'),
      'b.py': '# %%\nhold()\n# %% [markdown]\n# text\n',
    });
    const { stdout } = await memfix({ cwd }, 'check', '--output-format', 'concise', '--ignore', 'calm-risk');
    expect(stdout).toBe('b.py:2:1: drop-hold [safe] hold costs memory\n');
  });
});

test.each([
  [['a.ipynb: cell 2, line 3'], 'cell 2, line 3'],
  [['a.ipynb:', 'cell', '2,', 'line', '3'], 'cell 2, line 3'],
  [['a.ipynb:2:3'], 'cell 2, line 3'],
  [['a.ipynb:3'], 'cell 3, line 2'],
  [['a.ipynb: cell 3'], 'cell 3, line 2'],
])('a place in a notebook is explained, however it is said: %j', async (words, place) => {
  const cwd = repositoryWith({ 'a.ipynb': BOOK });
  const { code, stdout, stderr } = await memfix({ cwd }, 'explain', ...words);
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout.match(/^a\.ipynb: (cell \d+, line \d+)/gm)).toEqual([`a.ipynb: ${place}`]);
});

test('where nothing is, the nearest cell is told', async () => {
  const cwd = repositoryWith({ 'a.ipynb': BOOK });
  const { stdout } = await memfix({ cwd }, 'explain', 'a.ipynb: cell 3, line 9');
  expect(stdout).toContain(
    'Nothing is found or left alone at a.ipynb: cell 3, line 9. The nearest of the file:',
  );
  expect(stdout).toContain('a.ipynb: cell 3, line 2');
  // A search in the file gives lines of its JSON.
  const written = readFileSync(join(cwd, 'a.ipynb'), 'utf8');
  put(cwd, { 'a.ipynb': `${'\n'.repeat(50)}${written}` });
  const line = 50 + written.slice(0, written.lastIndexOf('hold(')).split('\n').length;
  expect((await memfix({ cwd }, 'explain', `a.ipynb:${line}`)).stdout).toMatch(
    new RegExp(`There is no cell ${line} with code: .* Line ${line} of the JSON is in cell \\d+\\.`),
  );
  expect((await memfix({ cwd }, 'explain', 'a.ipynb:777')).stdout).toContain(
    'There is no cell 777 with code',
  );
  expect((await memfix({ cwd }, 'explain', 'a.ipynb:cell 4')).stderr).not.toContain('Unknown transform');
});
