import { describe, expect, it } from 'vitest';
import { PyModule } from '../../../src/semantic/module.js';
import { argumentsOf } from '../../../src/semantic/statements.js';
import { isFloating, kindOf, type TensorKind } from '../../../src/values/value/tensor.js';
import { availableParsers } from '../../support/parsers.js';

const [parser] = await availableParsers();

const HEADER = `import math
import numpy as np
import torch
import torch as th
import torch.nn.functional as F
from torch import nn
from torch.nn.functional import mse_loss
`;

/** What is known of the argument of `probe(...)`. */
function factOf(code: string): string {
  if (parser === undefined) throw new Error('no parser could be loaded');
  const tree = parser.parse(HEADER + code);
  try {
    const module = new PyModule('a.py', HEADER + code, tree);
    const call = module.at('probe(')[0]?.closest('call');
    const [probed] = call === undefined ? [] : argumentsOf(call);
    if (probed === undefined) throw new Error('the code probes nothing');
    return `${kindOf(module, probed)}, floating ${isFloating(module, probed)}`;
  } finally {
    tree.dispose();
  }
}

/** Inside a function, so that parameters are unknown values. */
const inside = (...lines: readonly string[]): string =>
  ['def f(self, x, y, crit, model):', ...lines.map((line) => `    ${line}`)].join('\n');

function kindAlone(code: string): TensorKind {
  return factOf(code).split(',')[0] as TensorKind;
}

describe('numbers', () => {
  it.each([
    ['0', 'number, floating no'],
    ['0.5', 'number, floating yes'],
    ['-1e-3', 'number, floating yes'],
    ['x.item()', 'number, floating unknown'],
    ['float(x)', 'number, floating yes'],
    ['len(x)', 'number, floating no'],
    ['math.sqrt(x)', 'number, floating unknown'],
    ['x.shape[0]', 'number, floating no'],
    ['x.size(0) * 2', 'number, floating no'],
    ['x is None', 'number, floating no'],
    ['F.mse_loss(x, y).item()', 'number, floating unknown'],
  ])('%s', (expression, fact) => expect(factOf(inside(`probe(${expression})`))).toBe(fact));

  it('is not said of a name that hides the builtin', () => {
    expect(kindAlone('def len(a): pass\ndef f(x):\n    probe(len(x))')).toBe('unknown');
  });
});

describe('losses', () => {
  it.each([
    ['F.cross_entropy(x, y)', 'scalar-tensor'],
    ['torch.nn.functional.cross_entropy(x, y, reduction="sum")', 'scalar-tensor'],
    ["th.nn.functional.kl_div(x, y, reduction='batchmean')", 'scalar-tensor'],
    ['mse_loss(x, y)', 'scalar-tensor'],
    ['F.nll_loss(x, y, model)', 'scalar-tensor'],
    ['F.mse_loss(x, y, reduction="none")', 'tensor'],
    ['F.mse_loss(x, y, reduction=model)', 'tensor'],
    ['F.mse_loss(x, y, reduce=False)', 'tensor'],
    ['F.mse_loss(x, y, None, False)', 'tensor'],
    ['F.huber_loss(x, y, "none")', 'tensor'],
    ['F.mse_loss(x, y, **model)', 'tensor'],
    ['F.mse_loss(*x)', 'tensor'],
    ['nn.MSELoss()(x, y)', 'scalar-tensor'],
    ['nn.MSELoss(reduction="none")(x, y)', 'tensor'],
    ['crit(x, y)', 'unknown'],
    ['model(x).loss', 'unknown'],
    ['mse_loss', 'unknown'],
  ])('%s', (expression, kind) => expect(kindAlone(inside(`probe(${expression})`))).toBe(kind));

  it('finds the module of a local, of the file and of self', () => {
    expect(kindAlone(inside('crit = nn.L1Loss()', 'probe(crit(x, y))'))).toBe('scalar-tensor');
    expect(
      kindAlone(`crit = nn.L1Loss()\n${inside('probe(crit_(x, y))').replace('crit_', 'self.crit')}`),
    ).toBe('unknown');
    expect(kindAlone('crit = nn.L1Loss().to("cuda")\ndef f(x, y):\n    probe(crit(x, y))')).toBe(
      'scalar-tensor',
    );
    const made = (value: string) =>
      `class A(nn.Module):\n    def __init__(self):\n        self.crit = ${value}\n    def g(self, x, y):\n        probe(self.crit(x, y))`;
    expect(kindAlone(made('nn.CrossEntropyLoss()'))).toBe('scalar-tensor');
    expect(kindAlone(made('nn.CrossEntropyLoss(reduction="none")'))).toBe('tensor');
    expect(kindAlone(made('nn.CrossEntropyLoss() if a else None'))).toBe('unknown');
    expect(kindAlone(`${made('nn.CrossEntropyLoss()')}\n    def h(self, c):\n        self.crit = c`)).toBe(
      'unknown',
    );
  });

  it('looks into a module of the same file', () => {
    const code = (value: string) =>
      `class Focal(nn.Module):\n    def forward(self, x: torch.Tensor):\n        return ${value}\ndef f(x):\n    crit = Focal()\n    probe(crit(x))`;
    expect(kindAlone(code('(x ** 2).mean()'))).toBe('scalar-tensor');
    expect(kindAlone(code('x ** 2'))).toBe('tensor');
  });
});

