import { describe, expect, test } from 'vitest';
import { type OpenString, OpenStrings, tokensOf } from '../../src/report/python-tokens.js';
import { processorTime } from '../support/processor-time.js';

const kinds = (line: string, open: OpenString = '') =>
  tokensOf(line, open)
    .tokens.filter(({ kind }) => kind !== 'plain')
    .map(({ kind, text }) => `${kind} ${text}`);

describe('the tokens of a line', () => {
  test.each([
    ['def f(self, n=1e-5):', ['keyword def', 'definition f', 'constant self', 'number 1e-5']],
    [
      '    elif x.item() and len(y) > 0x1F:',
      ['keyword elif', 'call item', 'keyword and', 'builtin len', 'number 0x1F'],
    ],
    ['@torch.no_grad()', ['decorator @torch.no_grad']],
    ['y = a @ b.len(c)', ['call len']],
    [`s = rb'a\\'b' + f"x"  # "no`, [`string rb'a\\'b'`, 'string f"x"', 'comment # "no']],
    ['x = "never ends', ['string "never ends']],
    ['größe = True', ['constant True']],
  ])('%s', (line, expected) => {
    expect(kinds(line)).toEqual(expected);
    expect(
      tokensOf(line, '')
        .tokens.map(({ text }) => text)
        .join(''),
    ).toBe(line);
  });

  test('go on inside a string that is open', () => {
    expect(tokensOf('x = """a', '')).toMatchObject({ open: '"""' });
    expect(kinds('for b in c', '"""')).toEqual(['string for b in c']);
    expect(kinds('d""" if e', '"""')).toEqual(['string d"""', 'keyword if']);
    expect(tokensOf('x = "a \\', '').open).toBe('"');
    expect(tokensOf('x = "a', '').open).toBe('');
  });

  test('are found in time in a hostile line', () => {
    const taken = processorTime();
    for (const word of ['\\', "'", '"""', '0', 'def ', '@', '@a', 'é', '"a" ']) {
      const line = word.repeat(2_000 / word.length);
      expect(
        tokensOf(line, '')
          .tokens.map(({ text }) => text)
          .join(''),
      ).toBe(line);
    }
    expect(taken()).toBeLessThan(2_000);
  });
});

test('which string is open where a line begins', () => {
  const strings = new OpenStrings('a = """x\n# y\n"""\nb = 1\n');
  expect([0, 1, 2, 3, 4, 99].map((line) => strings.before(line))).toEqual(['', '"""', '"""', '', '', '']);
});

test('is known in time, however long the lines', () => {
  const taken = processorTime();
  const line = "'a' ".repeat(50_000);
  expect(new OpenStrings(`${line}\n`.repeat(3)).before(3)).toBe('');
  expect(taken()).toBeLessThan(2_000);
});

test.each([
  ["x = 'a # b", ''],
  ["x = 'a \\", "'"],
  ['# """', ''],
  ['x = """"a', '"""'],
  ['x = """', '"""'],
  [`"""a""" + '''`, "'''"],
  ["''", ''],
])('behind %s, %j is open', (line, open) => {
  expect(new OpenStrings(`${line}\n`).before(1)).toBe(open);
  expect(tokensOf(line, '').open).toBe(open);
});
