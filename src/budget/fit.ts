import { LEVERS, type Lever, type Setting, type Tier } from './levers.js';
import { type Budget, budgetOf, passBytes, type Run } from './memory.js';

export interface Step {
  readonly name: string;
  readonly transform: string | undefined;
  readonly tier: Tier;
  readonly what: string;
  readonly price: string;
  readonly before: number;
  readonly after: number;
  readonly options: Readonly<Record<string, number>>;
}

export interface Fit {
  /** Bytes of the GPU. */
  readonly size: number;
  /** `tight`: within what the estimate may be off. */
  readonly verdict: Verdict;
  readonly steps: readonly Step[];
  readonly budget: Budget;
}

export type Verdict = 'fits' | 'tight' | 'no';

/** What the caching allocator needs to find its blocks in, on a card that is nearly full. */
const HEADROOM = 1.02;
/** A step that gains less than this share gains nothing. */
const WORTH = 0.005;

/** By the interval: what may not fit is tight. */
export function verdictOf({ peak, high }: Pick<Budget, 'peak' | 'high'>, size: number): Verdict {
  if (high * HEADROOM <= size) return 'fits';
  return peak <= size ? 'tight' : 'no';
}

/** Every transform that a proposal may name. */
export const PROPOSED: readonly string[] = LEVERS.flatMap(({ transform }) => transform ?? []);

/**
 * The gentlest way into a GPU of this size: no lever of a harsher tier than needed, then as few as possible, then those
 * that come first. Where nothing leaves a tenth to spare, a tight fit; where nothing fits, everything that helps.
 */
export function fitInto(
  run: Run,
  size: number,
  isOffered: (transform: string | undefined) => boolean = () => true,
): Fit {
  const all = LEVERS.filter(({ transform }) => isOffered(transform));
  for (const isEnough of [
    (budget: Budget) => verdictOf(budget, size) === 'fits',
    (budget: Budget) => budget.peak <= size,
  ]) {
    for (const tier of [0, 1, 2, 3, 4]) {
      const levers = all.filter((lever) => lever.tier <= tier);
      if (!isEnough(budgetAfter(run, furthest(run, levers)))) continue;
      for (let count = 0; count <= levers.length; count++) {
        for (const chosen of combinations(levers, count)) {
          const steps = walk(run, chosen, isEnough);
          if (steps !== undefined) return fit(run, gaining(run, steps), size);
        }
      }
    }
  }
  return fit(run, gaining(run, everything(run, all)), size);
}

interface Taken {
  readonly lever: Lever;
  readonly setting: Setting;
}

/** The chosen levers one after the other, each as gently as the limit allows; undefined where it is not reached. */
function walk(
  run: Run,
  chosen: readonly Lever[],
  isEnough: (budget: Budget) => boolean,
): readonly Taken[] | undefined {
  const [lever, ...rest] = chosen;
  if (lever === undefined) return isEnough(budgetOf(run)) ? [] : undefined;
  for (const setting of settingsOf(lever, run)) {
    const after = walk(setting.run, rest, isEnough);
    if (after !== undefined) return [{ lever, setting }, ...after];
  }
  return undefined;
}

/** These levers as far as they go. */
function furthest(run: Run, levers: readonly Lever[]): readonly Taken[] {
  const taken: Taken[] = [];
  for (const lever of levers) {
    const setting = settingsOf(lever, taken.at(-1)?.setting.run ?? run).at(-1);
    if (setting !== undefined) taken.push({ lever, setting });
  }
  return taken;
}

/** As low as it goes, without the levers that add nothing to it. */
function everything(run: Run, all: readonly Lever[]): readonly Taken[] {
  let levers = all;
  const lowest = peakAfter(run, furthest(run, levers));
  for (const lever of all.toReversed()) {
    const fewer = levers.filter((other) => other !== lever);
    if (peakAfter(run, furthest(run, fewer)) <= lowest) levers = fewer;
  }
  return furthest(run, levers);
}