describe('reductions', () => {
  it.each([
    ['torch.mean(x)', 'scalar-tensor, floating yes'],
    ['torch.sum(x)', 'scalar-tensor, floating unknown'],
    ['torch.mean(x, 1)', 'tensor, floating yes'],
    ['torch.mean(x, dim=1)', 'tensor, floating yes'],
    ['torch.sum(x, axis=0)', 'tensor, floating unknown'],
    ['torch.sum(x, dtype=torch.float32)', 'scalar-tensor, floating unknown'],
    ['torch.max(x)', 'scalar-tensor, floating unknown'],
    ['torch.max(x, 1)', 'unknown, floating unknown'],
    ['torch.norm(x - y, 2)', 'scalar-tensor, floating yes'],
    ['torch.norm(x, 2, 1)', 'tensor, floating yes'],
    ['torch.linalg.norm(x)', 'scalar-tensor, floating yes'],
    ['torch.argmax(x)', 'scalar-tensor, floating no'],
    ['torch.abs(x).sum()', 'scalar-tensor, floating unknown'],
    ['torch.exp(x).sum()', 'scalar-tensor, floating yes'],
    ['(torch.argmax(x, 1) == y).sum()', 'scalar-tensor, floating no'],
    ['torch.eq(x, y).float().sum()', 'scalar-tensor, floating yes'],
    ['x.mean()', 'unknown, floating unknown'],
    ['np.mean(x)', 'unknown, floating unknown'],
    ['x.detach().mean()', 'scalar-tensor, floating yes'],
    ['x.float().mean()', 'scalar-tensor, floating yes'],
    ['x.norm()', 'scalar-tensor, floating yes'],
    ['x.norm(2)', 'scalar-tensor, floating yes'],
    ['self.norm(x)', 'unknown, floating unknown'],
    ['model.norm(x)', 'unknown, floating unknown'],
    ['model.to(x)', 'unknown, floating unknown'],
  ])('%s', (expression, fact) => expect(factOf(inside(`probe(${expression})`))).toBe(fact));

  it('takes method names for torch only in a file that imports it', () => {
    if (parser === undefined) throw new Error('no parser could be loaded');
    const text = 'import paddle\ndef f(x):\n    probe(x.detach().mean())';
    const tree = parser.parse(text);
    const module = new PyModule('a.py', text, tree);
    const call = module.at('probe(')[0]?.closest('call');
    expect(kindOf(module, argumentsOf(call ?? module.root)[0] ?? module.root)).toBe('unknown');
    tree.dispose();
  });
});

describe('arithmetic and shape', () => {
  it.each([
    ['0.5 * F.mse_loss(x, y)', 'scalar-tensor'],
    ['F.mse_loss(x, y) + F.l1_loss(x, y) / 2', 'scalar-tensor'],
    ['-F.logsigmoid(x - y).mean()', 'scalar-tensor'],
    ['F.mse_loss(x, y) ** 2', 'scalar-tensor'],
    ['F.mse_loss(x, y) * x', 'tensor'],
    ['F.mse_loss(x, y) * torch.ones(3)', 'tensor'],
    ['(F.mse_loss(x, y))', 'scalar-tensor'],
    ['F.mse_loss(x, y) if x else F.l1_loss(x, y)', 'scalar-tensor'],
    ['F.mse_loss(x, y) if x else 0.0', 'unknown'],
    ['F.mse_loss(x, y).to(x).detach().clone()', 'scalar-tensor'],
    ['F.mse_loss(x, y).clamp(min=0.1)', 'scalar-tensor'],
    ['F.mse_loss(x, y).clamp(min=x)', 'tensor'],
    ['F.mse_loss(x, y).unsqueeze(0)', 'tensor'],
    ['F.mse_loss(x, y).mul(0.3)', 'scalar-tensor'],
    ['torch.tensor(0.0)', 'scalar-tensor'],
    ['torch.tensor([0.0])', 'tensor'],
    ['torch.tensor(x)', 'tensor'],
    ['torch.zeros(())', 'scalar-tensor'],
    ['torch.zeros([], device=x)', 'scalar-tensor'],
    ['torch.zeros(1)', 'tensor'],
    ['x.new_zeros(())', 'scalar-tensor'],
    ['x.new_zeros(1)', 'tensor'],
    ['nn.Parameter(torch.zeros(()))', 'scalar-tensor'],
    ['abs(F.mse_loss(x, y))', 'scalar-tensor'],
    ['(x := F.mse_loss(x, y))', 'scalar-tensor'],
    ['x + y', 'unknown'],
    ['x[0]', 'unknown'],
    ['x.tolist()', 'unknown'],
  ])('%s', (expression, kind) => expect(kindAlone(inside(`probe(${expression})`))).toBe(kind));
});

