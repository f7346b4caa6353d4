import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { PyModule } from '../../src/semantic/module.js';
import { functionsAround, functionsOf, reachedFrom, reaching } from '../../src/semantic/reach.js';
import type { PyNode } from '../../src/syntax/node.js';
import { moduleOf } from '../support/module.js';

const SHAPES: readonly (readonly [shape: string, text: string])[] = [
  ['a chain', 'def a():\n    b()\n\ndef b():\n    c()\n\ndef c():\n    pass\n\ndef d():\n    a\n'],
  ['a circle', 'def a():\n    b()\n\ndef b():\n    a()\n'],
  [
    'methods of self',
    'class A:\n    def a(self):\n        self.b()\n    def b(self):\n        return self.c\n    def c(self):\n        pass\n',
  ],
  [
    'methods of anything',
    'class A:\n    def step(self, x):\n        pass\n\ndef run(it):\n    it.step(1)\n\ndef other(it):\n    it.step()\n',
  ],
  [
    'objects',
    'class A:\n    def __init__(self):\n        self.n = 1\n    def forward(self, x):\n        return x\n\ndef make():\n    return A()\n',
  ],
  [
    'heirs',
    'class A:\n    def __init__(self):\n        pass\n    def f(self):\n        pass\n\nclass B(A):\n    def f(self):\n        pass\n\ndef run():\n    b = B()\n    b.f()\n',
  ],
  [
    'methods under a condition',
    'class A:\n    if x:\n        def forward(self):\n            pass\n\ndef run():\n    A()\n',
  ],
  ['functions in functions', 'def a():\n    def b():\n        c()\n    return b\n\ndef c():\n    pass\n'],
  [
    'strings with code in them',
    'def a():\n    return f"{b()} c()"\n\ndef b():\n    pass\n\ndef c():\n    pass\n',
  ],
  [
    'odd spaces',
    'def  a():\n    b()\n\ndef\\\n b():\n    pass\n\nclass\tC:\n    def __init__(self):\n        a()\n\ndef d():\n    C()\n',
  ],
];

describe('reaching', () => {
  it.each(SHAPES)('finds those from which one gets there: %s', (_, text) => {
    agree(moduleOf(text));
  });

  it('does so in every fixture of what asks for it', () => {
    const folder = join(import.meta.dirname, '../../fixtures/no-grad');
    const pairs = readdirSync(folder).map((name) =>
      agree(moduleOf(readFileSync(join(folder, name, 'input.py'), 'utf8'))),
    );
    expect(pairs.reduce((sum, each) => sum + each, 0)).toBeGreaterThan(50);
  });
});

/** How many functions are reached from others. */
function agree(module: PyModule): number {
  const all = functionsOf(module);
  let pairs = 0;
  for (const to of all) {
    const forwards = all.filter((from) => from === to || [...reachedFrom(module, from)].includes(to));
    // Lambdas lead there too, and are none of these. Nodes are too much for a test to show where they differ.
    const backwards = [...reaching(module, [to])].filter(({ type }) => type === 'function_definition');
    expect(backwards.map(startOf).sort(ascending)).toEqual(forwards.map(startOf));
    pairs += forwards.length - 1;
  }
  return pairs;
}

function startOf(node: PyNode): number {
  return node.start;
}

function ascending(a: number, b: number): number {
  return a - b;
}

it('a place is in the functions around it, and in those that it decorates', () => {
  const module = moduleOf(
    'def a(x=here):\n    @here\n    def b():\n        here\n    class C:\n        @here\n        class D: pass\n',
  );
  const names = module
    .words('here')
    .map((node) => [...functionsAround(node)].map((each) => each.name?.text).join(' '));
  expect(names).toEqual(['a', 'b a', 'b a', 'a']);
});
