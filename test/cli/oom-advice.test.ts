/** Advice that fits the program: what is on already, which optimizer it is, what a finding does. */
import { describe, expect, test } from 'vitest';
import { folderWith } from '../workspace/folders.js';
import { memfix } from './command-line.js';
import { library, logOf, own, told } from './oom-runs.js';

const LINEAR = library('torch/nn/modules/linear.py', 'forward');
const GUARD = 'See that it runs under `torch.no_grad()`';

test('what a finding writes, or somebody wrote since, is not advised again', async () => {
  const files = {
    'run.py': `import torch
from torch import nn


def measure(net: nn.Module, batches):
    net.eval()
    return [net(x).mean().item() for x in batches]


def go():
    print(measure(nn.Linear(8, 8).cuda(), load()))


go()
`,
  };
  const frames = [
    own(files, 'run.py', '<module>', 'go()'),
    own(files, 'run.py', 'go', 'print(measure(nn.Linear(8, 8).cuda(), load()))'),
    own(files, 'run.py', 'measure', 'return [net(x).mean().item() for x in batches]'),
    LINEAR,
  ];
  const shown = await told(files, logOf(frames));
  expect(shown.ranked).toContain('no-grad run.py:5');
  expect(shown.before).toContain('It was an evaluation');
  expect(shown.next).not.toContain(GUARD);
  const hidden = await told(files, logOf(frames), '--ignore', 'no-grad,no-grad-block');
  expect(hidden.next).toContain(GUARD);
  const done = { 'run.py': files['run.py'].replace('def measure', '@torch.no_grad()\ndef measure') };
  const since = await told(done, logOf(frames));
  expect(since.before).toContain('turns gradients off by a decorator');
  expect(since.next).not.toContain(GUARD);
});

describe('the AdamW of transformers', () => {
  const files = { 'fit.py': 'def fit(optimizer):\n    optimizer.step()\n' };
  const at = (source: string) =>
    logOf([
      own(files, 'fit.py', 'fit', 'optimizer.step()'),
      library('transformers/optimization.py', 'step', source),
    ]);

  test('makes its state in its first step', async () => {
    const { before, next } = await told(files, at('state["exp_avg_sq"] = torch.zeros_like(p)'));
    expect(before).toContain('The optimizer was making its state');
    expect(next).not.toContain('fused=True');
  });

  test('has no fused step: that of torch has', async () => {
    const { next } = await told(files, at('denom = exp_avg_sq.sqrt().add_(group["eps"])'));
    expect(next).toContain('`torch.optim.AdamW(…, fused=True)` takes its place');
    expect(next).not.toContain('foreach');
  });
});

describe('a trainer', () => {
  const script = (size: number) => ({
    'fit.py': `from trl import SFTTrainer
from transformers import TrainingArguments
from unsloth import FastLanguageModel, is_bfloat16_supported

model, tokenizer = FastLanguageModel.from_pretrained("unsloth/mistral-7b", load_in_4bit=True)
model = FastLanguageModel.get_peft_model(model, r=16, use_gradient_checkpointing="unsloth")
args = TrainingArguments("out", per_device_train_batch_size=${size}, bf16=is_bfloat16_supported())
SFTTrainer(model=model, args=args).train()
`,
  });
  const at = (files: Readonly<Record<string, string>>) =>
    logOf([
      own(files, 'fit.py', '<module>', 'SFTTrainer(model=model, args=args).train()'),
      library('transformers/trainer.py', 'training_step'),
      LINEAR,
    ]);

  test('is told the size of its batch, and nothing that is on already', async () => {
    const { next } = await told(script(4), at(script(4)));
    expect(next).toContain('(now `per_device_train_batch_size=4`, fit.py:7)');
    expect(next).toContain('for the same effective batch');
    expect(next).not.toContain('set `bf16=True`');
    expect(next).not.toContain('gradient_checkpointing=True');
  });

  test('has no batch of one to halve', async () => {
    const { next } = await told(script(1), at(script(1)));
    expect(next).toContain('it is one item already (`per_device_train_batch_size=1`, fit.py:7)');
    expect(next).not.toContain('halve');
  });

  test('loads in 4 bits already', async () => {
    const files = script(1);
    const line = files['fit.py'].split('\n')[4] ?? '';
    const { next } = await told(
      files,
      logOf([
        own(files, 'fit.py', '<module>', line),
        library('transformers/modeling_utils.py', 'from_pretrained'),
      ]),
    );
    expect(next).toContain('it is quantized already');
    expect(next).not.toContain('an eighth');
  });
});

