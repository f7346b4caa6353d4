import { describe, expect, test } from 'vitest';
import { transforms } from '../../transforms/index.js';
import { put, repositoryWith } from '../workspace/folders.js';
import { memfix } from './command-line.js';

const NET = `from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)
        self.kept = []

    def forward(self, x):
        out = self.layer(x)
        self.kept.append(out)
        return out
`;
const MAIN = `import torch
from nets.net import Net

model = Net().cuda()


def evaluate(loader):
    model.eval()
    total = 0
    for x, y in loader:
        out = model(x.cuda())
        total += (out.argmax(1) == y.cuda()).sum().item()
    return total


def train(loader, optimizer):
    for x, _ in loader:
        loss = model(x).sum() + sum(each.mean() for each in model.kept)
        loss.backward()
        optimizer.step()
`;
const PLAIN = NET.replace('        self.kept.append(out)\n', '');
const FILES = { 'main.py': MAIN, 'nets/__init__.py': '', 'nets/net.py': PLAIN };

async function tierIn(cwd: string): Promise<string | undefined> {
  const { stdout } = await memfix({ cwd, transforms }, 'check', 'main.py', '--output-format', 'concise');
  return /no-grad \[(\w+)\]/.exec(stdout)?.[1];
}

describe('a file of the project that cannot be read may hold anything', () => {
  test('of one that can be, it is known', async () => {
    expect(await tierIn(repositoryWith(FILES))).toBe('safe');
    expect(await tierIn(repositoryWith({ ...FILES, 'nets/net.py': NET }))).toBe('unsafe');
  });

  test.each([
    ['git ignores it', { '.gitignore': 'nets/\n' }],
    ['git ignores Python files', { '.gitignore': '*.py\n' }],
    ['it does not parse', { 'nets/net.py': `${NET}def f(:\n` }],
    ['it is in no known encoding', { 'nets/net.py': Buffer.from(`${NET}# \xff\n`, 'latin1') }],
    ['its cookie names no encoding', { 'nets/net.py': `# coding: no-such\n${NET}` }],
  ])('also where %s', async (_, files) => {
    expect(await tierIn(repositoryWith({ ...FILES, 'nets/net.py': NET, ...files }))).toBe('unsafe');
  });

  test('as may one that names what is asked about', async () => {
    const cwd = repositoryWith(FILES);
    put(cwd, { 'other.py': 'print("forward")\n' });
    expect(await tierIn(cwd)).toBe('safe');
    put(cwd, { 'other.py': 'print("forward")\ndef f(:\n' });
    expect(await tierIn(cwd)).toBe('unsafe');
  });

  test('and is named where it is asked about', async () => {
    const cwd = repositoryWith({ ...FILES, 'other.py': 'x = 1\nprint("forward", "backward")\ndef f(:\n' });
    const asked = async () => {
      const { stdout } = await memfix({ cwd, transforms }, 'check', 'main.py', '--output-format', 'json');
      const [finding] = JSON.parse(stdout).findings;
      return finding.questions.map(({ text }: { readonly text: string }) => text);
    };
    expect(await asked()).toEqual([
      expect.stringMatching(/^Is all that .+ \(`other\.py:3` cannot be read\)\?$/),
      expect.stringMatching(/^Does what .+ \(`other\.py:3` cannot be read\)\?$/),
    ]);
    put(cwd, { 'other.py': `print("forward")\n#${'long '.repeat(120_000)}\n` });
    expect((await asked())[0]).toContain('(`other.py` is too long to be looked into)?');
  });
});
