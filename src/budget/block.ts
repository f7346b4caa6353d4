import type { Run } from './memory.js';
import { keysOf, type Linear, linearParameters, linearsOf, queriesOf, type Shape } from './shape.js';

/** Bytes of one number: of what linear layers give, and of what flows from block to block. */
export interface Precision {
  readonly narrow: number;
  readonly stream: number;
  readonly autocast: boolean;
}

export function precisionOf({ dtype }: Pick<Run, 'dtype'>): Precision {
  if (dtype === 'fp32') return { narrow: 4, stream: 4, autocast: false };
  return dtype === 'mixed'
    ? { narrow: 2, stream: 4, autocast: true }
    : { narrow: 2, stream: 2, autocast: false };
}

/** One block of a stack, for all tokens of a batch, in bytes. */
export interface Block {
  /** What it keeps for its backward pass. */
  readonly kept: number;
  /** What of it is kept behind the attention, and given back before the attention's backward pass. */
  readonly keptByFeedForward: number;
  /** What flows into it, and how much of that is among what it keeps. */
  readonly input: number;
  readonly inputKept: number;
  /** Keys and values that only the cache in the model's outputs holds. */
  readonly cached: number;
  /** What its backward pass needs for a moment: in the feed-forward part, and in the attention. */
  readonly feedForwardBackward: number;
  readonly attentionBackward: number;
  /** The same without a backward pass. */
  readonly forward: number;
  /** Half-precision copies of its weights under autocast. */
  readonly casts: number;
}

/** Where a block stands: a decoder behind an encoder attends twice. */
export interface Place {
  readonly stack: 'only' | 'encoder' | 'decoder';
  readonly batch: number;
  readonly sequence: number;
  /** Length of what the encoder read. */
  readonly source: number;
}

export function blockOf(run: Run, shape: Shape, place: Place): Block {
  const precision = precisionOf(run);
  const tokens = place.batch * place.sequence;
  const own = attentionOf(run, shape, place, precision);
  const cross = place.stack === 'decoder' ? crossAttention(run, shape, place, precision) : 0;
  const feed = feedForwardOf(run, shape, precision);
  const { hidden, family } = shape;
  const consumers = family.fused ? 1 : 3;
  const norms =
    normBytes(run, shape, precision, consumers) + normBytes(run, shape, precision, family.gated ? 2 : 1);
  const shared = family.parallel ? hidden * precision.stream : 0;
  const further = family.norms === 4 ? 2 * normBytes(run, shape, precision, 0) : 0;
  const crossNorm = place.stack === 'decoder' ? normBytes(run, shape, precision, 1) : 0;
  const dropouts = (place.stack === 'decoder' ? 3 : 2) * (family.dropout > 0 ? hidden : 0);
  const feedForward = tokens * (feed.kept + normBytes(run, shape, precision, family.gated ? 2 : 1));
  return {
    kept: tokens * (own.kept + feed.kept + norms - shared + further + crossNorm + dropouts) + cross,
    keptByFeedForward: feedForward,
    input: tokens * hidden * precision.stream,
    inputKept: keepsInput(shape, precision) ? tokens * hidden * precision.stream : 0,
    cached: tokens * own.cached,
    feedForwardBackward: tokens * feed.backward,
    attentionBackward: tokens * own.backward,
    forward: tokens * Math.max(feed.forward, own.forward),
    casts: precision.autocast ? 2 * castParameters(shape, place) : 0,
  };
}

/** Autocast does not reach the weights of experts. */
function castParameters(shape: Shape, { stack }: Place): number {
  const experts =
    shape.experts > 1 ? (shape.family.gated ? 3 : 2) * shape.hidden * shape.feedForward * shape.experts : 0;
  return linearParameters(shape, stack === 'decoder') - experts;
}

/** What a norm keeps for each token, with its input where that is kept, and what it gives to so many linear layers. */
export function normBytes(
  run: Run,
  { hidden, family }: Shape,
  precision: Precision,
  consumers: number,
): number {
  const { narrow, stream, autocast } = precision;
  const isFrozen = run.lora !== undefined;
  const given = isFrozen ? 0 : autocast ? consumers * 2 : consumers > 0 ? narrow : 0;
  const isHalf = stream === 2;
  const normalized = isFrozen ? 0 : family.norm === 'rms-fp32' ? 4 : stream;
  switch (family.norm) {
    case 'layer':
      return hidden * (stream + given);
    case 'rms':
    case 'rms-fp32':
      return hidden * ((isHalf ? 4 : stream) + normalized + given);
    case 'rms-t5':
      return hidden * (stream + (isHalf ? 4 : 0) + normalized + given);
  }
}

