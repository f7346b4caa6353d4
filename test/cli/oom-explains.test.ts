/** What people complained of whose run had died: only what can explain it is offered, and in the words of their program. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { transforms } from '../../transforms/index.js';
import { PACKAGES } from '../oom/reading.js';
import { start } from '../support/seen.js';
import { commit, put, repositoryWith } from '../workspace/folders.js';
import { memfix } from './command-line.js';

const TRAIN = `import torch
from torch import nn
from net import Net


def main(args, loader, tests):
    model = Net(8).to("cuda")
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    if args.weights is not None:
        model.load_state_dict(torch.load(args.weights))
    if args.state is not None:
        optimizer.load_state_dict(torch.load(args.state))
    for x, y in loader:
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            for a, b in tests:
                out = model(a)


main(parse(), load(batch_size=64), load(batch_size=8))
`;
const NET = `import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.inner = nn.Linear(size, size)

    def forward(self, x):
        return self.inner(x)
`;

const FIGURES =
  'CUDA out of memory. Tried to allocate 512.00 MiB. GPU 0 has a total capacity of 7.78 GiB of which 31.19 MiB is free. Including non-PyTorch memory, this process has 7.46 GiB memory in use. Of the allocated memory 6.90 GiB is allocated by PyTorch, and 41.62 MiB is reserved by PyTorch but unallocated.';
const OLD =
  'RuntimeError: CUDA out of memory. Tried to allocate 128.00 MiB (GPU 0; 10.76 GiB total capacity; 9.20 GiB already allocated; 50.44 MiB free; 9.53 GiB reserved in total by PyTorch)';

type At = readonly [path: string, line: number, name: string, source: string];

function logAt(frames: readonly At[], error = `torch.OutOfMemoryError: ${FIGURES}`): string {
  return [
    'Traceback (most recent call last):',
    ...frames.map(
      ([path, line, name, source]) => `  File "${path}", line ${line}, in ${name}\n    ${source}`,
    ),
    `${error}\n`,
  ].join('\n');
}

const lineOf = (code: string) => TRAIN.split('\n').findIndex((line) => line.trim() === code) + 1;
const TOP: At = [
  '/home/me/app/train.py',
  lineOf('main(parse(), load(batch_size=64), load(batch_size=8))'),
  '<module>',
  'main(parse(), load(batch_size=64), load(batch_size=8))',
];
const inMain = (code: string): At => ['/home/me/app/train.py', lineOf(code), 'main', code];
const library = (path: string, name: string, source = 'pass'): At => [
  `${PACKAGES}/${path}`,
  99,
  name,
  source,
];

const FORWARD = logAt([
  TOP,
  inMain('loss = nn.functional.mse_loss(model(x), y)'),
  ['/home/me/app/net.py', 11, 'forward', 'return self.inner(x)'],
  library('torch/nn/modules/linear.py', 'forward'),
]);
const LOADING = logAt([
  TOP,
  inMain('model.load_state_dict(torch.load(args.weights))'),
  library('torch/serialization.py', 'load'),
]);

function repository(log: string, files: Readonly<Record<string, string>> = {}): string {
  const cwd = repositoryWith({ 'train.py': TRAIN, 'net.py': NET, ...files });
  put(cwd, { '.gitignore': '*.log\n', 'run.log': log });
  commit(cwd);
  return cwd;
}

async function told(log: string, files: Readonly<Record<string, string>> = {}) {
  const { stdout, stderr } = await memfix({ cwd: repository(log, files), transforms }, '--oom', 'run.log');
  const text = stdout.replace(/\s+/g, ' ');
  const ranked = [...stdout.matchAll(/^\S+?:(\d+):\d+ {2}([\w-]+) {2}/gm)].map(
    ([, line, id]) => `${id} ${line}`,
  );
  return { text, ranked, stderr, next: text.split('What to do next: ')[1]?.split(' Other finding')[0] ?? '' };
}

/** A loop that trains and then validates, in one function. */
const BOTH = (name: string, mode = 'model.eval()') => `import torch
from torch import nn
from net import Net


def ${name}(loader, tests):
    model = Net(8).to("cuda")
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(9):
        model.train()
        for x, y in loader:
            out = model(x)
            loss = nn.functional.mse_loss(out, y)
            loss.backward()
            optimizer.step()
        ${mode}
        total = 0.0
        for a, b in tests:
            guess = model(a)
            total += nn.functional.mse_loss(guess, b).item()


${name}(load(batch_size=64), load(batch_size=8))
`;

