import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fixturesFolder } from '../../src/dev/fixtures.js';
import {
  behindBracket,
  calledAround,
  isInLoop,
  linesOf,
  methodsBehind,
  restOfLine,
  withoutSubscripts,
} from '../../src/syntax/code-text.js';
import { Glimpse } from '../../src/syntax/glimpse.js';
import { decode } from '../../src/text/decode.js';

describe('code as text', () => {
  it('finds what is called around a place', () => {
    const at = (code: string) => calledAround(code, code.indexOf('here'));
    expect(at('x = load.from (a, f(1), [b], here=1)')).toBe('from');
    expect(at('f(g(1), {a: here})')).toBe('');
    expect(at('f(g(1)); here = 2')).toBe('');
    expect(at('f(g)(here=1)')).toBe('');
    expect(at(`f(${'a, '.repeat(1000)}here=1)`)).toBeUndefined();
  });

  it('finds the closing bracket', () => {
    expect(behindBracket('f(a[1], (b)) + 1', 1)).toBe(12);
    expect(behindBracket('f((', 1)).toBe(3);
  });

  it('follows the methods that are called on a result', () => {
    expect([...methodsBehind('zeros(2, f(3)).float() \\\n    .to(x).shape[0]', 5)]).toEqual(['float', 'to']);
    expect([...methodsBehind('zeros(2) + ones(1).cuda()', 5)]).toEqual([]);
  });

  it('reads to the end of a logical line', () => {
    expect(restOfLine('a = (1,\n  2)\nb = 3', 0)).toBe('a = (1,\n  2)');
    expect(restOfLine('a = 1 + \\\n 2; b', 0)).toBe('a = 1 + \\\n 2');
    expect(restOfLine('a = 1 + \\\r\n 2\r\nb', 0)).toBe('a = 1 + \\\r\n 2\r');
  });
});

describe('logical lines', () => {
  const inLoops = (code: string): readonly string[] =>
    linesOf(code).flatMap((line) => (isInLoop(line) ? [line.text] : []));

  it('end where brackets are closed and no backslash joins', () => {
    const code = 'a = (1,\n2)\n\n  \nb = 1 + \\\n2; c\r\nd\\\r\ne';
    expect(linesOf(code).map(({ text }) => text)).toEqual(['a = (1,\n2)', 'b = 1 + \\\n2; c\r', 'd\\\r\ne']);
  });

  it('know whether they stand in a loop', () => {
    expect(inLoops('for a in b:\n  c\n  if d:\n\te\nelse:\n  f\nwhile g: h\ni')).toEqual([
      'for a in b:',
      'c',
      'if d:',
      'e',
      'while g: h',
    ]);
    expect(inLoops('if a:\n  async for b in c:\n    d(\ne)\n    f\n  g\nformat\n')).toEqual([
      'async for b in c:',
      'd(\ne)',
      'f',
    ]);
  });
});

it('subscripts read like attributes', () => {
  expect(withoutSubscripts('a[b[0], c].d[e:\nf]')).toBe('a.at.d.at');
  expect(withoutSubscripts('a[0')).toBe('a[0');
});

describe('stretches', () => {
  it('are the code of each outermost function with its decorators, and the rest', () => {
    const text = [
      'import torch  # why',
      'class A:',
      '    @torch.no_grad()',
      '    def f(self):  # "quoted"',
      '        """Words."""',
      '        return f"{self}"',
      '    x = "a"',
      'def g(): pass',
    ].join('\n');
    expect(new Glimpse(text).stretches).toEqual([
      '@torch.no_grad()\n    def f(self):  \n        ""\n        return f""{self}""\n',
      'import torch  \nclass A:\n    @torch.no_grad()\n    def f(self):  \n    x = ""\ndef g(): pass',
    ]);
  });

  it('are the text where it cannot be told', () => {
    expect(new Glimpse('f(\n').stretches).toEqual(['f(\n']);
  });

  const FUNCTIONS = [
    'def f(x=one):',
    '    return two(x)  # one',
    'def g():',
    '    for x in y: one()',
    '@one',
    'def h():',
    '    return [x',
    '        for x in two]',
    'two()',
  ].join('\n');

  it('are looked for by the words of the text', () => {
    const glimpse = new Glimpse(FUNCTIONS);
    const [f, g, h, outside] = glimpse.stretches;
    expect(glimpse.outside).toBe(outside);
    expect(glimpse.stretchesWith('one')).toEqual([f, g, h, outside]);
    expect(glimpse.stretchesWith('two(')).toEqual([f, outside]);
    expect(glimpse.stretchesWith('one(', 'two(')).toEqual([f, g, outside]);
    expect(glimpse.stretchesWith('three')).toEqual([]);
    expect(glimpse.repeatingWith('two')).toEqual([h]);
  });

  it('repeat where a line starts a loop, as far as their code tells', () => {
    const LOOP = /^[ \t]*(?:async[ \t]+)?(?:for|while)\b/m;
    const folder = readdirSync(fixturesFolder, { recursive: true, encoding: 'utf8' });
    const fixtures = folder.flatMap((name) => {
      const read = name.endsWith('.py') ? decode(readFileSync(join(fixturesFolder, name))) : undefined;
      return read?.ok === true ? [read.source.text] : [];
    });
    let repeating = 0;
    for (const text of [FUNCTIONS, 'x = 1 + \\\n  for_ + \\\n  while (', 'a\nwhile b:\n  c', ...fixtures]) {
      const glimpse = new Glimpse(text);
      expect(glimpse.repeating).toEqual(glimpse.stretches.filter((stretch) => LOOP.test(stretch)));
      repeating += glimpse.repeating.length;
    }
    expect(repeating).toBeGreaterThan(500);
  });
});
