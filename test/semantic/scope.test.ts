import { describe, expect, it } from 'vitest';
import type { PyModule } from '../../src/semantic/module.js';
import { roleOf } from '../../src/semantic/names.js';
import { moduleOf, nodeAt } from '../support/module.js';

describe('scopes', () => {
  it('looks past class bodies from inside methods, and into them from the body itself', () => {
    const module = moduleOf('x = 1\nclass A:\n    x = 2\n    y = x\n    def f(self):\n        return x\n');
    expect(module.resolve(nodeAt(module, 'x', 2))?.kind).toBe('class');
    expect(module.resolve(nodeAt(module, 'x', 3))?.kind).toBe('module');
  });

  it('gives a comprehension its targets, its first iterable to the outside, and its walrus to the function', () => {
    const module = moduleOf('def f(x):\n    r = [x for x in x if (seen := x)]\n    return seen, r\n');
    expect(module.resolve(nodeAt(module, 'x', 1))?.kind).toBe('comprehension');
    expect(module.resolve(nodeAt(module, 'x', 3))?.kind).toBe('function');
    expect(module.resolve(nodeAt(module, 'seen', 0))?.kind).toBe('function');
    expect(module.resolve(nodeAt(module, 'seen', 1))?.kind).toBe('function');
  });

  it('finds the same names in a long file as in a short one', () => {
    const code =
      'total = 0\ntotals = total\n# total\ntext = "total"\ndef f(größe):\n    total = größe\n    return total\ntotal += f(total)\n';
    const long = moduleOf(`${code}\n${'x = f(1) + totals.total_1\n'.repeat(6000)}`);
    expect(long.text.length).toBeGreaterThan(128 * 1024);
    const places = (module: PyModule) =>
      ['total', 'totals', 'text', 'f', 'größe', 'missing'].map((name) => [
        module.scope.bindings(name).map(({ start }) => start),
        module
          .occurrences(module.scope, name)
          .filter(({ end }) => end < code.length)
          .map(({ start }) => start),
      ]);
    expect(places(long)).toEqual(places(moduleOf(code)));
    expect(places(long)[0]?.[0]).toHaveLength(2);
  });

  it('follows global and nonlocal', () => {
    const module = moduleOf(
      'total = 0\ndef f():\n    global total\n    total += 1\n    n = 0\n    def g():\n        nonlocal n\n        n += 1\n    return g\n',
    );
    expect(module.resolve(nodeAt(module, 'total', 2))).toBe(module.scope);
    expect(module.writes(module.scope, 'total')).toHaveLength(2);
    const inner = module.resolve(nodeAt(module, 'n += 1').descendantAt(nodeAt(module, 'n += 1').start));
    expect(inner?.node.name?.text).toBe('f');
  });

  it('evaluates defaults, decorators and bases outside, and parameters inside', () => {
    const module = moduleOf('k = 1\n@k\ndef f(k=k):\n    return k\nclass C(k):\n    pass\n');
    expect(module.resolve(nodeAt(module, 'k', 1))).toBe(module.scope);
    expect(roleOf(nodeAt(module, 'k', 2))).toBe('parameter');
    expect(module.resolve(nodeAt(module, 'k', 3))).toBe(module.scope);
    expect(
      module.resolve(nodeAt(module, 'return k').parent?.named[0]?.named[0] ?? nodeAt(module, 'k', 4))?.kind,
    ).toBe('function');
    expect(module.resolve(nodeAt(module, 'k', 5))).toBe(module.scope);
  });

  it('sees closures and f-strings among the occurrences, not strings, attributes or keywords', () => {
    const module = moduleOf('def f(n):\n    g = lambda: n\n    h(n=1).n = "n"  # n\n    return f"{n}"\n');
    const scope = module.scopeOf(nodeAt(module, 'def').closest('function_definition') ?? module.root);
    expect(module.occurrences(scope, 'n').map((node) => module.lines.lineAt(node.start))).toEqual([1, 2, 4]);
  });

  it.each([
    ['for x in y: pass', 'loop'],
    ['with y as x: pass', 'write'],
    ['x += 1', 'update'],
    ['x: int', 'declare'],
    ['(a, [x, *b]) = c', 'write'],
    ['a.x = 1', 'none'],
    ['f(x=1)', 'none'],
    ['f(x)', 'read'],
    ['del x', 'delete'],
    ['import x.y', 'import'],
    ['from a import b as x', 'import'],
    ['from x import b', 'none'],
    ['try: pass\nexcept E as x: pass', 'write'],
    ['x[0] = 1', 'read'],
    ['lambda x: 1', 'parameter'],
    ['def f(*x): pass', 'parameter'],
    ['def f(a: x): pass', 'read'],
    ['match y:\n    case [x]: pass', 'write'],
    ['match y:\n    case A(k=x): pass', 'write'],
  ])('in %j the role of x is %s', (text, role) => {
    const module = moduleOf(`${text}\n`);
    const at = /(?<![\w])x(?![\w])/.exec(text)?.index ?? 0;
    expect(roleOf(module.root.descendantAt(at, at + 1))).toBe(role);
  });
});