/** Norms that make no fp32 copy of their input keep it itself. */
function keepsInput({ family }: Shape, { stream }: Precision): boolean {
  return family.norm === 'layer' || family.norm === 'rms-t5' || stream === 4;
}

interface Attention {
  readonly kept: number;
  readonly cached: number;
  readonly backward: number;
  readonly forward: number;
}

/** How the scores are computed; `whole` are the ways that keep them. */
export function kernelOf(run: Run, shape: Shape, place: Place): 'fused' | 'math' | 'eager' {
  const { scoreBias, scoresKept } = shape.family;
  if (run.attention === 'eager' || scoresKept === 'all') return 'eager';
  const isShared = shape.keyHeads < shape.heads;
  if (scoreBias || (isShared && scoresKept === 'shared')) return 'math';
  const isMath = isShared && run.dtype === 'fp32' && run.attention === 'sdpa' && !isMasked(run, shape, place);
  return isMath ? 'math' : 'fused';
}

/** sdpa gets a mask where sequences are padded or longer than the window. */
function isMasked(run: Run, { window }: Shape, { sequence }: Place): boolean {
  if (run.attention === 'flash') return false;
  return run.padded === true || (window !== undefined && sequence >= window);
}

function attentionOf(run: Run, shape: Shape, place: Place, precision: Precision): Attention {
  const { narrow, autocast } = precision;
  const { heads, keyHeads, family } = shape;
  const { sequence } = place;
  const queries = queriesOf(shape);
  const keys = keysOf(shape);
  const isShared = keyHeads < heads;
  const kernel = kernelOf(run, shape, place);
  const hasCache = (family.head === 'causal' || place.stack === 'decoder') && !run.checkpointing;
  const scores = heads * sequence;
  const dropout = family.attentionDropout > 0 ? 1 : 0;
  const adapters = adapterInputs(run, shape, ['q', 'k', 'v', 'o'], precision);
  const output = run.lora === undefined ? queries * narrow : 0;
  const isWide = narrow === 4 || family.norm === 'rms-fp32';
  const qkNorm = family.qkNorm ? (queries + keys) * (run.lora === undefined ? (isWide ? 8 : 6) : 4) : 0;
  if (kernel === 'math') {
    // Scaled copies in fp32, the softmax and what dropout makes of it.
    const values = narrow === 2 || isShared ? queries : keys;
    const kept = 4 * (2 * queries + values) + scores * (4 + dropout * 5) + output;
    return {
      kept: kept + qkNorm + adapters,
      cached: hasCache && narrow === 2 ? 2 * keys * narrow : 0,
      // Dropout gives back what it made before the softmax needs as much.
      backward: (dropout > 0 ? (autocast ? 11 : 9) : 12) * scores + 2 * queries * narrow,
      forward: 8 * scores + 12 * queries + 4 * shape.hidden * precision.stream,
    };
  }
  // One head of keys is expanded without a copy.
  const expanded = isShared && keyHeads > 1 && (kernel === 'eager' || isMasked(run, shape, place));
  const keysAndValues = 2 * narrow * (expanded ? queries : keys);
  if (kernel === 'eager') {
    const softmax = family.softmax === 'fp32' || autocast ? 4 : narrow;
    const dropped = dropout > 0 ? narrow + 1 : softmax === narrow ? 0 : narrow;
    return {
      kept: queries * narrow + keysAndValues + output + scores * (softmax + dropped) + qkNorm + adapters,
      cached: hasCache && expanded ? 2 * keys * (autocast && family.rotary !== 'none' ? 4 : narrow) : 0,
      backward: scores * (softmax + 4 + narrow),
      forward: scores * (2 * narrow + softmax) + 4 * shape.hidden * precision.stream,
    };
  }
  // A view of a fused projection holds all of it.
  const held = family.fused && (family.rotary === 'none' || !hasCache) ? narrow * (queries + 2 * keys) : 0;
  const query = family.fused && family.rotary === 'none' ? 0 : queries * narrow;
  const copied = held > 0 && !hasCache ? (family.rotary === 'none' ? 0 : narrow * keys) : keysAndValues;
  const relaid = family.rotary === 'part' && narrow === 2 && run.lora === undefined ? queries * narrow : 0;
  const mask = isMasked(run, shape, place) ? sequence * narrow : 0;
  return {
    kept: held + query + copied + queries * narrow + relaid + mask + 4 * heads + qkNorm + adapters,
    cached:
      hasCache && (expanded || (autocast && family.rotary !== 'none'))
        ? 2 * keys * (autocast ? 4 : narrow)
        : 0,
    backward: 4 * queries * narrow,
    forward: 0,
  };
}

