/** What the five who tried memfix for an hour still complained of. */
import { expect, test } from 'vitest';
import { transforms } from '../../transforms/index.js';
import { repositoryWith } from '../workspace/folders.js';
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
