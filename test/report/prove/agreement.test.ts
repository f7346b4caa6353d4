import { describe, expect, test } from 'vitest';
import { type Baseline, comparable, disagreement, noise } from '../../../src/report/prove/agreement.js';
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

describe('chance', () => {
  const wobbly = (losses: readonly number[]): Trial => run({ losses, gradients: [], state: null });
  const baseline = { first: wobbly([2, 1, 1]), second: wobbly([2, 1.0001, 1.0005]), metric: undefined };

  test('is judged by what it had made of the values so far, not by what it makes of the last', () => {
    expect(disagreement(baseline, wobbly([2, 1.0002, 1.001]), 'bit-identical')).toBeUndefined();
    expect(disagreement(baseline, wobbly([2, 1.001, 1.001]), 'bit-identical')).toBe(
      'loss at backward(): 3 values differ by up to 0.00100 (0.000500 by chance; `--deterministic` may help)',
    );
    expect(disagreement(baseline, wobbly([2.0001, 1, 1]), 'bit-identical')).toMatch(/^loss at backward/);
  });

  test('that is too large tells nothing, whichever value shows it', () => {
    expect(noise(ALIKE)).toBeUndefined();
    expect(noise(baseline)).toBeUndefined();
    const wide = { ...baseline, second: wobbly([2, 1.01, 1]) };
    expect(noise(wide)).toMatch(/^two runs as it is differ by 0\.99 % in loss at backward\(\), too much/);
    expect(noise({ ...ALIKE, second: run({ gradients: [0.5, 0.3] }) })).toMatch(/ in gradients, too much/);
    expect(noise({ ...ALIKE, second: run({ losses: [2] }) })).toMatch(/ by their number in loss/);
    const logged = { first: run({}, { logged: [1] }), second: run({}, { logged: [2] }), metric: 'acc' };
    expect(noise(logged)).toMatch(/50 % in logged acc/);
  });
});
