import type { Numerics } from '../../toolkit/contract.js';
import { LOSSES } from './compare.js';
import { countsOf, trainersOf } from './figures.js';
import { type Parity, parityOf } from './parity.js';
import { endingWords, type ProcessRecord, ranOutOfMemory, succeeded, type Trial } from './record.js';
import { memoryRows, rowsOf } from './rows.js';
import { amountsWords } from './words.js';

/** Two runs of the unchanged command: what they differ by is chance. */
export interface Baseline {
  readonly first: Trial;
  readonly second: Trial;
  readonly metric: string | undefined;
}

/** What of a command can be held against a run with fixes: at least one is needed. */
export function comparable({ first, second, metric }: Baseline): readonly string[] {
  const [one] = trainersOf(first.records);
  return [
    ...(countsOf(first).losses.length > 0 ? ['losses'] : []),
    ...((one?.gradients.length ?? 0) > 0 ? ['gradients'] : []),
    ...(one?.state ? ['the trained state'] : []),
    ...(metric !== undefined && first.logged.length > 0 ? ['what `--metric` finds'] : []),
    ...(printsAlike(first, second) ? ['what it prints'] : []),
  ];
}

/** Why a run with fixes is not what the unchanged command does, at the label of the fixes; undefined where it is. */
export function disagreement(baseline: Baseline, after: Trial, numerics: Numerics): string | undefined {
  const { first, second, metric } = baseline;
  if (!succeeded(after)) return endingOf(after);
  const series = (of: string, values: (trial: Trial) => readonly number[]): Parity | undefined =>
    parityOf({ of, before: values(first), after: values(after), again: values(second) }, numerics);
  const parities = [
    series(LOSSES, (trial) => countsOf(trial).losses),
    series('gradients', (trial) => trainer(trial)?.gradients ?? []),
    series('the trained state', (trial) => trainer(trial)?.state?.norms ?? []),
    metric === undefined ? undefined : series(`logged ${metric}`, ({ logged }) => logged),
  ];
  const wrong = parities.find((parity) => parity?.outcome === 'different');
  if (wrong !== undefined) return differenceOf(wrong);
  if (numerics === 'bit-identical') {
    const [one, two, three] = [first, second, after].map((trial) => trainer(trial)?.state?.digest);
    if (one === two && one !== three) return 'the trained state differs in some bits';
    if (printsAlike(first, second) && after.tail !== first.tail) return 'it prints something else';
  }
  const rows = rowsOf(variantOf([first, second]), variantOf([after]));
  const worse = memoryRows(rows).find(({ judgement }) => judgement === 'worse');
  return worse?.before === undefined || worse.after === undefined
    ? undefined
    : `more memory: ${worse.label} ${amountsWords(worse.before.median, worse.after.median, worse.unit)}`;
}

function trainer(trial: Trial): ProcessRecord | undefined {
  return trainersOf(trial.records)[0];
}

/** One kind of run stands for both: nothing is timed. */
export function variantOf(trials: readonly Trial[]): {
  readonly measured: readonly Trial[];
  readonly counted: readonly Trial[];
} {
  return { measured: trials, counted: trials };
}

/** A run that prints a clock prints something else each time. */
function printsAlike(first: Trial, second: Trial): boolean {
  return first.tail !== '' && first.tail === second.tail;
}

function endingOf(trial: Trial): string {
  if (ranOutOfMemory(trial)) return 'it runs out of memory';
  const last = trial.tail.trim().split('\n').at(-1) ?? '';
  return `it ends with ${endingWords(trial.ending)}${last === '' ? '' : `: ${last}`}`;
}

function differenceOf({ of, before, after, most }: Parity): string {
  return before === after
    ? `${of}: ${before} values differ by up to ${most.toPrecision(3)}`
    : `${of}: ${after} values instead of ${before}`;
}
