import type { Numerics } from '../../toolkit/contract.js';
import { countsOf, trainersOf } from './figures.js';
import { needsAnotherRun, type Parity, parityOf } from './parity.js';
import { type Ending, ranOutOfMemory, succeeded, type Trial, type Variant } from './record.js';
import { memoryRows, type Row, RUNS_FOR_TIME, rowsOf } from './rows.js';

/** The unchanged command beside the same command with fixes. */
export interface Comparison {
  readonly endings: { readonly before: Ending; readonly after: Ending };
  readonly rows: readonly Row[];
  readonly parities: readonly Parity[];
  readonly verdict: Verdict;
  /** What was not measured, and why; what to know about the figures. */
  readonly remarks: readonly string[];
}

export type Verdict =
  | 'better'
  | 'equal'
  /** More memory than before. */
  | 'worse'
  /** Losses or logged values are not what they were. */
  | 'different'
  /** The command fails with the fixes, and only with them. */
  | 'broken'
  /** The command fails for want of memory, and only without the fixes. */
  | 'rescued'
  /** The command fails as it is. */
  | 'unproven'
  /** The command never loads what the fixes change. */
  | 'idle';

/** What the fixes are allowed to do, and where they do it. */
export interface Terms {
  readonly numerics: Numerics;
  /** Files that change, from the root of the tree. */
  readonly changed: readonly string[];
  readonly metric: string | undefined;
}

export const LOSSES = 'loss at backward()';

export function compare(before: Variant, after: Variant, terms: Terms): Comparison {
  const { numerics, metric } = terms;
  const [one, two] = [endOf(before), endOf(after)];
  const isComplete = succeeded(one) && succeeded(two);
  const rows = rowsOf(before, after);
  const parities = isComplete ? paritiesOf(before, after, numerics, metric) : [];
  const unloaded = unloadedOf([before, after], terms);
  const isIdle = unloaded.length > 0 && unloaded.length === terms.changed.length;
  return {
    endings: { before: one.ending, after: two.ending },
    rows,
    parities,
    verdict: isComplete && isIdle ? 'idle' : verdictOf(one, two, rows, parities),
    remarks: [
      ...(isComplete && unloaded.length > 0
        ? [`Never loaded by the command, so that their fixes are not exercised: ${unloaded.join(', ')}.`]
        : []),
      ...(isComplete && unloaded.some((path) => path.endsWith('.ipynb'))
        ? ['A notebook is run by `jupyter nbconvert --to notebook --execute FILE`, or by papermill.']
        : []),
      ...remarksOf(before, after, parities, metric),
    ],
  };
}

/** Whether the losses differ and nobody knows yet whether they would anyway. */
export function mayBeChance({ parities }: Comparison): boolean {
  return parities.some(needsAnotherRun);
}

/** A failure counts, whichever run it was; one that only the counting run has is not the command's. */
export function endOf({ measured, counted }: Variant): Trial {
  const trial = measured.find((run) => !succeeded(run)) ?? measured[0] ?? counted[0];
  if (trial === undefined) throw new RangeError('a variant without a run');
  return trial;
}

function paritiesOf(
  before: Variant,
  after: Variant,
  numerics: Numerics,
  metric: string | undefined,
): readonly Parity[] {
  const [counted, again] = before.counted.filter(succeeded).map((trial) => countsOf(trial).losses);
  const [fixed] = after.counted.filter(succeeded).map((trial) => countsOf(trial).losses);
  const [logged, loggedAgain] = [...before.measured, ...before.counted].filter(succeeded);
  const [loggedAfter] = after.measured.filter(succeeded);
  const losses = counted && fixed && parityOf({ of: LOSSES, before: counted, after: fixed, again }, numerics);
  const values =
    metric === undefined || logged === undefined || loggedAfter === undefined
      ? undefined
      : parityOf(
          {
            of: `logged ${metric}`,
            before: logged.logged,
            after: loggedAfter.logged,
            again: loggedAgain?.logged,
          },
          numerics,
        );
  return [losses, values].filter((parity) => parity !== undefined);
}

function verdictOf(before: Trial, after: Trial, rows: readonly Row[], parities: readonly Parity[]): Verdict {
  if (!succeeded(before)) return ranOutOfMemory(before) && succeeded(after) ? 'rescued' : 'unproven';
  if (!succeeded(after)) return 'broken';
  if (parities.some(({ outcome }) => outcome === 'different')) return 'different';
  if (memoryRows(rows).some(({ judgement }) => judgement === 'worse')) return 'worse';
  return rows.some(({ judgement }) => judgement === 'better') ? 'better' : 'equal';
}

