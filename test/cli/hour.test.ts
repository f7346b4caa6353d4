/** What five new users complained of in their first half hour. */
import { describe, expect, test } from 'vitest';
import { transforms } from '../../transforms/index.js';
import { SIZES, seen, widest } from '../support/seen.js';
import { folderWith, put, repositoryWith } from '../workspace/folders.js';
import { memfix } from './command-line.js';

const flat = (text: string) => text.replace(/\s+/g, ' ');

test('what apply would leave alone is not among what it is said to fix', async () => {
  const cwd = repositoryWith({ 'a.py': 'hold()\n', 'b.py': 'hold()\nhold()\nrisk()\n' });
  const told = async (...words: readonly string[]) => flat((await memfix({ cwd }, 'check', ...words)).stderr);
  expect(await told()).toContain('Run `memfix apply` to fix 3; with `-i` it asks about 1 more.');
  put(cwd, { 'b.py': 'hold()\nhold()\nrisk()\nx = 1\n' });
  expect(await told()).toContain(
    'Run `memfix apply` to fix 1. 2 fixes are in a file with uncommitted changes: commit it first, or run `memfix apply --allow-dirty`; with `-i` it asks about 1 more.',
  );
  const { stderr } = await memfix({ cwd }, 'apply');
  expect(stderr).toContain('Fixed 1 finding in 1 file');
  put(cwd, { 'a.py': 'hold()\ny = 1\n' });
  expect(await told('b.py')).not.toContain('to fix');
  expect(await told('b.py')).toContain('2 fixes are in a file with uncommitted changes');
  expect(await told('--changed')).toContain('Run `memfix apply --changed` to fix 3');
  const allowed = await memfix({ cwd }, 'apply', '--allow-dirty', 'b.py');
  expect(flat(allowed.stderr)).toContain('`memfix apply -i --allow-dirty b.py` asks about it.');
});

test('a name that was typed overrules the same name in the config', async () => {
  const cwd = folderWith({ 'a.py': 'hold()\n', 'memfix.toml': 'ignore = ["drop-hold"]\n' });
  expect((await memfix({ cwd }, 'check')).stdout).toBe('');
  expect((await memfix({ cwd }, 'check', '--extend-select', 'Drop-Hold')).stdout).toContain('drop-hold');
  expect((await memfix({ cwd }, 'check', '--extend-select', 'all')).stdout).not.toContain('drop-hold');
});

test('to ask for a symptom finds nothing that is not found without', async () => {
  const cwd = folderWith({ 'a.py': 'import torch\n\nmask = torch.zeros(8).to("cuda")\n' });
  const found = async (...words: readonly string[]) =>
    (await memfix({ cwd, transforms }, 'check', '-f', 'concise', ...words)).stdout;
  expect(await found()).toBe(await found('--select', 'sync'));
  expect(await found('--select', 'factory-device')).not.toBe(await found());
});

test('words of other tools that can only mean one thing are taken', async () => {
  const cwd = folderWith({ 'a.py': 'hold()\n' });
  expect((await memfix({ cwd }, '--', '.')).stdout).toContain('a.py:1:1  drop-hold');
  expect((await memfix({ cwd }, '--', 'a.py')).stdout).toContain('a.py:1:1  drop-hold');
  expect((await memfix({ cwd }, 'rule', 'drop-hold')).stdout).toBe(
    (await memfix({ cwd }, 'explain', 'drop-hold')).stdout,
  );
});

describe.each(SIZES)('at $cols × $rows', (size) => {
  test('a page that is piped fits the terminal that it is read in', async () => {
    const cwd = folderWith({ 'a.py': 'from torch import load\nmodel = load("a.pt")\n' });
    const { lines } = await seen({ cwd, ...size, behind: '| cat' }, 'explain', 'load-map-location');
    const prose = lines.slice(0, lines.indexOf('Example'));
    expect(prose.length).toBeGreaterThan(10);
    expect(widest(prose)).toBeLessThanOrEqual(Math.min(size.cols, 80));
  });
});

test('where too many files differentiate to look into, one question says so', async () => {
  const steps = Array.from({ length: 205 }, (_, index) => [
    `lib/step${index}.py`,
    `def step${index}(loss):\n    loss.backward()\n`,
  ]);
  const cwd = repositoryWith({
    ...Object.fromEntries(steps),
    'lib/__init__.py': steps.map((_, index) => `from .step${index} import step${index}\n`).join(''),
    'evaluate.py': `import torch
from torch import nn
import lib


def evaluate(model: nn.Module, loader, images, metric):
    model.eval()
    total = 0.0
    for x, y in loader:
        x = images.to(x)
        total += metric(model(x), y).item()
    return total
`,
  });
  const { stdout } = await memfix({ cwd, transforms }, 'check', '-v', '--select', 'no-grad', 'evaluate.py');
  const asked = flat(stdout)
    .split(/ \? | \d+ │/)
    .filter((part) => part.includes('looks into'));
  expect(asked).toHaveLength(1);
  expect(asked[0]).toMatch(
    /^Does what is called here run without `backward\(\)` and its like \(memfix looks into at most 200 files/,
  );
  expect(stdout).not.toContain('another one than');
});
