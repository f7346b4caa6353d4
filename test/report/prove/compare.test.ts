import { describe, expect, it } from 'vitest';
import { compare } from '../../../src/report/prove/compare.js';
import { parityOf } from '../../../src/report/prove/parity.js';
import type { Ending, Trial } from '../../../src/report/prove/record.js';
import { bytes } from '../../../src/report/prove/words.js';
import { BIT_IDENTICAL, record, trial, variant } from './trials.js';

const MIB = 1024 * 1024;
const onGpu = (allocated: number, more: Partial<Trial> = {}) =>
  trial({
    records: [
      record({ steps: 9, devices: [{ index: 0, name: 'GPU', id: '0', allocated, reserved: allocated }] }),
    ],
    ...more,
  });
const onHost = (host: number, seconds = 10) => trial({ records: [record({ host })], seconds });
const losing = (losses: readonly number[], autograd = 100) =>
  trial({ records: [record({ steps: 1, losses, autograd: { peak: autograd, tensors: 1, uncounted: 0 } })] });
const ended = (ending: Ending, tail = '') => trial({ ending, tail });

describe('verdicts', () => {
  it.each<readonly [string, readonly Trial[], readonly Trial[]]>([
    ['better', [onGpu(100 * MIB)], [onGpu(90 * MIB)]],
    ['equal', [onGpu(1000 * MIB)], [onGpu(1001 * MIB)]],
    ['worse', [onGpu(100 * MIB)], [onGpu(110 * MIB)]],
    ['equal', [onHost(1000 * MIB)], [onHost(1040 * MIB)]],
    ['better', [onHost(1000 * MIB)], [onHost(900 * MIB)]],
    ['broken', [onHost(1)], [ended({ kind: 'exited', code: 1 })]],
    ['broken', [onHost(1)], [ended({ kind: 'timed out', seconds: 5 })]],
    ['broken', [onHost(1), onHost(1)], [onHost(1), ended({ kind: 'exited', code: 1 })]],
    ['unproven', [ended({ kind: 'exited', code: 1 })], [onHost(1)]],
    [
      'unproven',
      [ended({ kind: 'exited', code: 1 }, 'CUDA out of memory')],
      [ended({ kind: 'exited', code: 1 })],
    ],
    [
      'rescued',
      [ended({ kind: 'exited', code: 1 }, 'torch.OutOfMemoryError: CUDA out of memory')],
      [onHost(1)],
    ],
    ['rescued', [ended({ kind: 'killed', signal: 'SIGKILL' })], [onHost(1)]],
  ])('%s', (verdict, before, after) => {
    expect(compare(variant(before), variant(after), BIT_IDENTICAL).verdict).toBe(verdict);
  });

  it('the memory of a GPU counts before that of the host', () => {
    const moved = onGpu(50 * MIB);
    const [process] = moved.records;
    const more = { ...moved, records: process ? [{ ...process, host: 9e9 }] : [] };
    const comparison = compare(variant([onGpu(100 * MIB)]), variant([more]), BIT_IDENTICAL);
    expect(comparison.verdict).toBe('better');
    expect(comparison.rows.find(({ name }) => name === 'host')?.judgement).toBe('worse');
  });

  it('time is judged by three runs, and by their spread', () => {
    const runs = (...seconds: readonly number[]) => variant(seconds.map((each) => onHost(1, each)));
    const judged = (before: ReturnType<typeof runs>, after: ReturnType<typeof runs>) =>
      compare(before, after, BIT_IDENTICAL).rows.find(({ name }) => name === 'wall time')?.judgement;
    expect(judged(runs(100), runs(50))).toBe('unknown');
    expect(judged(runs(100, 101, 99), runs(80, 81, 79))).toBe('better');
    expect(judged(runs(100, 60, 140), runs(80, 81, 79))).toBe('same');
  });

  it('what only the counting run has is told and counts as nothing', () => {
    const failed = { ...onHost(1), ending: { kind: 'exited', code: 1 } as const, tail: 'a\nError: b' };
    const { verdict, remarks } = compare(
      variant([onHost(1)], [onHost(1)]),
      variant([onHost(1)], [failed]),
      BIT_IDENTICAL,
    );
    expect(verdict).toBe('equal');
    expect(remarks.join('\n')).toContain(
      'of the fixed command are not measured: it fails when they are counted (Error: b).',
    );
  });

  it('a command that never loads what changes proves nothing', () => {
    const running = (...loaded: readonly string[]) => variant([trial({ records: [record({ loaded })] })]);
    const verdict = (...loaded: readonly string[]) =>
      compare(running(...loaded), running(), { ...BIT_IDENTICAL, changed: ['a.py', 'b.py'] });
    expect(verdict('c.py').verdict).toBe('idle');
    expect(verdict('a.py').verdict).toBe('equal');
    expect(verdict('a.py').remarks[0]).toBe(
      'Never loaded by the command, so that their fixes are not exercised: b.py.',
    );
    expect(verdict('a.py', 'b.py').remarks[0]).toMatch(/^No CUDA/);
  });

  it('a notebook is not run by what never loads torch', () => {
    const running = (torch: string | null) => variant([trial({ records: [record({ torch })] })]);
    const of = (torch: string | null) =>
      compare(running(torch), running(torch), { ...BIT_IDENTICAL, changed: ['a.ipynb'] });
    expect(of(null)).toMatchObject({
      verdict: 'idle',
      remarks: expect.arrayContaining([expect.stringContaining('nbconvert')]),
    });
    expect(of('2.2').verdict).not.toBe('idle');
  });

  it('every part that was not measured is named with its reason', () => {
    const odd = trial({
      records: [
        record({ final: false, strayed: ['src/a.py'], errors: { steps: 'no hook' } }),
        record({ torch: null }),
      ],
    });
    expect(compare(variant([odd]), variant([odd]), BIT_IDENTICAL).remarks).toEqual([
      expect.stringMatching(/^No CUDA device was used/),
      expect.stringMatching(/^No optimizer step was seen/),
      expect.stringMatching(/^A process ended without a last word/),
      'Imported from your own tree instead of the copy, so their fixes were not measured: src/a.py.',
      'Not measured: steps: no hook.',
      expect.stringMatching(/^Time is not judged by fewer than 3 runs/),
    ]);
  });
});

