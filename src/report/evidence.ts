import type { Measurement, Symptom, TransformMeta } from '../toolkit/contract.js';
import type { Figure, Machine, Quantities } from '../toolkit/evidence.js';

type Name = 'peak' | 'growth' | 'reserved' | 'host' | 'ms' | 'syncs';

/** In the order in which they are told. */
const NAMES: readonly Name[] = ['peak', 'growth', 'reserved', 'host', 'ms', 'syncs'];
/** What a fix of a symptom is expected to change. */
const EXPECTED: Readonly<Record<Symptom, Name>> = {
  leak: 'growth',
  peak: 'peak',
  sync: 'syncs',
  fragmentation: 'reserved',
  'host-memory': 'host',
  'future-break': 'peak',
};
/** Memory that differs by less, in MiB, is the same. */
const SAME_MIB = 1;
/** A share by which memory or time differs between two runs of the same code. */
const NOISE = { memory: 0.01, time: 0.02 };

/** What the GPU program measured, then what was measured otherwise. */
export function measurementsOf({ evidence }: TransformMeta): readonly Measurement[] {
  const { gpu } = evidence;
  if (gpu === undefined || 'notMeasured' in gpu) return evidence.measurements;
  const measured = gpu.figures.map((figure) => ({
    what: figure.what,
    before: sideText(figure, 'before'),
    after: sideText(figure, 'after'),
    setup: `${shortMachine(gpu.machine)}, ${figure.setup}`,
  }));
  return [...measured, ...evidence.measurements];
}

/** Quantities were measured, and none of them was lower after the fix than before. */
export function isNil(meta: TransformMeta): boolean {
  const measured = figuresOf(meta).filter(({ before }) => before.outcome === undefined);
  return measured.length > 0 && !measured.some((figure) => NAMES.some((name) => fell(figure, name)));
}

/** What its symptom is about, in the figure that comes first: `evaluation step: peak 7211 MiB → peak 2549 MiB (…)`. */
export function headline(meta: TransformMeta): string | undefined {
  const [figure] = figuresOf(meta);
  const { gpu } = meta.evidence;
  if (figure === undefined || gpu === undefined || 'notMeasured' in gpu) return undefined;
  return `${figure.what}: ${changeText(figure, EXPECTED[meta.symptom])} (${shortMachine(gpu.machine)}, ${figure.setup})`;
}

/** The share of what its symptom is about by which it fell, in the figure that comes first; 0 where it did not. */
export function gainOf(meta: TransformMeta): number {
  const [figure] = figuresOf(meta);
  const expected = EXPECTED[meta.symptom];
  return figure !== undefined && fell(figure, expected) ? Number(changeOf(figure, expected).toFixed(3)) : 0;
}

/** The same with its words, where it fell. */
export function freed(meta: TransformMeta): readonly {
  readonly what: string;
  readonly before: string;
  readonly after: string;
  readonly share: number;
}[] {
  const [figure] = figuresOf(meta);
  const expected = EXPECTED[meta.symptom];
  const share = gainOf(meta);
  if (figure === undefined || share === 0) return [];
  const { what, before, after } = figure;
  const told = (side: Quantities) => quantityText(expected, side[expected] ?? 0);
  return [{ what, before: told(before), after: told(after), share }];
}

/**
 * What was measured of this very case, in one phrase. Where a transform has several cases and nothing says which one it is,
 * the most and the least that was seen: a figure of another case would be a promise.
 */
