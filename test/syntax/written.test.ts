import { expect, it } from 'vitest';
import { copyOf, onOneLine, standalone } from '../../src/syntax/written.js';
import { moduleOf, nodeAt } from '../support/module.js';

/** The value that is given to `f`. */
function given(text: string) {
  const value = nodeAt(moduleOf(`f(${text})\n`), 'f(').closest('call')?.arguments?.named[0];
  if (value === undefined) throw new Error('nothing is given');
  return value;
}

it.each([
  ['a.b', 'a.b'],
  ['a(\n    b,\n    c\n)', 'a(\n    b,\n    c\n)'],
  ['a + \\\n    b', 'a + \\\n    b'],
  ['"""a\nb"""', '"""a\nb"""'],
  ['a\n    .b()', '(a\n    .b())'],
  ['a +\r    b', '(a +\r    b)'],
  ['[\n    1\n] + [  # one\n    2]', '[\n    1\n] + [  # one\n    2]'],
])('writes %j so that it can stand anywhere', (text, written) => {
  expect(standalone(given(text))).toBe(written);
});

it.each([
  ['a.b', 'a.b'],
  ['a(\n    b,\n    c=1,\n)', 'a(b, c=1)'],
  ['a( \\\n    b)', 'a(b)'],
  ['a\n    .b()\n    .c(d)', 'a.b().c(d)'],
  ['a +\r\n    b', 'a + b'],
  ['[\n    1,\n    (2,),\n]', '[1, (2,),]'],
  ['a("""b\nc""", d)', 'a("""b\nc""", d)'],
])('writes %j on one line', (text, written) => {
  expect(onOneLine(given(text))).toBe(written);
});

it('does not lose a comment', () => {
  const commented = given('a  # why\n    # twice\n  .b(  # why\n    c,  # last\n)');
  expect(onOneLine(commented)).toBeUndefined();
  expect(copyOf(commented)).toBe('a.b(c)');
});
