/** What the program was doing, where a library drives it or a part of it runs without gradients. */
import { describe, expect, test } from 'vitest';
import { type At, library, logOf, own, told } from './oom-runs.js';

const FIT = {
  'fit.py': `from transformers import AutoModelForCausalLM, Trainer, TrainingArguments


def main():
    model = AutoModelForCausalLM.from_pretrained("gpt2")
    args = TrainingArguments("out", per_device_train_batch_size=32)
    trainer = Trainer(model=model, args=args, train_dataset=rows())
    trainer.train()


main()
`,
};
const LINEAR = library('torch/nn/modules/linear.py', 'forward', 'return F.linear(input, self.weight)');
const STARTED = [
  own(FIT, 'fit.py', '<module>', 'main()'),
  own(FIT, 'fit.py', 'main', 'trainer.train()'),
  library('transformers/trainer.py', 'train', 'return inner_training_loop('),
  library('transformers/trainer.py', '_inner_training_loop', 'tr_loss_step = self.training_step(model)'),
];
const STEP = library('transformers/trainer.py', 'training_step', 'loss = self.compute_loss(model, inputs)');
const LOSS = library('transformers/trainer.py', 'compute_loss', 'outputs = model(**inputs)');
const FORWARD = 'It was the forward pass: it keeps activations for the backward pass';

describe('a library that trains is known', () => {
  test.each<readonly [what: string, frames: readonly At[]]>([
    ['the Trainer', [STEP, LOSS, LINEAR]],
    [
      'the Trainer, where the last frame is no forward',
      [STEP, LOSS, library('transformers/a.py', '__call__')],
    ],
    ['TRL', [library('trl/trainer/sft_trainer.py', 'training_step'), LOSS, LINEAR]],
    ['a log without the step', [LOSS, LINEAR]],
    ['a step of one’s own', [['/home/me/other/mine.py', 3, 'training_step'], LOSS, LINEAR]],
  ])('%s', async (_, frames) => {
    const { before, next, others, ranked } = await told(
      FIT,
      logOf([...STARTED, ...frames]),
      '--unsafe-fixes',
    );
    expect(before).toContain(FORWARD);
    expect(next).toContain('halve `per_device_train_batch_size`');
    expect(next).not.toContain('eval');
    expect(others).not.toContain('enable-gradient-checkpointing');
    expect(ranked).toContain('enable-gradient-checkpointing fit.py:6');
  });

  test.each(['_evaluate', 'evaluate', 'evaluation_loop', 'prediction_step'])(
    'an evaluation in between: `%s`',
    async (name) => {
      const log = logOf([...STARTED, library('transformers/trainer.py', name), LOSS, LINEAR]);
      const { before, next } = await told(FIT, log);
      expect(before).not.toContain(FORWARD);
      expect(next).toContain('Lower `per_device_eval_batch_size`');
    },
  );

  const LIT = {
    'lit.py': `import lightning
import torch
from torch import nn


class Lit(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(10, 10)

    def training_step(self, batch, index):
        x, y = batch
        return nn.functional.mse_loss(self.net(x), y)

    def validation_step(self, batch, index):
        x, y = batch
        self.log("val", nn.functional.mse_loss(self.net(x), y))


trainer = lightning.Trainer(max_epochs=3)
trainer.fit(Lit(), loader)
`,
  };
  const TOP = [
    own(LIT, 'lit.py', '<module>', 'trainer.fit(Lit(), loader)'),
    library('lightning/pytorch/trainer/trainer.py', 'fit'),
    library('lightning/pytorch/loops/training_epoch_loop.py', 'advance'),
  ];
  test.each<readonly [frames: readonly At[], what: string]>([
    [
      [
        library('lightning/pytorch/strategies/strategy.py', 'training_step'),
        own(LIT, 'lit.py', 'training_step', 'return nn.functional.mse_loss(self.net(x), y)'),
      ],
      FORWARD,
    ],
    [
      [
        library('lightning/pytorch/loops/evaluation_loop.py', '_evaluation_step'),
        library('lightning/pytorch/strategies/strategy.py', 'validation_step'),
        own(LIT, 'lit.py', 'validation_step', 'self.log("val", nn.functional.mse_loss(self.net(x), y))'),
      ],
      'It ran without gradients',
    ],
  ])('Lightning, %#', async (frames, what) => {
    const { before, next } = await told(LIT, logOf([...TOP, ...frames, LINEAR]));
    expect(before).toContain(what);
    expect(next.includes('val_dataloader')).toBe(what !== FORWARD);
  });
});