describe('flow', () => {
  it.each<readonly [string, string, TensorKind]>([
    ['a local', inside('loss = F.mse_loss(x, y)', 'probe(loss)'), 'scalar-tensor'],
    [
      'two branches',
      inside('if x:', '    l = F.mse_loss(x, y)', 'else:', '    l = 0.0', 'probe(l)'),
      'unknown',
    ],
    [
      'equal branches',
      inside('if x:', '    l = F.mse_loss(x, y)', 'else:', '    l = F.l1_loss(x, y)', 'probe(l)'),
      'scalar-tensor',
    ],
    ['a rebound float', inside('l = F.mse_loss(x, y)', 'l = l.item()', 'probe(l)'), 'number'],
    ['an update', inside('l = F.mse_loss(x, y)', 'l += 0.1 * F.l1_loss(x, y)', 'probe(l)'), 'scalar-tensor'],
    ['an update that grows', inside('l = F.mse_loss(x, y)', 'l += x', 'probe(l)'), 'tensor'],
    ['a total', inside('l = 0.0', 'for a in x:', '    l += F.mse_loss(a, y)', 'probe(l)'), 'unknown'],
    ['a tuple', inside('a, b = F.mse_loss(x, y), x.item()', 'probe(a)'), 'scalar-tensor'],
    ['a part of something', inside('a, b = model(x)', 'probe(a)'), 'unknown'],
    ['itself', inside('while x:', '    a = a * 2', '    probe(a)'), 'unknown'],
    ['parameters', inside('for p in model.parameters():', '    probe((p ** 2).sum())'), 'scalar-tensor'],
    [
      'named parameters',
      inside('for n, p in model.named_parameters():', '    probe((p ** 2).sum())'),
      'scalar-tensor',
    ],
    ['a counter', inside('for i, p in enumerate(x):', '    probe(i)'), 'number'],
    [
      'a helper',
      `def g(a, b):\n    if a:\n        return F.l1_loss(a, b)\n    return F.mse_loss(a, b)\n${inside('probe(g(x, y))')}`,
      'scalar-tensor',
    ],
    [
      'a helper with a float',
      `def g(a, b):\n    if a:\n        return 0.0\n    return F.mse_loss(a, b)\n${inside('probe(g(x, y))')}`,
      'unknown',
    ],
    [
      'a helper that may fall through',
      `def g(a, b):\n    if a:\n        return F.mse_loss(a, b)\n${inside('probe(g(x, y))')}`,
      'unknown',
    ],
    [
      'a wrapped helper',
      `@wrap\ndef g(a, b):\n    return F.mse_loss(a, b)\n${inside('probe(g(x, y))')}`,
      'unknown',
    ],
    ['a recursive helper', `def g(a, b):\n    return g(b, a)\n${inside('probe(g(x, y))')}`, 'unknown'],
    [
      'a coroutine',
      `async def g(a, b):\n    return F.mse_loss(a, b)\n${inside('probe(g(x, y))')}`,
      'unknown',
    ],
    [
      'a pair',
      `def g(a, b):\n    return F.mse_loss(a, b), a\n${inside('l, o = g(x, y)', 'probe(l)')}`,
      'scalar-tensor',
    ],
    ['an annotation', 'def f(a: torch.Tensor, w: float):\n    probe(w * a.sum())', 'scalar-tensor'],
    ['a constant of the file', `W = 0.1\n${inside('probe(W * F.mse_loss(x, y))')}`, 'scalar-tensor'],
    ['a constant that changes', `W = 0.1\nW = g()\n${inside('probe(W * F.mse_loss(x, y))')}`, 'tensor'],
  ])('%s', (_, code, kind) => expect(kindAlone(code)).toBe(kind));

  it('ends on deep nesting', () => {
    expect(kindAlone(inside(`probe(${'-('.repeat(300)}1${')'.repeat(300)})`))).toBe('unknown');
  });
});
