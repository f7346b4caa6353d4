import { describe, expect, it } from 'vitest';
import { onlyUse, wholeNumber, writtenBehind } from '../../src/semantic/literals.js';
import { moduleOf, nodeAt } from '../support/module.js';

function behind(text: string) {
  const module = moduleOf(text);
  const value = nodeAt(module, 'f(').closest('call')?.arguments?.named[0];
  if (value === undefined) throw new Error('the sample has no call of `f`');
  const written = writtenBehind(module, value);
  return { text: written.node.text, number: wholeNumber(written.node), only: onlyUse(module, written) };
}

describe('writtenBehind', () => {
  it.each([
    ['a literal', 'f(64)\n', { text: '64', number: 64, only: 'yes' }],
    ['digits in groups', 'f(1_024)\n', { text: '1_024', number: 1024, only: 'yes' }],
    ['a variable of the module', 'N = 8\nf(N)\n', { text: '8', number: 8, only: 'unknown' }],
    ['a variable of a function', 'def g():\n    n = 8\n    f(n)\n', { text: '8', number: 8, only: 'yes' }],
    [
      'one that is read twice',
      'def g():\n    n = 8\n    f(n)\n    h(n)\n',
      { text: '8', number: 8, only: 'unknown' },
    ],
    ['two values', 'n = 8\nn = 9\nf(n)\n', { text: 'n', number: undefined, only: 'yes' }],
    ['a parameter', 'def g(n=8):\n    f(n)\n', { text: 'n', number: undefined, only: 'yes' }],
    ['no whole number', 'f(-8)\n', { text: '-8', number: undefined, only: 'yes' }],
    ['another base', 'f(0x10)\n', { text: '0x10', number: undefined, only: 'yes' }],
  ])('%s', (_, text, expected) => {
    expect(behind(text)).toEqual(expected);
  });
});
