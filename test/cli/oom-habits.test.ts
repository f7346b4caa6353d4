/** What a new user of `--oom` stumbled over. */
import { describe, expect, test } from 'vitest';
import { transforms } from '../../transforms/index.js';
import { folderWith } from '../workspace/folders.js';
import { memfix } from './command-line.js';
import { FULL, library, logOf, own, told } from './oom-runs.js';

const FILES = {
  'train.py': `import argparse

import torch
from torch import nn
from net import Net

parser = argparse.ArgumentParser()
parser.add_argument("--mixed_precision", action="store_true", help="use mixed precision")
parser.add_argument("--no-fp16", action="store_true")
parser.add_argument("--chunk", type=int, default=32768, help="rays at a time, decrease if running out of memory")
parser.add_argument("--occupy", action="store_true", help="occupy GPU memory first for training")
parser.add_argument("--lr", type=float, default=0.1, help="learning rate")
args = parser.parse_args()


def main(loader):
    model = Net().to("cuda")
    for x, y in loader:
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()


def score(model, images):
    model.eval()
    total = 0.0
    for image in images:
        total += model(image[None].cuda()).mean().item()
    return total


def lots(models, x):
    run = lambda one: one(x).relu()
    return [run(one) for one in models]


main(load(batch_size=64))
`,
};
const LINEAR = library('torch/nn/modules/linear.py', 'forward');
const FORWARD = logOf([
  own(FILES, 'train.py', '<module>', 'main(load(batch_size=64))'),
  own(FILES, 'train.py', 'main', 'loss = nn.functional.mse_loss(model(x), y)'),
  LINEAR,
]);
const SCORE = own(FILES, 'train.py', 'score', 'total += model(image[None].cuda()).mean().item()');

test('options of the script that are about memory are named, with their places', async () => {
  const { next } = await told(FILES, FORWARD);
  expect(next).toContain(
    'The script has options for it: `--mixed_precision` (train.py:8), off by default; `--chunk` (train.py:10): “rays at a time, decrease if running out of memory”.',
  );
  expect(next).not.toContain('--no-fp16');
  expect(next).not.toContain('--lr');
  expect(next).not.toContain('--occupy');
});

test('older cards have no bf16', async () => {
  expect((await told(FILES, FORWARD)).next).toContain(
    'in bfloat16 (Ampere or newer; older cards: float16 with a `GradScaler`)',
  );
});

test('one item at a time is no batch to be made smaller', async () => {
  const { next } = await told(FILES, logOf([SCORE, LINEAR]));
  expect(next).toContain('Take smaller inputs');
  expect(next).not.toContain('smaller batch');
});

test('a search of many beams is named, also where the log does not show `generate` itself', async () => {
  const files = {
    'sum.py': `def summaries(model, batches):
    return [
        model.generate(batch, num_beams=8, max_new_tokens=64)
        for batch in batches
    ]
`,
  };
  const log = logOf([
    own(files, 'sum.py', 'summaries', 'model.generate(batch, num_beams=8, max_new_tokens=64)'),
    library('torch/utils/_contextlib.py', 'decorate_context'),
    library('transformers/models/pegasus/modeling_pegasus.py', 'forward'),
  ]);
  const { next } = await told(files, log);
  expect(next).toContain('Search with fewer beams than `num_beams=8`');
  expect(next).toContain('`memfix budget sum.py 7B --generate 64 --fit');
});

test('places in a notebook are told by cell', async () => {
  const cells = [
    'import torch\nfrom torch.utils.data import DataLoader',
    'loader = DataLoader(rows, batch_size=64)',
    'for x in loader:\n    loss = model(x).sum()\n    loss.backward()',
  ].map((source, index) => ({ cell_type: 'code', execution_count: index + 1, source, outputs: [] }));
  const files = { 'run.ipynb': JSON.stringify({ cells, metadata: {}, nbformat: 4 }) };
  const log = [
    'OutOfMemoryError                          Traceback (most recent call last)',
    'Cell In[3], line 2',
    '      1 for x in loader:',
    '----> 2     loss = model(x).sum()',
    '      3     loss.backward()',
    '',
    `File ${LINEAR[0]}:99, in forward(self, input)`,
    '---> 99 return F.linear(input)',
    '',
    `OutOfMemoryError: ${FULL}`,
    '',
  ].join('\n');
  const { next } = await told(files, log);
  expect(next).toContain('halve it (now `batch_size=64`, run.ipynb: cell 2, line 1)');
});

test('lambdas and comprehensions are where they are written', async () => {
  const { before } = await told(
    FILES,
    logOf([
      own(FILES, 'train.py', 'lots', 'return [run(one) for one in models]'),
      own(FILES, 'train.py', '<listcomp>', 'return [run(one) for one in models]'),
      own(FILES, 'train.py', '<lambda>', 'run = lambda one: one(x).relu()'),
    ]),
  );
  expect(before).not.toContain('(was');
  expect(before).toContain('train.py:32 <lambda>');
});

test('the frame that loguru marks is one of the traceback', async () => {
  const { before } = await told(FILES, FORWARD.replace('  File', '> File'));
  expect(before).toContain('train.py:36 <module>');
});

test('a log of JSON, one object for each line, is read', async () => {
  const wrapped = FORWARD.split('\n').map((line, ts) => JSON.stringify({ ts, message: line }));
  const { before } = await told(FILES, wrapped.join('\n'));
  expect(before).toContain('train.py:19 main');
  expect(before).toContain('It was the forward pass');
});

