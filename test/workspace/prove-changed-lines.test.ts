import { expect, test } from 'vitest';
import { loadParser } from '../../src/syntax/parser.js';
import { changedPlaces, isRun } from '../../src/workspace/prove/changed-lines.js';

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

const only = (...groups: readonly (readonly number[])[]) => groups.map((lines) => ({ lines, unless: [] }));

test.each([
  ['a decorator shows by the body', ['def evaluate', '@torch.no_grad()\ndef evaluate'], [[10, 11]]],
  ['a parameter shows by the body', ['x=torch.zeros(1)', 'x=torch.ones(1)'], [[10, 11]]],
  ['a statement shows by itself', ['loss.backward()', 'loss.detach().backward()'], [[16]]],
  ['a new statement by the next', ['    loss = model', '    del x\n    loss = model'], [[15]]],
  ['an import by what follows', ['import torch\n', 'import torch\nimport gc\n'], [[4]]],
  ['a new function by what follows', ['def train', 'def log():\n    pass\n\n\ndef train'], [[14]]],
  ['one with a decorator, too', ['def train', '@once\ndef log():\n    pass\n\n\ndef train'], [[14]]],
  ['the end of a function by its last statement', ['.backward()\n', '.backward()\n    del loss\n'], [[16]]],
  ['the end of one before another', ['model(x)\n\n\ndef', 'model(x)\n    del x\n\n\ndef'], [[11]]],
])('%s', (_, [from = '', to = ''], expected) => {
  expect(changedPlaces(parser, BEFORE, BEFORE.replace(from, to)).map(({ lines }) => lines)).toEqual(expected);
});

const LOOP = `import sys
for step in data:
    loss = train(step)
    if loss > 9:
        sys.exit(1)
    if step > 3:
        print(
            step)
        break

print(loss)
`;

test('the end of a loop is reached where the statement before it is not left', () => {
  const [place] = changedPlaces(parser, LOOP, LOOP.replace('break\n', 'break\n    del loss\n'));
  expect(place).toEqual({ lines: [6], unless: [9] });
  expect(isRun({ lines: [6], unless: [9] }, new Set([6]))).toBe(true);
  expect(isRun({ lines: [6], unless: [9] }, new Set([6, 9]))).toBe(false);
  expect(isRun({ lines: [6], unless: [9] }, new Set([2]))).toBe(false);
  const [left] = changedPlaces(parser, LOOP, LOOP.replace('exit(1)\n', 'exit(1)\n    del data\n'));
  expect(left).toEqual({ lines: [6], unless: [] });
  const [inner] = changedPlaces(parser, LOOP, LOOP.replace('exit(1)\n', 'exit(1)\n        del data\n'));
  expect(inner).toEqual({ lines: [5], unless: [5] });
});

test('each change by itself', () => {
  const after = BEFORE.replace('model.eval()', 'model.train(False)').replace('loss.backward()', 'pass');
  expect(changedPlaces(parser, BEFORE, after)).toEqual(only([10], [16]));
});
