import { describe, expect, test } from 'vitest';
import { type Baseline, comparable, disagreement } from '../../../src/report/prove/agreement.js';
import type { ProcessRecord, Trial } from '../../../src/report/prove/record.js';
import { record, trial } from './trials.js';

const PLAIN: Partial<ProcessRecord> = {
  steps: 2,
  losses: [2, 1],
  gradients: [0.5, 0.25],
  state: { norms: [3, 4], digest: 'aa' },
  autograd: { peak: 1000, tensors: 1, uncounted: 0 },
};

function run(more: Partial<ProcessRecord> = {}, around: Partial<Trial> = {}): Trial {
  return trial({ records: [record({ ...PLAIN, ...more })], ...around });
}

const ALIKE: Baseline = { first: run(), second: run(), metric: undefined };

describe('a run with fixes', () => {
  test('that does the same agrees', () => {
    expect(disagreement(ALIKE, run(), 'bit-identical')).toBeUndefined();
    expect(comparable(ALIKE)).toEqual(['losses', 'gradients', 'the trained state']);
  });

  test.each<[string, Partial<ProcessRecord>, string]>([
    ['losses', { losses: [2, 1.5] }, 'loss at backward(): 2 values differ by up to 0.500'],
    ['gradients', { gradients: [0.5] }, 'gradients: 1 values instead of 2'],
    ['state', { state: { norms: [3, 5], digest: 'bb' } }, 'the trained state: 2 values differ by up to 1.00'],
    ['bits', { state: { norms: [3, 4], digest: 'bb' } }, 'the trained state differs in some bits'],
    [
      'memory',
      { autograd: { peak: 2000, tensors: 1, uncounted: 0 } },
      'more memory: kept by autograd, peak 1000 B → 1.95 KiB',
    ],
  ])('with other %s does not', (_, more, because) => {
    expect(disagreement(ALIKE, run(more), 'bit-identical')).toBe(because);
  });

  test('may round where its label says so, and no more', () => {
    const rounded = run({ losses: [2, 1.0001], state: { norms: [3, 4.0001], digest: 'bb' } });
    expect(disagreement(ALIKE, rounded, 'rounding')).toBeUndefined();
    expect(disagreement(ALIKE, rounded, 'bit-identical')).toMatch(/^loss at backward\(\)/);
    expect(disagreement(ALIKE, run({ losses: [2, 1.2] }), 'rounding')).toMatch(/^loss at backward\(\)/);
  });

  test('may differ as two runs of the unchanged command do', () => {
    const second = run({ losses: [2, 1.1], state: { norms: [3, 4], digest: 'bb' } });
    const chancy = { ...ALIKE, second };
    expect(disagreement(chancy, run({ losses: [2, 1.2] }), 'bit-identical')).toBeUndefined();
    expect(disagreement(chancy, run({ losses: [2, 1.9] }), 'bit-identical')).toMatch(/^loss at/);
  });

  test('is held against what the command prints, where that does not change by itself', () => {
    const [first, second] = [run({}, { tail: 'score 1' }), run({}, { tail: 'score 1' })];
    const printing = { first, second, metric: undefined };
    expect(disagreement(printing, run({}, { tail: 'score 2' }), 'bit-identical')).toBe(
      'it prints something else',
    );
    const clock = { ...printing, second: run({}, { tail: 'score 1 at 12:01' }) };
    expect(disagreement(clock, run({}, { tail: 'score 2' }), 'bit-identical')).toBeUndefined();
  });

  test('that fails says how', () => {
    const broken = run({}, { ending: { kind: 'exited', code: 1 }, tail: 'Traceback\nRuntimeError: no' });
    expect(disagreement(ALIKE, broken, 'bit-identical')).toBe('it ends with 1: RuntimeError: no');
  });
});