describe('what runs without gradients speaks for no frame outside of it', () => {
  const DETECT = {
    'net.py': `import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(8, 8)

    def forward(self, x, targets):
        out = self.body(x)
        return self.losses(out, targets)

    def losses(self, out, targets):
        kept = []
        for one in targets:
            match = self.assign(out, one)
            kept.append(match)
        return nn.functional.mse_loss(out, torch.stack(kept))

    @torch.no_grad()
    def assign(self, out, one):
        return torch.cdist(out, one)
`,
    'train.py': `import torch
from net import Net


def train(loader):
    model = Net().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        loss = model(x, y)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()


def evaluate(model, loader):
    with torch.no_grad():
        return [model(x, y).item() for x, y in loader]


train(load(batch_size=8))
`,
  };
  const INSIDE = [
    library('torch/nn/modules/module.py', '_call_impl'),
    own(DETECT, 'net.py', 'forward', 'return self.losses(out, targets)'),
    own(DETECT, 'net.py', 'losses', 'match = self.assign(out, one)'),
    library('torch/utils/_contextlib.py', 'decorate_context'),
    own(DETECT, 'net.py', 'assign', 'return torch.cdist(out, one)'),
  ];

  test('a helper in the forward pass of a training', async () => {
    const { before, next } = await told(
      DETECT,
      logOf([own(DETECT, 'train.py', 'train', 'loss = model(x, y)'), ...INSIDE]),
    );
    expect(before).toContain(
      `${FORWARD}, more with every layer. The part that ran out runs without gradients (net.py:23), beside what the pass around it keeps.`,
    );
    expect(before).not.toContain('of every pass');
    expect(next).toContain('halve it (now `batch_size=8`, train.py:20)');
  });

  test('the same in an evaluation without gradients', async () => {
    const { before } = await told(
      DETECT,
      logOf([
        own(DETECT, 'train.py', 'evaluate', 'return [model(x, y).item() for x, y in loader]'),
        ...INSIDE,
      ]),
    );
    expect(before).toContain('It ran without gradients (net.py:23), so nothing is kept');
  });
});

describe('what a step of a training only reads', () => {
  const GAN = {
    'gan.py': `import torch
from torch import nn


def diverse(net, x, z):
    first = net(x)
    other = net(z)
    other = other.detach()
    return (first - other).abs().mean()


def train(loader):
    net = nn.Linear(10, 10).to("cuda")
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, z in loader:
        loss = diverse(net, x, z)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


train(load(batch_size=8))
`,
  };
  const at = (source: string) =>
    logOf([
      own(GAN, 'gan.py', '<module>', 'train(load(batch_size=8))'),
      own(GAN, 'gan.py', 'train', 'loss = diverse(net, x, z)'),
      own(GAN, 'gan.py', 'diverse', source),
      LINEAR,
    ]);

  test('is computed for that step', async () => {
    const { before, next, ranked } = await told(GAN, at('other = net(z)'));
    expect(before).toContain(FORWARD);
    expect(next).toContain('halve it (now `batch_size=8`');
    expect(next).not.toContain('where it evaluates');
    expect(ranked).toContain('no-grad-block gan.py:7');
  });

  test('explains nothing before it runs', async () => {
    const { before, others, ranked } = await told(GAN, at('first = net(x)'));
    expect(before).toContain(FORWARD);
    expect(ranked).not.toContain('no-grad-block gan.py:7');
    expect(others).toContain('no-grad-block (safe): this call had not come to it');
  });
});

