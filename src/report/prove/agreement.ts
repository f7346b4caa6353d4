import type { Numerics } from '../../toolkit/contract.js';
import { LOSSES } from './compare.js';
import { countsOf, trainersOf } from './figures.js';
import { type Parity, parityOf, relativeChance } from './parity.js';
import { endingWords, type ProcessRecord, ranOutOfMemory, succeeded, type Trial } from './record.js';
import { memoryRows, rowsOf } from './rows.js';
import { figuresOf, type VerifiedFigure } from './verified.js';
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

/** Runs that differ by more among themselves tell no change from chance. */
const MOST_CHANCE = 1e-3;

/** Why nothing can be told by the command, since it does not do the same twice; undefined where it does, or nearly. */
export function noise({ first, second, metric }: Baseline): string | undefined {
  const [one, two] = [first, second].map(
    (trial): Readonly<Record<string, readonly number[]>> => ({
      [LOSSES]: countsOf(trial).losses,
      gradients: trainer(trial)?.gradients ?? [],
      'the trained state': trainer(trial)?.state?.norms ?? [],
      ...(metric !== undefined && { [`logged ${metric}`]: trial.logged }),
    }),
  );
  const wide = Object.entries(one ?? {})
    .map(([of, values]) => ({ of, chance: relativeChance(values, two?.[of] ?? []) }))
    .find(({ chance }) => chance > MOST_CHANCE);
  if (wide === undefined) return undefined;
  const share = Number.isFinite(wide.chance) ? `${(100 * wide.chance).toPrecision(2)} %` : 'their number';
  return `two runs as it is differ by ${share} in ${wide.of}, too much to tell a change by: set seeds, take fewer steps, or \`--deterministic\``;
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
  const steps = Math.min(...[first, second, after].map((trial) => trainer(trial)?.steps ?? 0));
  const worse = memoryRows(rows).find(
    ({ judgement, unit }) =>
      judgement === 'worse' && (unit !== 'bytes per step' || steps >= STEPS_FOR_GROWTH),
  );
  return worse?.before === undefined || worse.after === undefined
    ? undefined
    : `more memory: ${worse.label} ${amountsWords(worse.before.median, worse.after.median, worse.unit)}`;
}

/** In fewer steps, what a library keeps for itself looks like growth. A peak tells as well. */
const STEPS_FOR_GROWTH = 16;

function trainer(trial: Trial): ProcessRecord | undefined {
  return trainersOf(trial.records)[0];
}

/** One kind of run stands for both: nothing is timed. */
function variantOf(trials: readonly Trial[]): {
  readonly measured: readonly Trial[];
  readonly counted: readonly Trial[];
} {
  return { measured: trials, counted: trials };
}

/** Memory of the command as it is and with fixes. */
export function memoryBetween(before: Trial, after: Trial | undefined): readonly VerifiedFigure[] {
  return after === undefined ? [] : figuresOf(memoryRows(rowsOf(variantOf([before]), variantOf([after]))));
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

function differenceOf({ of, before, after, most, chance }: Parity): string {
  const byChance =
    chance === null || chance === 0
      ? ''
      : ` (${chance.toPrecision(3)} by chance; \`--deterministic\` may help)`;
  return before === after
    ? `${of}: ${before} values differ by up to ${most.toPrecision(3)}${byChance}`
    : `${of}: ${after} values instead of ${before}`;
}
