import { describe, expect, it } from 'vitest';
import { definitionOf, reachingDefinitions } from '../../src/semantic/flow.js';
import { moduleOf, nodeAt } from '../support/module.js';

/** What may give `x` its value at the last `use(x)` of a function body. */
function reaching(body: string): readonly string[] | undefined {
  const module = moduleOf(`def f(p):\n${body.replace(/^/gm, '    ')}\n`);
  const call = nodeAt(module, 'use(x)', body.split('use(x)').length - 2);
  const read = call.field('arguments')?.named[0];
  if (read === undefined) throw new Error('no argument');
  return reachingDefinitions(module, read)?.map((definition) => {
    if (definition.kind === 'value' || definition.kind === 'part' || definition.kind === 'with') {
      return `${definition.kind} ${definition.value.text}`;
    }
    if (definition.kind === 'update') return `update ${definition.operator} ${definition.value.text}`;
    return definition.kind === 'loop' ? `loop ${definition.iterable.text}` : definition.kind;
  });
}

describe('reachingDefinitions', () => {
  it.each([
    ['x = 1\nx = 2\nuse(x)', ['value 2']],
    ['x = 1\nif p:\n    x = 2\nuse(x)', ['value 2', 'value 1']],
    ['x = 1\nx += 2\nuse(x)', ['update += 2', 'value 1']],
    ['x, y = 1, 2\nuse(x)', ['value 1']],
    ['x, y = g()\nuse(x)', ['part g()']],
    ['y = x = 1\nuse(x)', ['value 1']],
    ['for x in p:\n    use(x)', ['loop p']],
    ['x = 1\nfor y in p:\n    use(x)\n    x = 2', ['value 2', 'value 1']],
    ['x = 1\nfor y in p:\n    x = 2\n    use(x)', ['value 2']],
    ['with g() as x:\n    use(x)', ['with g()']],
    ['x = 1\ntry:\n    x = 2\nexcept E:\n    use(x)', ['value 2', 'value 1']],
    ['x: float = 0.0\nuse(x)', ['value 0.0']],
    ['if (x := g()):\n    use(x)', ['value g()']],
    ['x = 1\nwhile (x := g()):\n    use(x)', ['value g()']],
    ['x = 1\nif p or (x := g()):\n    use(x)', ['value g()', 'value 1']],
    ['x = 1\nif (x := g()):\n    pass\nelse:\n    use(x)', ['value g()', 'value 1']],
    ['x = 1\nif (x := g()):\n    pass\nelif use(x):\n    pass', ['value g()', 'value 1']],
    ['x = 1\ny = (x := g()) + use(x)', ['value g()', 'value 1']],
    ['x = 1\ny = use(x) if (x := g()) else 0', ['value g()', 'value 1']],
    ['x = 1\nfor x in p:\n    pass\nelse:\n    use(x)', ['loop p', 'value 1']],
    [
      'x = 1\ntry:\n    g()\nexcept E:\n    x = 2\nelse:\n    x = 3\nfinally:\n    use(x)',
      ['value 2', 'value 3', 'value 1'],
    ],
    ['x = 1\ntry:\n    x = 2\nexcept A:\n    x = 3\nexcept B:\n    use(x)', ['value 2', 'value 1']],
    ['x = 1\nif p:\n    x = 2\nelse:\n    use(x)', ['value 1']],
    ['x = 1\ndef h(y=use(x)):\n    pass', ['value 1']],
    ['x = 1\nmatch p:\n    case [x] if use(x):\n        pass', ['other']],
    ['x = 1\n@use(x)\ndef h():\n    pass', ['value 1']],
  ])('of %j', (body, expected) => {
    expect(reaching(body)).toEqual(expected);
  });

  it('knows a parameter, and knows nothing of what a closure or the module writes', () => {
    const module = moduleOf('def f(x):\n    use(x)\n');
    const read = nodeAt(module, 'use(x)').field('arguments')?.named[0];
    expect(read && reachingDefinitions(module, read)?.map(({ kind }) => kind)).toEqual(['parameter']);
    expect(reaching('x = 1\ndef g():\n    nonlocal x\n    x = 2\ng()\nuse(x)')).toBeUndefined();
    expect(reaching('global x\nx = 1\nuse(x)')).toBeUndefined();
  });
});

it('matches tuples element by element, unless starred', () => {
  const module = moduleOf('a, (b, c) = 1, 2\nd, *e = 1, 2\n');
  expect(definitionOf(nodeAt(module, 'a'))).toMatchObject({ kind: 'value' });
  expect(definitionOf(nodeAt(module, 'b')).kind).toBe('part');
  expect(definitionOf(nodeAt(module, 'd')).kind).toBe('part');
});
