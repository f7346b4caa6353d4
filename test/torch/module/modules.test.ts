import { describe, expect, it } from 'vitest';
import { attributeUses, familyOf, plainAttributes } from '../../../src/semantic/attribute-uses.js';
import type { PyModule } from '../../../src/semantic/module.js';
import type { PyNode } from '../../../src/syntax/node.js';
import { moduleKind, registrationOf, runsInForward } from '../../../src/torch/module/modules.js';
import { cpuSource } from '../../../src/torch/statistic/in-place-update.js';
import { runningStatistics } from '../../../src/torch/statistic/running-statistic.js';
import { curesFor } from '../../../src/torch/statistic/statistic-cure.js';
import { tensorRead } from '../../../src/values/uses/tensor-read.js';
import { mayCarryGradient, recordsNoGraph, runsWithoutGrad } from '../../../src/values/value/gradient.js';
import { isProvenTensor } from '../../../src/values/value/proven-tensor.js';
import { isPythonNumber } from '../../../src/values/value/python-number.js';
import { fits, shapeOf } from '../../../src/values/value/shape.js';
import { moduleOf } from '../../support/module.js';

const HEADER =
  'import numpy as np\nimport torch\nimport torch.nn.functional as F\nimport pytorch_lightning as pl\n' +
  'from torch import nn\nfrom transformers import PreTrainedModel\nfrom abc import ABC\nfrom .base import Layer\n';

function classNamed(module: PyModule, name: string): PyNode {
  const found = module.at('class ').find((hit) => hit.parent?.name?.text === name)?.parent;
  if (found === undefined) throw new Error(`no class ${name}`);
  return found;
}

function functionNamed(module: PyModule, name: string): PyNode {
  const found = module.at('def ').find((hit) => hit.parent?.name?.text === name)?.parent;
  if (found === undefined) throw new Error(`no function ${name}`);
  return found;
}

/** A module class `M` whose `__init__` and `forward` have these lines; `;;` starts a new line, tabs indent it further. */
function moduleWith(init: string, forward: string, parameters = 'x'): PyModule {
  const lines = (body: string): string =>
    body
      .split(';;')
      .map((line) => `        ${line.replaceAll('\t', '    ')}\n`)
      .join('');
  return moduleOf(
    `${HEADER}class M(nn.Module):\n    def __init__(self, n=4, m=0.9, size=None):\n        super().__init__()\n${lines(init)}\n` +
      `    def forward(self, ${parameters}):\n${lines(forward)}`,
  );
}

/** The value of the last `probe = …`. */
function probe(module: PyModule): PyNode {
  const value = module.at('probe').at(-1)?.parent?.right;
  if (value === undefined) throw new Error('no probe');
  return value;
}

describe('moduleKind', () => {
  const module = moduleOf(
    `${HEADER}class A(nn.Module): pass\nclass B(A): pass\nclass C(nn.Linear, ABC): pass\nclass D(Layer): pass\n` +
      'class E(ABC): pass\nclass G: pass\nclass H(pl.LightningModule): pass\nclass I(PreTrainedModel): pass\nclass J(nn.Parameter): pass\n',
  );
  it.each([
    ['A', 'yes'],
    ['B', 'yes'],
    ['C', 'yes'],
    ['D', 'unknown'],
    ['E', 'no'],
    ['G', 'no'],
    ['H', 'yes'],
    ['I', 'yes'],
    ['J', 'unknown'],
  ])('%s: %s', (name, answer) => {
    expect(moduleKind(module, classNamed(module, name)).isModule).toBe(answer);
  });

  it('knows the bases that treat buffers their own way', () => {
    expect(moduleKind(module, classNamed(module, 'H')).isLightning).toBe(true);
    expect(moduleKind(module, classNamed(module, 'I')).isPretrained).toBe(true);
  });
});

