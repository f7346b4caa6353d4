import type { Numerics } from '../../toolkit/contract.js';
import type { Comparison } from './compare.js';
import { memoryRows } from './rows.js';

/** What `memfix prove` has to say. */
export interface ProveReport {
  readonly command: readonly string[];
  readonly fixes: readonly FixCount[];
  /** Runs of each tree that were timed. */
  readonly repeats: number;
  readonly setup: Setup;
  readonly comparison: Comparison;
  /** Each transform alone, the most useful first; empty unless that was asked for. */
  readonly perFix: readonly PerFix[];
}

/** The fixes of one transform. */
export interface FixCount {
  readonly transform: string;
  readonly findings: number;
  readonly files: readonly string[];
  /** The loosest of its findings. */
  readonly numerics: Numerics;
  /** How many of them rest on what the code does not prove; absent where none does. */
  readonly unsafe?: number;
  /** What a person has to answer with yes for those to be right: the first few. */
  readonly questions?: readonly string[];
}

export interface PerFix {
  readonly transform: string;
  readonly comparison: Comparison;
}

/** Where it ran, as far as the command's own Python knows. */
export interface Setup {
  readonly python: string | null;
  readonly torch: string | null;
  readonly transformers: string | null;
  readonly platform: string | null;
  readonly cpu: string | null;
  readonly devices: readonly string[];
}

const LOOSENESS: readonly Numerics[] = ['bit-identical', 'rounding', 'changes-training'];

export function loosest(all: readonly Numerics[]): Numerics {
  return LOOSENESS[Math.max(0, ...all.map((numerics) => LOOSENESS.indexOf(numerics)))] ?? 'bit-identical';
}

/** What saves the most memory first, what breaks the command last. */
export function ranked(perFix: readonly PerFix[]): readonly PerFix[] {
  const isBad = ({ comparison: { verdict } }: PerFix) => verdict === 'broken' || verdict === 'different';
  return [...perFix].sort(
    (a, b) =>
      Number(isBad(a)) - Number(isBad(b)) || savedBy(b) - savedBy(a) || (a.transform < b.transform ? -1 : 1),
  );
}

/** The share of its memory that a command no longer needs; a growth that ended counts as much as all of it. */
function savedBy({ comparison }: PerFix): number {
  return memoryRows(comparison.rows).reduce((sum, { before, after, judgement }) => {
    if (before === undefined || after === undefined || judgement === 'same' || before.median === 0)
      return sum;
    return sum + (before.median - after.median) / Math.abs(before.median);
  }, 0);
}
