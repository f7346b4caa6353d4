import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Literals } from '../../src/text/literals.js';

describe('literals', () => {
  it('are found wherever they are, also inside and across each other', () => {
    const words = ['abc', 'bcd', 'cab', 'abcabc', 'c'];
    const found = (text: string) => [...new Literals(words).in(Buffer.from(text))].sort();
    expect(found('xxabcdx')).toEqual([0, 1, 4]);
    expect(found('abcabc')).toEqual([0, 2, 3, 4]);
    expect(found('ab ca b')).toEqual([4]);
    expect(found('')).toEqual([]);
  });

  it('are those that a search for each would find', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', '(', '.'), minLength: 1, maxLength: 5 });
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '(', '.', 'é', '\n'), maxLength: 60 });
    fc.assert(
      fc.property(fc.array(letters, { maxLength: 8 }), text, (words, bytes) => {
        const expected = words.flatMap((word, index) => (Buffer.from(bytes).includes(word) ? [index] : []));
        expect([...new Literals(words).in(Buffer.from(bytes))].sort((a, b) => a - b)).toEqual(expected);
      }),
      { numRuns: 500 },
    );
  });
});
