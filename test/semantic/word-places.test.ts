import { expect, it } from 'vitest';
import { hasWhole, WordPlaces } from '../../src/semantic/word-places.js';

it('finds whole words, and no empty one', () => {
  const text = 'scale + rescale + scale';
  const places = new WordPlaces(text);
  expect(places.of('scale', { start: 0, end: text.length })).toEqual([0, 18]);
  expect(places.ofAll(new Set(['rescale', 'scale', '']), { start: 1, end: text.length })).toEqual([
    [8, 'rescale'],
    [18, 'scale'],
  ]);
  // Looking for it once took for ever.
  expect(places.of('', { start: 0, end: text.length })).toEqual([]);
  expect(hasWhole(text, '')).toBe(false);
});
