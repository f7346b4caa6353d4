import { plural } from '../prose.js';
import type { Parity } from './parity.js';
import type { Row, Unit } from './rows.js';
import { type Measure, spreadOf } from './statistics.js';

/** A measure as a person reads it; `±` is half of the distance between the extremes of several runs. */
export function measureWords(measure: Measure | undefined, unit: Unit): string {
  if (measure === undefined) return '–';
  const said = amount(measure.median, unit);
  return measure.values.length > 1 ? `${said} ±${amount(spreadOf(measure), unit)}` : said;
}

/** The change from before to after; in parentheses where nothing can be made of it. */
export function changeWords(row: Row): string {
  const change = plainChange(row);
  return row.judgement === 'unknown' && change !== '' ? `(${change})` : change;
}

/** In percent; where it was or became nothing, in its unit. */
function plainChange({ before, after, unit }: Row): string {
  if (before === undefined || after === undefined) return '';
  const change = after.median - before.median;
  if (change === 0) return '0';
  const sign = change > 0 ? '+' : '−';
  const share = Math.abs(change / before.median);
  if (!Number.isFinite(share) || share > 10 || unit === 'bytes per step')
    return `${sign}${amount(Math.abs(change), unit)}`;
  return `${sign}${(100 * share).toFixed(1)} %`;
}

/** From one amount to another, where the reader has no column for each. */
export function amountsWords(before: number, after: number, unit: Unit): string {
  return `${amount(before, unit)} → ${amount(after, unit)}`;
}

export function parityWords({ before, after, first, last, most, chance, outcome }: Parity): string {
  if (outcome === 'identical') return `identical (${plural(before, 'value')})`;
  if (before !== after) return `${plural(before, 'value')} before, ${after} after`;
  const difference = `differ by ${short(first)} first, ${short(last)} last, ${short(most)} at most (${plural(before, 'value')})`;
  if (outcome === 'allowed') return `${difference}, as the fixes say they may`;
  if (chance === null || chance === 0) return difference;
  return `${difference}; two unchanged runs differ by ${short(chance)}`;
}

export function amount(value: number, unit: Unit): string {
  switch (unit) {
    case 'bytes':
    case 'bytes per step':
      return bytes(value);
    case 'seconds':
      return `${value.toFixed(value < 10 ? 2 : 1)} s`;
    case 'per second':
      return value.toFixed(value < 10 ? 2 : 1);
    case 'count':
      return String(Math.round(value));
  }
}

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

export function bytes(value: number): string {
  const size = Math.abs(value);
  const at = Math.min(UNITS.length - 1, size < 1 ? 0 : Math.floor(Math.log2(size) / 10));
  const scaled = size / 1024 ** at;
  return `${value < 0 ? '−' : ''}${at === 0 ? Math.round(scaled) : scaled.toFixed(scaled < 100 ? 2 : 1)} ${UNITS[at]}`;
}

function short(value: number): string {
  return value === 0 || !Number.isFinite(value) ? String(value) : value.toPrecision(2);
}
