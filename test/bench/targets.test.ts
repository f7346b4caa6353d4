import { describe, expect, it } from 'vitest';
import type { Measurement } from '../../bench/measure.js';
import { markdown } from '../../bench/report.js';
import { judge, type WorkResult } from '../../bench/targets.js';

const measurement = (name: string, seconds: readonly number[], lines = 3): Measurement => ({
  name,
  seconds,
  cpuSeconds: seconds,
  lines,
  peakBytes: 1.5e8,
});

const works: readonly WorkResult[] = [
  {
    id: 'huggingface+transformers',
    title: 'scan of transformers',
    measurements: [
      measurement('memfix', [1, 1.1, 1.2]),
      measurement('rg -l -F', [0.05, 0.05, 0.05]),
      measurement('ast-grep, 17 broad', [10, 10, 10]),
      {
        name: 'memfix, warm',
        seconds: [],
        cpuSeconds: [],
        lines: 0,
        peakBytes: undefined,
        problem: 'no cache',
      },
    ],
  },
  {
    id: 'file size',
    title: 'sizes',
    sizes: [1, 10, 100],
    measurements: [measurement('1', [0], 4), measurement('10', [1], 31), measurement('100', [100], 303)],
  },
];

describe('the targets', () => {
  const verdict = (words: string): string | undefined =>
    judge(works).find(({ work }) => work.includes(words))?.verdict;

  it('are met, or missed by so much', () => {
    expect(verdict('17 broad')).toBe('met');
    expect(verdict('cold scan of transformers / `rg')).toBe('missed: 2.2 × the target');
    expect(verdict('peak memory')).toBe('met');
    expect(verdict('size of one file')).toBe('missed: 1.74 × the target (rounds: 1)');
  });

  it('say why they were not measured', () => {
    expect(verdict('warm scan')).toBe('not measured: memfix, warm: no cache');
    expect(verdict('TorchFix')).toBe('not measured: there is no trl among the repositories');
    expect(verdict('all groups')).toBe('not measured: memfix, all groups was left out');
  });

  it('do not take a run that gave up for a fast one', () => {
    const [, sizes] = works;
    const measurements = [...(sizes?.measurements.slice(0, 2) ?? []), measurement('100', [10], 1)];
    const judged = judge([{ id: 'file size', title: 'sizes', sizes: [1, 10, 100], measurements }]);
    expect(judged.find(({ work }) => work.includes('size of one file'))?.verdict).toBe(
      'not measured: 100: it found less than its size tells',
    );
  });

  it('stand above the tables, failures included', () => {
    const page = markdown({
      date: '2026-01-01',
      machine: 'a machine',
      load: [0.5, 9],
      cores: 2,
      runs: 2,
      versions: [],
      notes: [],
      works,
      targets: judge(works),
    });
    expect(page).toContain('| memfix | 1.1 ± 0.1 s | 1–1.2 s | 1.1 s | 1 | 150 MB | 3 | 3 |');
    expect(page).toContain('| memfix, warm | no cache |');
    expect(page).toMatch(/\| 100 \| 100 ± 0 s .* \| 303 \| 1 \| 2\.00 \|/);
    expect(page).toContain('these figures are noisy');
  });
});
