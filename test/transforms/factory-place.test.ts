import { expect, test } from 'vitest';
import { isSnapshot } from '../../transforms/factory-device/factory-place.js';

test.each([
  ['wandb/run-20240301_101112-ab12/files/code/train.py', true],
  ['outputs/2023-05-06/12-13-14/src/model.py', true],
  ['exps/run_012/code/net.py', true],
  ['runs/seed42/train.py', true],
  ['experiments/resnet/train.py', false],
  ['src/results/plot.py', false],
  ['checkpoints.py', false],
])('%s is a copy of the code beside the results of a run: %s', (path, expected) => {
  expect(isSnapshot(path)).toBe(expected);
});
