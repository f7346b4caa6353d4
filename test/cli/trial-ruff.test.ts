/** What somebody complained of who knows Ruff, on a repository of several projects. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { SIZES, seen, start } from '../support/seen.js';
import { commit, folderWith, put, repositoryWith } from '../workspace/folders.js';
import { memfix } from './command-line.js';

test('options may stand before the command, as git has it', async () => {
  const cwd = folderWith({ 'a.py': 'hold()\n' });
  for (const before of [['--no-pager'], ['-q'], ['--color', 'never', '--select=leak'], ['--select', 'leak']])
    expect((await memfix({ cwd }, ...before, 'check', '.')).stdout).toContain('a.py:1:1  drop-hold');
  // A file of that name is a file.
  put(cwd, { check: '#!/usr/bin/env python\nrisk()\n' });
  expect((await memfix({ cwd }, '-q', 'check')).stdout).toContain('check:2:1  calm-risk');
});

test('a patch says what is not in it', async () => {
  const cwd = folderWith({ 'a.py': 'risk()\n', 'b/b.py': 'hold()\nrisk()\n', 'c.py': 'fine = 1\n' });
  const told = async (...words: readonly string[]) => (await memfix({ cwd }, ...words)).stderr;
  expect(await told('diff', 'a.py')).toBe(
    'Nothing to change without an answer. 1 fix is unsafe: `memfix diff --unsafe-fixes a.py` shows it, `memfix apply -i a.py` asks about it.\n',
  );
  expect(await told('check', '--diff', 'b')).toContain('1 fix in 1 file: 1 frees memory. 1 fix is unsafe: ');
  expect(await told('diff', '--unsafe-fixes', 'b')).not.toContain('is unsafe');
  expect(await told('diff', 'c.py')).toBe('Nothing to change.\n');
});

test('what shows up when a new finding is fixed is new, too', async () => {
  const cwd = repositoryWith({ 'a.py': 'hold()\n' });
  await memfix({ cwd }, 'baseline');
  put(cwd, { 'a.py': 'hold()\nhold(1)\nrisk()\n' });
  commit(cwd);
  const { code, stderr } = await memfix({ cwd }, 'apply', '--baseline');
  expect(readFileSync(join(cwd, 'a.py'), 'utf8')).toBe('hold()\nrelease(1)\nrisk()\n');
  expect([code, stderr]).toEqual([1, expect.stringContaining('1 finding left (1 unsafe)')]);
});

test('the way to the reasons keeps what was asked for', async () => {
  const cwd = folderWith({ 'b/a.py': 'fine()\n' });
  const { stderr } = await memfix({ cwd }, 'check', '--isolated', 'b');
  expect(stderr).toContain('`memfix check -v --isolated b` says why');
  expect((await memfix({ cwd }, 'check', '-v', 'b')).stderr).not.toContain('says why');
});

test('the one name that begins as what was to be selected is told', async () => {
  const cwd = folderWith({ 'a.py': 'hold()\n' });
  for (const typed of ['drop', 'drop-*', 'DROP'])
    expect((await memfix({ cwd }, 'check', '--select', typed)).stderr).toContain('Did you mean `drop-hold`?');
});

test('`memfix config` names the configs of other files', async () => {
  const cwd = repositoryWith({ 'memfix.toml': '', 'a/memfix.toml': 'ignore = ["leak"]\n', 'a/x.py': '' });
  expect((await memfix({ cwd }, 'config')).stdout).toMatch(
    /^config: memfix\.toml\nnearer to some files: a\/memfix\.toml\n/,
  );
});

describe.each(SIZES)('at $cols × $rows', (size) => {
  const LOOP = `import torch
from torch import nn

from hooks import keep


def evaluate(model: nn.Module, loader):
    model.eval()
    for x in loader:
        print(keep(model(x)))
`;

  test('notes and skipped files keep their words whole', async () => {
    const cwd = repositoryWith({
      'a.py': `${LOOP}# memfix: ignore[no-grad] this stands where there is nothing at all\n`,
      'b.py': 'x = = 3\n',
    });
    const { lines } = await seen({ cwd, ...size }, 'check', 'a.py', 'b.py');
    const at = lines.findIndex((line) => line.includes(': note: '));
    expect(at).toBeGreaterThan(-1);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(size.cols);
  });

  test('a yes for good names its file, is written once, and counts where that file does', async () => {
    const hook = (name: string) =>
      `${name} = []\n\n\ndef watch(layer):\n    layer.register_forward_hook(lambda m, i, o: ${name}.append(o))\n\n\ndef keep(x):\n    return x\n`;
    const cwd = repositoryWith({
      'hooks.py': hook('FIRST'),
      'more.py': hook('SECOND'),
      'pyproject.toml': '[tool.memfix]\nselect = ["no-grad"]\n',
      'one/memfix.toml': 'select = ["no-grad"]\n',
      'one/a.py': LOOP,
      'two/a.py': LOOP,
    });
    const terminal = start({ cwd, ...size }, 'apply', '-i');
    await terminal.sees('?=more');
    expect(terminal.text).toContain('[Y]es for good');
    const place = /one\/a\.py|two\/a\.py/.exec(terminal.text)?.[0] ?? '';
    const file = place.startsWith('one') ? 'one/memfix.toml' : 'pyproject.toml';
    terminal.type('Y');
    await terminal.sees('[t]his, [f]ile or [a]ll');
    expect(terminal.text.replace(/\s+/g, ' ')).toContain(`is written into ${file}. For`);
    terminal.type('a\r');
    await terminal.sees('2/2');
    await terminal.sees('(2/2)');
    expect(terminal.text).not.toContain('safe by assumption');
    terminal.type('q');
    await terminal.ended();
    expect(terminal.text.replace(/\s+/g, ' ')).toContain(
      `for good is in \`assume\` of ${file}; \`memfix undo\` takes it back`,
    );
    const entries = readFileSync(join(cwd, file), 'utf8').match(/"no-grad\/[^"]*"/g) ?? [];
    expect(entries.length).toBeGreaterThan(0);
    expect(new Set(entries).size).toBe(entries.length);
  });
});

test('`apply -i` asks about as many as were promised, and not about files with changes', async () => {
  const cwd = repositoryWith({ 'a.py': 'hold()\n', 'b.py': 'risk()\n', 'c.py': 'risk()\n' });
  put(cwd, { 'c.py': 'risk()\nrisk(1)\n' });
  expect((await memfix({ cwd }, 'apply')).stderr.replace(/\n/g, ' ')).toContain(
    '3 findings left (3 unsafe): `memfix check` shows them, `memfix apply -i` asks about one.',
  );
  expect((await memfix({ cwd }, 'check')).stderr.replace(/\n/g, ' ')).toContain(
    'commit it first, or run `memfix apply -i --allow-dirty`.',
  );
});

test('where there is no git, the next step says what `apply` wants to hear', async () => {
  const cwd = folderWith({ 'a.py': 'hold()\n' });
  expect((await memfix({ cwd }, 'check')).stderr).toContain(
    'Run `memfix apply` to fix 1. Without git, add `--allow-no-vcs`.',
  );
  expect((await memfix({ cwd }, 'apply', '--allow-no-vcs')).code).toBe(0);
});
