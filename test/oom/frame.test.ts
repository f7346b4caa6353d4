import { expect, test } from 'vitest';
import { installedPath, isLibrary } from '../../src/oom/frame.js';

const at = (path: string) => ({ path, line: 1, name: 'f' });

test.each([
  '/opt/conda/lib/python3.11/site-packages/torch/nn/functional.py',
  '/usr/lib/python3/dist-packages/transformers/trainer.py',
  '/usr/lib/python3.12/threading.py',
  '.venv/lib/python3.12/site-packages/trl/trainer.py',
  'C:/Program Files/Python37/lib/threading.py',
  'C:/code/.venv/Lib/site-packages/torch/_tensor.py',
  '/home/me/pytorch/torch/nn/modules/module.py',
  '/home/me/pytorch/torch/_tensor.py',
  '/tmp/torchinductor_me/ab/cabc.py',
  '/opt/conda/bin/torchrun',
  '<frozen runpy>',
  '<eval_with_key>.7',
  '<string>',
])('of a library: %s', (path) => {
  expect(isLibrary(at(path))).toBe(true);
});

test.each([
  '/app/train.py',
  'train.py',
  '~/work/train.py',
  '/app/lib/python/train.py',
  '/app/Lib/train.py',
  '/app/bin/train.py',
  '/home/me/torch/train.py',
  '/home/me/torch_utils/nn/layers.py',
  'D:/code/train.py',
  'In[7]',
])('of the user: %s', (path) => {
  expect(isLibrary(at(path))).toBe(false);
});

test.each([
  ['/opt/conda/lib/python3.11/site-packages/trl/trainer/sft.py', 'trl/trainer/sft.py'],
  ['/usr/lib/python3.12/threading.py', 'threading.py'],
  ['/home/me/pytorch/torch/nn/modules/module.py', 'torch/nn/modules/module.py'],
  ['C:/Python37/Lib/threading.py', 'threading.py'],
])('what of %s is the same everywhere', (path, rest) => {
  expect(installedPath(at(path))).toBe(rest);
});
