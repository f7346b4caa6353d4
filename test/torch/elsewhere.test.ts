import { describe, expect, test } from 'vitest';
import { attributeElsewhere, moduleKind } from '../../src/torch/module/modules.js';
import { isPythonNumber } from '../../src/values/value/python-number.js';
import { kindOf } from '../../src/values/value/tensor.js';
import { moduleIn, nodeAt } from '../support/module.js';

type Project = Readonly<Record<string, string>>;

describe('a base class in another file', () => {
  const kindIn = (project: Project) => {
    const module = moduleIn(project, 'net.py');
    return moduleKind(module, nodeAt(module, 'class Net').closest('class_definition') ?? module.root);
  };
  const NET =
    'from parts.base import Base\n\n\nclass Net(Base):\n    def forward(self, x):\n        return x\n';
  const base = (head: string, imports = 'from torch import nn') =>
    `${imports}\n\n\nclass Base(${head}):\n    pass\n`;

  test.each([
    ['nn.Module', 'yes'],
    ['object', 'no'],
    ['Elsewhere', 'unknown'],
    ['make()', 'unknown'],
  ])('that is a %s: %s', (head, answer) => {
    expect(
      kindIn({
        'net.py': NET,
        'parts/base.py': base(head, 'from torch import nn\nfrom far import Elsewhere'),
      }),
    ).toMatchObject({
      isModule: answer,
    });
  });

  test('that is Lightning or pretrained', () => {
    const lightning = base('pl.LightningModule', 'import lightning as pl');
    expect(kindIn({ 'net.py': NET, 'parts/base.py': lightning })).toMatchObject({ isLightning: true });
    const pretrained = base('PreTrainedModel', 'from transformers import PreTrainedModel');
    expect(kindIn({ 'net.py': NET, 'parts/base.py': pretrained })).toMatchObject({ isPretrained: true });
  });

  test('without the file, is not known', () => {
    expect(kindIn({ 'net.py': NET })).toMatchObject({ isModule: 'unknown' });
  });

  test.each([
    ['        self.other = 0', undefined],
    ['        self.mean = 0', 'Base'],
    ['        setattr(self, name, 0)', 'Base'],
    ['        self.register_buffer(name, x)', 'Base'],
  ])('may know an attribute: %s', (line, expected) => {
    const text = `from torch import nn\n\n\nclass Base(nn.Module):\n    def __init__(self, name, x):\n${line}\n`;
    const module = moduleIn({ 'net.py': NET, 'parts/base.py': text }, 'net.py');
    const classNode = nodeAt(module, 'class Net').closest('class_definition') ?? module.root;
    expect(attributeElsewhere(module, classNode, 'mean')?.node.name?.text).toBe(expected);
  });
});

describe('a function or a module in another file', () => {
  const HELPERS = `import torch
import torch.nn.functional as F
from torch import nn

from deeper import half


def as_float(x):
    return x.item()


def loss_of(a, b):
    return F.mse_loss(a, b)


def both(a, b):
    return loss_of(a, b), a.mean().item()


def maybe(x):
    if x is None:
        return 0.0
    return torch.zeros(3)


def wrapped(x):
    return half(as_float(x))


async def later(x):
    return x.item()


@cached
def kept(x):
    return x.item()


def ping(x):
    return pong(x)


def pong(x):
    return ping(x)


class Penalty(nn.Module):
    def forward(self, x):
        return F.mse_loss(x, torch.zeros_like(x))


class Plain:
    def __call__(self, x):
        return x.item()
`;
  const DEEPER =
    'from helpers import as_float\n\n\ndef half(x):\n    return float(x) / 2\n\n\ndef back(x):\n    return as_float(x)\n';

  const kindIn = (code: string, project: Project = { 'helpers.py': HELPERS, 'deeper.py': DEEPER }) => {
    const text = `import helpers\nfrom helpers import *\nfrom deeper import back\n\n\ndef step(a, b):\n    ${code.replaceAll('\n', '\n    ')}\n    use(value)\n`;
    const module = moduleIn({ ...project, 'train.py': text }, 'train.py');
    const use = nodeAt(module, 'use(value)').closest('call')?.arguments?.named[0] ?? module.root;
    return [kindOf(module, use), isPythonNumber(module, use)];
  };

  test.each([
    ['value = helpers.as_float(a)', 'number', 'yes'],
    ['value = helpers.loss_of(a, b)', 'scalar-tensor', 'no'],
    ['value, _ = helpers.both(a, b)', 'scalar-tensor', 'no'],
    ['_, value = helpers.both(a, b)', 'number', 'yes'],
    ['value = helpers.maybe(a)', 'unknown', 'unknown'],
    ['value = helpers.wrapped(a)', 'number', 'yes'],
    ['value = back(a)', 'number', 'yes'],
    ['value = helpers.later(a)', 'unknown', 'unknown'],
    ['value = helpers.kept(a)', 'unknown', 'unknown'],
    ['value = helpers.ping(a)', 'unknown', 'unknown'],
    ['value = helpers.missing(a)', 'unknown', 'unknown'],
    ['penalty = helpers.Penalty()\nvalue = penalty(a)', 'scalar-tensor', 'no'],
    ['plain = helpers.Plain()\nvalue = plain(a)', 'unknown', 'unknown'],
    ['helpers = b\nvalue = helpers.as_float(a)', 'unknown', 'unknown'],
  ])('%s is a %s', (code, kind, isNumber) => {
    expect(kindIn(code)).toEqual([kind, isNumber]);
  });

  test('without the file, nothing is known', () => {
    expect(kindIn('value = helpers.as_float(a)', {})).toEqual(['unknown', 'unknown']);
  });
});
