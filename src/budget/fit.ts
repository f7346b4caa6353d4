import { type Budget, budgetOf, isHalf, isQuantized, passBytes, type Run } from './memory.js';
import { adapterParameters } from './shape.js';

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
}

export interface Step {
  readonly name: string;
  readonly transform: string | undefined;
  readonly tier: Tier;
  readonly what: string;
  readonly price: string;
  readonly before: number;
  readonly after: number;
}

export interface Fit {
  /** Bytes of the GPU. */
  readonly size: number;
  /** `tight`: less than a tenth to spare, which is as much as the estimate may be off. */
  readonly verdict: Verdict;
  readonly steps: readonly Step[];
  readonly budget: Budget;
}

export type Verdict = 'fits' | 'tight' | 'no';

const COMFORT = 0.9;
const SHORTEST_SEQUENCE = 256;
const SMALL_RANK = 16;

export function verdictOf(peak: number, size: number): Verdict {
  if (peak <= COMFORT * size) return 'fits';
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
      run.checkpointing
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
        run: { ...run, batch },
        what: `batch ${run.batch} → ${batch}, accumulation × ${Math.round(run.batch / batch)}`,
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
      halvings(run.sequence, SHORTEST_SEQUENCE).map((sequence) => ({
        run: { ...run, sequence },
        what: `sequence ${run.sequence} → ${sequence}`,
      })),
  },
  {
    name: 'low-rank adapters',
    tier: 4,
    price: 'trains adapters instead of the model',
    settings: (run) => (run.loraRank === undefined ? [adapted(run, SMALL_RANK)] : []),
  },
  {
    name: 'smaller rank',
    transform: 'lora-rank',
    tier: 4,
    price: 'takes capacity from the adapters',
    settings: (run) =>
      run.loraRank === undefined
        ? []
        : halvings(run.loraRank, SMALL_RANK).map((rank) => {
            const trainable = Math.round((run.trainable * rank) / (run.loraRank ?? rank));
            return { run: { ...run, trainable, loraRank: rank }, what: `rank ${run.loraRank} → ${rank}` };
          }),
  },
  {
    name: 'base model in 4 bits',
    tier: 4,
    price: 'changes the numbers: the frozen weights are rounded to 4 bits; needs bitsandbytes',
    settings: (run) =>
      run.loraRank !== undefined && isHalf(run.dtype) && !isQuantized(run.dtype)
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
export function fitInto(run: Run, size: number): Fit {
  for (const limit of [COMFORT * size, size]) {
    for (const tier of [0, 1, 2, 3, 4]) {
      const levers = LEVERS.filter((lever) => lever.tier <= tier);
      if (peakAfter(run, furthest(run, levers)) > limit) continue;
      for (let count = 0; count <= levers.length; count++) {
        for (const chosen of combinations(levers, count)) {
          const steps = walk(run, chosen, limit);
          if (steps !== undefined) return fit(run, steps, size);
        }
      }
    }
  }
  return fit(run, everything(run), size);
}

interface Taken {
  readonly lever: Lever;
  readonly setting: Setting;
}

/** The chosen levers one after the other, each as gently as the limit allows; undefined where it is not reached. */
function walk(run: Run, chosen: readonly Lever[], limit: number): readonly Taken[] | undefined {
  const [lever, ...rest] = chosen;
  if (lever === undefined) return budgetOf(run).peak <= limit ? [] : undefined;
  for (const setting of settingsOf(lever, run)) {
    const after = walk(setting.run, rest, limit);
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
function everything(run: Run): readonly Taken[] {
  let levers = LEVERS;
  const lowest = peakAfter(run, furthest(run, levers));
  for (const lever of LEVERS.toReversed()) {
    const fewer = levers.filter((other) => other !== lever);
    if (peakAfter(run, furthest(run, fewer)) <= lowest) levers = fewer;
  }
  return furthest(run, levers);
}

function peakAfter(run: Run, taken: readonly Taken[]): number {
  return budgetOf(taken.at(-1)?.setting.run ?? run).peak;
}

/** With the figures that were given: activations shrink as the estimate does, and what a lever replaces is computed. */
function settingsOf(lever: Lever, run: Run): readonly Setting[] {
  return lever.settings(run).map(({ run: next, what }) => {
    const { activations, adapters, gradients, optimizer, ...given } = next.given;
    const isSameState = next.dtype === run.dtype && next.trainable === run.trainable;
    const keepsState = isSameState && next.optimizer === run.optimizer;
    return {
      what,
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

function fit(run: Run, taken: readonly Taken[], size: number): Fit {
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
    };
  });
  const budget = budgetOf(at);
  return { size, verdict: verdictOf(budget.peak, size), steps, budget };
}

function adapted(run: Run, rank: number): Setting {
  const trainable = Math.round(adapterParameters(run.shape, rank));
  return { run: { ...run, trainable, loraRank: rank }, what: `LoRA of rank ${rank}` };
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
