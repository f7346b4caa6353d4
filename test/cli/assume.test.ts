/** `assume`: what a person has answered with yes counts as proven, and is said to be assumed. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { ask, Proof } from '../../src/toolkit/index.js';
import { shownFrom } from '../../src/workspace/places.js';
import { toy } from '../support/toy.js';
import { folderWith, put, repositoryWith } from '../workspace/folders.js';
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

test('counts in the function that it names, and in the whole file where it names none', async () => {
  const text = [
    'risk()',
    'def one():\n    risk()\n    def two():\n        risk()',
    'class Net:\n    risk()\n    def one(self):\n        risk()\n',
  ].join('\n');
  const safe = async (place: string) => {
    const config = `assume = ["calm-risk/read-here(risk)@${place}"]\n`;
    const cwd = repositoryWith({ 'memfix.toml': config, 'a.py': text, 'b.py': text });
    const json = JSON.parse((await memfix({ cwd }, 'check', '--output-format', 'json')).stdout);
    return json.findings.flatMap((each: { path: string; line: number; safety: string }) =>
      each.safety === 'safe' ? [`${each.path}:${each.line}`] : [],
    );
  };
  expect(await safe('a.py:one')).toEqual(['a.py:3']);
  expect(await safe('a.py:one.two')).toEqual(['a.py:5']);
  expect(await safe('a.py:Net')).toEqual(['a.py:7']);
  expect(await safe('a.py:Net.one')).toEqual(['a.py:9']);
  expect(await safe('a.py:two')).toEqual([]);
  expect(await safe('a.py')).toEqual(['a.py:1', 'a.py:3', 'a.py:5', 'a.py:7', 'a.py:9']);
});

test('names files as from the root of the project, whatever folder memfix is run in', async () => {
  const calm = toy('calm-risk', 'risk', (edit, node) => {
    edit.replace(node, 'calm');
    const proof = new Proof();
    for (const file of ['other.py', 'lib/other.py'])
      proof.require('unknown', ask('kept')`Is what ${hookAt(file)} keeps only read?`);
    return edit.done('Calm it', proof);
  });
  let cwd = '';
  const root = repositoryWith({ 'other.py': '', 'lib/a.py': 'risk()\n', 'lib/other.py': '' });
  const hookAt = (file: string) => `the \`hook\` at \`${shownFrom(cwd, join(root, file))}:12\``;
  const findings = async (folder: string) => {
    cwd = folder;
    const setting = { cwd, transforms: [calm] };
    return JSON.parse((await memfix(setting, 'check', '--output-format', 'json', join(root, 'lib'))).stdout)
      .findings;
  };
  const keys = ['calm-risk/kept(the hook at other.py)', 'calm-risk/kept(the hook at lib/other.py)'];
  const folders = [root, join(root, 'lib'), dirname(root)];
  for (const folder of folders)
    expect(await findings(folder)).toMatchObject([{ questions: keys.map((key) => ({ key })) }]);
  for (const folder of [root, join(root, 'lib')]) {
    cwd = folder;
    const setting = { cwd, transforms: [calm] };
    const told = (await memfix(setting, 'check', '--output-format', 'github', join(root, 'lib'))).stdout;
    expect(told).toContain('the `hook` at `other.py:12`');
    expect(told).toContain('the `hook` at `lib/other.py:12`');
    expect(told).not.toContain(root);
  }
  put(root, { 'memfix.toml': `assume = ["${keys[0]}@lib/a.py"]\n` });
  for (const folder of folders)
    expect(await findings(folder)).toMatchObject([
      { assumed: [{ key: keys[0] }], questions: [{ key: keys[1] }] },
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
  expect(shapeless.stderr).toContain('it is not of the form `transform/kind(subject)@file:function`');
});