describe('attributes of a family of classes', () => {
  const module = moduleOf(
    `${HEADER}class Base(nn.Module):\n    def __init__(self):\n        self.level = torch.zeros(1)\n        self.register_buffer("kept", torch.zeros(1))\n` +
      'class One(Base):\n    def forward(self, x):\n        self.level = x\n        self.level += x\n        return self.helper(self.level)\n    def helper(self, x):\n        return x\n    def other(self):\n        del self.level\n' +
      'class Two(Base):\n    def forward(self, x):\n        self.level, y = x, x\n        setattr(self, x, y)\n' +
      'class Stranger(nn.Module):\n    level = 3\n    def forward(self, x):\n        self.level = x\n' +
      'def use(model):\n    print(model.level, torch.level, model.level())\n',
  );

  it('takes bases, subclasses and siblings', () => {
    const names = familyOf(module, classNamed(module, 'One')).map((each) => each.name?.text);
    expect(names).toEqual(['Base', 'One', 'Two']);
  });

  it('finds every use, and none of a stranger', () => {
    const uses = attributeUses(module, classNamed(module, 'One'), 'level');
    expect(uses.map(({ kind, certain }) => `${kind}${certain ? '' : '?'}`)).toEqual([
      'write',
      'write',
      'update',
      'read',
      'delete',
      'write',
      'read?',
    ]);
  });

  it('finds registrations of a base', () => {
    expect(registrationOf(module, classNamed(module, 'Two'), 'kept')).toBe('buffer');
    expect(registrationOf(module, classNamed(module, 'Two'), 'level')).toBe('none');
  });

  it('does not trust computed names and names of the class itself', () => {
    expect(plainAttributes(module, classNamed(module, 'One'), 'level').answer).toBe('unknown');
    expect(plainAttributes(module, classNamed(module, 'Stranger'), 'level').answer).toBe('no');
    expect(plainAttributes(module, classNamed(module, 'Stranger'), 'other').answer).toBe('yes');
  });

  it('knows what `forward` runs', () => {
    expect(runsInForward(module, functionNamed(module, 'helper'))).toBe(true);
    expect(runsInForward(module, functionNamed(module, 'other'))).toBe(false);
  });
});

describe('shapeOf', () => {
  const init = 'self.n = n;;self.fc = nn.Linear(3, n);;self.a = torch.zeros(n)';
  it.each([
    ['x.min()', '[]'],
    ['torch.zeros(2, 3)', '[2,3]'],
    ['torch.zeros((2, 3)).sum(0)', '[3]'],
    ['torch.zeros(2, 3).mean(-1, keepdim=True)', '[2,1]'],
    ['torch.tensor([1.0, 2.0])', '[2]'],
    ['x.reshape(-1, self.n).mean(0)', '[n]'],
    ['(x.view(-1, self.n) > 0).float().mean(dim=0)', '[n]'],
    ['self.fc(x)', '[…n]'],
    ['self.fc(x).detach().mean(0)', '[…n]'],
    ['self.fc(x).flatten(0, -2).amax(0)', '[n]'],
    ['x.view(5, 2).max(dim=0).values', '[2]'],
    ['x.view(5, 2).max(0)[0]', '[2]'],
    ['F.one_hot(x, self.n)', '[…n]'],
    ['x.mean(0)', 'unknown'],
    ['x', 'unknown'],
    ['self.fc(x) @ x', 'unknown'],
    ['torch.zeros(size)', 'unknown'],
  ])('%s is %s', (expression, expected) => {
    const module = moduleWith(init, `probe = ${expression}`, 'x, size');
    const shape = shapeOf(module, probe(module));
    const written =
      shape &&
      `[${shape.open ? '…' : ''}${shape.dimensions.map((size) => size?.replace(/@.*/, '') ?? '?').join()}]`;
    expect(written ?? 'unknown').toBe(expected);
  });

  it('lets no value grow the tensor it is added to', () => {
    const shape = (text: string, open = false) => ({ dimensions: text === '' ? [] : text.split(' '), open });
    expect(fits(shape(''), shape('n'))).toBe('yes');
    expect(fits(shape('n'), shape('n'))).toBe('yes');
    expect(fits(shape('1'), shape('3'))).toBe('yes');
    expect(fits(shape('n', true), shape('n'))).toBe('likely');
    expect(fits(shape('n'), shape('k'))).toBe('unknown');
    expect(fits(undefined, shape('n'))).toBe('unknown');
    expect(fits(shape('3'), shape('1'))).toBe('no');
    expect(fits(shape('5 3'), shape('3'))).toBe('no');
  });
});

