import { join } from 'node:path';
import { expect, test } from 'vitest';
import { packagesIn } from '../../src/workspace/survey.js';
import { folderWith } from './folders.js';

function importsOf(files: Readonly<Record<string, string>>) {
  const folder = folderWith(files);
  const candidates = Object.keys(files).map((path) => ({
    ...{ path, target: join(folder, path), explicit: false },
  }));
  return packagesIn(candidates, 60_000);
}

const cell = (source: unknown) =>
  JSON.stringify({ cells: [{ cell_type: 'code', source }], metadata: {}, nbformat: 4, nbformat_minor: 5 });

test('torch is counted however it is imported, in scripts and in notebooks', () => {
  const { packages, isPartial } = importsOf({
    'plain.py': 'import torch\n',
    'among.py': 'import os, torch as t\n',
    'part.py': 'try:\n    from torch.nn import Linear\nexcept ImportError: pass\n',
    'with.py': 'from torchvision import models\nimport transformers\n',
    'lines.ipynb': cell(['%matplotlib inline\n', 'import numpy as np, torch\n', 'x = 1']),
    'line.ipynb': cell('# One text\nfrom torch import nn\n'),
    'picture.ipynb': cell([`x = "${'A'.repeat(500_000)}"\n`, 'import torchaudio\n']),
  });
  expect([...packages]).toEqual([
    ['torch', 7],
    ['transformers', 1],
  ]);
  expect(isPartial).toBe(false);
});

test('what only speaks of it does not count', () => {
  const { packages } = importsOf({
    'a.py': '# import torch\nimportlib = 1\nimport torchy\nx.import_torch()\nimport\ttorchx.torch\n',
    'b.py': 'from models import torch\nfrom . import torch\n',
    'c.ipynb': cell(['print("pip install torch")\n', '!pip install torch\n']),
  });
  expect([...packages]).toEqual([]);
});

test('a count that ran out of time says so', () => {
  const folder = folderWith({ 'a.py': 'import torch\n' });
  const one = { path: 'a.py', target: join(folder, 'a.py'), explicit: false };
  expect(packagesIn([one], -1)).toMatchObject({ isPartial: true });
});
