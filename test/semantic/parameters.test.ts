import { expect, it } from 'vitest';
import { calledDefinition } from '../../src/semantic/definitions.js';
import { argumentsByName, argumentsByParameter } from '../../src/semantic/parameters.js';
import { moduleOf, nodeAt } from '../support/module.js';

const SAMPLE = `
def plain(a, b: int, c=1, *, d: int = 2): ...
def many(a, *rest): ...
def mixed(a, /, b, *rest, c=1, **more: int): ...
@cached
def decorated(a): ...

class Net:
    def step(self, x, y=0): ...
    @staticmethod
    def fixed(x): ...

net = Net()
`;

it.each([
  ['plain(1, 2)', { a: '1', b: '2' }],
  ['plain(1, d=4, b=3)', { a: '1', d: '4', b: '3' }],
  ['net.step(5)', { x: '5' }],
  ['net.fixed(5)', { x: '5' }],
  ['plain(*pair)', undefined],
  ['plain(1, other=2)', undefined],
  ['many(1, 2)', undefined],
  ['decorated(1)', undefined],
  ['Net.step(net, 5)', undefined],
])('tells which parameter gets what: %s', (call, expected) => {
  const module = moduleOf(`${SAMPLE}${call}\n`);
  const node = nodeAt(module, call).closest('call');
  const definition = node && calledDefinition(module, node);
  const given = node && definition && argumentsByParameter(module, definition, node);
  expect(definition?.type).toBe('function_definition');
  const texts = given && Object.fromEntries([...given].map(([name, value]) => [name, value.text]));
  expect(texts).toEqual(expected);
});

it.each([
  ['many(1, 2)', { a: '1' }],
  ['mixed(1, 2, 3, 4)', { a: '1', b: '2' }],
  ['mixed(1, c=2, b=3, other=4)', { a: '1', c: '2', b: '3' }],
  ['mixed(1, *pair)', undefined],
  ['mixed(1, **options)', undefined],
  ['plain(1, other=2)', undefined],
])('and of those that take others as well: %s', (call, expected) => {
  const module = moduleOf(`${SAMPLE}${call}\n`);
  const node = nodeAt(module, call).closest('call');
  const definition = node && calledDefinition(module, node);
  const given = node && definition && argumentsByName(module, definition, node);
  const texts = given && Object.fromEntries([...given].map(([name, value]) => [name, value.text]));
  expect(texts).toEqual(expected);
});
