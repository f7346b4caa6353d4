import { type Counts, countsOf, type DeviceFigures, type Figures, figuresOf } from './figures.js';
import { succeeded, type Trial, type Variant } from './record.js';
import { type Measure, measureOf, spreadOf } from './statistics.js';

export type Unit = 'bytes' | 'bytes per step' | 'seconds' | 'per second' | 'count';
export type Judgement = 'better' | 'same' | 'worse' | 'unknown';

/** One figure before and after. */
export interface Row {
  /** What it is, for programs. */
  readonly name: RowName;
  readonly label: string;
  readonly unit: Unit;
  readonly before: Measure | undefined;
  readonly after: Measure | undefined;
  readonly judgement: Judgement;
}

export type RowName = keyof typeof KINDS;

interface Kind {
  readonly unit: Unit;
  readonly isGoodWhenMore?: true;
  /** Runs of each side below which a difference says nothing. */
  readonly needs?: number;
  /** What is no difference: relative to the value, and at least so much. */
  readonly noise: { readonly share: number; readonly least: number };
}

const MIB = 1024 * 1024;
export const RUNS_FOR_TIME = 3;

/** A GPU's allocator repeats itself; the host's memory and the clock do not. Growth is noise below so much in a whole run. */
const KINDS = {
  allocated: { unit: 'bytes', noise: { share: 0.005, least: 0 } },
  reserved: { unit: 'bytes', noise: { share: 0.01, least: 0 } },
  host: { unit: 'bytes', noise: { share: 0.05, least: 16 * MIB } },
  autograd: { unit: 'bytes', noise: { share: 0.001, least: 0 } },
  'allocated growth': { unit: 'bytes per step', noise: { share: 0.01, least: MIB / 4 } },
  'host growth': { unit: 'bytes per step', noise: { share: 0.1, least: 16 * MIB } },
  'autograd growth': { unit: 'bytes per step', noise: { share: 0.01, least: MIB / 64 } },
  'wall time': { unit: 'seconds', needs: RUNS_FOR_TIME, noise: { share: 0.05, least: 0.2 } },
  'steps per second': {
    unit: 'per second',
    isGoodWhenMore: true,
    needs: RUNS_FOR_TIME,
    noise: { share: 0.05, least: 0 },
  },
  synchronisations: { unit: 'count', noise: { share: 0, least: 0 } },
} as const satisfies Readonly<Record<string, Kind>>;

export function rowsOf(before: Variant, after: Variant): readonly Row[] {
  const one = sideOf(before);
  const two = sideOf(after);
  const steps = Math.max(1, ...[...one.figures, ...two.figures].map((figures) => figures.steps));
  const row = (name: RowName, label: string, value: (side: Side) => readonly (number | undefined)[]): Row => {
    const [left, right] = [measured(value(one)), measured(value(two))];
    return {
      name,
      label,
      unit: KINDS[name].unit,
      before: left,
      after: right,
      judgement: judged(KINDS[name], left, right, steps),
    };
  };
  const figure = (name: RowName, label: string, value: (figures: Figures) => number | undefined) =>
    row(name, label, ({ figures }) => figures.map(value));
  const count = (name: RowName, label: string, value: (counts: Counts) => number | undefined) =>
    row(name, label, ({ counts }) => counts.map(value));
  const devices = deviceIds([...one.figures, ...two.figures]);
  const onDevice = (name: RowName, what: string, value: (device: DeviceFigures) => number | undefined) =>
    devices.map((id, index) =>
      figure(name, `GPU ${index} ${what}`, (figures) => {
        const device = figures.devices.find((other) => other.id === id);
        return device && value(device);
      }),
    );
  const rows = [
    ...onDevice('allocated', 'peak allocated', ({ allocated }) => allocated),
    ...onDevice('reserved', 'peak reserved', ({ reserved }) => reserved),
    figure('host', 'host memory, peak', ({ host }) => host),
    ...(devices.length > 0 ? [] : [count('autograd', 'kept by autograd, peak', ({ autograd }) => autograd)]),
    ...onDevice('allocated growth', 'growth per step', ({ growth }) => growth),
    ...(devices.length > 0
      ? []
      : [
          figure('host growth', 'host growth per step', ({ hostGrowth }) => hostGrowth),
          count('autograd growth', 'autograd growth per step', ({ autogradGrowth }) => autogradGrowth),
        ]),
    figure('wall time', 'wall time', ({ seconds }) => seconds),
    figure('steps per second', 'steps per second', ({ stepsPerSecond }) => stepsPerSecond),
    count('synchronisations', 'synchronisations', ({ syncs }) => syncs),
  ];
  return rows.filter(({ before: left, after: right }) => left !== undefined || right !== undefined);
}

/** The figures that decide whether memory was saved: those of GPUs where there are any. */
export function memoryRows(rows: readonly Row[]): readonly Row[] {
  const has = (name: RowName) => rows.some((row) => row.name === name);
  const names: readonly RowName[] = has('allocated')
    ? ['allocated', 'allocated growth']
    : has('autograd')
      ? ['autograd', 'autograd growth']
      : ['host', 'host growth'];
  return rows.filter(({ name }) => names.includes(name));
}

interface Side {
  readonly figures: readonly Figures[];
  readonly counts: readonly Counts[];
}

/** A run that failed measured something else. */
function sideOf({ measured: runs, counted }: Variant): Side {
  const good = (trials: readonly Trial[]) => trials.filter(succeeded);
  return { figures: good(runs).map(figuresOf), counts: good(counted).slice(0, 1).map(countsOf) };
}

function measured(values: readonly (number | undefined)[]): Measure | undefined {
  return measureOf(values.filter((value) => value !== undefined));
}

function deviceIds(all: readonly Figures[]): readonly string[] {
  return [...new Set(all.flatMap(({ devices }) => devices.map(({ id }) => id)))];
}

/** Memory that falls from step to step is no credit for memory that stays: the one that stays is not worse. */
function level({ unit }: Kind, { median }: Measure): number {
  return unit === 'bytes per step' ? Math.max(0, median) : median;
}

function judged(
  kind: Kind,
  before: Measure | undefined,
  after: Measure | undefined,
  steps: number,
): Judgement {
  if (before === undefined || after === undefined) return 'unknown';
  if (Math.min(before.values.length, after.values.length) < (kind.needs ?? 1)) return 'unknown';
  const { share, least } = kind.noise;
  const noise = Math.max(
    share * Math.abs(before.median),
    kind.unit === 'bytes per step' ? least / steps : least,
    spreadOf(before),
    spreadOf(after),
  );
  const change = level(kind, after) - level(kind, before);
  if (Math.abs(change) <= noise) return 'same';
  return change > 0 === (kind.isGoodWhenMore ?? false) ? 'better' : 'worse';
}
