import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hashOf, Signature, wholeWord } from '../../src/text/words.js';

test('a word that is there is never missed', () => {
  const word = fc.stringMatching(/^[A-Za-z_é][\wé]{0,12}$/);
  const between = fc.constantFrom(' ', '.', '(', '\n', ' = ', '"');
  fc.assert(
    fc.property(fc.array(fc.tuple(word, between), { maxLength: 80 }), (parts) => {
      const signature = new Signature(Buffer.from(parts.flat().join('')));
      for (const [each] of parts) expect(signature.mayHave(hashOf(each))).toBe(true);
    }),
  );
});

test('a word that is not there is seldom seen, also where all words look alike', () => {
  const there = Array.from({ length: 2000 }, (_, index) => `name_${index}`);
  const signature = new Signature(Buffer.from(there.join(' = ')));
  const seen = Array.from({ length: 2000 }, (_, index) => `name_${index + 2000}`).filter((word) =>
    signature.mayHave(hashOf(word)),
  );
  expect(seen.length).toBeLessThan(2000 / 20);
  expect(signature.mayHave(hashOf('name'))).toBe(false);
  expect(new Signature(new Uint8Array()).mayHave(hashOf('name'))).toBe(false);
});

test('a word stands by itself', () => {
  expect(wholeWord('loss').test('x.loss()')).toBe(true);
  expect(wholeWord('loss').test('a_loss, losses, lossé')).toBe(false);
});
