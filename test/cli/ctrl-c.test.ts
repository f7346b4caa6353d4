import { afterEach, describe, expect, test } from 'vitest';
import { Terminal, type TerminalOptions } from '../support/terminal.js';
import { git, put, repositoryWith } from '../workspace/folders.js';

const CTRL_C = '\x03';

const open: Terminal[] = [];
afterEach(() => {
  for (const terminal of open.splice(0)) terminal.dispose();
});

function start(options: TerminalOptions, ...words: readonly string[]): Terminal {
  const terminal = new Terminal(options, ...words);
  open.push(terminal);
  return terminal;
}

const EVALUATE = `import torch
from torch import nn
from torch.nn import functional as F
import part_NEXT

model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 4))


def evaluate(loader):
    model.eval()
    total = 0.0
    for inputs, labels in loader:
        total += F.cross_entropy(model(inputs), labels).item()
    return total
`;

const CHECKPOINTS = Array.from(
  { length: 60 },
  (_, index) => `model.load_state_dict(torch.load("runs/checkpoint-${index}.pt"))\n`,
).join('');

/** Work for seconds, much of it about the project as a whole. */
function project(): string {
  const files = Array.from({ length: 200 }, (_, index) => [
    `part_${index % 20}/module_${index}.py`,
    EVALUATE.replace('NEXT', `${(index + 1) % 20}`) + CHECKPOINTS,
  ]);
  const cwd = repositoryWith(Object.fromEntries(files));
  put(cwd, { 'run.log': 'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n' });
  return cwd;
}

describe('Ctrl-C while files are looked at', () => {
  test.each([
    ['check'],
    ['apply'],
    ['diff'],
    ['apply', '--interactive'],
    ['fix', '--unsafe-fixes'],
    ['baseline'],
    ['check', '--oom', 'run.log'],
  ])('ends memfix %s with 130 and one line, wherever it is', async (...words) => {
    const cwd = project();
    // Words of the progress line: its first one, and one further on.
    for (const moment of [' files', '0/200']) {
      const terminal = start({ cwd }, ...words, '--no-cache');
      await terminal.sees(moment);
      terminal.type(CTRL_C);
      expect(await terminal.ended()).toBe(130);
      expect(terminal.lines.filter((line) => line !== '')).toEqual([expect.stringMatching(/^Interrupted/)]);
      expect(git(cwd, 'status', '--porcelain', '--untracked-files=no')).toBe('');
    }
  });
});