describe('values', () => {
  const init =
    'self.m = m;;self.fc = nn.Linear(3, 3);;self.w = nn.Parameter(torch.zeros(1));;self.c = torch.zeros(1)';
  const value = (expression: string): readonly [PyModule, PyNode] => {
    const module = moduleWith(
      init,
      `y = x.detach();;z = x.cpu();;with torch.no_grad():;;\tq = self.fc(x);;probe = ${expression}`,
    );
    return [module, probe(module)];
  };

  it.each([
    ['1 - self.m', 'yes'],
    ['min(self.m, 0.5)', 'yes'],
    ['x.mean().item()', 'yes'],
    ['self.w', 'no'],
    ['x', 'unknown'],
  ])('%s is a Python number: %s', (expression, answer) => {
    expect(isPythonNumber(...value(expression))).toBe(answer);
  });

  it.each([
    ['x.mean(0)', true],
    ['self.fc(x)', true],
    ['self.w * 2', true],
    ['y.mean(0)', false],
    ['q.mean(0)', false],
    ['(x > 0).float().mean()', false],
    ['x.argmax(-1)', false],
    ['torch.zeros_like(x)', false],
    ['self.c * 2', false],
    ['np.mean(x)', false],
    ['y.type_as(x)', false],
    ['x.new_zeros(3)', false],
    ['torch.tensor(x)', false],
    ['torch.as_tensor(x)', true],
    ['x.nonzero()', false],
    ['x.sign()', true],
  ])('%s may carry a gradient: %s', (expression, answer) => {
    expect(mayCarryGradient(...value(expression))).toBe(answer);
  });

  it.each([
    ['x.mean(0)', true],
    ['self.fc(x).mean(0)', true],
    ['self.m', false],
    ['3.0', false],
  ])('%s is a tensor: %s', (expression, answer) => {
    expect(isProvenTensor(...value(expression))).toBe(answer);
  });

  it.each([
    'probe = x.mean(0)',
    'y = x.norm(self.m);;probe = x.mean(0)',
    'n = x.size();;probe = x.mean(0)',
    // A module has it too, and a number may stand first.
    'x.requires_grad_(False);;probe = x.mean(0)',
    'y = torch.mul(x, self.c);;probe = x.mean(0)',
  ])('does not take an argument for a tensor that may be a layer or anything else: %s', (body) => {
    const module = moduleWith('pass', body);
    expect(isProvenTensor(module, probe(module))).toBe(false);
  });

  it.each([
    ['z.mean(0)', true],
    ['x.to("cpu")', true],
    ['torch.tensor([1.0])', true],
    ['torch.zeros(3, device=x.device)', false],
    ['y.mean(0)', false],
  ])('%s comes from the CPU: %s', (expression, answer) => {
    expect(cpuSource(...value(expression)) !== undefined).toBe(answer);
  });
});

describe('grad mode', () => {
  const module = moduleOf(
    `${HEADER}class M(nn.Module):\n    def forward(self, x):\n        with torch.no_grad():\n            self.quiet(x)\n            with torch.enable_grad():\n                loud = x\n        return x\n` +
      '    def quiet(self, x):\n        return x\n    @torch.inference_mode()\n    def marked(self, x):\n        inside = x\n    @torch.no_grad()\n    async def later(self, x):\n        still_on = x\n',
  );
  it('follows blocks, decorators and callers', () => {
    const at = (name: string): PyNode => module.at(name)[0] ?? module.root;
    expect(recordsNoGraph(module, at('inside'))).toBe(true);
    expect(recordsNoGraph(module, at('loud'))).toBe(false);
    expect(recordsNoGraph(module, at('still_on'))).toBe(false);
    expect(runsWithoutGrad(module, functionNamed(module, 'quiet'))).toBe(true);
    expect(runsWithoutGrad(module, functionNamed(module, 'forward'))).toBe(false);
  });
});

describe('recordsNoGraph', () => {
  it.each([
    ['with torch.no_grad():\n    here', true],
    ['with torch.no_grad(), torch.enable_grad():\n    here', false],
    ['with torch.enable_grad(), torch.no_grad():\n    here', true],
    ['with torch.no_grad():\n    with grads_on():\n        here', false],
    ['@torch.no_grad()\ndef f():\n    here', true],
    ['@lib.no_grad\ndef f():\n    here', false],
    ['@torch.no_grad()\nasync def f():\n    here', false],
  ])('%j: %s', (code, answer) => {
    const module = moduleOf(`import torch\nimport lib\n${code}\n`);
    const [here = module.root] = module.at('here');
    expect(recordsNoGraph(module, here)).toBe(answer);
  });
});

