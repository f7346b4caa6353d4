import type { Numerics } from '../../toolkit/contract.js';

/** How two series of values compare. */
export interface Parity {
  /** Whose values they are. */
  readonly of: string;
  readonly before: number;
  readonly after: number;
  /** Differences of the first, the last, and the most different pair. */
  readonly first: number;
  readonly last: number;
  readonly most: number;
  /** The most that two runs of the unchanged command differ by, where that was tried. */
  readonly chance: number | null;
  readonly outcome: ParityOutcome;
}

export type ParityOutcome =
  /** Every value is the same to the last bit. */
  | 'identical'
  /** They differ as the label of the fixes allows. */
  | 'allowed'
  /** They differ, and so do two runs of the unchanged command. */
  | 'chance'
  | 'different';

/** Relative to the value, for fixes that may round otherwise. */
export const ROUNDING = 1e-3;
/** How much more than by chance is no longer chance. */
const CHANCE_FACTOR = 3;

export interface Series {
  readonly of: string;
  readonly before: readonly number[];
  readonly after: readonly number[];
  /** The unchanged command once more. */
  readonly again: readonly number[] | undefined;
}

/** Undefined where there is nothing to compare. */
export function parityOf({ of, before, after, again }: Series, numerics: Numerics): Parity | undefined {
  if (before.length === 0 && after.length === 0) return undefined;
  const pairs = before.slice(0, after.length).map((value, index) => [value, after[index] ?? value] as const);
  const differences = pairs.map(([a, b]) => distance(a, b));
  const most = largest(differences);
  const isWhole = before.length === after.length;
  const chance = again === undefined ? null : differenceOf(before, again);
  const outcome = (): ParityOutcome => {
    if (isWhole && most === 0) return 'identical';
    if (numerics === 'changes-training') return 'allowed';
    if (isWhole && numerics === 'rounding' && pairs.every(isRounding)) return 'allowed';
    return isWhole && again !== undefined && isWithin(differences, before, again) ? 'chance' : 'different';
  };
  return {
    of,
    before: before.length,
    after: after.length,
    first: differences[0] ?? 0,
    last: differences.at(-1) ?? 0,
    most,
    chance,
    outcome: outcome(),
  };
}

/**
 * Whether values differ by no more than by chance, each by what chance had made of the values up to it: small differences grow
 * from step to step, so that what the last values differ by says nothing about the first.
 */
function isWithin(
  differences: readonly number[],
  before: readonly number[],
  again: readonly number[],
): boolean {
  if (before.length !== again.length) return false;
  let chance = 0;
  return differences.every((difference, index) => {
    chance = Math.max(chance, distance(before[index] ?? 0, again[index] ?? 0));
    return difference <= CHANCE_FACTOR * chance;
  });
}

/** The most that two runs of the same differ by, relative to the value. */
export function relativeChance(one: readonly number[], other: readonly number[]): number {
  if (one.length !== other.length) return Number.POSITIVE_INFINITY;
  return largest(
    one.map((value, index) => {
      const far = distance(value, other[index] ?? value);
      return far === 0 ? 0 : far / Math.max(Math.abs(value), Math.abs(other[index] ?? value));
    }),
  );
}

/** Whether the unchanged command has to run once more before this can be called a change. */
export function needsAnotherRun(parity: Parity | undefined): boolean {
  return parity?.outcome === 'different' && parity.chance === null && parity.before === parity.after;
}

function differenceOf(one: readonly number[], other: readonly number[]): number {
  if (one.length !== other.length) return Number.POSITIVE_INFINITY;
  return largest(one.map((value, index) => distance(value, other[index] ?? value)));
}

function distance(a: number, b: number): number {
  if (Object.is(a, b) || a === b) return 0;
  const difference = Math.abs(a - b);
  return Number.isNaN(difference) ? Number.POSITIVE_INFINITY : difference;
}

function isRounding([a, b]: readonly [number, number]): boolean {
  return distance(a, b) <= ROUNDING * Math.max(Math.abs(a), Math.abs(b));
}

function largest(values: readonly number[]): number {
  return values.reduce((most, value) => Math.max(most, value), 0);
}