test('a copy of a model is no pass', async () => {
  const files = { 'fit.py': 'import copy\n\n\ndef start(model):\n    return copy.deepcopy(model)\n' };
  const log = logOf([
    own(files, 'fit.py', 'start', 'return copy.deepcopy(model)'),
    ['/usr/lib/python3.11/copy.py', 162, 'deepcopy', 'y = _reconstruct(x, memo, *rv)'],
    library('torch/nn/parameter.py', '__deepcopy__', 'result = type(self)(self.data.clone())'),
  ]);
  const { before, next } = await told(files, log);
  expect(before).toContain('Something was being copied by `copy.deepcopy`');
  expect(next).toContain('Copy it before it is on the device');
  expect(next).not.toContain('halve');
});

test('a finding below a condition says which, and a default of a parameter is no setting', async () => {
  const files = {
    'fit.py': `import torch
from torch import nn


def loader(data, batch_size=8):
    return Batches(data, batch_size)


def main(args):
    net = nn.Linear(8, 8).cuda()
    if args.resume:
        checkpoint = torch.load(args.resume)
        net.load_state_dict(checkpoint["model"])
    for x, y in loader(read(), args.size):
        loss = (net(x) - y).square().mean()
        loss.backward()
    print(checkpoint["epoch"])


main(parse())
`,
  };
  const log = logOf([
    own(files, 'fit.py', '<module>', 'main(parse())'),
    own(files, 'fit.py', 'main', 'loss = (net(x) - y).square().mean()'),
    LINEAR,
  ]);
  const { before, next, ranked } = await told(files, log, '--unsafe-fixes');
  expect(ranked).toContain('load-map-location fit.py:12');
  expect(before).toContain('it runs only where `args.resume` holds');
  expect(next).toContain('halve it and add up');
});

test('a Mac has no Ampere', async () => {
  const files = { 'fit.py': 'def fit(net, x):\n    return net(x)\n' };
  const log = logOf(
    [own(files, 'fit.py', 'fit', 'return net(x)'), LINEAR],
    'RuntimeError: MPS backend out of memory (MPS allocated: 17.00 GB, other allocations: 384.00 KB, max allowed: 18.13 GB). Tried to allocate 2.00 GB on private pool.',
  );
  const { next } = await told(files, log);
  expect(next).toContain('bfloat16');
  expect(next).not.toContain('Ampere');
});

test('NCCL asks the driver, whom no snapshot shows', async () => {
  const files = { 'fit.py': 'def start(net):\n    return wrap(net)\n' };
  const log = `${logOf([own(files, 'fit.py', 'start', 'return wrap(net)')], 'torch.distributed.DistBackendError: NCCL error in: ../NCCLUtils.cpp:275, unhandled cuda error, NCCL version 2.21.5')}ncclUnhandledCudaError: Call to CUDA function failed.\nLast error:\nCuda failure 2 'out of memory'\n`;
  const { next } = await told(files, log);
  expect(next).toContain('`nvidia-smi` tells what holds each card');
  expect(next).not.toContain('_record_memory_history');
});

test('a snapshot is no log', async () => {
  const cwd = folderWith({ 'a.py': 'pass\n', 'memory.pickle': '\x80\x04.' });
  const { stderr } = await memfix({ cwd }, 'check', '--oom', 'memory.pickle');
  expect(stderr).toContain('memfix check --snapshot memory.pickle');
});