function budgetAfter(run: Run, taken: readonly Taken[]): Budget {
  return budgetOf(taken.at(-1)?.setting.run ?? run);
}

function peakAfter(run: Run, taken: readonly Taken[]): number {
  return budgetAfter(run, taken).peak;
}

/** Those without which the others gain less: a step that gains nothing is none. */
function gaining(run: Run, taken: readonly Taken[]): readonly Taken[] {
  const levers = taken.map(({ lever }) => lever);
  const goal = peakAfter(run, taken);
  for (const { lever } of taken.toReversed()) {
    const fewer = taken.filter((other) => other.lever !== lever).map((other) => other.lever);
    const again = retaken(run, taken, fewer);
    if (again !== undefined && peakAfter(run, again) <= goal * (1 + WORTH) && levers.length > fewer.length)
      return gaining(run, again);
  }
  return taken;
}

/** The same settings of fewer levers. */
function retaken(run: Run, taken: readonly Taken[], levers: readonly Lever[]): readonly Taken[] | undefined {
  const found: Taken[] = [];
  for (const lever of levers) {
    const what = taken.find((other) => other.lever === lever)?.setting.what;
    const setting = settingsOf(lever, found.at(-1)?.setting.run ?? run).find((other) => other.what === what);
    if (setting === undefined) return undefined;
    found.push({ lever, setting });
  }
  return found;
}

/** With the figures that were given: activations shrink as the estimate does, and what a lever replaces is computed. */
function settingsOf(lever: Lever, run: Run): readonly Setting[] {
  return lever.settings(run).map(({ run: next, what, options }) => {
    const { activations, adapters, gradients, optimizer, ...given } = next.given;
    const isSameState = next.dtype === run.dtype && next.trainable === run.trainable;
    const keepsState = isSameState && next.optimizer === run.optimizer;
    return {
      what,
      ...(options !== undefined && { options }),
      run: {
        ...next,
        given: {
          ...given,
          ...(activations !== undefined && { activations: (activations * passBytes(next)) / passBytes(run) }),
          ...(adapters !== undefined && isSameState && { adapters }),
          ...(gradients !== undefined && isSameState && { gradients }),
          ...(optimizer !== undefined && keepsState && { optimizer }),
        },
      },
    };
  });
}

/** In an order in which each step gains something where there is one, else as they are. */
function ordered(run: Run, taken: readonly Taken[]): readonly Taken[] {
  const left = [...taken];
  const found: Taken[] = [];
  while (left.length > 0) {
    const at = found.at(-1)?.setting.run ?? run;
    const before = budgetOf(at).peak;
    const next = left
      .map((each) => ({
        each,
        again: settingsOf(each.lever, at).find(({ what }) => what === each.setting.what),
      }))
      .find(({ again }) => again !== undefined && budgetOf(again.run).peak < before * (1 - WORTH));
    if (next?.again === undefined) return taken;
    found.push({ lever: next.each.lever, setting: next.again });
    left.splice(left.indexOf(next.each), 1);
  }
  return found;
}

function fit(run: Run, chosen: readonly Taken[], size: number): Fit {
  const taken = ordered(run, chosen);
  let at = run;
  const steps = taken.map(({ lever, setting }): Step => {
    const before = budgetOf(at).peak;
    at = setting.run;
    return {
      name: lever.name,
      transform: lever.transform,
      tier: lever.tier,
      what: setting.what,
      price: lever.price,
      before,
      after: budgetOf(at).peak,
      options: setting.options ?? {},
    };
  });
  const budget = budgetOf(at);
  return { size, verdict: verdictOf(budget, size), steps, budget };
}

function* combinations<T>(items: readonly T[], count: number, from = 0): Generator<readonly T[]> {
  if (count === 0) {
    yield [];
    return;
  }
  for (let index = from; index <= items.length - count; index++) {
    const item = items[index];
    if (item === undefined) continue;
    for (const rest of combinations(items, count - 1, index + 1)) yield [item, ...rest];
  }
}
