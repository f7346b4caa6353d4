import { isCalled } from './inputs.js';
import type { Measurement } from './measure.js';
import { SHAPES } from './shapes.js';
import { growth, median, type Point, ratios } from './statistics.js';

export interface WorkResult {
  readonly id: string;
  readonly title: string;
  readonly sizes?: readonly number[];
  readonly measurements: readonly Measurement[];
}

export interface Judgement {
  readonly work: string;
  readonly limit: string;
  readonly measured: string;
  /** The same by processor time, which a busy machine disturbs less. */
  readonly byCpu: string;
  readonly verdict: string;
}

/** One target: what is measured, at most how much of it, and in which unit. */
interface Target {
  readonly work: string;
  readonly limit: number;
  readonly unit: '×' | ' MB' | ' (exponent)';
  /** The value, or why there is none. */
  readonly measure: (results: readonly WorkResult[]) => Value | string;
}

interface Value {
  readonly value: number;
  readonly byCpu?: number;
  /** Rounds that it rests on. */
  readonly rounds: number;
}

/** Fewer rounds than this have no middle. */
const ENOUGH_ROUNDS = 3;

const TARGETS: readonly Target[] = [
  faster(
    'cold scan of transformers / ast-grep, 17 broad triggers',
    0.15,
    'transformers',
    'memfix',
    'ast-grep, 17 broad',
  ),
  faster('the same with 5 narrow rules', 0.07, 'transformers', 'memfix, 5 narrow', 'ast-grep, 5 narrow'),
  faster('cold scan of transformers / `rg -l -F`', 10, 'transformers', 'memfix', 'rg -l -F'),
  faster('cold scan of trl / TorchFix', 0.007, 'trl', 'memfix', 'TorchFix'),
  faster('cold scan of trl / torch-preflight', 0.05, 'trl', 'memfix', 'torch-preflight'),
  faster('warm scan of transformers / `rg -l -F`', 1, 'transformers', 'memfix, warm', 'rg -l -F'),
  faster('`memfix --version` / empty node script', 1.4, 'start-up', 'memfix --version', 'empty node script'),
  faster('one file / empty node script', 3, 'start-up', 'memfix, one file', 'empty node script'),
  {
    work: 'peak memory on transformers',
    limit: 170,
    unit: ' MB',
    measure: (results) => {
      const found = measured(results, 'transformers', 'memfix');
      if (typeof found === 'string') return found;
      if (found.peakBytes === undefined) return 'there is no /proc to read it from';
      return { value: found.peakBytes / 1e6, rounds: ENOUGH_ROUNDS };
    },
  },
  faster(
    'all groups / the default set, on transformers',
    1.5,
    'transformers',
    'memfix, all groups',
    'memfix',
  ),
  linear('time by size of one file', 'file size'),
  linear('time by number of files', 'file count'),
  ...SHAPES.map(({ id, title }) => linear(`time by size of ${title}`, id)),
];

export function judge(results: readonly WorkResult[]): readonly Judgement[] {
  const examples = results.flatMap(({ id }) =>
    id.startsWith('example of ') ? [linear(`time by size of ${id}`, id)] : [],
  );
  return [...TARGETS, ...examples].map(({ work, limit, unit, measure }) => {
    const found = measure(results);
    const shown = { work, limit: `≤ ${limit}${unit}` };
    if (typeof found === 'string') {
      return { ...shown, measured: '–', byCpu: '–', verdict: `not measured: ${found}` };
    }
    const { value, byCpu, rounds } = found;
    const verdict = value <= limit ? 'met' : `missed: ${figure(value / limit)} × the target`;
    const doubt = rounds < ENOUGH_ROUNDS ? ` (rounds: ${rounds})` : '';
    return {
      ...shown,
      measured: `${figure(value)}${unit}`,
      byCpu: byCpu === undefined ? '–' : `${figure(byCpu)}${unit}`,
      verdict: verdict + doubt,
    };
  });
}

/** Three significant figures. */
export function figure(value: number): string {
  return value >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3)));
}

function faster(work: string, limit: number, id: string, subject: string, peer: string): Target {
  return {
    work,
    limit,
    unit: '×',
    measure: (results) => {
      const ours = measured(results, id, subject);
      const theirs = measured(results, id, peer);
      if (typeof ours === 'string') return ours;
      if (typeof theirs === 'string') return theirs;
      const rounds = ratios(ours.seconds, theirs.seconds);
      const cpu = median(ours.cpuSeconds) / median(theirs.cpuSeconds);
      return {
        value: median(rounds),
        rounds: rounds.length,
        ...(Number.isFinite(cpu) && { byCpu: cpu }),
      };
    },
  };
}

function linear(work: string, id: string): Target {
  return {
    work,
    // Two noisy runs of a linear program differ by as much.
    limit: 1.15,
    unit: ' (exponent)',
    measure: (results) => {
      const result = results.find((each) => each.id === id);
      if (result?.sizes === undefined) return 'it did not run';
      const failed = result.measurements.find(({ problem }) => problem !== undefined);
      if (failed !== undefined) return `${failed.name}: ${failed.problem}`;
      const unequal = thatFoundLess(result.sizes, result.measurements);
      if (unequal !== undefined) return `${unequal.name}: it found less than its size tells`;
      const value = growth(pointsOf(result));
      if (value === undefined) return 'too fast to tell from start-up';
      const byCpu = growth(pointsOf(result, 'cpuSeconds'));
      return {
        value,
        rounds: Math.min(...result.measurements.map(({ seconds }) => seconds.length)),
        ...(byCpu !== undefined && { byCpu }),
      };
    },
  };
}

/** Sizes and times of a work that asks how time grows. */
export function pointsOf(
  { sizes = [], measurements }: WorkResult,
  what: 'seconds' | 'cpuSeconds' = 'seconds',
): readonly Point[] {
  return measurements.map((each, index) => ({
    size: sizes[index] ?? Number.NaN,
    seconds: median(each[what]),
  }));
}

/** A run that gave up somewhere is no measure: ten times the input holds ten times the findings. */
function thatFoundLess(
  sizes: readonly number[],
  measurements: readonly Measurement[],
): Measurement | undefined {
  return measurements.find(({ lines }, index) => {
    const before = measurements[index - 1];
    const grown = (sizes[index] ?? 0) / (sizes[index - 1] ?? 0);
    return before !== undefined && lines < (before.lines * grown) / 2;
  });
}

function measured(results: readonly WorkResult[], id: string, name: string): Measurement | string {
  const result = results.find((each) => isCalled(each.id, id));
  if (result === undefined) return `there is no ${id} among the repositories`;
  const found = result.measurements.find((each) => each.name === name);
  if (found === undefined) return `${name} was left out`;
  return found.problem === undefined ? found : `${name}: ${found.problem}`;
}
