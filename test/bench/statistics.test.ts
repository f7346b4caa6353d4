import { describe, expect, it } from 'vitest';
import { deviation, growth, median, ratios } from '../../bench/statistics.js';

describe('statistics of runs', () => {
  it('takes the middle, and between two middles their mean', () => {
    expect(median([9, 1, 2])).toBe(2);
    expect(median([4, 1, 2, 100])).toBe(3);
    expect(() => median([])).toThrow(RangeError);
  });

  it('does not let one disturbed run move the spread', () => {
    expect(deviation([1, 2, 3, 4, 1000])).toBe(1);
  });

  it('compares round by round, over the rounds both ran', () => {
    expect(ratios([1, 4, 9], [2, 2])).toEqual([0.5, 2]);
    expect(ratios([3], [2, 2])).toEqual([1.5]);
  });

  it('tells linear from quadratic growth, start-up aside', () => {
    const by = (cost: (size: number) => number) =>
      [1, 1000, 10_000].map((size) => ({ size, seconds: 5 + cost(size) }));
    expect(growth(by((size) => size * 1e-3))).toBeCloseTo(1, 2);
    expect(growth(by((size) => size ** 2 * 1e-6))).toBeCloseTo(2, 2);
    expect(growth(by(() => 0))).toBeUndefined();
  });
});
