import { describe, expect, it } from 'vitest';
import { definitionOf, reachingDefinitions } from '../../src/semantic/flow.js';
import { moduleOf, nodeAt } from '../support/module.js';

/** What may give `x` its value at the last `use(x)` of a function body. */
function reaching(body: string): readonly string[] | undefined {
  const module = moduleOf(`def f(p):\n${body.replace(/^/gm, '    ')}\n`);
  const call = nodeAt(module, 'use(x)', body.split('use(x)').length - 2);
  const read = call.arguments?.named[0];
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
    ['x = 1\nif (x := g()):\n    pass\nelse:\n    use(x)', ['value g()']],
    ['x = 1\nif (x := g()):\n    pass\nelif use(x):\n    pass', ['value g()']],
    ['x = 1\ny = (x := g()) + use(x)', ['value g()']],
    ['x = 1\ny = use(x) if (x := g()) else 0', ['value g()']],
    ['x = 1\nfor x in p:\n    pass\nelse:\n    use(x)', ['loop p', 'value 1']],
    [
      'x = 1\ntry:\n    g()\nexcept E:\n    x = 2\nelse:\n    x = 3\nfinally:\n    use(x)',
      ['value 3', 'value 2', 'value 1'],
    ],
    ['x = 1\ntry:\n    x = 2\nexcept A:\n    x = 3\nexcept B:\n    use(x)', ['value 2', 'value 1']],
    ['x = 1\nif p:\n    x = 2\nelse:\n    use(x)', ['value 1']],
    ['x = 1\ndef h(y=use(x)):\n    pass', ['value 1']],
    ['x = 1\nmatch p:\n    case [x] if use(x):\n        pass', ['other']],
    ['x = 1\n@use(x)\ndef h():\n    pass', ['value 1']],
    // A loop's header binds anew in each round, whatever the body did before.
    ['x = 1\nfor x, y in p:\n    use(x)\n    x = x.to(d)', ['loop p']],
    ['for x, y in p:\n    x = x.to(d)\n    use(x)', ['value x.to(d)']],
    ['x = 1\nfor x in p:\n    x = 2\nuse(x)', ['value 2', 'value 1']],
    ['x = 1\nfor x in p:\n    pass\nuse(x)', ['loop p', 'value 1']],
    ['async def h():\n    async for x in p:\n        use(x)', ['loop p']],
    ['async def h():\n    x = 1\n    async with g() as x:\n        pass\n    use(x)', ['with g()']],
    // Branches.
    ['x = 1\nif p:\n    x = 2\nelse:\n    x = 3\nuse(x)', ['value 3', 'value 2']],
    ['x = 1\nif p:\n    x = 2\nelif q:\n    x = 3\nuse(x)', ['value 3', 'value 2', 'value 1']],
    ['x = 1\nif p:\n    x = 2\n    return\nuse(x)', ['value 1']],
    ['x = 1\nif p:\n    x = 2\n    raise E\nuse(x)', ['value 1']],
    ['x = 1\nif p:\n    return\nelse:\n    x = 2\nuse(x)', ['value 2']],
    // Rounds that are cut short.
    ['x = 1\nfor y in p:\n    if y:\n        continue\n    x = 2\nuse(x)', ['value 2', 'value 1']],
    ['for y in p:\n    x = 1\n    if y:\n        x = 2\n        continue\n    use(x)', ['value 1']],
    ['x = 1\nfor y in p:\n    x = 2\n    break\nelse:\n    use(x)', ['value 1']],
    [
      'x = 1\nfor y in p:\n    if y:\n        x = 2\n        break\nelse:\n    x = 3\nuse(x)',
      ['value 3', 'value 2'],
    ],
    ['x = 1\nwhile True:\n    x = 2\n    if p:\n        break\nuse(x)', ['value 2']],
    ['x = 1\nwhile p:\n    x = 2\nuse(x)', ['value 2', 'value 1']],
    ['x = 1\nwhile True:\n    use(x)\n    x = 2', ['value 2', 'value 1']],
    // What a `with` holds is always run; unless errors are swallowed, to its end.
    ['x = 1\nwith g():\n    x = 2\nuse(x)', ['value 2']],
    ['x = 1\nwith suppress(E):\n    h()\n    x = 2\nuse(x)', ['value 2', 'value 1']],
    // Errors.
    ['x = 1\ntry:\n    x = 2\nexcept E:\n    x = 3\nuse(x)', ['value 3', 'value 2']],
    ['x = 1\ntry:\n    x = 2\n    h()\nexcept E:\n    raise\nuse(x)', ['value 2']],
    ['x = 1\ntry:\n    x = 2\nexcept E:\n    return\nelse:\n    use(x)', ['value 2']],
    ['x = 1\ntry:\n    x = 2\nfinally:\n    use(x)', ['value 2', 'value 1']],
    ['x = 1\ntry:\n    x = 2\nfinally:\n    h()\nuse(x)', ['value 2']],
    [
      'x = 1\ntry:\n    try:\n        x = 2\n    finally:\n        x = 3\nexcept E:\n    use(x)',
      ['value 3', 'value 2', 'value 1'],
    ],
    [
      'x = 1\ntry:\n    try:\n        x = 2\n    except:\n        x = 3\n    x = 4\nexcept E:\n    pass\nelse:\n    use(x)',
      ['value 4'],
    ],
    ['for y in p:\n    try:\n        x = 1\n        break\n    finally:\n        x = 2\nuse(x)', ['value 2']],
    // Matches.
    [
      'x = 1\nmatch p:\n    case 1:\n        x = 2\n    case _:\n        x = 3\nuse(x)',
      ['value 3', 'value 2'],
    ],
    ['x = 1\nmatch p:\n    case 1:\n        x = 2\nuse(x)', ['value 2', 'value 1']],
    ['x = 1\nmatch p:\n    case [x]:\n        pass\n    case _:\n        use(x)', ['value 1']],
    // Inside one statement.
    ['x = 1\nif p and (x := g()):\n    use(x)', ['value g()']],
    ['x = 1\nif p and (x := g()):\n    pass\nelse:\n    use(x)', ['value g()', 'value 1']],
    ['x = 1\nif not (p or (x := g())):\n    use(x)', ['value g()']],
    ['x = 1\ny = use(x) + (x := g())', ['value 1']],
    ['x = 1\ny = p and (x := g())\nuse(x)', ['value g()', 'value 1']],
    ['x = 1\nx = use(x)', ['value 1']],
    ['x = 1\nx += use(x)', ['value 1']],
    ['i = x = y[use(x)] = 1', ['value 1']],
    ['x = 1\ndel x\nx: int\nuse(x)', ['other']],
    ['x = 1\nreturn\nuse(x)', ['value 1']],
    // Comprehensions run where they are; other code in an expression does not.
    ['x = 1\ny = [use(x) for z in p]', ['value 1']],
    ['x = 1\ny = [use(x) for x in p]', ['loop p']],
    ['x = 1\ny = [z for x in p for z in use(x)]', ['loop p']],
    ['x = 1\ny = [x for x in use(x)]', ['value 1']],
    ['x = 1\ny = sum(use(x) for z in p)', ['value 1']],
    ['x = 1\ny = [(x := z) for z in p]\nuse(x)', ['value z', 'value 1']],
    ['x = 1\ny = [use(x) for z in p if (x := z)]', ['value z']],
    ['x = 1\ny = (use(x) for z in p)', undefined],
    ['x = 1\ny = lambda: use(x)', undefined],
  ])('of %j', (body, expected) => {
    expect(reaching(body)).toEqual(expected);
  });

  it('knows a parameter, and knows nothing of what a closure or the module writes', () => {
    const module = moduleOf('def f(x):\n    use(x)\n');
    const read = nodeAt(module, 'use(x)').arguments?.named[0];
    expect(read && reachingDefinitions(module, read)?.map(({ kind }) => kind)).toEqual(['parameter']);
    expect(reaching('x = 1\ndef g():\n    nonlocal x\n    x = 2\ng()\nuse(x)')).toBeUndefined();
    expect(reaching('global x\nx = 1\nuse(x)')).toBeUndefined();
  });
});

it('gives what was before where it is asked about a binding', () => {
  const module = moduleOf('def f(p):\n    x = 1\n    for y in p:\n        z = 2\n');
  expect(reachingDefinitions(module, nodeAt(module, 'x'))).toEqual([]);
  expect(reachingDefinitions(module, nodeAt(module, 'z'))).toMatchObject([{ kind: 'value' }]);
});

it('matches tuples element by element, unless starred', () => {
  const module = moduleOf('a, (b, c) = 1, 2\nd, *e = 1, 2\n');
  expect(definitionOf(nodeAt(module, 'a'))).toMatchObject({ kind: 'value' });
  expect(definitionOf(nodeAt(module, 'b')).kind).toBe('part');
  expect(definitionOf(nodeAt(module, 'd')).kind).toBe('part');
});
