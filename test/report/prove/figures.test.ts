import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countsOf, figuresOf, trainersOf } from '../../../src/report/prove/figures.js';
import { measureOf, slopeOf, spreadOf } from '../../../src/report/prove/statistics.js';
import { record, samples, trial } from './trials.js';

describe('statistics', () => {
  it.each<readonly [readonly number[], number, number]>([
    [[3], 3, 0],
    [[1, 9, 2], 2, 4],
    [[4, 1, 2, 10], 3, 4.5],
  ])('of %j: median %d, spread %d', (values, median, spread) => {
    const measure = measureOf(values);
    expect(measure?.median).toBe(median);
    expect(measure && spreadOf(measure)).toBe(spread);
  });

  it('is undefined for nothing', () => {
    expect(measureOf([])).toBeUndefined();
    expect(slopeOf([[1, 5]])).toBeUndefined();
  });

  it('a slope is exact on a line, whatever the gaps, and a few jumps do not move it', () => {
    const steps = fc.uniqueArray(fc.integer({ min: 0, max: 10_000 }), { minLength: 2, maxLength: 40 });
    fc.assert(
      fc.property(steps, fc.integer({ min: -1000, max: 1000 }), (xs, slope) => {
        const points = xs.sort((a, b) => a - b).map((x) => [x, 7 + slope * x] as const);
        expect(slopeOf(points)).toBe(slope === 0 ? 0 : slope);
      }),
    );
    const line = Array.from({ length: 21 }, (_, x) => [x, x === 10 ? 1e9 : 5 * x] as const);
    expect(slopeOf(line)).toBe(5);
  });
});

describe('who trains', () => {
  const launcher = record({ pid: 1 });
  const worker = record({ pid: 9, forked: true });
  const ranks = [record({ pid: 3, rank: 1, steps: 5 }), record({ pid: 2, rank: 0, steps: 5 })];

  it.each([
    ['those that step, lowest rank first', [launcher, ...ranks, worker], [2, 3]],
    ['else those with torch that nobody forked', [worker, launcher, record({ pid: 4, torch: null })], [1]],
    ['else all', [record({ pid: 4, torch: null })], [4]],
  ])('%s', (_, records, pids) => {
    expect(trainersOf(records).map(({ pid }) => pid)).toEqual(pids);
  });

  it('adds up host memory over the ranks, and keeps their GPUs apart', () => {
    const device = (id: string, allocated: number) => ({
      index: 0,
      name: 'GPU',
      id,
      allocated,
      reserved: 2 * allocated,
    });
    const on = (id: string, pid: number) =>
      record({ pid, rank: pid, steps: 1, host: 100, devices: [device(id, 10)] });
    const figures = figuresOf(trial({ records: [on('a', 0), on('b', 1), on('b', 2), launcher] }));
    expect(figures.host).toBe(300);
    expect(figures.devices).toMatchObject([
      { id: 'a', allocated: 10, reserved: 20 },
      { id: 'b', allocated: 20, reserved: 40 },
    ]);
  });
});

describe('growth and rate', () => {
  const steps = (count: number, at: Parameters<typeof samples>[1]) =>
    trial({ records: [record({ steps: count, samples: samples(count, at) })] });

  it('leave the warm-up out', () => {
    const figures = figuresOf(
      steps(100, (step) => ({
        host: step <= 10 ? 1e6 * step : 1e7 + step,
        seconds: step <= 10 ? 10 * step : 100 + step,
      })),
    );
    expect(figures.hostGrowth).toBe(1);
    expect(figures.stepsPerSecond).toBe(1);
  });

  it('are not told of too few steps', () => {
    expect(figuresOf(steps(3, (step) => ({ host: step }))).hostGrowth).toBeUndefined();
    expect(figuresOf(steps(1, () => ({}))).stepsPerSecond).toBeUndefined();
    expect(figuresOf(steps(4, (step) => ({ host: 8 * step }))).hostGrowth).toBe(8);
  });

  it('of autograd come from a counting run', () => {
    const counts = countsOf(
      trial({
        records: [
          record({
            steps: 10,
            syncs: 4,
            losses: [1, 2],
            autograd: { peak: 70, tensors: 3, uncounted: 0 },
            samples: samples(10, (step) => ({ autograd: 3 * step })),
          }),
        ],
      }),
    );
    expect(counts).toEqual({ autograd: 70, autogradGrowth: 3, syncs: 4, steps: 10, losses: [1, 2] });
  });
});
