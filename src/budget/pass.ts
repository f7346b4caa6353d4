import { type Block, blockOf, normBytes, type Place, precisionOf } from './block.js';
import { convBlock } from './convolution.js';
import type { Run } from './memory.js';
import { layerParameters, linearParameters, type Shape } from './shape.js';

/** A forward and a backward pass on one GPU, in bytes. */
export interface Pass {
  /** What blocks keep for their backward pass; with checkpointing only what flows into them. */
  readonly kept: number;
  /** What is kept before the first block and behind the last one. */
  readonly ends: number;
  /** What one block needs in its own backward pass beyond what is kept already. */
  readonly atLast: number;
  readonly atFirst: number;
  /** Logits, their copies and their gradients: while the loss is computed, and in its backward pass. */
  readonly lossForward: number;
  readonly lossBackward: number;
  /** Logits that the model's outputs hold, and with them the keys and values of all blocks. */
  readonly outputs: number;
  readonly caches: number;
  /** What only the cache in the outputs holds, until the loss is there. */
  readonly cached: number;
  /** Half-precision copies of weights: while the forward pass lasts, and behind it. */
  readonly casts: number;
  readonly castsAfter: number;
  /** Numbers in the output embedding. */
  readonly head: number;
  /** Numbers in the first block, and in an embedding of its own before it, whose gradients come last. */
  readonly first: number;
  /** What goes in. */
  readonly batch: number;
  readonly words: string;
}

/** Pieces that a chunked loss is commonly computed in. */
const CHUNKS = 8;

interface Stack {
  readonly block: Block;
  readonly layers: number;
}

/** Of one pass of the trained model. */
export function onePass(run: Run): Pass {
  const { shape } = run;
  if (shape.kind === 'convolutional') return convPass(run, convBlock(shape, run));
  const { sequence, tokens, written } = lengthsOf(run, shape);
  const stacks = stacksOf(run, shape, sequence, written);
  const last = stacks.at(-1)?.block;
  const first = stacks[0]?.block;
  const precision = precisionOf(run);
  const logits = lossBytes(run, shape);
  const hasWords = shape.image === undefined && shape.classes === undefined;
  const words = hasWords ? (written ?? sequence) * run.batch : run.batch;
  const volume = words * (shape.classes ?? shape.vocabulary);
  const ends = endsOf(run, shape, tokens);
  const kept = stacks.reduce(
    (sum, { block, layers }) => sum + layers * (run.checkpointing ? block.input : block.kept),
    0,
  );
  const casts = stacks.reduce((sum, { block, layers }) => sum + layers * block.casts, 0);
  const head = hasWords ? shape.vocabulary * shape.hidden : 0;
  const headCast = precision.autocast ? 2 * head : 0;
  const cached = stacks.reduce((sum, { block, layers }) => sum + layers * block.cached, 0);
  // The last hidden state is in the outputs; where nothing keeps it, that is one more.
  const isKept = !precision.autocast && run.lora === undefined;
  const shown = isKept ? 0 : tokens * shape.hidden * precision.stream;
  const part = run.chunkedLoss ? 1 / CHUNKS : 1;
  return {
    kept,
    ends,
    atLast: last === undefined ? 0 : momentOf(last, run),
    atFirst: (run.checkpointing ? 0 : (first?.kept ?? 0)) + (first === undefined ? 0 : momentOf(first, run)),
    lossForward: volume * logits.forward * part,
    lossBackward: volume * logits.backward * part,
    outputs: volume * precision.narrow * part,
    caches: run.checkpointing ? 0 : cachesOf(run, shape, sequence),
    cached: cached + shown,
    // Autocast keeps copies of trained weights until it ends; of others only the graph does.
    casts: run.checkpointing && run.lora !== undefined ? headCast : casts + headCast,
    castsAfter: run.checkpointing ? headCast : casts + headCast,
    head,
    first: layerParameters(shape) + (hasOneEmbedding(shape) ? 0 : shape.vocabulary * shape.hidden),
    batch: shape.image === undefined ? 24 * tokens : 3 * run.batch * run.sequence ** 2 * precision.stream,
    words: `${tokens} tokens × ${stacks.reduce((sum, { layers }) => sum + layers, 0)} layers`,
  };
}

/** Then its gradient is there since the loss. */
function hasOneEmbedding({ tied, family, classes, image }: Shape): boolean {
  return image !== undefined || (classes === undefined && (tied || family.head === 'masked'));
}

/** Beyond what is kept: the largest moment of a block's backward pass, and with checkpointing the block computed anew. */
function momentOf(block: Block, run: Run): number {
  const attention = Math.max(0, block.attentionBackward - block.keptByFeedForward);
  const moment = Math.max(block.feedForwardBackward, attention);
  return run.checkpointing ? block.kept - block.inputKept + block.casts + moment : moment;
}