test('a worker of a loader has nothing to do on the GPU', async () => {
  const others = FULL.replace(
    'Including',
    'Process 3121 has 21.2 GiB memory in use. Process 3122 has 612.00 MiB memory in use. Including',
  );
  const log = logOf(
    [library('torch/utils/data/_utils/worker.py', '_worker_loop'), SCORE],
    `torch.OutOfMemoryError: ${others}`,
  );
  const { before, next } = await told(FILES, log);
  expect(before).toContain('It was a worker process of a `DataLoader`, which used the GPU');
  expect(before).not.toContain('LOCAL_RANK');
  expect(next).toMatch(/^• Keep the GPU out of the workers: .*`num_workers=0`\. $/);
});

test('one huge array, in a folder of data sets', async () => {
  const { next } = await told(
    FILES,
    logOf(
      [['/home/me/app/data/datasets/wrapper.py', 3, 'cache_images', 'pass']],
      'numpy.core._exceptions._ArrayMemoryError: Unable to allocate 142. GiB for an array with shape (118287, 640, 640, 3) and data type uint8',
    ),
  );
  expect(next).toContain('One array of 142.00 GiB was asked for at once: read it in parts');
  expect(next).not.toContain('num_workers');
});

test.each(['cuDNN error: CUDNN_STATUS_NOT_INITIALIZED', 'CUDA error: CUBLAS_STATUS_NOT_INITIALIZED'])(
  '%s',
  async (message) => {
    const { before } = await told(FILES, logOf([SCORE], `RuntimeError: ${message}`));
    expect(before).toContain('asked the driver for its own handle or workspace');
  },
);

test('what the scheduler and the kernel say is not asked for again', async () => {
  const slurm = `${logOf([], 'ChildFailedError: \n====\n  rank : 1 (local_rank: 1)\n  exitcode  : -9 (pid: 88213)\n  traceback : Signal 9 (SIGKILL) received by PID 88213\n====')}slurmstepd: error: Detected 1 oom-kill event(s) in StepId=5.0. Some of your processes may have been killed by the cgroup out-of-memory handler.\n`;
  const { before } = await told(
    FILES,
    `torch.distributed.elastic: [ERROR] failed (exitcode: -9) local_rank: 1 (pid: 88213)\n${slurm}`,
  );
  expect(before.match(/Out of memory:/g)).toHaveLength(1);
  expect(before).toContain('The scheduler says that a process was killed for want of host memory.');
  expect(before).not.toContain('====');
  const kernel = await told(
    FILES,
    '[4021113.112] Out of memory: Killed process 88213 (python) total-vm:188912312kB, anon-rss:121231232kB, file-rss:91200kB\n',
  );
  expect(kernel.before).toContain('which held 115.62 GiB');
});

test('two logs are not one', async () => {
  const cwd = folderWith({ ...FILES, 'a.log': FORWARD, 'b.log': FORWARD });
  const { stderr, code } = await memfix({ cwd, transforms }, '--oom', 'a.log', '--oom', 'b.log');
  expect(stderr).toContain('`cat a.log b.log | memfix --oom -`');
  expect(code).toBe(2);
});

describe('what is in the traceback and was not told', () => {
  const EVALUATE = {
    'app/run.py': 'from lib.evaluate import evaluate\n\nevaluate(net, rows)\n',
    'lib/__init__.py': '',
    'lib/evaluate.py': `import torch


def evaluate(model, rows):
    model.eval()
    total = 0.0
    for row in rows:
        total += model(row).sum().item()
    return total
`,
  };
  const log = logOf([
    own(EVALUATE, 'app/run.py', '<module>', 'evaluate(net, rows)'),
    own(EVALUATE, 'lib/evaluate.py', 'evaluate', 'total += model(row).sum().item()'),
    LINEAR,
  ]);

  test('a finding that a comment silences', async () => {
    const silenced = {
      ...EVALUATE,
      'lib/evaluate.py': EVALUATE['lib/evaluate.py'].replace('rows):', 'rows):  # memfix: ignore[no-grad]'),
    };
    expect((await told(EVALUATE, log)).ranked).toContain('no-grad lib/evaluate.py:4');
    const { before, ranked } = await told(silenced, log);
    expect(ranked).toEqual([]);
    expect(before).toContain(
      '`no-grad` at lib/evaluate.py:4 (in frame 2 of the traceback, `evaluate`) may explain it, but a comment of the file silences it.',
    );
  });

  test('a decorator that was written since', async () => {
    const fixed = {
      ...EVALUATE,
      'lib/evaluate.py': EVALUATE['lib/evaluate.py'].replace('def ', '@torch.no_grad()\ndef '),
    };
    const { before } = await told(fixed, log);
    expect(before).toContain(
      '`evaluate` (lib/evaluate.py:9) turns gradients off by a decorator that the traceback does not have: the code was changed since this run.',
    );
    expect(before).not.toContain('It ran without gradients');
  });

  test('files outside of the path', async () => {
    const { before } = await told({ ...EVALUATE, '.git/HEAD': 'ref: refs/heads/main\n' }, log, 'app');
    expect(before).toContain('lib/evaluate.py is in the traceback and was not checked: leave out the path.');
  });
});
