import type { DeviceRecord, ProcessRecord, Sample, Trial } from './record.js';
import { slopeOf } from './statistics.js';

/** What one run comes to, over all of its processes. What is undefined was not measured. */
export interface Figures {
  readonly devices: readonly DeviceFigures[];
  /** Sum over the processes that train. */
  readonly host: number | undefined;
  readonly hostGrowth: number | undefined;
  readonly seconds: number;
  readonly steps: number;
  readonly stepsPerSecond: number | undefined;
}

export interface DeviceFigures {
  readonly id: string;
  readonly name: string;
  readonly allocated: number;
  readonly reserved: number;
  readonly growth: number | undefined;
}

/** What only a counting run can say. */
export interface Counts {
  readonly autograd: number | undefined;
  readonly autogradGrowth: number | undefined;
  readonly syncs: number | undefined;
  readonly steps: number;
  readonly losses: readonly number[];
}

/** The start of a run, in which memory still settles: a tenth of the samples, at most ten. */
const WARM_UP = { share: 0.1, most: 10 };
/** A slope through fewer points is a guess. */
const FEWEST_POINTS = 3;

export function figuresOf(trial: Trial): Figures {
  const trainers = trainersOf(trial.records);
  const [first] = trainers;
  const settled = first === undefined ? [] : settledOf(first);
  return {
    devices: devicesOf(trainers),
    host: sumOf(trainers.map(({ host }) => host)),
    hostGrowth: growthOf(settled, ({ host }) => host),
    seconds: trial.seconds,
    steps: first?.steps ?? 0,
    stepsPerSecond: first && rateOf(first),
  };
}

export function countsOf(trial: Trial): Counts {
  const trainers = trainersOf(trial.records);
  const [first] = trainers;
  return {
    autograd: sumOf(trainers.map(({ autograd }) => autograd?.peak ?? null)),
    autogradGrowth: first && growthOf(settledOf(first), ({ autograd }) => autograd),
    syncs: first?.syncs ?? undefined,
    steps: first?.steps ?? 0,
    losses: first?.losses ?? [],
  };
}

/** The processes that step, lowest rank first; else those with torch that nobody forked; else all. */
export function trainersOf(records: readonly ProcessRecord[]): readonly ProcessRecord[] {
  const choices = [
    records.filter(({ steps }) => steps > 0),
    records.filter(({ torch, forked }) => torch !== null && !forked),
    records,
  ];
  const chosen = choices.find(({ length }) => length > 0) ?? [];
  return [...chosen].sort((a, b) => (a.rank ?? 0) - (b.rank ?? 0) || b.steps - a.steps || a.pid - b.pid);
}

/** Processes that share a GPU add up: an upper bound, since their peaks need not fall together. */
function devicesOf(trainers: readonly ProcessRecord[]): readonly DeviceFigures[] {
  const found = new Map<string, DeviceFigures>();
  for (const record of trainers) {
    for (const device of record.devices) {
      const known = found.get(device.id);
      found.set(device.id, {
        id: device.id,
        name: device.name,
        allocated: device.allocated + (known?.allocated ?? 0),
        reserved: device.reserved + (known?.reserved ?? 0),
        growth: known?.growth ?? deviceGrowth(record, device),
      });
    }
  }
  return [...found.values()];
}

function deviceGrowth(record: ProcessRecord, { index }: DeviceRecord): number | undefined {
  return growthOf(settledOf(record), ({ devices }) => devices[index] ?? null);
}

function settledOf({ samples }: ProcessRecord): readonly Sample[] {
  return samples.slice(Math.min(WARM_UP.most, Math.ceil(samples.length * WARM_UP.share)));
}

function growthOf(samples: readonly Sample[], value: (sample: Sample) => number | null): number | undefined {
  const points = samples.flatMap((sample) => {
    const at = value(sample);
    return at === null ? [] : [[sample.step, at] as const];
  });
  return points.length < FEWEST_POINTS ? undefined : slopeOf(points);
}

/** After the warm-up, so that compiling and the first touch of memory do not count. */
function rateOf(record: ProcessRecord): number | undefined {
  const settled = settledOf(record);
  const [first] = settled;
  const last = settled.at(-1);
  if (first === undefined || last === undefined || last.seconds <= first.seconds) return undefined;
  return (last.step - first.step) / (last.seconds - first.seconds);
}

function sumOf(values: readonly (number | null)[]): number | undefined {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? undefined : known.reduce((sum, value) => sum + value, 0);
}