function lengthsOf(run: Run, { image, encoderLayers }: Shape) {
  const sequence = image === undefined ? run.sequence : Math.floor(run.sequence / image.patch) ** 2 + 1;
  const written = encoderLayers > 0 ? (run.target ?? run.sequence) : undefined;
  return { sequence, written, tokens: run.batch * (sequence + (written ?? 0)) };
}

function stacksOf(run: Run, shape: Shape, sequence: number, written: number | undefined): readonly Stack[] {
  const { parallel, gpus, batch } = run;
  const spread = (layers: number) => (parallel === 'model' ? Math.ceil(layers / gpus) : layers);
  const stack = (place: Omit<Place, 'batch' | 'source'>, layers: number): Stack => ({
    block: blockOf(run, shape, { ...place, batch, source: sequence }),
    layers: spread(layers),
  });
  if (written === undefined) return [stack({ stack: 'only', sequence }, shape.layers)];
  return [
    stack({ stack: 'encoder', sequence }, shape.encoderLayers),
    stack({ stack: 'decoder', sequence: written }, shape.layers),
  ];
}

/** Bytes of each logit, its copies and gradients. */
function lossBytes(
  run: Run,
  { family, image }: Shape,
): { readonly forward: number; readonly backward: number } {
  const { narrow, autocast } = precisionOf(run);
  if (image !== undefined || (!family.upcast && !autocast))
    return { forward: 2 * narrow, backward: 3 * narrow };
  if (!family.upcast) return { forward: 8, backward: 10 };
  const limited = family.softcap ? narrow : 0;
  return { forward: (narrow === 4 ? 8 : 10) + limited, backward: 12 + limited };
}

function endsOf(run: Run, shape: Shape, tokens: number): number {
  const precision = precisionOf(run);
  const { hidden, family } = shape;
  const embedded = family.dropout > 0 ? hidden * (precision.stream + 1) : 0;
  const last =
    family.head === 'masked' && shape.classes === undefined
      ? hidden * (3 * precision.narrow + precision.stream)
      : normBytes(run, shape, precision, 1);
  return tokens * (embedded + last);
}

/** Keys and values of all blocks, as the outputs of a decoder hold them. */
function cachesOf(run: Run, shape: Shape, sequence: number): number {
  const { narrow, autocast } = precisionOf(run);
  if (shape.family.head !== 'causal') return 0;
  const each = autocast && shape.family.rotary !== 'none' ? 4 : narrow;
  return shape.layers * run.batch * sequence * 2 * shape.keyHeads * shape.headWidth * each;
}

function convPass(run: Run, block: Block): Pass {
  const narrow = precisionOf(run).stream;
  return {
    kept: block.kept,
    ends: 0,
    atLast: block.feedForwardBackward,
    atFirst: block.forward,
    lossForward: 0,
    lossBackward: 0,
    outputs: 0,
    caches: 0,
    cached: 0,
    casts: block.casts,
    castsAfter: block.casts,
    head: 0,
    first: 0,
    batch: 3 * run.batch * run.sequence ** 2 * narrow,
    words: `${run.batch} images of ${run.sequence} × ${run.sequence}`,
  };
}

export interface Generation {
  readonly cache: number;
  readonly moment: number;
  readonly casts: number;
}

/** A prompt and what is generated behind it: keys and values of all tokens, and the widest moment of one block. */
export function generationOf(run: Run): Generation {
  const { shape } = run;
  if (shape.kind === 'convolutional') return { cache: 0, moment: convBlock(shape, run).forward, casts: 0 };
  const { narrow, autocast } = precisionOf(run);
  const layers = shape.layers;
  const bytes = autocast && shape.family.rotary !== 'none' ? 4 : narrow;
  const each = 2 * shape.keyHeads * shape.headWidth * bytes * run.batch;
  const block = blockOf(run, shape, { stack: 'only', batch: run.batch, sequence: run.sequence, source: 0 });
  const prompt = layers * each * run.sequence;
  const whole = layers * each * (run.sequence + (run.target ?? 0));
  // Every new token copies the keys and values of one block after the other.
  const grown = whole + each * (run.sequence + (run.target ?? 0));
  const casts = autocast ? layers * block.casts + 2 * shape.vocabulary * shape.hidden : 0;
  return prompt + block.forward >= grown
    ? { cache: prompt, moment: block.forward, casts }
    : { cache: whole, moment: grown - whole, casts };
}

/** Weights of one block, to be gathered when they are sharded. */
export function blockWeights(run: Run): number {
  return run.shape.kind === 'convolutional' ? 0 : linearParameters(run.shape, run.shape.encoderLayers > 0);
}
