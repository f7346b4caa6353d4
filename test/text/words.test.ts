import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hashOf, isPhrase, Signature, wholeWord } from '../../src/text/words.js';

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

test('a word that is not there is not seen, also where all words look alike', () => {
  const there = Array.from({ length: 2000 }, (_, index) => `name_${index}`);
  const signature = new Signature(Buffer.from(there.join(' = ')));
  const seen = Array.from({ length: 2000 }, (_, index) => `name_${index + 2000}`).filter((word) =>
    signature.mayHave(hashOf(word)),
  );
  expect(seen).toEqual([]);
  expect(signature.mayHave(hashOf('name'))).toBe(false);
  expect(new Signature(new Uint8Array()).mayHave(hashOf('name'))).toBe(false);
});

test('a word stands by itself', () => {
  expect(wholeWord('loss').test('x.loss()')).toBe(true);
  expect(wholeWord('loss').test('a_loss, losses, lossé')).toBe(false);
});

test('what is defined, and what an object has of its own, is known with the word before it', () => {
  const signature = new Signature(
    Buffer.from('class Net:\n  def  run(self): return self.\\\n  head(other.tail)'),
  );
  const has = (text: string): boolean => signature.mayHave(hashOf(text));
  for (const there of ['class Net', 'def run', 'self.head', 'tail']) expect(has(there), there).toBe(true);
  for (const other of ['def Net', 'class run', 'self.tail', 'self.other', 'def self'])
    expect(has(other), other).toBe(false);
  expect(['def run', 'self.head', 'getattr', '.head =', 'def '].map(isPhrase)).toEqual([
    true,
    true,
    false,
    false,
    false,
  ]);
});