describe('losses', () => {
  const of = 'loss';
  it.each([
    ['identical', [1, 2], [1, 2], undefined, 'bit-identical'],
    ['identical', [1, Number.NaN], [1, Number.NaN], undefined, 'bit-identical'],
    ['different', [1, 2], [1, Number.NaN], undefined, 'rounding'],
    ['different', [1, 2], [1, 2.000001], undefined, 'bit-identical'],
    ['allowed', [1, 2], [1, 2.000001], undefined, 'rounding'],
    ['different', [1, 2], [1, 2.1], undefined, 'rounding'],
    ['allowed', [1, 2], [1, 9], undefined, 'changes-training'],
    ['different', [1, 2], [1], undefined, 'bit-identical'],
    ['allowed', [1, 2], [1], undefined, 'changes-training'],
    ['different', [1, 2], [1, 2.1], [1, 2], 'bit-identical'],
    ['chance', [1, 2], [1, 2.1], [1, 1.95], 'bit-identical'],
    ['different', [1, 2], [1, 3], [1, 1.95], 'bit-identical'],
  ] as const)(
    '%s: %j and %j, the unchanged command again %j, fixes %s',
    (outcome, before, after, again, numerics) => {
      expect(parityOf({ of, before, after, again }, numerics)?.outcome).toBe(outcome);
    },
  );

  it('tell their first, last and largest difference', () => {
    const parity = parityOf({ of, before: [1, 2, 3], after: [1.5, 4, 3.25], again: undefined }, 'rounding');
    expect(parity).toMatchObject({ first: 0.5, most: 2, last: 0.25, chance: null });
  });

  it('of nothing are nothing', () => {
    expect(parityOf({ of, before: [], after: [], again: undefined }, 'rounding')).toBeUndefined();
  });

  it('come from the counting runs', () => {
    const comparison = compare(
      variant([onHost(1)], [losing([1, 2], 100)]),
      variant([onHost(1)], [losing([1, 3], 50)]),
      BIT_IDENTICAL,
    );
    expect(comparison).toMatchObject({ verdict: 'different', parities: [{ most: 1, chance: null }] });
    const better = compare(
      variant([onHost(1)], [losing([1], 100)]),
      variant([onHost(1)], [losing([1], 50)]),
      BIT_IDENTICAL,
    );
    expect(better.verdict).toBe('better');
  });
});

it.each([
  [0, '0 B'],
  [1023, '1023 B'],
  [1536, '1.50 KiB'],
  [30 * MIB, '30.00 MiB'],
  [150 * MIB, '150.0 MiB'],
  [3 * 1024 * MIB, '3.00 GiB'],
  [-2048, '−2.00 KiB'],
])('%d bytes are %s', (value, words) => {
  expect(bytes(value)).toBe(words);
});
