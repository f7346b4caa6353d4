import { describe, expect, it } from 'vitest';
import { isOptimizer, trainingLoops } from '../../../src/torch/training/training-loop.js';
import { passOf } from '../../../src/semantic/passes.js';
import { moduleOf, nodeAt } from '../../support/module.js';

describe('trainingLoops', () => {
  it('finds the innermost loop that differentiates and steps', () => {
    const module = moduleOf(`
def train(optimizer, loader):
    for epoch in range(3):
        for x in loader:
            optimizer.zero_grad()
            for part in x:
                model(part).backward()
            optimizer.step()
        scheduler.step()
`);
    const [found, ...more] = trainingLoops(module);
    expect(more).toEqual([]);
    expect(found?.loop.left?.text).toBe('x');
    expect(found?.backwards.map(({ text }) => text)).toEqual(['model(part).backward()']);
    expect(found?.steps.map(({ text }) => text)).toEqual(['optimizer.step()']);
    expect(found?.zeroGrads).toHaveLength(1);
  });

  it.each([
    ['a closure', 'for x in y:\n    def closure():\n        loss.backward()\n    optimizer.step(closure)\n'],
    ['an environment', 'for x in y:\n    loss.backward()\n    env.step(x)\n'],
    ['a scheduler', 'for x in y:\n    loss.backward()\n    lr_scheduler.step()\n'],
    ['no loop', 'loss.backward()\noptimizer.step()\n'],
  ])('passes over %s', (_, text) => {
    expect(trainingLoops(moduleOf(text))).toEqual([]);
  });

  it('knows a scaler that steps', () => {
    const module = moduleOf('for x in y:\n    scaler.scale(loss).backward()\n    scaler.step(opt)\n');
    expect(trainingLoops(module)).toHaveLength(1);
  });
});

describe('isOptimizer', () => {
  it.each([
    ['import torch\nopt = torch.optim.Adam(p)\n', 'opt', 'yes'],
    ['from torch.optim import SGD as S\nthing = S(p)\n', 'thing', 'yes'],
    ['import torch\nclass O(torch.optim.Optimizer):\n    pass\nthing = O(p)\n', 'thing', 'yes'],
    ['import torch\nthing = torch.optim.lr_scheduler.StepLR(o)\n', 'thing', 'no'],
    ['import torch\nif x:\n    opt = torch.optim.Adam(p)\nelse:\n    opt = build(p)\n', 'opt', 'unknown'],
    ['def f(optimizer_g):\n    pass\n', 'optimizer_g', 'unknown'],
    ['def f(env):\n    pass\n', 'env', 'no'],
  ])('%j', (text, name, answer) => {
    const module = moduleOf(text);
    expect(isOptimizer(module, nodeAt(module, name))).toBe(answer);
  });
});

describe('passOf', () => {
  it.each([
    ['for x in data', 'data', undefined, 0, 'x'],
    ['for i, x in enumerate(data)', 'data', 'i', 0, 'x'],
    ['for i, (x, y) in enumerate(tqdm(data, desc="a"), start=1)', 'data', 'i', 1, '(x, y)'],
    ['for i, x in tqdm(enumerate(data))', 'data', 'i', 0, 'x'],
    ['for i, x in enumerate(data, n)', 'data', undefined, Number.NaN, 'x'],
    ['for i in range(10)', 'range(10)', 'i', 0, undefined],
    ['for i in range(1, 10)', 'range(1, 10)', undefined, 0, undefined],
  ])('%s', (header, data, counter, start, item) => {
    const module = moduleOf(`${header}:\n    pass\n`);
    const pass = passOf(module, module.root.named[0] ?? module.root);
    expect(pass?.data.text).toBe(data);
    expect(pass?.counter?.text).toBe(counter);
    expect(pass?.from).toBe(start);
    expect(pass?.item?.text).toBe(item);
  });
});
