import { expect, test } from 'vitest';
import { loadParser } from '../../src/syntax/parser.js';
import { changedLines } from '../../src/workspace/prove/changed-lines.js';

const parser = await loadParser();
const BEFORE = `import torch


def evaluate(
    model,
    x=torch.zeros(1),
):
    """Says
    much."""
    model.eval()
    return model(x)


def train(model, x):
    loss = model(x)
    loss.backward()
`;

test.each([
  ['a decorator shows by the body', ['def evaluate', '@torch.no_grad()\ndef evaluate'], [[10, 11]]],
  ['a parameter shows by the body', ['x=torch.zeros(1)', 'x=torch.ones(1)'], [[10, 11]]],
  ['a statement shows by itself', ['loss.backward()', 'loss.detach().backward()'], [[16]]],
  ['a new statement by the next', ['    loss = model', '    del x\n    loss = model'], [[15]]],
  ['an import by what follows', ['import torch\n', 'import torch\nimport gc\n'], [[10, 11]]],
])('%s', (_, [from = '', to = ''], expected) => {
  expect(changedLines(parser, BEFORE, BEFORE.replace(from, to))).toEqual(expected);
});

test('each change by itself', () => {
  const after = BEFORE.replace('model.eval()', 'model.train(False)').replace('loss.backward()', 'pass');
  expect(changedLines(parser, BEFORE, after)).toEqual([[10], [16]]);
});
