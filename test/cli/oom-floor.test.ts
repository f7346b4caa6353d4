/** State of an optimizer explains a run that ended in its step, or one that it holds much of; no other. */
import { expect, test } from 'vitest';
import { FRAGMENTED, FULL, library, logOf, own, told } from './oom-runs.js';

const FILES = {
  'train.py': `import torch
from torch import nn
from net import Net


def main(loader):
    model = Net().to("cuda")
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for x, y in loader:
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()


main(load(batch_size=64))
`,
};
const TOP = own(FILES, 'train.py', '<module>', 'main(load(batch_size=64))');
const FORWARD = [
  TOP,
  own(FILES, 'train.py', 'main', 'loss = nn.functional.mse_loss(model(x), y)'),
  library('torch/nn/modules/linear.py', 'forward'),
];
const STEP = [
  TOP,
  own(FILES, 'train.py', 'main', 'optimizer.step()'),
  library('torch/optim/adamw.py', '_init_group'),
];
const SELECT = ['--select', 'adamw-8bit', '--unsafe-fixes'];
const RANKED = ['adamw-8bit train.py:8'];

test.each([
  ['Parameter Count: 5257536', 'it frees 30.08 MiB for 5.26M trained parameters, which is little'],
  ['trainable params: 5,257,536 || all params: 9,999,257,536 || trainable%: 0.05', 'for 5.26M trained'],
  ['| INFO | Model Summary: Params: 8.94M, Gflops: 26.64', 'for 8.94M trained'],
  ['7.2 M     Trainable params', 'for 7.2M trained'],
  ['running', 'it frees 6 bytes for each trained parameter, and neither the log nor the files tell how many'],
])('%s', async (line, because) => {
  const { ranked, others } = await told(FILES, `${line}\n${logOf(FORWARD)}`, ...SELECT);
  expect(ranked).toEqual([]);
  expect(others).toContain(because);
});

test('many parameters explain any moment but one with memory in pieces', async () => {
  const said = 'Number of trainable parameters = 1,557,611,200\n';
  const full = await told(FILES, said + logOf(FORWARD), ...SELECT);
  expect(full.ranked).toEqual(RANKED);
  const pieces = logOf(FORWARD, `torch.OutOfMemoryError: ${FRAGMENTED}`);
  const apart = await told(FILES, said + pieces, ...SELECT);
  expect(apart.ranked).toEqual([]);
  expect(apart.others).toContain('the memory was not full but in pieces');
});

test('its own step is explained, whatever the number', async () => {
  const { ranked } = await told(FILES, `Parameter Count: 5257536\n${logOf(STEP)}`, ...SELECT);
  expect(ranked).toEqual(RANKED);
});

test('the model that the script names is counted', async () => {
  const named = (name: string) => ({
    'train.py': `${FILES['train.py']
      .replace('from net import Net', 'from transformers import AutoModelForCausalLM')
      .replace('Net()', `AutoModelForCausalLM.from_pretrained("${name}")`)}`,
  });
  expect((await told(named('gpt2-xl'), logOf(FORWARD), ...SELECT)).ranked).toEqual(RANKED);
  const small = await told(named('distilgpt2'), logOf(FORWARD, `RuntimeError: ${FULL}`), ...SELECT);
  expect(small.ranked).toEqual([]);
});

test('what helps at another moment says at which', async () => {
  const { others } = await told(FILES, logOf(FORWARD), '--select', 'fused-optimizer', '--unsafe-fixes');
  expect(others).toContain(
    'it frees memory in the step of the optimizer, and the run ended in the forward pass',
  );
});