describe('what the pass was for is told by the code, not by the name of its function', () => {
  const logOf = (name: string, line: number, code: string) =>
    logAt([
      ['/home/me/app/train.py', 23, '<module>', `${name}(load(batch_size=64), load(batch_size=8))`],
      ['/home/me/app/train.py', line, name, code],
      library('torch/nn/modules/module.py', '_call_impl'),
      ['/home/me/app/net.py', 11, 'forward', 'return self.inner(x)'],
    ]);

  test.each(['train_and_evaluate', 'evaluate'])('a training step in `%s`', async (name) => {
    const { text, next } = await told(logOf(name, 12, 'out = model(x)'), { 'train.py': BOTH(name) });
    expect(text).toContain('It was the forward pass: it keeps activations for the backward pass');
    expect(next).not.toContain('no_grad');
    expect(next).not.toContain('where it evaluates');
  });

  test.each(['model.eval()', 'pass'])('a validation in `train`, after `%s`', async (mode) => {
    const { text, next } = await told(logOf('train', 19, 'guess = model(a)'), {
      'train.py': BOTH('train', mode),
    });
    expect(text).toContain('It was an evaluation: it keeps activations only where gradients are recorded');
    expect(next).toContain('where it evaluates');
    expect(text).toContain('no-grad-block');
  });
});

describe('only what can explain it ranks', () => {
  test('a checkpoint that was loaded before the loop does not explain the forward pass', async () => {
    const { text, ranked, next } = await told(FORWARD);
    expect(ranked).toEqual([]);
    expect(text).toContain('here explains it.');
    expect(text).toContain(
      'train.py:10:37, train.py:12:41 load-map-location (safe): what it frees is gone when its statement is done',
    );
    expect(next).toContain('halve it (now `batch_size=64`, train.py:22)');
    const option = TRAIN.replace('load(batch_size=64), load(batch_size=8)', 'load(), load()').replace(
      'from net',
      'parser.add_argument("--batch-size", type=int, default=1)\nfrom net',
    );
    const single = await told(FORWARD, { 'train.py': option });
    expect(single.next).toContain(
      'it is one item already (`--batch-size 1`, train.py:3), so take smaller inputs',
    );
  });

  test('one that a variable keeps does', async () => {
    const kept = TRAIN.replace(
      'model.load_state_dict(torch.load(args.weights))',
      'saved = torch.load(args.weights)\n        model.load_state_dict(saved)',
    );
    const { ranked, text } = await told(FORWARD, { 'train.py': kept });
    expect(ranked).toEqual(['load-map-location 10']);
    expect(text).toContain('stays there until `saved` is dropped');
    const dropped = kept.replace('load_state_dict(saved)\n', 'load_state_dict(saved)\n        del saved\n');
    expect((await told(FORWARD, { 'train.py': dropped })).ranked).toEqual([]);
  });

  test('of two loads the one that was running, and not the one that had not run', async () => {
    const { ranked, text } = await told(LOADING);
    expect(ranked).toEqual(['load-map-location 10']);
    expect(text).toContain('while it is loaded, a checkpoint that was saved from a GPU is on that GPU again');
    expect(text).toContain('train.py:12:41 load-map-location (safe): it had not run yet');
  });

  test('neither the fused step nor a loaded state where the state is being made', async () => {
    const { ranked, text, next } = await told(
      logAt([
        TOP,
        inMain('optimizer.step()'),
        library('torch/optim/adam.py', '_init_group', "state['exp_avg'] = torch.zeros_like(p)"),
      ]),
    );
    expect(ranked).toEqual([]);
    expect(text).toContain('The optimizer was making its state');
    expect(next).toContain('AdamW8bit');
    const step = await told(
      logAt([
        TOP,
        inMain('optimizer.step()'),
        library('torch/optim/adam.py', '_multi_tensor_adam', 'torch._foreach_sqrt(s)'),
      ]),
    );
    expect(step.ranked).toEqual(['fused-optimizer 8']);
  });

  test('nothing that takes more of the host, where the host ran out', async () => {
    const error =
      'RuntimeError: [enforce fail at alloc_cpu.cpp:114] . DefaultCPUAllocator: not enough memory: you tried to allocate 536870912 bytes.';
    const { ranked, text } = await told(
      logAt([TOP, inMain('model.load_state_dict(torch.load(args.weights))')], error),
    );
    expect(ranked).toEqual([]);
    expect(text).toContain('It was the memory of the host, not of the GPU.');
  });

  test('the first thing on the card: another process, and nothing of the code', async () => {
    const { ranked, text, next } = await told(
      logAt(
        [TOP, inMain('model = Net(8).to("cuda")'), library('torch/nn/modules/module.py', 'convert')],
        'RuntimeError: CUDA error: out of memory',
      ),
    );
    expect(ranked).toEqual([]);
    expect(text).toContain('It was the driver that had no memory');
    expect(next).toMatch(/^• `nvidia-smi` tells what holds the card/);
  });
});