test('the state of an optimizer that is loaded is no step', async () => {
  const files = {
    'resume.py': `import torch


def resume(optimizer, path):
    checkpoint = torch.load(path)
    optimizer.load_state_dict(checkpoint["optimizer"])
`,
  };
  const log = logOf([
    own(files, 'resume.py', 'resume', 'optimizer.load_state_dict(checkpoint["optimizer"])'),
    library('torch/optim/optimizer.py', 'load_state_dict', 'state[param] = _cast(param, v)'),
    library('torch/optim/optimizer.py', '_process_value_according_to_param_policy', 'return value.to()'),
  ]);
  const { before, next } = await told(files, log);
  expect(before).toContain('The state of the optimizer was being loaded');
  expect(before).not.toContain('It was the step of the optimizer');
  expect(next).toContain('map_location="cpu"');
  expect(next).not.toContain('fused=True');
});

describe('a program that never differentiates', () => {
  const SCORES = {
    'steps.py': `import torch


def fit(net, loader, optimizer):
    for x, y in loader:
        loss = (net(x) - y).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def score(net, x):
    return net(x).abs().mean()
`,
    'measure.py': `import torch
from torch import nn
from steps import *


if __name__ == "__main__":
    net = nn.Linear(10, 10).to("cuda")
    whole = 0
    for x in pictures():
        value = score(net, x)
        whole += value
        print(value)
`,
  };
  const at = (files: Readonly<Record<string, string>>) =>
    logOf([
      own(files, 'measure.py', '<module>', 'value = score(net, x)'),
      own(files, 'steps.py', 'score', 'return net(x).abs().mean()'),
      LINEAR,
    ]);

  test('was evaluating, whatever the files that it imports could do', async () => {
    const { before, next, ranked } = await told(SCORES, at(SCORES), '--unsafe-fixes');
    expect(before).toContain('It was an evaluation');
    expect(before).not.toContain(FORWARD);
    expect(next).not.toContain('add up the gradients');
    expect(next).not.toContain('GradScaler');
    expect(ranked).not.toContain('gradient-accumulation-loop');
  });

  test.each([
    ['trains by a function', '    print(value)', '    print(value)\n    fit(net, loader(), sgd(net))'],
    ['has a library do it', '    whole = 0', '    whole = 0\n    Trainer(net).train()'],
    ['differentiates by itself', '        print(value)', '        value.backward()'],
  ])('is none that %s', async (_, from, to) => {
    const files = { ...SCORES, 'measure.py': SCORES['measure.py'].replace(from, to) };
    expect((await told(files, at(files))).before).toContain(FORWARD);
  });
});

test('a pass in the loop of a training step is part of it, without a function around it', async () => {
  const files = {
    'gan.py': `import torch
from torch import nn

generator = nn.Linear(10, 10).cuda()
critic = nn.Linear(10, 1).cuda()
optimizer = torch.optim.Adam(critic.parameters())
maker = torch.optim.Adam(generator.parameters())
for step, (real, noise) in enumerate(batches(batch_size=16)):
    fake = generator(noise)
    loss = critic(fake.detach()).mean() - critic(real).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 5 == 0:
        maker.zero_grad()
        again = -critic(generator(noise)).mean()
        again.backward()
        maker.step()
`,
  };
  const log = logOf([own(files, 'gan.py', '<module>', 'fake = generator(noise)'), LINEAR]);
  const { before, next, ranked } = await told(files, log);
  expect(before).toContain(FORWARD);
  expect(before).not.toContain('It was an evaluation');
  expect(next).toContain('halve it (now `batch_size=16`');
  expect(ranked).toContain('no-grad-block gan.py:9');
});

test('where a finding says that a function only reads what it computes, it was no training', async () => {
  const files = {
    'search.py': `import torch


class Search:
    def __init__(self, model):
        self.model = model

    def search(self, features):
        words = []
        for _ in range(20):
            scores = self.model(features)
            words.append(scores.argmax(-1).tolist())
        return words
`,
    'run.py': `from search import Search
import importlib


def caption(model, features):
    return Search(model).search(features)
`,
  };
  const log = logOf([
    own(files, 'run.py', 'caption', 'return Search(model).search(features)'),
    own(files, 'search.py', 'search', 'scores = self.model(features)'),
    LINEAR,
  ]);
  const { before, next, ranked } = await told(files, log, '--unsafe-fixes');
  expect(ranked).toContain('no-grad search.py:8');
  expect(before).toContain('It was an evaluation');
  expect(next).not.toContain('add up the gradients');
});
