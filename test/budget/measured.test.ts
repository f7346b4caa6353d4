import { describe, expect, test } from 'vitest';
import { budgetOf } from '../../src/budget/memory.js';
import { comparedProcesses } from '../../src/dev/budget-page.js';
import { isHeldOut, measuredRun, measuredRuns } from '../../src/dev/measured.js';

const rows = measuredRuns();
const errors = (wanted: (row: (typeof rows)[number]) => boolean) =>
  rows.filter(wanted).map((row) => {
    const { peak, low, high } = budgetOf(measuredRun(row));
    return { id: row.id, error: peak / row.peak - 1, isInside: low <= row.peak && row.peak <= high };
  });
const mean = (found: readonly { readonly error: number }[]) =>
  found.reduce((sum, { error }) => sum + Math.abs(error), 0) / found.length;

describe('the budget, against runs that were measured when its formulas were final', () => {
  const found = errors(isHeldOut);

  test('is 3 % off on average, 8 % at worst, and never more than 3 % below', () => {
    expect(found.length).toBeGreaterThanOrEqual(40);
    expect(mean(found)).toBeLessThanOrEqual(0.03);
    expect(found.filter(({ error }) => error > 0.08 || error < -0.03)).toEqual([]);
  });

  test('gives an interval that holds what was measured', () => {
    expect(found.filter(({ isInside }) => !isInside)).toEqual([]);
  });
});

test('the runs that the formulas were found with are explained as well', () => {
  const found = errors((row) => !isHeldOut(row));
  expect(found.length).toBeGreaterThan(200);
  expect(mean(found)).toBeLessThanOrEqual(0.01);
  expect(found.filter(({ error }) => error > 0.08 || error < -0.03)).toEqual([]);
});

test('a row is a run that ended, and each is there once', () => {
  expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
  expect(rows.filter(({ peak, reserved }) => !(peak > 1e9 && reserved >= peak))).toEqual([]);
});

describe('the budget of one process of several, against what was measured', () => {
  const found = comparedProcesses();
  const drawn = found.filter(({ row }) => row.seed !== undefined);

  test('is 3 % off on average, 8 % at worst, and never more than 3 % below', () => {
    expect(drawn.length).toBeGreaterThanOrEqual(60);
    expect(found.length - drawn.length).toBeGreaterThanOrEqual(100);
    for (const rows of [drawn, found]) expect(mean(rows)).toBeLessThanOrEqual(0.01);
    expect(found.filter(({ error }) => error > 0.08 || error < -0.03)).toEqual([]);
  });

  test('gives an interval that holds what was measured, in every try', () => {
    const outside = found.filter(({ row, budget }) =>
      [row.peak, ...(row.peaks ?? [])].some((peak) => peak < budget.low || peak > budget.high),
    );
    expect(
      outside.map(({ row, budget }) => [row.mode, row.config, row.peaks, budget.low, budget.high]),
    ).toEqual([]);
  });

  test('the buckets of the first step are what chance decides: DDP was seen with and without them', () => {
    const chance = found.filter(
      ({ row: { peaks = [], peak, mode } }) => mode === 'ddp' && Math.min(...peaks) < 0.97 * peak,
    );
    expect(chance.length).toBeGreaterThanOrEqual(5);
    expect(found.filter(({ row }) => row.paused === true).length).toBeGreaterThanOrEqual(25);
  });
});
