import { describe, expect, test } from 'vitest';
import { clip, clipStart, padEnd, printable, widthOf } from '../../src/report/cells.js';
import { plural, wrap } from '../../src/report/prose.js';
import { table } from '../../src/report/table.js';

describe('the columns of a text', () => {
  test.each([
    ['plain', 5],
    ['日本', 4],
    ['한글', 4],
    ['ｱ', 1],
    ['Ａ', 2],
    ['é', 1],
    ['e\u0301', 1],
    ['😀', 2],
    ['👨‍👩‍👧', 2],
    ['🇩🇪', 2],
    ['❤️', 2],
    ['…', 1],
    ['\t', 4],
    ['ab\t', 4],
    ['\x1b', 1],
  ])('%j takes %i', (text, width) => {
    expect(widthOf(text)).toBe(width);
  });

  test('padding counts columns, not characters', () => {
    expect(padEnd('日本', 6)).toBe('日本  ');
    expect(padEnd('abc', 2)).toBe('abc');
  });

  test('what a terminal would obey is made visible', () => {
    expect(printable('a\x1b[2Jb\u202ec\u0085d\ud800e')).toBe('a␛[2Jb�c�d�e');
    expect(printable('naïve 日本 👨‍👩‍👧')).toBe('naïve 日本 👨‍👩‍👧');
  });

  test('clipping leaves room for the ellipsis and never halves a character', () => {
    expect(clip('abcdef', 6)).toBe('abcdef');
    expect(clip('abcdefg', 6)).toBe('abcde…');
    expect(clip('日本語文', 6)).toBe('日本…');
    expect(clip('日本語', 6)).toBe('日本語');
    expect(clip('x'.repeat(5_000_000), 3)).toBe('xx…');
    expect(clip('long enough', Infinity)).toBe('long enough');
  });
});

describe('prose', () => {
  test('fills lines and hangs the rest under the first', () => {
    expect(wrap('one two  three\nfour', 12, { first: '- ', rest: '  ' })).toEqual([
      '- one two',
      '  three four',
    ]);
  });

  test('fills to the last column', () => {
    expect(wrap('aaa bbb', 7, { first: '', rest: '' })).toEqual(['aaa bbb']);
    expect(wrap('aaa bbb', 6, { first: '', rest: '' })).toEqual(['aaa', 'bbb']);
    expect(wrap('日本 語文', 9, { first: '', rest: '' })).toEqual(['日本 語文']);
    expect(wrap('日本 語文', 8, { first: '', rest: '' })).toEqual(['日本', '語文']);
  });

  test('a word too long for any line stands alone', () => {
    expect(wrap('see https://example.org/a now', 10, { first: '', rest: ' ' })).toEqual([
      'see',
      ' https://example.org/a',
      ' now',
    ]);
  });

  test('short code is not torn apart, long code is', () => {
    expect(wrap('set `a = 1` here', 10, { first: '', rest: '' })).toEqual(['set `a =', '1` here']);
    expect(wrap('set `a = 1` here', 14, { first: '', rest: '' })).toEqual(['set `a = 1`', 'here']);
    expect(wrap('so we set `a = 1`.', 16, { first: '', rest: '' })).toEqual(['so we set', '`a = 1`.']);
    expect(wrap('a stray ` stays', 40, { first: '', rest: '' })).toEqual(['a stray ` stays']);
  });

  test('counts in words', () => {
    expect([0, 1, 2].map((count) => plural(count, 'file'))).toEqual(['0 files', '1 file', '2 files']);
    expect(plural(2, 'entry', 'entries')).toBe('2 entries');
  });
});

test('a table aligns by columns and ends no line in spaces', () => {
  const rows = [
    [{ text: 'n', align: 'right' as const }, { text: '日本' }, { text: 'x' }],
    [
      { text: '10', align: 'right' as const, paint: (text: string) => `<${text}>` },
      { text: 'abc' },
      { text: '' },
    ],
  ];
  expect(table(rows)).toEqual([' n  日本  x', '<10>  abc']);
});

test.each<readonly [path: string, width: number, shown: string]>([
  ['src/train.py:3', 20, 'src/train.py:3'],
  ['a/long/folder/of/train.py:3', 20, '…/of/train.py:3'],
  ['02-NLP Tasks/08-solution/demo.ipynb: cell 16, line 4', 30, '…/demo.ipynb: cell 16, line 4'],
  ['a/one-very-long-name-without-a-folder.py:12', 20, '…hout-a-folder.py:12'],
  ['数据/训练/模型.py:12', 12, '…/模型.py:12'],
])('the end of %s in %d columns', (path, width, shown) => {
  const clipped = clipStart(path, width);
  expect(clipped).toBe(shown);
  expect(widthOf(clipped)).toBeLessThanOrEqual(width);
});