export function measuredEffect(meta: TransformMeta, measuredAs?: string): string {
  const { gpu } = meta.evidence;
  const figures = figuresOf(meta).filter(({ before }) => before.outcome === undefined);
  const [only, ...others] = figures;
  if (gpu === undefined || 'notMeasured' in gpu || only === undefined)
    return meta.evidence.verdict.split(/(?<=\.) /)[0] ?? '';
  const machine = shortMachine(gpu.machine).split(',')[0] ?? '';
  const text = (figure: Figure) => {
    const [from, to] = changeText(figure, EXPECTED[meta.symptom]).split(' → ');
    const told = from === to ? `no difference was measured, ${from} before and after` : `${from} → ${to}`;
    return `${told} (${figure.what}, ${machine})`;
  };
  const own = figures.find(({ what }) => measuredAs !== undefined && what.startsWith(measuredAs));
  if (own !== undefined || others.length === 0) return text(own ?? only);
  const gain = (figure: Figure) =>
    isGain(figure) ? changeOf(figure, shownName(figure, EXPECTED[meta.symptom])) : 0;
  const sorted = [...figures].sort((a, b) => gain(b) - gain(a));
  const [most = only] = sorted;
  const least = sorted.at(-1) ?? only;
  if (gain(most) === 0) return 'no difference was measured';
  const tail = gain(least) === 0 ? 'other cases gain nothing' : `other cases gain less`;
  return `in other code, at most ${text(most)}; ${tail}`;
}

/** A quantity of a figure, before and after, for a picture. */
export interface Comparison {
  readonly name: string;
  readonly before: number;
  readonly after: number;
  readonly beforeText: string;
  readonly afterText: string;
  /** Beyond what the same code differs from run to run. */
  readonly differs: boolean;
}

/** What was measured in quantities, figure by figure, in the order in which they are told. */
export function comparisonsOf(
  meta: TransformMeta,
): readonly { readonly what: string; readonly setup: string; readonly quantities: readonly Comparison[] }[] {
  return figuresOf(meta)
    .filter(({ before }) => before.outcome === undefined)
    .map((figure) => ({
      what: figure.what,
      setup: figure.setup,
      quantities: NAMES.filter((name) => isWorthTelling(figure, name)).map((name) => {
        const [before, after] = [figure.before[name] ?? 0, figure.after[name] ?? 0];
        return {
          name: PLAIN_NAMES[name],
          before,
          after,
          beforeText: plainQuantity(name, before),
          afterText: plainQuantity(name, after),
          differs: differs(figure, name),
        };
      }),
    }));
}

const PLAIN_NAMES: Readonly<Record<Name, string>> = {
  peak: 'peak',
  growth: 'growth per step',
  reserved: 'reserved',
  host: 'host memory',
  ms: 'time',
  syncs: 'synchronisations',
};

/** As it is told, less the name that stands beside it. */
function plainQuantity(name: Name, value: number): string {
  if (name === 'syncs') return String(value);
  if (name === 'growth') return mib(Math.abs(value) < SAME_MIB ? 0 : value);
  return quantityText(name, value).replace(/^(?:peak|reserved|host) /, '');
}

/** What is told of it fell. */
function isGain(figure: Figure): boolean {
  return NAMES.some((name) => name !== 'ms' && fell(figure, name));
}

/** What exactly it was measured with and how to measure it again, or why it was not measured. */
export function howMeasured(meta: TransformMeta): string | undefined {
  const { gpu } = meta.evidence;
  if (gpu === undefined) return undefined;
  if ('notMeasured' in gpu) return `Not measured on a GPU, because ${gpu.notMeasured}.`;
  const { gpu: name, torch, cuda, transformers, python, date } = gpu.machine;
  const versions = `torch ${torch}, CUDA ${cuda}, transformers ${transformers}, Python ${python}`;
  return `Times are medians. Measured on ${date} with \`bench/gpu/measure.py --only ${meta.id}\`: ${name}, ${versions}.`;
}

function figuresOf({ evidence: { gpu } }: TransformMeta): readonly Figure[] {
  return gpu === undefined || 'notMeasured' in gpu ? [] : gpu.figures;
}

function shortMachine({ gpu, torch, transformers }: Machine): string {
  const short = (version: string) => version.split('.').slice(0, 2).join('.');
  return `${gpu}, torch ${short(torch)}, transformers ${short(transformers)}`;
}

