/** `assume`: what a person has answered with yes counts as proven, and is said to be assumed. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { folderWith, repositoryWith } from '../workspace/folders.js';
import { memfix } from './command-line.js';

const CONFIG = '[tool.memfix]\nassume = ["calm-risk/read-here(risk)@a.py"]\n';

test('makes a fix safe by assumption, here and nowhere else', async () => {
  const cwd = repositoryWith({ 'pyproject.toml': CONFIG, 'a.py': 'risk()\n', 'b.py': 'risk()\n' });
  const { stdout } = await memfix({ cwd }, 'check', '--output-format', 'full');
  expect(stdout).toContain('a.py:1:1  calm-risk  safe by assumption · bit-identical');
  expect(stdout).toContain('  assumed: Is `risk` read only here?\n');
  expect(stdout).toContain('b.py:1:1  calm-risk  unsafe · bit-identical');
  expect(stdout).toContain('  ? Is `risk` read only here?\n');
  const json = JSON.parse((await memfix({ cwd }, 'check', '--output-format', 'json')).stdout);
  expect(json.findings).toMatchObject([
    { path: 'a.py', safety: 'safe', question: null, assumed: [{ key: 'calm-risk/read-here(risk)' }] },
    { path: 'b.py', safety: 'unsafe', question: 'Is `risk` read only here?', assumed: [] },
  ]);
  await memfix({ cwd }, 'apply');
  expect(['a.py', 'b.py'].map((name) => readFileSync(join(cwd, name), 'utf8'))).toEqual([
    'calm()\n',
    'risk()\n',
  ]);
});

test('is listed with the settings, and of no use to a stranger', async () => {
  const cwd = folderWith({ 'pyproject.toml': CONFIG, 'a.py': 'risk()\n' });
  expect((await memfix({ cwd }, 'check', '--show-settings')).stdout).toContain(
    'assume:\n  calm-risk/read-here(risk)@a.py\n',
  );
  const strict = await memfix({ cwd }, 'check', '--strict-config', '--output-format', 'json');
  expect(JSON.parse(strict.stdout).findings).toMatchObject([{ safety: 'unsafe' }]);
});

test('that names no transform, or is no such entry, is an error', async () => {
  const wrong = (entry: string) => folderWith({ 'memfix.toml': `assume = ["${entry}"]\n`, 'a.py': '' });
  const unknown = await memfix({ cwd: wrong('calm-rsk/read-here') }, 'check');
  expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('Did you mean `calm-risk`?')]);
  const shapeless = await memfix({ cwd: wrong('calm-risk') }, 'check');
  expect(shapeless.stderr).toContain('it is not of the form `transform/kind(subject)@file`');
});