/** A decoder's look at what the encoder read, for the whole batch. */
function crossAttention(
  run: Run,
  shape: Shape,
  { batch, sequence, source }: Place,
  precision: Precision,
): number {
  const { narrow, autocast } = precision;
  const queries = queriesOf(shape);
  const casts = autocast ? 2 * 2 * shape.hidden : 0;
  const scores =
    run.attention === 'eager' ? shape.heads * sequence * batch * source * (narrow === 4 ? 9 : 9) : 0;
  return (
    batch * sequence * (2 * queries * narrow + 4 * shape.heads) +
    batch * source * (2 * keysOf(shape) * narrow + casts) +
    scores
  );
}

interface FeedForward {
  readonly kept: number;
  readonly backward: number;
  readonly forward: number;
}

function feedForwardOf(run: Run, shape: Shape, precision: Precision): FeedForward {
  const { stream, autocast } = precision;
  // Experts are multiplied in the dtype of their weights, whatever autocast says.
  const narrow = shape.experts > 1 ? stream : precision.narrow;
  const { hidden, feedForward, family, experts, expertsPerToken } = shape;
  const isFrozen = run.lora !== undefined;
  const inner = feedForward * expertsPerToken;
  const gathered = experts > 1 ? 2 * hidden * expertsPerToken * narrow : 0;
  const adapters = adapterInputs(run, shape, ['gate', 'up', 'down'], precision);
  const dropped = family.dropout > 0 && family.head === 'seq2seq' ? inner * (narrow + 1) : 0;
  const activated = activationBytes(shape, narrow, autocast);
  // A gate written out in Python comes in fp32 under autocast.
  const wide = autocast && family.activation === 'gelu-new' ? 2 : 0;
  const isWritten = family.activation === 'gelu-new';
  const gate = family.gated ? 2 * narrow + wide : 0;
  // The input of the last projection is kept for its weight, which may be frozen, or dropped out.
  const isOwnResult = family.activation === 'relu' && !family.gated;
  const last = (isFrozen || dropped > 0) && !isOwnResult ? -narrow : 0;
  const kept = inner * (activated + gate + last) + dropped + gathered + adapters;
  const steps = isWritten ? 4 : family.gated ? 0 : autocast ? 2 : 1;
  const backward =
    inner * narrow * (steps + (family.gated ? 2 : 0)) + (run.checkpointing ? 1 : 3) * hidden * stream;
  // Written out in Python, half of it is in fp32 under autocast.
  const flowing = (family.positions ? 6 : 4) - (autocast ? (family.positions ? 2 : 1) : 0);
  const moment = isWritten ? (autocast ? 12 : 4 * narrow) : 2 * narrow;
  const forward = inner * (family.gated ? moment + narrow : moment) + flowing * hidden * stream;
  return { kept, backward: backward + gathered, forward };
}

/** What an activation keeps of each number: its input, its steps, and what goes into the last projection. */
function activationBytes({ family }: Shape, narrow: number, autocast: boolean): number {
  switch (family.activation) {
    case 'relu':
      return narrow;
    case 'gelu-new':
      // Written out in Python: the power is taken in fp32 under autocast.
      return autocast ? 16 : 5 * narrow;
    case 'silu':
    case 'gelu':
      return 2 * narrow;
  }
}

/** Adapters in fp32 keep a copy of what goes into them, and what their first half makes of it. */
function adapterInputs(
  run: Run,
  shape: Shape,
  names: readonly Linear[],
  { narrow, autocast }: Precision,
): number {
  const { lora } = run;
  if (lora === undefined) return 0;
  const linears = linearsOf(shape);
  const dropped = lora.dropout > 0 ? 1 : 0;
  // What is in fp32 already is shared with others, unless something is dropped from it.
  const each = autocast ? 2 : narrow === 2 || dropped > 0 ? 4 : 2;
  return names
    .filter((name) => lora.adapted.includes(name) && linears.has(name))
    .reduce((sum, name) => sum + (linears.get(name)?.[0] ?? 0) * (each + dropped) + 4 * lora.rank, 0);
}
