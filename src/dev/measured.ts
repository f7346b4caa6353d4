import { readFileSync } from 'node:fs';
import { modelOf } from '../budget/configuration.js';
import { convNetOf, convParameters } from '../budget/convolution.js';
import type { Dtype, Optimizer, Run } from '../budget/memory.js';
import { adapterParameters, type KnownModel, type Linear, withClasses } from '../budget/shape.js';

/** A line of `bench/gpu/budget.jsonl`. */
export interface Measured {
  readonly id: number;
  readonly task: 'train' | 'generate';
  readonly config: Readonly<Record<string, unknown>>;
  readonly dtype: 'fp32' | 'autocast' | 'bf16';
  readonly optimizer: Optimizer | 'none';
  readonly batch: number;
  readonly sequence: number;
  readonly target: number | null;
  readonly checkpointing: boolean;
  readonly attention: 'sdpa' | 'eager';
  readonly lora: {
    readonly rank: number;
    readonly targets: readonly string[];
    readonly dropout?: number;
  } | null;
  readonly quantized: 'nf4' | null;
  readonly padded: boolean;
  readonly keeps: boolean;
  readonly accumulated: number;
  /** Of a head for classes. */
  readonly classes?: number;
  readonly parameters: number;
  readonly peak: number;
  readonly reserved: number;
  readonly device: string;
  readonly versions: Readonly<Record<string, string>>;
}

export function measuredRuns(): readonly Measured[] {
  const path = new URL('../../bench/gpu/budget.jsonl', import.meta.url);
  return readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line): Measured => JSON.parse(line));
}

/** A line of `bench/gpu/nccl.jsonl` or `sharded.jsonl`: a process of several, as far as one GPU can show it. */
export interface MeasuredProcess extends Measured {
  readonly mode: 'plain' | 'ddp' | 'ddp-view' | 'ddp-unused' | 'fsdp';
  /** One with NCCL, or several with Gloo. */
  readonly world: number;
  /** Waited before each step, so that NCCL had let go of everything. */
  readonly paused?: boolean;
  /** Of every try; `peak` is the largest. */
  readonly peaks?: readonly number[];
  /** Drawn at random by it, and looked at when the formulas were final. */
  readonly seed?: number;
}

export function measuredProcesses(): readonly MeasuredProcess[] {
  return ['nccl', 'sharded'].flatMap((name) => {
    const path = new URL(`../../bench/gpu/${name}.jsonl`, import.meta.url);
    return readFileSync(path, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line): MeasuredProcess => JSON.parse(line));
  });
}

/** Its run; of DDP with one process as with two, since buckets do not depend on their number. */
export function processRun(row: MeasuredProcess): Run {
  const { mode, world, paused = false } = row;
  // Gloo holds nothing, and a pause lets NCCL let go; within a step with accumulation there is none.
  const isHeld = world === 1 && !(paused && row.accumulated === 1);
  return {
    ...measuredRun(row),
    gpus: mode.startsWith('ddp') ? 2 : world,
    parallel: mode === 'fsdp' ? 'sharded' : 'data',
    bucketing: { views: mode === 'ddp-view', remade: isHeld && mode !== 'ddp-unused' },
  };
}

/** As in `bench/gpu/budget_runs.py`: drawn at random, and measured when the formulas were final. */
const FIRST_HELD_OUT = 242;
const LAST_HELD_OUT = 289;

export function isHeldOut({ id }: Measured): boolean {
  return id >= FIRST_HELD_OUT && id <= LAST_HELD_OUT;
}

/** The same run as the budget knows it: from its configuration, not from what was measured. */
export function measuredRun(row: Measured): Run {
  const model = modelIn(row);
  const { parameters, shape } = row.classes === undefined ? model : withClasses(model, row.classes);
  const adapted = row.lora?.targets.map((name) => name.replace('_proj', '') as Linear);
  const lora =
    row.lora === null || adapted === undefined
      ? undefined
      : { rank: row.lora.rank, adapted, dropout: row.lora.dropout ?? 0 };
  const dtype: Dtype = row.quantized === 'nf4' ? 'int4' : row.dtype === 'autocast' ? 'mixed' : row.dtype;
  return {
    task: row.task,
    parameters,
    shape,
    dtype,
    optimizer: row.optimizer === 'none' ? 'sgd' : row.optimizer,
    masterWeights: false,
    trainable:
      lora === undefined || shape.kind === 'convolutional'
        ? parameters
        : adapterParameters(shape, lora.rank, lora.adapted),
    ...(lora !== undefined && { lora }),
    batch: row.batch,
    sequence: row.sequence,
    ...(row.target !== null && { target: row.target }),
    attention: row.attention,
    padded: row.padded,
    checkpointing: row.checkpointing,
    chunkedLoss: false,
    keepsOutputs: row.keeps,
    accumulates: row.accumulated > 1,
    gpus: 1,
    parallel: 'data',
    offload: 'none',
    given: {},
  };
}

function modelIn({ config }: Measured): KnownModel {
  const net = convNetOf(String(config['name']));
  if (net !== undefined) return { parameters: convParameters(net), shape: net, remarks: [] };
  const model = modelOf(config);
  if (typeof model === 'string') throw new Error(model);
  return model;
}
