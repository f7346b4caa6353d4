import { describe, expect, it } from 'vitest';
import type { PyModule } from '../../src/semantic/module.js';
import {
  excludeOneAnother,
  isAlwaysAfter,
  isAlwaysFollowed,
  lastOf,
  mayLead,
} from '../../src/semantic/paths.js';
import { enclosingLoops } from '../../src/semantic/statements.js';
import type { PyNode } from '../../src/syntax/node.js';
import { moduleOf, nodeAt } from '../support/module.js';

/** The calls of `a`, `b` and `c` in the body of a function. */
function sample(body: string): { module: PyModule; a: PyNode; b: PyNode; c: PyNode[] } {
  const module = moduleOf(`def f(p):\n${body.replace(/^/gm, '    ')}\n`);
  const call = (name: string, nth = 0): PyNode => {
    const found = nodeAt(module, `${name}()`, nth).closest('call');
    if (found === undefined) throw new Error(`no call of ${name}`);
    return found;
  };
  const others = Array.from({ length: body.split('c()').length - 1 }, (_, nth) => call('c', nth));
  return { module, a: call('a'), b: call('b'), c: others };
}

describe('mayLead', () => {
  it.each([
    ['a()\nb()', true],
    ['b()\na()', false],
    ['for x in p:\n    b()\n    a()', true],
    ['if p:\n    a()\nelse:\n    b()', false],
    ['for x in p:\n    if x:\n        a()\n    else:\n        b()', true],
    ['if p:\n    a()\n    return\nb()', false],
    ['a()\nc()\nb()', false],
    ['a()\nif p:\n    c()\nb()', true],
    ['a()\nif p:\n    c()\nelse:\n    c()\nb()', false],
    ['a()\np and c()\nb()', true],
    ['a()\ntry:\n    c()\nexcept E:\n    b()', true],
    ['g(a(), b())', true],
    ['g(b(), a())', false],
    ['g(a() if p else b())', false],
    ['x = [b() for y in a()]', true],
    ['x = [b() + a() for y in p]', true],
    ['a()\ndef g():\n    b()', true],
    ['while True:\n    a()\nb()', false],
  ])('of %j: %s', (body, expected) => {
    const { module, a, b, c } = sample(body);
    expect(mayLead(module, a, b, c)).toBe(expected);
  });

  it('leads from a node to itself in a loop', () => {
    const loop = sample('for x in p:\n    a()\nb()');
    expect(mayLead(loop.module, loop.a, loop.a)).toBe(true);
    expect(mayLead(loop.module, loop.b, loop.b)).toBe(false);
    const cut = sample('for x in p:\n    c()\n    a()\nb()');
    expect(mayLead(cut.module, cut.a, cut.a, cut.c)).toBe(false);
  });
});

it.each([
  ['a()\nb()\nc()', ['b()'], false],
  ['if p:\n    a()\nelse:\n    b()\nc()', ['a()', 'b()'], false],
  ['if p:\n    a()\nb() if p else 0\nc()', ['a()', 'b()'], true],
  ['for x in p:\n    c()\n    a()\nb()', ['a()'], true],
  ['a()\nb().c()', ['b()'], false],
])('lastOf in %j', (body, expected, mayBeNone) => {
  const { module, a, b, c } = sample(body);
  const { events, fromEntry } = lastOf(module, [a, b])(c[0] ?? a);
  expect([...events].map(({ text }) => text).sort()).toEqual(expected);
  expect(fromEntry).toBe(mayBeNone);
});

describe('in a round of a loop', () => {
  const rounds = (lines: readonly string[]): ReturnType<typeof sample> & { loop: PyNode | undefined } => {
    const found = sample(`for x in p:\n${lines.map((line) => `    ${line}\n`).join('')}`);
    return { ...found, loop: enclosingLoops(found.a)[0] };
  };

  it.each([
    [['if x:', '    a()', 'else:', '    b()'], true],
    [['if x:', '    a()', '    continue', 'b()'], true],
    [['if x:', '    a()', 'b()'], false],
    [['a() if x else b()'], true],
  ])('%j exclude one another: %s', (lines, expected) => {
    const { module, a, b, loop } = rounds(lines);
    expect(excludeOneAnother(module, a, b, loop)).toBe(expected);
    expect(excludeOneAnother(module, a, b)).toBe(false);
  });

  it.each([
    [['a()', 'b()'], true],
    [['a()', 'with g():', '    b()'], true],
    [['a()', 'with suppress(E):', '    b()'], false],
    [['a()', 'if x:', '    b()'], false],
    [['a()', 'if x:', '    b()', 'else:', '    c()'], true],
    [['a()', 'if x:', '    continue', 'b()'], false],
    [['a()', 'if x:', '    break', 'b()'], false],
    [['a()', 'if x:', '    return', 'b()'], false],
    [['a()', 'if x:', '    raise E', 'b()'], true],
    [['b()', 'a()'], false],
    [['a()', 'for y in x:', '    b()'], false],
    // Who handles an error of the one knows that the other was not run.
    [['try:', '    a()', '    b()', 'except E:', '    pass'], true],
    [['a()', 'try:', '    b()', 'except E:', '    pass'], false],
  ])('%j is always followed: %s', (lines, expected) => {
    const { module, a, b, c, loop } = rounds(lines);
    expect(isAlwaysFollowed(module, a, [b, ...c], loop)).toBe(expected);
  });

  it.each([
    [['b()', 'a()'], true],
    [['if x:', '    b()', 'a()'], false],
    [['if x:', '    b()', 'else:', '    c()', 'a()'], true],
    [['a()', 'b()'], false],
    [['if x:', '    continue', 'b()', 'a()'], true],
    [['b() and a()'], true],
    [['x and b()', 'a()'], false],
  ])('%j is always after: %s', (lines, expected) => {
    const { module, a, b, c, loop } = rounds(lines);
    expect(isAlwaysAfter(module, a, [b, ...c], loop)).toBe(expected);
  });
});
