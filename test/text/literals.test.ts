import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { searchFor } from '../../src/text/literals.js';

function found(words: readonly string[], text: string): readonly number[] {
  const result = searchFor(words).in(Buffer.from(text));
  return [...words.keys()].filter((index) => result.has(index));
}

/** So many that they are looked for all together. */
const OTHERS = ['12345', '2345', '345', '45', '1', '11', '111'];

describe('literals', () => {
  it('are found wherever they are, also inside and across each other', () => {
    const words = ['abc', 'bcd', 'cab', 'abcabc', 'c'];
    for (const all of [words, [...words, ...OTHERS]]) {
      expect(found(all, 'xxabcdx')).toEqual([0, 1, 4]);
      expect(found(all, 'abcabc')).toEqual([0, 2, 3, 4]);
      expect(found(all, 'ab ca b')).toEqual([4]);
      expect(found(all, '')).toEqual([]);
    }
  });

  it('are those that a search for each would find', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', '(', '.'), minLength: 1, maxLength: 5 });
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '(', '.', 'é', '\n'), maxLength: 60 });
    fc.assert(
      fc.property(fc.array(letters, { maxLength: 12 }), text, (words, bytes) => {
        const expected = words.flatMap((word, index) => (Buffer.from(bytes).includes(word) ? [index] : []));
        expect(found(words, bytes)).toEqual(expected);
      }),
      { numRuns: 500 },
    );
  });
});
