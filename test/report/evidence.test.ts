import { describe, expect, test } from 'vitest';
import { headline, howMeasured, isNil, measuredEffect, measurementsOf } from '../../src/report/evidence.js';
import { markdownPage } from '../../src/report/page.js';
import type { TransformMeta } from '../../src/toolkit/contract.js';
import type { Figure, Quantities } from '../../src/toolkit/evidence.js';
import { EXAMPLE, META } from './sample-meta.js';

const MACHINE = {
  gpu: 'NVIDIA H200',
  torch: '2.11.0+cu130',
  cuda: '13.0',
  transformers: '5.17.0',
  python: '3.12.3',
  date: '2026-11-15',
};
const STEP: Quantities = {
  peak: 7210.7,
  reserved: 7264,
  growth: 0,
  syncs: 2,
  ms: 48.61,
  msLow: 48,
  msHigh: 49,
};

function figure(before: Quantities, after: Quantities): Figure {
  return { what: 'evaluation step', setup: 'a GPT', before, after };
}

function measured(...figures: readonly Figure[]): TransformMeta {
  return { ...META, evidence: { verdict: 'v', measurements: [], gpu: { machine: MACHINE, figures } } };
}

describe('what a GPU measured', () => {
  test('is told side by side with its set-up, before what was measured otherwise', () => {
    const meta = measured(figure(STEP, { ...STEP, peak: 2548.6, syncs: 0 }));
    const own = META.evidence.measurements;
    const both = { ...meta, evidence: { ...meta.evidence, measurements: own } };
    expect(measurementsOf(both)).toEqual([
      {
        what: 'evaluation step',
        before: 'peak 7211 MiB, reserved 7264 MiB, 48.6 ms, 2 syncs',
        after: 'peak 2549 MiB, reserved 7264 MiB, 48.6 ms, no syncs',
        setup: 'NVIDIA H200, torch 2.11, transformers 5.17, a GPT',
      },
      ...own,
    ]);
  });

  test.each<readonly [string, Quantities, Quantities, string, string]>([
    [
      'growth',
      { growth: 654.4, ms: 6.2155 },
      { growth: 0, ms: 6.2155 },
      '+654 MiB a step, 6.22 ms',
      'no growth, 6.22 ms',
    ],
    ['a reserved page', { peak: 0.2, reserved: 2, ms: 0.0723 }, { ms: 1.5 }, '0.0723 ms', '1.5 ms'],
    [
      'host memory',
      { host: 369.3, ms: 8067.8 },
      { host: 4.2, ms: 70 },
      'host 369 MiB, 8068 ms',
      'host 4.2 MiB, 70 ms',
    ],
    ['a warning', { ms: 1, warnings: 1 }, { ms: 1, warnings: 0 }, '1 ms, 1 warning', '1 ms, no warnings'],
    ['an outcome', { outcome: 'none' }, { outcome: 'present' }, 'none', 'present'],
  ])('tells %s', (_, before, after, left, right) => {
    expect(measurementsOf(measured(figure(before, after)))).toMatchObject([{ before: left, after: right }]);
  });

  test.each<readonly [string, Quantities, boolean]>([
    ['the same', STEP, true],
    ['more memory', { ...STEP, peak: 9000 }, true],
    ['half a percent of memory', { ...STEP, peak: 7180 }, true],
    ['less memory', { ...STEP, peak: 7000 }, false],
    ['less reserved', { ...STEP, reserved: 3000 }, false],
    ['one wait less', { ...STEP, syncs: 1 }, false],
    ['less time, within the spread', { ...STEP, ms: 45, msLow: 44, msHigh: 48.5 }, true],
    ['less time, beyond the spread', { ...STEP, ms: 45, msLow: 44, msHigh: 46 }, false],
    ['less time of what ran once', { peak: 7210.7, ms: 10 }, true],
  ])('%s after the fix: nil is %s', (_, after, nil) => {
    expect(isNil(measured(figure(STEP, after)))).toBe(nil);
  });

  test('an outcome alone is neither nil nor an effect', () => {
    expect(isNil(measured(figure({ outcome: 'a' }, { outcome: 'a' })))).toBe(false);
    expect(isNil(measured(figure({ outcome: 'a' }, { outcome: 'b' }), figure(STEP, STEP)))).toBe(true);
    expect(isNil(META)).toBe(false);
  });

  test('the headline is what the symptom is about', () => {
    const meta = {
      ...measured(figure(STEP, { ...STEP, peak: 2548.6, reserved: 3 })),
      symptom: 'peak',
    } as const;
    expect(headline(meta)).toBe(
      'evaluation step: peak 7211 MiB → peak 2549 MiB (NVIDIA H200, torch 2.11, transformers 5.17, a GPT)',
    );
    expect(headline(META)).toBeUndefined();
  });

  test.each<readonly [string, Quantities, Quantities, string]>([
    ['an outcome', { outcome: 'none' }, { outcome: 'present' }, 'none → present'],
    [
      'what fell, if the symptom shows nothing',
      STEP,
      { ...STEP, peak: 90, reserved: 99_999 },
      'peak 7211 MiB → peak 90 MiB',
    ],
    ['what rose, if nothing fell', STEP, { ...STEP, syncs: 6 }, '2 syncs → 6 syncs'],
    ['the time, if nothing changed', STEP, STEP, '48.6 ms → 48.6 ms'],
  ])('the headline is %s', (_, before, after, change) => {
    expect(headline(measured(figure(before, after)))).toContain(`: ${change} (`);
  });

  test('a card says in words that nothing changed', () => {
    expect(measuredEffect(measured(figure(STEP, STEP)))).toBe(
      'no difference was measured, 48.6 ms before and after (evaluation step, NVIDIA H200)',
    );
  });

  test('a page without an effect says so first', () => {
    const page = markdownPage(measured(figure(STEP, STEP)), EXAMPLE);
    expect(page).toContain('# register-buffer-ema\n\n> **Measured:** v\n\nKeep a running average');
    expect(page).not.toContain('Use instead');
    const told = { ...META, evidence: { verdict: 'Nil against float16.', measurements: [] } };
    expect(markdownPage(told, EXAMPLE)).toContain(
      '# register-buffer-ema\n\n> **Not measured on a GPU:** Nil',
    );
    expect(page).toContain(
      'Times are medians. Measured on 2026-11-15 with `bench/gpu/measure.py --only register-buffer-ema`: ' +
        'NVIDIA H200, torch 2.11.0+cu130, CUDA 13.0, transformers 5.17.0, Python 3.12.3.\n',
    );
  });

  test('what nobody measured says why', () => {
    const gpu = { notMeasured: 'it needs bitsandbytes' };
    const meta = { ...META, evidence: { verdict: 'v', measurements: [], gpu } };
    expect(howMeasured(meta)).toBe('Not measured on a GPU, because it needs bitsandbytes.');
    expect(markdownPage(meta, EXAMPLE)).toContain('> **Not measured on a GPU:** v\n');
    expect(markdownPage(meta, EXAMPLE)).toContain('## Evidence\n\nNot measured on a GPU, because');
  });
});