describe('tensorRead', () => {
  it.each([
    ['self.a.item()', 'number'],
    ['print(f"{self.a}")', 'number'],
    ['y = self.a.shape[0]', 'number'],
    ['if self.a > 0: pass', 'number'],
    ['self.a.zero_()', 'reset'],
    ['self.a.copy_(x)', 'changed'],
    ['self.a[0] = 1', 'changed'],
    ['y = self.a.clone()', 'copied'],
    ['y = x - self.a', 'operand'],
    ['y = torch.exp(self.a)', 'operand'],
    ['y = self.a.mean()', 'operand'],
    ['return x, self.a', 'returned'],
    ['return {"a": self.a.cpu()}', 'returned'],
    ['y = self.a.to(x.device)', 'kept'],
    ['x.append(self.a)', 'kept'],
    ['y = self.layer(self.a)', 'passed'],
  ])('%s: %s', (statement, use) => {
    const module = moduleWith('pass', statement);
    const attribute = module
      .at('self.a')
      .map((hit) => hit.parent)
      .find((node) => node?.text === 'self.a');
    expect(attribute && tensorRead(module, attribute).use).toBe(use);
  });
});

it('sees `.detach()` on either side of `.clone()`', () => {
  for (const chain of ['clone().detach()', 'detach().clone()', 'to(x.device).detach()']) {
    const module = moduleWith('pass', `y = self.a.${chain}`);
    const attribute = module.at('self.a').find((hit) => hit.parent?.text === 'self.a')?.parent;
    expect(attribute && tensorRead(module, attribute).detached).toBe(true);
  }
});

describe('curesFor', () => {
  const cures = (init: string, forward: string): readonly (readonly string[])[] => {
    const module = moduleWith(init, forward);
    return runningStatistics(module).map((statistic) => curesFor(module, statistic));
  };

  it('leaves an attribute alone that is used more often than each finding can look at', () => {
    const update = 'self.a = self.a * 0.9 + x.min() * 0.1';
    const read = '; self.a.item()';
    expect(cures('self.a = torch.zeros(1)', update + read.repeat(200))).toEqual([['buffer']]);
    expect(cures('self.a = torch.zeros(1)', update + read.repeat(300))).toEqual([]);
  });

  it.each([
    ['self.a = torch.zeros(1)', 'self.a = self.a * 0.9 + x.min() * 0.1', [['buffer']]],
    ['self.a = torch.zeros(1)', 'self.a = (1 - 0.1) * self.a + 0.1 * x.detach().min()', [['buffer']]],
    ['self.a = torch.zeros(n)', 'self.a = self.a * 0.9 + x.mean(0) * 0.1', [['detach']]],
    ['self.a = torch.zeros(n)', 'self.a = self.a * 0.9 + x.detach().mean(0) * 0.1', [['buffer']]],
    [
      'self.p = nn.Linear(n, n); self.a = torch.zeros(n)',
      'y = self.p(x); self.a = self.a * 0.9 + y.mean(0) * 0.1',
      [['buffer', 'detach']],
    ],
    ['self.a = None', 'self.a = self.a * 0.9 + torch.relu(x) * 0.1', [['detach']]],
    ['self.a = None', 'self.a = torch.lerp(self.a, torch.relu(x), 0.1)', [['detach']]],
    ['self.a = 0.0', 'self.a = self.a * 0.9 + x * 0.1', [[]]],
    ['self.a = None', 'self.a = self.a * 0.9 + x.detach() * 0.1', [[]]],
    ['pass', 'x = x * 0.9 + x.mean() * 0.1', []],
    ['self.a = {}', 'self.a[0] = self.a[0] * 0.9 + x * 0.1', [[]]],
    ['self.a = {}', 'self.a[0] = self.a[0] * 0.9 + torch.relu(x) * 0.1', [['detach']]],
    ['self.a = [torch.zeros(n)]', 'self.a[0] = self.a[0] * 0.9 + x * 0.1', [['detach']]],
    ['self.a = torch.zeros(n)', 'self.a += 0.1 * (x - self.a)', [['detach']]],
    ['self.a = torch.zeros(n)', 'self.a += 0.1 * x', []],
    ['self.a = torch.zeros(n)', 'self.a.mul_(0.9).add_(x, alpha=0.1)', [['detach']]],
    ['self.a = 0', 'self.a = self.a + 1', []],
  ])('%s … %s: %j', (init, forward, expected) => {
    expect(cures(init, forward)).toEqual(expected);
  });
});
