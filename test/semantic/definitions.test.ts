import { describe, expect, it } from 'vitest';
import { ancestryOf, calledDefinition, methodNamed } from '../../src/semantic/definitions.js';
import {
  contextManagers,
  decoratorsOf,
  enclosingLoops,
  enclosingWiths,
  statementOf,
} from '../../src/semantic/statements.js';
import { moduleOf, nodeAt } from '../support/module.js';

const SAMPLE = `import torch.nn as nn
from lib import Mixin

def helper():
    pass

class Base(nn.Module):
    def step(self):
        helper()

class Net(Base, Mixin, metaclass=Meta):
    def forward(self):
        self.step()
        super().step()
        net = Net()
        net.forward()
        Net.forward(net)
        unknown.step()

def twice():
    pass
def twice():
    pass
twice()
`;

describe('definitions', () => {
  const module = moduleOf(SAMPLE);
  const called = (text: string, nth = 0) => {
    const call = nodeAt(module, text, nth).closest('call');
    return call && calledDefinition(module, call)?.name?.text;
  };

  it.each([
    ['helper()', 1, 'helper'],
    ['self.step()', 0, 'step'],
    ['super().step()', 0, 'step'],
    ['net.forward()', 0, 'forward'],
    ['Net.forward(net)', 0, 'forward'],
    ['Net()', 0, 'Net'],
    ['unknown.step()', 0, undefined],
    ['twice()', 2, undefined],
  ])('%s runs %#', (text, nth, name) => {
    expect(called(text, nth)).toBe(name);
  });

  it('climbs to the bases', () => {
    const net = nodeAt(module, 'class Net').closest('class_definition') ?? module.root;
    const { classes, imported, unknown } = ancestryOf(module, net);
    expect(classes.map((node) => node.name?.text)).toEqual(['Net', 'Base']);
    expect([imported, unknown]).toEqual([['lib.Mixin', 'torch.nn.Module'], false]);
    expect(methodNamed(module, net, 'step')?.closest('class_definition')?.name?.text).toBe('Base');
  });
});

describe('statements', () => {
  const module = moduleOf(
    'for a in b:\n    with x as y, z():\n        while c:\n            HERE\n@one\n# why\n@two()\ndef f():\n    for q in r:\n        pass\n    else:\n        ELSE\n',
  );
  const here = nodeAt(module, 'HERE');

  it('knows the loops and withs around a node, and that an else is not in its loop', () => {
    expect(enclosingLoops(here).map((loop) => loop.type)).toEqual(['while_statement', 'for_statement']);
    expect(
      enclosingWiths(here)
        .flatMap(contextManagers)
        .map((node) => node.text),
    ).toEqual(['x', 'z()']);
    expect(enclosingLoops(nodeAt(module, 'ELSE'))).toEqual([]);
    expect(statementOf(here).type).toBe('expression_statement');
  });

  it('lists decorators from the outside in', () => {
    const f = nodeAt(module, 'def f').closest('function_definition');
    expect(f && decoratorsOf(f).map((node) => node.text)).toEqual(['one', 'two()']);
  });
});
