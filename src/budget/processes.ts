import type { Run } from './memory.js';
import { blockWeights } from './pass.js';
import { embeddingParameters } from './shape.js';
import { trainedBytes, WEIGHT_BYTES } from './state.js';

/** How DDP holds what it sends. */
export interface Bucketing {
  /** `gradient_as_bucket_view=True`: the gradients are views of the buckets, not copies. */
  readonly views: boolean;
  /** After the first step the buckets are made anew; not with `find_unused_parameters=True`. */
  readonly remade: boolean;
}

const BY_DEFAULT: Bucketing = { views: false, remade: true };

interface Buckets {
  readonly buckets: number;
  /** Of the first step, in the forward pass and at the begin of the backward pass of the second. */
  readonly old: number;
  /** The same, in what comes after. */
  readonly later: number;
  /** The gradients are in the buckets. */
  readonly isGradient: boolean;
}

const NONE: Buckets = { buckets: 0, old: 0, later: 0, isGradient: false };

/** DeepSpeed sends gradients in parts of `reduce_bucket_size`, 5e8 by default, and fills one while another is sent. */
const ZERO_BUCKETS = 2 * 5e8;

/**
 * DDP sends the gradients in buckets, and makes them anew in the second pass, in the order in which gradients come. NCCL's
 * process group holds tensors that are sent until its watchdog, which looks every 100 ms, has seen that they are, and the
 * next collective comes by. So the old buckets are there in the second forward pass, and in a short step until its end.
 */
export function bucketsOf(run: Run, gradients: number, state: number): Buckets {
  if (run.parallel !== 'data' || run.gpus === 1 || gradients === 0) return NONE;
  if (run.zero !== undefined) {
    const all = run.trainable * trainedBytes(run);
    return { ...NONE, buckets: Math.min(all, ZERO_BUCKETS * trainedBytes(run)) };
  }
  const { views, remade } = run.bucketing ?? BY_DEFAULT;
  // With accumulation the second pass is in the first step, and the optimizer has no state yet.
  const old = !remade ? 0 : run.accumulates ? Math.max(0, gradients - state) : gradients;
  return { buckets: gradients, old, later: isShort(run) ? old : 0, isGradient: views };
}

/** What the row of the buckets holds, in words. */
export function bucketWords(run: Run): string {
  if (run.zero !== undefined) return 'DeepSpeed: two buckets of gradients on their way, by its documentation';
  const { views, remade } = run.bucketing ?? BY_DEFAULT;
  const what = views
    ? 'DDP: the gradients, as views of what is sent'
    : 'DDP: the gradients once more, to send them';
  return remade ? `${what}; after the first step NCCL still holds the old buckets` : what;
}

/** Floating-point operations a second of training on an H200, at best. */
const RATES = { fp32: 40e12, mixed: 300e12, bf16: 400e12, fp16: 400e12, int8: 400e12, int4: 400e12 } as const;
/** Half the time that the watchdog sleeps. */
const SHORT_SECONDS = 0.05;

function isShort({ shape, parameters, batch, sequence, target, checkpointing, dtype }: Run): boolean {
  if (shape.kind === 'convolutional') return true;
  const length = shape.image === undefined ? sequence : Math.floor(sequence / shape.image.patch) ** 2 + 1;
  const tokens = batch * (shape.encoderLayers > 0 ? length + (target ?? length) : length);
  const operations = 2 * parameters * tokens * (checkpointing ? 4 : 3);
  return operations / RATES[dtype] < SHORT_SECONDS;
}

/** FSDP holds the embeddings whole from the forward to the backward pass, a block, and the next one or a block's gradient. */
export function gatheredBytes(run: Run): number {
  if (run.shape.kind === 'convolutional') return 0;
  return (embeddingParameters(run.shape) + 2 * blockWeights(run)) * WEIGHT_BYTES[run.dtype];
}

/** The gradients of the embeddings, of all processes together. */
export function endGradients(run: Run): number {
  if (run.shape.kind === 'convolutional' || run.lora !== undefined) return 0;
  return embeddingParameters(run.shape) * trainedBytes(run);
}

/** Among how many GPUs weights, gradients and optimizer state are divided. */
export function divided({ gpus, parallel }: Run): number {
  return parallel === 'data' ? 1 : gpus;
}
