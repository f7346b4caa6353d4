import { expect, test } from 'vitest';
import { transforms } from '../../transforms/index.js';
import { memfix } from '../cli/command-line.js';
import { repositoryWith } from '../workspace/folders.js';

const MAIN = `import argparse

import net
import torch

parser = argparse.ArgumentParser()
parser.add_argument("weights")
model = net.Reader()
model.load_state_dict(torch.load(parser.parse_args().weights))
`;
const NET = `from torch import nn

KINDS = [nn.Linear, nn.Bilinear]


def Reader(kind=0):
    return KINDS[kind](4, 4)
`;

const tierBeside = async (other: string): Promise<string> => {
  const cwd = repositoryWith({ 'reader/main.py': MAIN, 'reader/net.py': NET, 'net.py': other });
  const { stdout } = await memfix({ cwd, transforms }, 'check', 'reader/main.py', '--output-format', 'json');
  return JSON.parse(stdout).findings[0].safety;
};

test('of two files that an import may mean, one that lacks the name gives an error', async () => {
  expect(await tierBeside('LIMIT = 4\n')).toBe('safe');
});

test.each([
  'from kept import *\n',
  'from kept import Reader\n',
  'def __getattr__(name):\n    return 1\n',
  'globals()["Read" + "er"] = 1\n',
])('one that may give it is asked about: %s', async (other) => {
  expect(await tierBeside(other)).toBe('unsafe');
});
