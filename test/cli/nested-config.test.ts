/** Several configs in one repository: each file goes by the nearest one above it. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { put, repositoryWith } from '../workspace/folders.js';
import { memfix, type Setting } from './command-line.js';

const CODE = 'hold()\nrisk()\n';
const FILES = {
  'pyproject.toml': '[tool.memfix]\nignore = ["calm-risk"]\n',
  'top.py': CODE,
  'pk/a/pyproject.toml': '[tool.memfix]\nselect = ["calm-risk"]\n',
  'pk/a/x.py': CODE,
  'pk/a/deep/y.py': CODE,
  'pk/b/pyproject.toml': '[tool.black]\n',
  'pk/b/z.py': CODE,
};

const found = async (setting: Setting, ...words: readonly string[]) =>
  (await memfix(setting, 'check', '--output-format', 'concise', ...words)).stdout
    .split('\n')
    .flatMap((line) => /^(\S+?):\d+:\d+: (\S+)/.exec(line)?.slice(1).join(' ') ?? []);

const EXPECTED = [
  'pk/a/deep/y.py calm-risk',
  'pk/a/x.py calm-risk',
  'pk/b/z.py drop-hold',
  'top.py drop-hold',
];

test('whichever way the files are named', async () => {
  const cwd = repositoryWith(FILES);
  expect((await found({ cwd })).sort()).toEqual(EXPECTED);
  const named = ['top.py', 'pk/a/x.py', 'pk/b/z.py', 'pk/a/deep/y.py'];
  expect((await found({ cwd }, ...named)).sort()).toEqual(EXPECTED);
  expect((await found({ cwd: join(cwd, 'pk') })).sort()).toEqual(
    ['a/deep/y.py', 'a/x.py', 'b/z.py'].map(
      (path) => `${path} ${path.startsWith('a') ? 'calm-risk' : 'drop-hold'}`,
    ),
  );
  expect(await found({ cwd }, '--isolated', 'pk/a/x.py')).toEqual([
    'pk/a/x.py drop-hold',
    'pk/a/x.py calm-risk',
  ]);
  expect(await found({ cwd }, '--config', 'pyproject.toml', 'pk/a/x.py')).toEqual(['pk/a/x.py drop-hold']);
});

test('excludes, unsafe fixes, what may be fixed and what is ignored in single files are its own', async () => {
  const cwd = repositoryWith({
    ...FILES,
    'pyproject.toml': '[tool.memfix]\nexclude = ["gone_*.py"]\n',
    'gone_1.py': CODE,
    'pk/a/gone_2.py': CODE,
    'pk/a/memfix.toml':
      'exclude = ["deep"]\nunsafe-fixes = true\nunfixable = ["drop-hold"]\nper-file-ignores = { "gone_2.py" = ["calm-risk"] }\n',
  });
  await memfix({ cwd }, 'apply');
  const now = (path: string) => readFileSync(join(cwd, path), 'utf8');
  expect(now('gone_1.py')).toBe(CODE);
  expect(now('top.py')).toBe('release()\nrisk()\n');
  expect(now('pk/a/x.py')).toBe('hold()\ncalm()\n');
  expect(now('pk/a/deep/y.py')).toBe(CODE);
  expect(now('pk/a/gone_2.py')).toBe(CODE);
  expect(now('pk/b/z.py')).toBe('release()\nrisk()\n');
});

test('`check` counts what `apply` takes, by each config', async () => {
  const cwd = repositoryWith({ ...FILES, 'pk/a/pyproject.toml': '[tool.memfix]\nunsafe-fixes = true\n' });
  put(cwd, { 'pyproject.toml': '' });
  expect((await memfix({ cwd }, 'check')).stderr).toContain(
    'Run `memfix apply` to fix 4 and to take 2 unsafe ones, as the config says; with `-i` it asks about 2 more.',
  );
  expect((await memfix({ cwd }, 'check', 'pk/a', '--select', 'calm-risk')).stderr).toContain(
    'Run `memfix apply --select calm-risk pk/a` to take 2 unsafe ones, as the config says.',
  );
  expect((await memfix({ cwd }, 'apply', 'pk/a')).stderr).toContain('Fixed 4 findings');
});

test('a second run says the same; a config that changes, comes or goes counts at once', async () => {
  const cwd = repositoryWith(FILES);
  const setting = { cwd, build: 'nested' };
  await wait(2100);
  for (const _ of [1, 2, 3]) expect((await found(setting)).sort()).toEqual(EXPECTED);
  put(cwd, { 'pk/b/pyproject.toml': '[tool.memfix]\nselect = ["calm-risk"]\n' });
  expect(await found(setting)).toContain('pk/b/z.py calm-risk');
  put(cwd, { 'pk/b/pyproject.toml': '[tool.black]\n', 'pk/a/pyproject.toml': '' });
  const without = (await found(setting)).sort();
  expect(without).toEqual(EXPECTED.map((line) => line.replace('calm-risk', 'drop-hold')));
  await wait(2100);
  for (const _ of [1, 2, 3]) expect((await found(setting)).sort()).toEqual(without);
  // No folder changes by this, only what a file says.
  writeFileSync(join(cwd, 'pk/a/pyproject.toml'), FILES['pk/a/pyproject.toml']);
  expect((await found(setting)).sort()).toEqual(EXPECTED);
  await wait(2100);
  for (const _ of [1, 2, 3]) expect((await found(setting)).sort()).toEqual(EXPECTED);
});

test('what was found before a config came is forgotten, also in a part of the project', async () => {
  const { 'pk/a/pyproject.toml': config, ...others } = FILES;
  const cwd = repositoryWith(others);
  const setting = { cwd, build: 'nested part' };
  const inPart = async () => (await found(setting, 'pk')).sort();
  await wait(2100);
  for (const _ of [1, 2]) expect(await inPart()).toContain('pk/a/x.py drop-hold');
  put(cwd, { 'pk/a/pyproject.toml': config });
  await wait(2100);
  for (const _ of [1, 2, 3]) expect(await inPart()).toEqual(EXPECTED.slice(0, 3));
});

test('`fail-on` is that of the nearest config, too, unless the command line says', async () => {
  const cwd = repositoryWith({
    'memfix.toml': 'fail-on = ["leak"]\n',
    'top.py': 'risk()\n',
    'strict/memfix.toml': 'fail-on = "any"\n',
    'strict/x.py': 'risk()\n',
    'lax/memfix.toml': 'fail-on = "never"\n',
    'lax/y.py': 'hold()\n',
  });
  const code = async (...words: readonly string[]) => (await memfix({ cwd }, 'check', ...words)).code;
  expect(await code()).toBe(1);
  expect(await code('top.py')).toBe(0);
  expect(await code('top.py', 'lax')).toBe(0);
  expect(await code('top.py', 'strict')).toBe(1);
  expect(await code('strict', 'lax')).toBe(1);
  expect(await code('--fail-on', 'never')).toBe(0);
  expect(await code('--fail-on', 'any', 'lax')).toBe(1);
});

test('`--show-settings` tells which one counts for a file, and which others there are', async () => {
  const cwd = repositoryWith(FILES);
  const settings = async (...words: readonly string[]) =>
    (await memfix({ cwd }, 'check', '--show-settings', ...words)).stdout;
  expect(await settings('pk/a/x.py')).toMatch(/^config: pk\/a\/pyproject\.toml\n/);
  expect(await settings()).toMatch(
    /^config: pyproject\.toml\nnearer to some files: pk\/a\/pyproject\.toml\n/,
  );
  expect((await memfix({ cwd }, 'check', '-v')).stderr).toContain(join(cwd, 'pk/a/pyproject.toml'));
});

test('one that is wrong is heard of, wherever it is', async () => {
  const cwd = repositoryWith({ ...FILES, 'pk/a/pyproject.toml': '[tool.memfix]\nselct = []\n' });
  expect(await memfix({ cwd }, 'check')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Did you mean `select`?'),
  });
  expect((await memfix({ cwd }, 'check', 'pk/b')).code).toBe(1);
});