/** Python files that change and that no process had to do with; unknown where no process was seen. */
function unloadedOf(variants: readonly Variant[], { changed }: Terms): readonly string[] {
  const records = variants
    .flatMap(({ measured, counted }) => [...measured, ...counted])
    .flatMap((trial) => trial.records);
  if (records.length === 0) return [];
  const loaded = new Set(records.flatMap((record) => record.loaded));
  // A kernel has no file of its cells; one that never loads torch has run none that is fixed.
  const mayBeRun = records.some(({ torch }) => torch !== null);
  return changed.filter((path) =>
    path.endsWith('.py') ? !loaded.has(path) : path.endsWith('.ipynb') && !mayBeRun,
  );
}

function remarksOf(
  before: Variant,
  after: Variant,
  parities: readonly Parity[],
  metric: string | undefined,
): readonly string[] {
  const trials = [...before.measured, ...before.counted, ...after.measured, ...after.counted];
  const records = trials.flatMap((trial) => trial.records);
  const trainers = trials.flatMap((trial) => trainersOf(trial.records));
  if (records.length === 0) {
    return [
      'Nothing was measured inside the command: it started no Python that reads PYTHONPATH (`python -I`, `-E` and `-S` ' +
        'do not, nor does one whose PYTHONPATH a script sets anew).',
    ];
  }
  const remarks: string[] = [];
  if (trainers.every(({ torch }) => torch === null)) {
    remarks.push('The command never imports torch: only time and host memory can be compared.');
  } else {
    if (trainers.every(({ devices }) => devices.length === 0)) {
      remarks.push(
        'No CUDA device was used: there is no GPU memory and there are no synchronisations to measure. `kept by autograd` is ' +
          'what backward passes hold, parameters apart, counted in a run of its own.',
      );
    }
    if (trainers.every(({ steps }) => steps === 0)) {
      remarks.push('No optimizer step was seen: growth and steps per second were not measured.');
    } else if (trainers.some(({ samples }) => samples.length > 0 && samples.length < 4)) {
      remarks.push('Too few steps for a growth per step; let the command make at least 4, better 50.');
    }
  }
  const ranks = Math.max(...trials.map((trial) => trainersOf(trial.records).length));
  if (ranks > 1) {
    remarks.push(
      `${ranks} processes train: host memory and autograd bytes are their sum, growth and steps are those of the lowest rank, and processes ` +
        'that share a GPU add up.',
    );
  }
  if (trainers.some(({ final }) => !final)) {
    remarks.push('A process ended without a last word: its figures are those of its last second or step.');
  }
  const strayed = [...new Set(records.flatMap((record) => record.strayed))];
  if (strayed.length > 0) {
    remarks.push(
      `Imported from your own tree instead of the copy, so their fixes were not measured: ${strayed.join(', ')}.`,
    );
  }
  const errors = new Map(records.flatMap((record) => Object.entries(record.errors)));
  for (const [part, why] of errors) remarks.push(`Not measured: ${part}: ${why}.`);
  if (before.measured.length < RUNS_FOR_TIME) {
    remarks.push(
      `Time is not judged by fewer than ${RUNS_FOR_TIME} runs; \`--repeat ${RUNS_FOR_TIME}\` makes them.`,
    );
  }
  remarks.push(...countingRemarks(before, 'unchanged'), ...countingRemarks(after, 'fixed'));
  if (metric !== undefined && !parities.some(({ of }) => of !== LOSSES)) {
    remarks.push(`Nothing that the command printed matches \`${metric}\`.`);
  }
  return remarks;
}

function countingRemarks({ measured, counted }: Variant, which: string): readonly string[] {
  const failed = measured.every(succeeded) ? counted.find((trial) => !succeeded(trial)) : undefined;
  const uncounted = counted
    .flatMap(({ records }) => records)
    .some((record) => (record.autograd?.uncounted ?? 0) > 0);
  return [
    ...(failed === undefined
      ? []
      : [
          `Autograd, synchronisations and losses of the ${which} command are not measured: it fails when they are counted` +
            `${failed.tail === '' ? '' : ` (${failed.tail.split('\n').at(-1)})`}.`,
        ]),
    ...(uncounted ? [`Some tensors of the ${which} command could not be counted for autograd.`] : []),
  ];
}