function sideText(figure: Figure, side: 'before' | 'after'): string {
  const { outcome, warnings } = figure[side];
  if (outcome !== undefined) return outcome;
  const told = NAMES.filter((name) => isWorthTelling(figure, name)).map((name) =>
    quantityText(name, figure[side][name] ?? 0),
  );
  if (figure.before.warnings !== figure.after.warnings) told.push(counted(warnings ?? 0, 'warning'));
  return told.join(', ');
}

function changeText(figure: Figure, expected: Name): string {
  const { before, after } = figure;
  if (before.outcome !== undefined) return `${before.outcome} → ${after.outcome ?? ''}`;
  const name = shownName(figure, expected);
  return `${quantityText(name, before[name] ?? 0)} → ${quantityText(name, after[name] ?? 0)}`;
}

function shownName(figure: Figure, expected: Name): Name {
  return isWorthTelling(figure, expected) ? expected : mostChanged(figure);
}

/** What fell most, else what rose most, else the time; what is reserved follows from the rest. */
function mostChanged(figure: Figure): Name {
  const weight = (name: Name) => changeOf(figure, name) + (fell(figure, name) ? 1 : 0);
  const changed = NAMES.filter((name) => name !== 'reserved' && differs(figure, name));
  return changed.sort((a, b) => weight(b) - weight(a))[0] ?? 'ms';
}

/** The share of the larger side by which the sides differ. */
function changeOf({ before, after }: Figure, name: Name): number {
  const [from, to] = [before[name] ?? 0, after[name] ?? 0];
  return Math.abs(from - to) / Math.max(Math.abs(from), Math.abs(to), Number.EPSILON);
}

/** More than the same code differs from run to run. */
function differs(figure: Figure, name: Name): boolean {
  const [before, after] = [figure.before[name], figure.after[name]];
  if (before === undefined || after === undefined) return false;
  if (name === 'syncs') return before !== after;
  if (name === 'ms') return changeOf(figure, name) > NOISE.time && areApart(figure.before, figure.after);
  return Math.abs(before - after) > SAME_MIB && changeOf(figure, name) > NOISE.memory;
}

function fell(figure: Figure, name: Name): boolean {
  return differs(figure, name) && (figure.after[name] ?? 0) < (figure.before[name] ?? 0);
}

/** What ran once has no spread, so that its time says nothing. */
function areApart(before: Quantities, after: Quantities): boolean {
  const { msLow = 0, msHigh = Number.POSITIVE_INFINITY } = before;
  return (after.msLow ?? 0) > msHigh || (after.msHigh ?? Number.POSITIVE_INFINITY) < msLow;
}

/** The allocator reserves 2 MiB for a single number: reserved memory says something where a peak does. */
function isWorthTelling(figure: Figure, name: Name): boolean {
  if (name === 'reserved') return isWorthTelling(figure, 'peak');
  const { before, after } = figure;
  const largest = Math.max(Math.abs(before[name] ?? 0), Math.abs(after[name] ?? 0));
  return name === 'ms' || name === 'syncs' ? largest > 0 : largest >= SAME_MIB;
}

function quantityText(name: Name, value: number): string {
  switch (name) {
    case 'peak':
      return `peak ${mib(value)}`;
    case 'growth':
      return Math.abs(value) < SAME_MIB ? 'no growth' : `+${mib(value)} a step`;
    case 'reserved':
      return `reserved ${mib(value)}`;
    case 'host':
      return `host ${mib(value)}`;
    case 'ms':
      return `${threeDigits(value)} ms`;
    case 'syncs':
      return counted(value, 'sync');
  }
}

function mib(value: number): string {
  return `${value < 10 ? threeDigits(value) : Math.round(value)} MiB`;
}

function threeDigits(value: number): string {
  return value >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(3)));
}

function counted(count: number, noun: string): string {
  return `${count === 0 ? 'no' : count} ${noun}${count === 1 ? '' : 's'}`;
}
