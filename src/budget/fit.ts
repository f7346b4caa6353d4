import { type Budget, budgetOf, passBytes, type Run } from './memory.js';
import { adapterParameters, LINEARS } from './shape.js';
import { isHalf, isQuantized } from './state.js';

/** What a change does to the training: 1 nothing but time, 2 how a step is run, 3 its numbers, 4 what is trained on what. */
export type Tier = 1 | 2 | 3 | 4;

/** One way to need less, in the order in which to try them. */
interface Lever {
  readonly name: string;
  /** The transform that writes it into code, where there is one. */
  readonly transform?: string;
  readonly tier: Tier;
  /** What it costs, in words. */
  readonly price: string;
  /** The runs it leads to, gentlest first; none where it does not apply. */
  settings(run: Run): readonly Setting[];
}

interface Setting {
  readonly run: Run;
  readonly what: string;
  /** What its transform has to be told. */
  readonly options?: Readonly<Record<string, number>>;
}

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
const SHORTEST_SEQUENCE = 256;
const SMALL_RANK = 16;

/** By the interval: what may not fit is tight. */
export function verdictOf({ peak, high }: Pick<Budget, 'peak' | 'high'>, size: number): Verdict {
  if (high * HEADROOM <= size) return 'fits';
  return peak <= size ? 'tight' : 'no';
}

const LEVERS: readonly Lever[] = [
  {
    name: 'fused optimizer',
    transform: 'fused-optimizer',
    tier: 1,
    price: 'results differ in the last bits; faster',
    settings: (run) =>
      run.optimizer === 'adamw' ? [{ run: { ...run, optimizer: 'adamw-fused' }, what: '`fused=True`' }] : [],
  },
  {
    name: 'gradient checkpointing',
    transform: 'enable-gradient-checkpointing',
    tier: 1,
    price: 'the same results; a step took 26 % longer where it was measured',
    settings: (run) =>
      run.checkpointing || run.shape.kind === 'convolutional'
        ? []
        : [{ run: { ...run, checkpointing: true }, what: '`gradient_checkpointing=True`' }],
  },
  {
    name: 'sharding',
    tier: 2,
    price: 'the same results up to rounding; more traffic between the GPUs',
    settings: (run) =>
      run.parallel === 'data' && run.gpus > 1
        ? [{ run: { ...run, parallel: 'sharded' }, what: 'FSDP or ZeRO-3 instead of DDP' }]
        : [],
  },
  {
    name: 'smaller batch, more accumulation',
    transform: 'rebalance-batch',
    tier: 2,
    price: 'the same effective batch, slower; not for batch norm or losses across the batch',
    settings: (run) =>
      halvings(run.batch, 1).map((batch) => ({
        run: { ...run, batch, accumulates: true },
        what: `batch ${run.batch} → ${batch}, accumulation × ${Math.round(run.batch / batch)}`,
        options: { 'batch-size': batch },
      })),
  },
  {
    name: 'loss in chunks',
    transform: 'logits-upcast',
    tier: 2,
    price: 'results differ in the last bits; needs liger-kernel, or a TRL that has it',
    settings: (run) =>
      run.chunkedLoss
        ? []
        : [
            {
              run: { ...run, chunkedLoss: true },
              what: '`use_liger_kernel=True`, or a chunked cross entropy',
            },
          ],
  },
  {
    name: 'optimizer state in host memory',
    tier: 2,
    price: 'the same results, slower steps; costs as much host memory',
    settings: (run) =>
      run.offload === 'none'
        ? [{ run: { ...run, offload: 'optimizer' }, what: 'ZeRO-Offload, or a paged optimizer' }]
        : [],
  },
  {
    name: 'autocast',
    tier: 3,
    price: 'changes the numbers: activations in half precision',
    settings: (run) =>
      run.dtype === 'fp32' ? [{ run: { ...run, dtype: 'mixed' }, what: '`bf16=True`' }] : [],
  },
  {
    name: '8-bit optimizer state',
    transform: 'adamw-8bit',
    tier: 3,
    price: 'changes the numbers: moments in 8 bits; needs bitsandbytes',
    settings: (run) =>
      run.optimizer === 'adamw' || run.optimizer === 'adamw-fused'
        ? [{ run: { ...run, optimizer: 'adamw-8bit' }, what: '`AdamW8bit`' }]
        : [],
  },
  {
    name: 'weights in bf16',
    tier: 3,
    price: 'changes the numbers: small updates are rounded away',
    settings: (run) =>
      (run.dtype === 'fp32' || run.dtype === 'mixed') && !run.masterWeights
        ? [{ run: { ...run, dtype: 'bf16' }, what: 'load the model in bfloat16' }]
        : [],
  },
  {
    name: 'shorter sequences',
    transform: 'max-sequence-length',
    tier: 4,
    price: 'cuts off longer examples',
    settings: (run) =>
      isVision(run)
        ? []
        : halvings(run.sequence, SHORTEST_SEQUENCE).map((sequence) => ({
            run: { ...run, sequence },
            what: `sequence ${run.sequence} → ${sequence}`,
            options: { length: sequence },
          })),
  },
  {
    name: 'low-rank adapters',
    tier: 4,
    price: 'trains adapters instead of the model',
    settings: (run) => (run.lora === undefined ? adapted(run, SMALL_RANK) : []),
  },
  {
    name: 'smaller rank',
    transform: 'lora-rank',
    tier: 4,
    price: 'takes capacity from the adapters',
    settings: (run) =>
      halvings(run.lora?.rank ?? 0, SMALL_RANK).flatMap((rank) => {
        const { lora } = run;
        if (lora === undefined) return [];
        const trainable = Math.round((run.trainable * rank) / lora.rank);
        return [
          {
            run: { ...run, trainable, lora: { ...lora, rank } },
            what: `rank ${lora.rank} → ${rank}`,
            options: { rank },
          },
        ];
      }),
  },
  {
    name: 'base model in 4 bits',
    tier: 4,
    price: 'changes the numbers: the frozen weights are rounded to 4 bits; needs bitsandbytes',
    settings: (run) =>
      run.lora !== undefined && isHalf(run.dtype) && !isQuantized(run.dtype)
        ? [{ run: { ...run, dtype: 'int4' }, what: '`load_in_4bit=True` in a `BitsAndBytesConfig`' }]
        : [],
  },
];

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

function isVision({ shape }: Run): boolean {
  return shape.kind === 'convolutional' || shape.image !== undefined;
}

function adapted(run: Run, rank: number): readonly Setting[] {
  if (run.shape.kind === 'convolutional') return [];
  const trainable = Math.round(adapterParameters(run.shape, rank));
  const lora = { rank, adapted: LINEARS, dropout: 0 };
  return [{ run: { ...run, trainable, lora }, what: `LoRA of rank ${rank}` }];
}

/** 8 → 4, 2, 1 */
function halvings(from: number, least: number): readonly number[] {
  const found: number[] = [];
  for (let at = Math.floor(from / 2); at >= least; at = Math.floor(at / 2)) found.push(at);
  return found;
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