describe('in the words of the program', () => {
  const TRAINER = `from transformers import Trainer, TrainingArguments


def fit(model, data):
    args = TrainingArguments(output_dir="out", bf16=True)
    trainer = Trainer(model=model, args=args, train_dataset=data)
    trainer.train()
`;
  const inTrainer = (...frames: readonly At[]) =>
    logAt([
      ['/home/me/app/fit.py', 7, 'fit', 'trainer.train()'],
      library('transformers/trainer.py', 'train'),
      library('transformers/trainer.py', 'training_step'),
      ...frames,
    ]);

  test('a trainer of transformers, with what is on already left out', async () => {
    const { next } = await told(inTrainer(library('torch/autograd/__init__.py', 'backward')), {
      'fit.py': TRAINER,
    });
    expect(next).toContain('halve `per_device_train_batch_size` and double `gradient_accumulation_steps`');
    expect(next).toContain('`gradient_checkpointing=True`');
    expect(next).not.toMatch(/bf16|autocast/);
    const plain = await told(inTrainer(library('torch/autograd/__init__.py', 'backward')), {
      'fit.py': TRAINER.replace(', bf16=True', ''),
    });
    expect(plain.next).toContain('set `bf16=True`');
  });

  test('its evaluation', async () => {
    const { next, text } = await told(
      inTrainer(
        library('transformers/trainer.py', 'evaluation_loop'),
        library('transformers/trainer.py', 'prediction_step'),
        library('transformers/loss/loss_utils.py', 'ForCausalLMLoss', 'logits = logits.float()'),
      ),
      { 'fit.py': TRAINER },
    );
    expect(next).toMatch(
      /per_device_eval_batch_size.*preprocess_logits_for_metrics.*eval_accumulation_steps/,
    );
    expect(text).toContain('It ran without gradients (`prediction_step`)');
  });

  test('what generates gets no batch to halve, and strings that are collected are not named', async () => {
    const code = `class Judge:
    def evaluate(self, texts):
        said = []
        for text in texts:
            output = self.model.generate(**self.tokenizer(text))
            answer = self.tokenizer.decode(output[0]).strip()
            said.append(answer)
        return said
`;
    const { next, text } = await told(
      logAt([
        ['/home/me/app/judge.py', 5, 'evaluate', 'output = self.model.generate(**self.tokenizer(text))'],
        library('transformers/generation/utils.py', 'generate'),
        library('torch/nn/modules/linear.py', 'forward'),
      ]),
      { 'judge.py': code },
    );
    expect(text).not.toContain('said.append');
    expect(next).toContain('`max_new_tokens`');
    expect(next).not.toContain('smaller batch');
    expect(next).toContain(
      '`memfix budget judge.py 7B --generate 256 --fit 7.78GiB`, with the size of your model, its name or its config.json in the place of `7B`, and the number of new tokens in that of `256`, adds up',
    );
  });

  test('a pass without gradients keeps no activations', async () => {
    const { text, next } = await told(
      logAt([TOP, inMain('out = model(a)'), ['/home/me/app/net.py', 11, 'forward', 'return self.inner(x)']]),
    );
    expect(text).toContain('It ran without gradients (train.py:19), so nothing is kept for a backward pass');
    expect(text).not.toContain('It was the forward pass');
    expect(next).toContain('Take a smaller batch where it evaluates');
  });

  test('a model that is moved beside another, and one that is too large by itself', async () => {
    const moved = (name: string) =>
      logAt([
        TOP,
        ['/home/me/app/train.py', lineOf('model = Net(8).to("cuda")'), name, 'model = Net(8).to("cuda")'],
        library('torch/nn/modules/module.py', '_apply'),
      ]);
    const first = await told(moved('main'));
    expect(first.text).toContain('A model was being moved to the device, where tensors hold 6.90 GiB');
    expect(first.next).toContain('The weights alone may not fit');
    const later = await told(moved('main').replace(TOP[2], 'evaluate'));
    expect(later.next).toContain('Free what is there first');
    expect(later.next).not.toContain('smaller batch');
  });

  test('a card that others hold', async () => {
    const figures = FIGURES.replace('6.90 GiB', '0.20 GiB');
    const { text, next } = await told(
      logAt(
        [TOP, inMain('model = Net(8).to("cuda")'), library('torch/nn/modules/module.py', '_apply')],
        `torch.OutOfMemoryError: ${figures}`,
      ),
    );
    expect(text).toContain("7.51 GiB is in use outside of PyTorch's allocator");
    expect(next).toMatch(/^• `nvidia-smi` tells what holds the card/);
  });

  test('tensors on the CPU', async () => {
    const error =
      'RuntimeError: [enforce fail at alloc_cpu.cpp:114] . DefaultCPUAllocator: not enough memory: you tried to allocate 8 bytes.';
    const { next } = await told(logAt([TOP, inMain('loss.backward()')], error));
    expect(next).toContain('If the model was to run on a GPU, see that it and its batches are moved there');
  });

  test('cuBLAS, ROCm, and memory in pieces', async () => {
    const cublas = await told(
      logAt(
        [TOP, inMain('loss = nn.functional.mse_loss(model(x), y)')],
        'RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`',
      ),
    );
    expect(cublas.text).toContain('cuBLAS asked the driver for its own handle or workspace');
    const pieces = FIGURES.replace('31.19 MiB', '400.00 MiB').replace('41.62 MiB', '450.00 MiB');
    const hip = await told(
      logAt([TOP, inMain('loss.backward()')], `torch.OutOfMemoryError: ${pieces.replace('CUDA', 'HIP')}`),
    );
    expect(hip.text).toContain(
      '400.00 MiB is free and 450.00 MiB is reserved but unallocated: together they would have held',
    );
    expect(hip.text).toContain('`PYTORCH_HIP_ALLOC_CONF=expandable_segments:True`');
    expect(hip.ranked).toEqual([]);
    expect(hip.next).toMatch(/^• Run it again with `PYTORCH_HIP_ALLOC_CONF=expandable_segments:True`/);
  });

  test('an old torch is not taken for a new one', async () => {
    const { stderr, text } = await told(
      logAt(
        [
          TOP,
          inMain('optimizer.step()'),
          library('torch/optim/adam.py', 'step', 'denom = exp_avg_sq.sqrt()'),
        ],
        OLD,
      ),
    );
    expect(stderr).not.toContain('is assumed');
    // What is older still has everything that a fix needs.
    const loading = await told(logAt([TOP, inMain('model.load_state_dict(torch.load(args.weights))')], OLD));
    expect(loading.ranked).toEqual(['load-map-location 10']);
    expect(loading.text).toContain('load-map-location safe');
    expect(text).not.toMatch(/#1.*fused=True/);
    const fragmented = await told(
      logAt([TOP, inMain('loss.backward()')], OLD.replace('9.53 GiB reserved', '10.50 GiB reserved')),
    );
    expect(fragmented.text).toContain('`PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:128`');
  });
});

describe('check, diff, apply and apply -i are about the same', () => {
  const run = (cwd: string, ...words: readonly string[]) =>
    memfix({ cwd, transforms }, ...words, '--oom', 'run.log');

  test('the one fix that explains it, and nothing else', async () => {
    const cwd = repository(LOADING);
    expect((await run(cwd, 'check')).stderr).toContain('to review the fix that may explain it.');
    const diff = await run(cwd, 'diff');
    expect(diff.stdout.match(/^\+ .*/gm)).toEqual([
      '+        model.load_state_dict(torch.load(args.weights, map_location="cpu"))',
    ]);
    expect(diff.stderr).toMatch(
      /1 finding may explain it; \d+ others do not\.\n(?:.*\n)*1 fix in 1 file: 1 frees memory\.\n$/,
    );
    const applied = await run(cwd, 'apply');
    expect(applied.stderr).toContain('Fixed 1 finding in 1 file: 1 frees memory.');
    expect(applied.stderr).not.toMatch(/left|asks about|Nothing else/);
    expect(readFileSync(join(cwd, 'train.py'), 'utf8')).toBe(
      TRAIN.replace('torch.load(args.weights)', 'torch.load(args.weights, map_location="cpu")'),
    );
  });

  test('where none does, nothing is written, and what to do is said', async () => {
    const cwd = repository(FORWARD);
    for (const command of ['diff', 'apply']) {
      const { stdout, stderr } = await run(cwd, command);
      expect(stdout).toBe('');
      expect(stderr).toMatch(/None of the \d+ findings here explains it\./);
      expect(stderr).toContain('What to do next:');
      expect(stderr).not.toMatch(/asks about|Nothing else/);
    }
    expect(readFileSync(join(cwd, 'train.py'), 'utf8')).toBe(TRAIN);
  });

  test('a session begins with what is known, and ends with what to do where there is nothing to review', async () => {
    const terminal = start(
      { cwd: repository(FORWARD), cols: 120, rows: 40 },
      'apply',
      '-i',
      '--oom',
      'run.log',
    );
    await terminal.ended();
    expect(terminal.text).toContain('It was the forward pass');
    expect(terminal.text).toContain('There is nothing to review.');
    expect(terminal.text).toContain('What to do next:');
  });

  test('a log that came through a pipe is to be saved', async () => {
    const cwd = repository(LOADING);
    const piped = await memfix({ cwd, transforms, stdin: LOADING }, '--oom', '-');
    expect(piped.stderr).toContain('Save the log in a file and run `memfix apply -i --oom train.log`');
    const asked = await memfix({ cwd, transforms, stdin: LOADING }, 'apply', '-i', '--oom', '-');
    expect(asked.stderr).toContain('save it in a file and name that, `memfix apply -i --oom train.log`');
  });

  test('in a folder of the repository the same is known', async () => {
    const cwd = repository(FORWARD.replaceAll('app/net.py', 'app/parts/net.py'), {
      'net.py': '',
      'parts/net.py': NET,
      'scripts/run.py': 'import torch\n',
    });
    const { stdout } = await memfix({ cwd: join(cwd, 'parts'), transforms }, '--oom', '../run.log');
    expect(stdout).toMatch(/\.\.\/train\.py:14 +main/);
    const other = await memfix({ cwd: join(cwd, 'scripts'), transforms }, '--oom', '../run.log');
    expect(other.stdout).toMatch(/\.\.\/parts\/net\.py:11 +forward/);
  });

  test('the way to it', async () => {
    const cwd = repository(LOADING);
    expect((await memfix({ cwd, transforms }, '--oom')).stderr).toContain('`-` for standard input');
    expect((await memfix({ cwd, transforms }, '--help')).stdout).toContain('memfix --oom train.log');
    expect((await memfix({ cwd, transforms }, 'run.log')).stdout).toContain('`memfix --oom run.log`');
  });
});
