/** What the five who tried memfix for an hour still complained of. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { diagnosticOf, hoverText } from '../../src/cli/server/words.js';
import type { Finding } from '../../src/engine/outcome.js';
import { ask } from '../../src/semantic/question.js';
import { Proof } from '../../src/toolkit/proof.js';
import { transforms } from '../../transforms/index.js';
import { toy } from '../support/toy.js';
import { folderWith, put, repositoryWith } from '../workspace/folders.js';
import { memfix } from './command-line.js';

const LOAD = `import torch
from torch import nn


def restore(path):
    net = nn.Linear(3, 3)
    net.load_state_dict(torch.load(path))
    return net
`;

test('`explain file:line` says what each check came to', async () => {
  const cwd = repositoryWith({ 'a.py': LOAD });
  const { stdout } = await memfix({ cwd, transforms }, 'explain', 'a.py:7');
  expect(stdout).toContain('  checked ("yes" is also where the code has no such thing):\n    yes: ');
  expect(stdout).not.toContain('checked: ');
});

test('`check --help` lists --diff, and tells --select from --fixable', async () => {
  const { stdout } = await memfix({ cwd: repositoryWith({}) }, 'check', '--help');
  expect(stdout).toMatch(/^ +--diff +print the patch instead of the findings/m);
  expect(stdout).toMatch(/^ +--select NAMES +look only for these/m);
  expect(stdout.replace(/\s+/g, ' ')).toContain(
    '--fixable NAMES of what is found, change only these; the rest is still reported',
  );
  // To `budget`, it is something else.
  expect((await memfix({ cwd: repositoryWith({}) }, 'budget', '--help')).stdout).toMatch(
    /--diff +with `--fit`/,
  );
});

test('what is most worth fixing comes with a command that writes it', async () => {
  const cwd = repositoryWith({ 'a.py': 'hold()\n', 'b.py': 'hold()\n', 'c.py': 'hold()\nhold()\n' });
  const told = async () =>
    /^Most worth fixing:\n.*?(memfix apply.*)$/ms
      .exec((await memfix({ cwd }, 'check')).stderr)?.[1]
      ?.split('\n')[0];
  expect(await told()).toBe('memfix apply --select drop-hold a.py');
  put(cwd, { 'a.py': 'hold()\n\n' });
  expect(await told()).toBe('memfix apply --select drop-hold b.py');
  put(cwd, { 'b.py': 'hold()\n\n', 'c.py': 'hold()\nhold()\n\n' });
  const words = (await told())?.split(' ').slice(1) ?? [];
  expect(words).toContain('--allow-dirty');
  await memfix({ cwd }, ...words);
  expect(readFileSync(join(cwd, 'a.py'), 'utf8')).toBe('release()\n\n');
});

test('outside of git, too', async () => {
  const cwd = folderWith({ 'a.py': 'hold()\n', 'c.py': 'hold()\nhold()\nhold()\n' });
  const { stderr } = await memfix({ cwd }, 'check');
  expect(stderr).toContain('memfix apply --select drop-hold --allow-no-vcs a.py');
});

test('the notes of a patch ask as everything else does', async () => {
  const asking = toy('ask-twice', 'twice', (edit, node) => {
    const proof = new Proof();
    for (const each of ['net', 'teacher'])
      proof.require('unknown', ask('known')`Is \`${each}\` known to \`a.py:1\`?`);
    edit.replace(node, 'done');
    return edit.done('Do it', proof);
  });
  const cwd = repositoryWith({ 'a.py': 'twice()\n' });
  const { stdout } = await memfix({ cwd, transforms: [asking] }, 'diff', '--unsafe-fixes');
  expect(stdout).toContain('ask-twice, line 1, is right if yes: Is `net` known to line 1? And `teacher`?');
});

test('an editor asks as everything else does', () => {
  const range = { start: { line: 0, character: 0 }, end: { line: 0, character: 1 } };
  const questions = ['net', 'teacher'].map((each) => ask('known')`Is \`${each}\` known to \`a.py:1\`?`);
  const finding: Finding = {
    ...{
      transform: 'no-grad',
      symptom: 'peak',
      effect: 'frees-memory',
      key: 'a',
      safety: 'unsafe',
      numerics: 'bit-identical',
    },
    ...{ span: { start: 0, end: 1 }, at: { line: 1, column: 1 }, end: { line: 1, column: 2 } },
    ...{ message: 'It is kept', questions },
  };
  const asked = 'Is `net` known to line 1? And `teacher`?';
  expect(diagnosticOf('a.py', finding, range).message).toBe(`It is kept\n${asked}`);
  expect(hoverText('a.py', finding, undefined)).toContain(`*Open question:* ${asked}\n`);
});
