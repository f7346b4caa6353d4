/** Fixes of which only one can be taken: named as alternatives, and counted once. */
import { expect, test } from 'vitest';
import { ask, Proof } from '../../src/toolkit/index.js';
import { toy } from '../support/toy.js';
import { folderWith, repositoryWith } from '../workspace/folders.js';
import { memfix, type Setting } from './command-line.js';

const ONE = toy('way-one', 'twin', (edit, node) => void edit.replace(node, 'one'));
const TWO = toy('way-two', 'twin', (edit, node) => {
  edit.replace(node, 'two');
  return edit.done('Make it two', new Proof().require('unknown', ask('two')`May \`${'twin'}\` be two?`));
});
const NEXT = toy('next-door', 'other', (edit, node) => {
  edit.replace(node, 'own');
  return edit.done('Own it', new Proof().require('unknown', ask('own')`May \`${'other'}\` be owned?`));
});

function setting(text: string): Setting {
  return { cwd: repositoryWith({ 'a.py': text }), transforms: [ONE, TWO, NEXT] };
}

test('each names the other, with its number', async () => {
  const { stdout } = await memfix(setting('twin()\n'), 'check', '--output-format', 'full');
  const flat = stdout.replace(/\n +/g, ' ');
  expect(flat).toContain(
    '1 of 2 ways: or `way-two` (unsafe): Make it two; `apply --interactive` lets you choose',
  );
  expect(flat).toContain(
    '2 of 2 ways: or `way-one` (safe): Change twin; `apply --interactive` lets you choose',
  );
  const json = JSON.parse((await memfix(setting('twin()\n'), 'check', '--output-format', 'json')).stdout);
  const [one, two] = json.findings;
  expect([one.alternatives, two.alternatives]).toEqual([[two.key], [one.key]]);
});

test('they have the numbers that a session gives them: the safe one first', async () => {
  const given = { ...setting('twin()\n'), transforms: [TWO, ONE] };
  const { stdout } = await memfix(given, 'check', '--output-format', 'full');
  expect(stdout.replace(/\n +/g, ' ')).toContain('1 of 2 ways: or `way-two` (unsafe)');
});

test('after a run out of memory, only what a session then asks about is another way', async () => {
  const idle = toy('way-idle', 'twin', (edit, node) => void edit.replace(node, 'idle'), { symptom: 'sync' });
  const log =
    'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n    twin()\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n';
  const cwd = repositoryWith({ 'a.py': 'twin()\n', 'run.log': log });
  const told = async (...words: readonly string[]) =>
    (await memfix({ cwd, transforms: [ONE, idle] }, 'check', '--output-format', 'full', ...words)).stdout;
  expect(await told()).toContain('of 2 ways');
  const explained = await told('--oom', 'run.log');
  expect(explained).toContain('way-one');
  expect(explained).not.toContain('of 2 ways');
});

test('fixes that only stand side by side are no alternatives', async () => {
  const json = JSON.parse(
    (await memfix(setting('twin(other)\n'), 'check', '--output-format', 'json')).stdout,
  );
  expect(
    json.findings.map(({ id, alternatives }: { id: string; alternatives: string[] }) => [
      id,
      alternatives.length,
    ]),
  ).toEqual([
    ['way-one', 1],
    ['way-two', 1],
    ['next-door', 0],
  ]);
});

test.each([
  ['twin()\n', 'Run `memfix apply` to fix 1.', 1],
  ['twin()\nother()\n', 'Run `memfix apply` to fix 1; with `-i` it asks about 1 more.', 1],
  ['twin()\n\nx = 1\ntwin()\n', 'Run `memfix apply` to fix 2.', 2],
])('what `apply` would fix of %j is what it fixes', async (text, words, fixed) => {
  const given = setting(text);
  expect((await memfix(given, 'check')).stderr).toContain(words);
  expect((await memfix(given, 'apply')).stderr).toContain(`Fixed ${fixed} finding`);
});

test('a text on standard input has them, too', async () => {
  const cwd = folderWith({});
  const { stdout } = await memfix(
    { cwd, transforms: [ONE, TWO], stdin: 'twin()\n' },
    'check',
    '-',
    '--output-format',
    'full',
  );
  expect(stdout).toContain('1 of 2 ways');
});

test('what was taken of two unsafe ways is said', async () => {
  const unsafe = (id: string, to: string) =>
    toy(id, 'pair', (edit, node) => {
      edit.replace(node, to);
      return edit.done('Make it so', new Proof().require('unknown', ask('so')`May \`${to}\` be?`));
    });
  const given = {
    cwd: repositoryWith({ 'a.py': 'pair()\n' }),
    transforms: [unsafe('a-one', 'one'), unsafe('b-two', 'two')],
  };
  expect((await memfix(given, 'apply', '--unsafe-fixes')).stderr).toContain(
    'There was another way at a.py:1 (`a-one`): `memfix undo`, then `memfix apply -i` lets you choose.',
  );
  // A safe one comes first anyway.
  expect((await memfix(setting('twin()\n'), 'apply', '--unsafe-fixes')).stderr).not.toContain('another way');
});
