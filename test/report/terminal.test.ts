import { expect, test } from 'vitest';
import { inColor } from '../../src/report/paint.js';
import { ERASE_LINE, eraseLines, forTerminal, withoutMarks } from '../../src/report/terminal.js';

test('our own colours and movements become escape sequences', () => {
  expect(forTerminal(inColor.bold(`a${inColor.red('b')}`))).toBe('\x1b[1ma\x1b[91mb\x1b[39m\x1b[22m');
  expect(forTerminal(`${ERASE_LINE}1/2`)).toBe('\x1b[G\x1b[K1/2');
  expect(forTerminal(eraseLines(3))).toBe('\x1b[3A\x1b[J');
  expect(withoutMarks(inColor.bold('a'))).toBe('a');
});

test.each([
  ['an escape sequence', 'a\x1b[31mb', 'a\\u001b[31mb'],
  ['a title', '\x1b]0;owned\x07', '\\u001b]0;owned\\u0007'],
  ['eight-bit controls', '\x9b2J\x7f', '\\u009b2J\\u007f'],
  ['directions', 'a\u202eb\u2066c\u200f\u061c', 'a\\u202eb\\u2066c\\u200f\\u061c'],
  ['lines by other names', 'a\u2028b\u2029c\rd\x85\x0be', 'a\\u2028b\\u2029c\\u000dd\\u0085\\u000be'],
  ['tags and halves of pairs', '\u{e0041}\ud800', '\\udb40\\udc41\\ud800'],
  ['marks without the key', '\ufdd031m\ufdd1', '\\ufdd031m\\ufdd1'],
])('%s of others are shown, not obeyed', (_, text, expected) => {
  expect(forTerminal(text)).toBe(expected);
});

test('text stays text', () => {
  const text = 'naïve 日本 👩‍💻 می‌خواهم │ … � ␛\tx\r\n';
  expect(forTerminal(text)).toBe(text);
});

test('JSON stays the same JSON', () => {
  const value = { text: 'a\\\x1b\x7f\x9b\u202e\u2028\u{e0041}\n"' };
  const json = forTerminal(JSON.stringify(value));
  expect(json).toMatch(/^[\x20-\x7e]*$/);
  expect(JSON.parse(json)).toEqual(value);
});
