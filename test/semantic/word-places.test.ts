import { expect, it } from 'vitest';
import { hasWhole, WordPlaces } from '../../src/semantic/word-places.js';

it('finds whole words, and no empty one', () => {
  const text = 'scale + rescale + scale';
  const places = new WordPlaces(text);
  expect([...places.of('scale', { start: 0, end: text.length })]).toEqual([0, 18]);
  // Looking for it once took for ever.
  expect(places.of('', { start: 0, end: text.length }).next().done).toBe(true);
  expect(hasWhole(text, '')).toBe(false);
});
