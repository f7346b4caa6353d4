import type { Numerics } from '../../toolkit/contract.js';
import { type Comparison, compare } from './compare.js';
import { trainersOf } from './figures.js';
import type { Trial, Variant } from './record.js';
import { type FixCount, loosest, type ProveReport, ranked, type Setup } from './report.js';

/** What is to be proven, and how. */
export interface Plan {
  readonly command: readonly string[];
  readonly fixes: readonly FixCount[];
  /** The files that change, from the root of the tree. */
  readonly changed: readonly string[];
  readonly repeats: number;
  readonly counts: boolean;
  readonly perFix: boolean;
  readonly metric: string | undefined;
}

/** The runs, by what was changed: nothing, everything, or one transform's findings by its id. */
export interface Runs {
  readonly before: Variant;
  readonly after: Variant;
  readonly alone: ReadonlyMap<string, Variant>;
}

export function reportOf(plan: Plan, { before, after, alone }: Runs): ProveReport {
  return {
    command: plan.command,
    fixes: plan.fixes,
    repeats: plan.repeats,
    setup: setupOf([before, after].flatMap(({ measured, counted }) => [...measured, ...counted])),
    comparison: overall(plan, before, after),
    perFix: ranked(
      [...alone].map(([transform, variant]) => ({
        transform,
        comparison: compare(before, variant, { ...plan, numerics: numericsOf(plan, transform) }),
      })),
    ),
  };
}

export function overall(plan: Plan, before: Variant, after: Variant): Comparison {
  return compare(before, after, { ...plan, numerics: numericsOf(plan) });
}

function numericsOf({ fixes }: Plan, transform?: string): Numerics {
  const counted = fixes.filter((fix) => transform === undefined || fix.transform === transform);
  return loosest(counted.map(({ numerics }) => numerics));
}

export function setupOf(trials: readonly Trial[]): Setup {
  const trainers = trials.flatMap(({ records }) => trainersOf(records));
  const [first] = trainers;
  const devices = new Map(trainers.flatMap((record) => record.devices.map(({ id, name }) => [id, name])));
  return {
    python: first?.python ?? null,
    torch: first?.torch ?? null,
    transformers: first?.transformers ?? null,
    platform: first?.platform ?? null,
    cpu: first?.cpu ?? null,
    devices: [...devices.values()],
  };
}
