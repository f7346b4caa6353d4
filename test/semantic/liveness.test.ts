import { describe, expect, it } from 'vitest';
import { neededAfter } from '../../src/semantic/liveness.js';
import { moduleOf, nodeAt } from '../support/module.js';

/** Why `out` is needed behind the body of the first `for`. */
function needed(text: string): string | undefined {
  const module = moduleOf(text);
  const body = nodeAt(module, 'for ').closest('for_statement')?.body;
  if (body === undefined) throw new Error('the sample has no loop');
  return neededAfter(module, body, 'out');
}

const inFunction = (lines: readonly string[]): string =>
  `def f(data, log):\n${lines.map((line) => `    ${line}\n`).join('')}`;

describe('neededAfter', () => {
  it.each([
    ['plain', ['for x in data:', '    out = g(x)', '    log(out)']],
    ['unpacked, read in a branch', ['for x in data:', '    out, y = g(x)', '    if y:', '        log(out)']],
    ['in a with', ['for x in data:', '    with h():', '        out = g(x)', '    log(out)']],
    ['a comprehension', ['for x in data:', '    out = g(x)', '    log([out + i for i in x])']],
    ['a generator that is used up', ['for x in data:', '    out = g(x)', '    log(sum(out + i for i in x))']],
    ['set before the loop', ['out = None', 'for x in data:', '    out = g(x)', '    log(out)']],
    ['set again', ['for x in data:', '    out = g(x)', '    out += 1', '    out = log(out)']],
    ['vars of something', ['for x in data:', '    out = g(x)', 'log(vars(data))']],
    ['a walrus', ['for x in data:', '    log(out := g(x))']],
    ['both arms', ['for x in data:', '    if x:', '        out = g(x)', '    else:', '        out = h(x)']],
    [
      'a pass cut short',
      ['for x in data:', '    if x:', '        continue', '    out = g(x)', '    log(out)'],
    ],
    [
      'set anew in a later loop',
      ['for x in data:', '    out = g(x)', 'for x in log:', '    out = x', '    log(out)'],
    ],
    ['an annotation', ['for x in data:', '    out: int = g(x)', '    log(out)']],
  ])('is not: %s', (_, lines) => {
    expect(needed(inFunction(lines))).toBeUndefined();
  });

  it.each([
    ['behind', ['for x in data:', '    out = g(x)', 'return out']],
    ['else', ['for x in data:', '    out = g(x)', 'else:', '    log(out)']],
    ['deleted behind', ['for x in data:', '    out = g(x)', 'del out']],
    ['before', ['for x in data:', '    log(out)', '    out = g(x)']],
    ['by itself', ['for x in data:', '    out = g(out)']],
    ['one path', ['for x in data:', '    if x:', '        out = g(x)']],
    ['try', ['for x in data:', '    try:', '        out = g(x)', '    except E:', '        pass']],
    ['suppress', ['for x in data:', '    with suppress(E):', '        out = g(x)']],
    [
      'handler',
      ['for x in data:', '    out = g(x)', '    try:', '        h()', '    except E as out:', '        pass'],
    ],
    ['lambda', ['for x in data:', '    out = g(x)', '    log(lambda: out)']],
    ['nested def', ['def later():', '    log(out)', 'for x in data:', '    out = g(x)']],
    ['generator', ['for x in data:', '    out = g(x)', '    log(out + i for i in x)']],
    ['global', ['global out', 'for x in data:', '    out = g(x)']],
    ['locals', ['for x in data:', '    out = g(x)', '    log(**locals())']],
    ['eval', ['for x in data:', '    out = g(x)', '    log(eval("out"))']],
    ['deleted in part', ['for x in data:', '    out = g(x)', '    if x:', '        del out']],
    ['walrus in part', ['for x in data:', '    x and log(out := g(x))']],
    ['next pass', ['for x in data:', '    if x:', '        log(out)', '    out = g(x)']],
    ['epochs', ['for e in data:', '    log(out)', '    for x in e:', '        out = g(x)']],
    ['error', ['try:', '    for x in data:', '        out = g(x)', 'except E:', '    log(out)']],
    ['a loop inside only', ['for x in data:', '    for y in x:', '        out = g(y)']],
  ])('is: %s', (_, lines) => {
    expect(needed(inFunction(lines))).toBeDefined();
  });

  it('looks at the whole file for a variable of the module', () => {
    expect(needed('for x in data:\n    out = g(x)\n')).toBeUndefined();
    expect(needed('for x in data:\n    out = g(x)\n\ndef later():\n    return out\n')).toBeDefined();
    expect(needed('for x in data:\n    out = g(x)\nprint(globals())\n')).toBeDefined();
    expect(needed('class C:\n    for x in data:\n        out = g(x)\n')).toMatch(/member of a class/);
  });
});
