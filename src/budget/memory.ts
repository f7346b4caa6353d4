import { countOf } from './quantity.js';
import { embeddingParameters, layerParameters, type Shape } from './shape.js';

export const DTYPES = ['fp32', 'mixed', 'bf16', 'fp16', 'int8', 'int4'] as const;
export const OPTIMIZERS = ['adamw', 'adamw-fused', 'adamw-8bit', 'sgd-momentum', 'sgd', 'adafactor'] as const;
export const PARALLELISMS = ['data', 'sharded', 'model'] as const;
export const OFFLOADS = ['none', 'optimizer', 'all'] as const;

/** `mixed` is autocast: weights, gradients and optimizer state in fp32, activations in half precision. */
export type Dtype = (typeof DTYPES)[number];
export type Optimizer = (typeof OPTIMIZERS)[number];
/** `data`: every GPU holds everything. `sharded`: FSDP or ZeRO-3. `model`: layers spread over the GPUs. */
export type Parallelism = (typeof PARALLELISMS)[number];
export type Offload = (typeof OFFLOADS)[number];

/** A training run, as far as its memory is concerned. */
export interface Run {
  readonly parameters: number;
  readonly shape: Shape;
  readonly dtype: Dtype;
  readonly optimizer: Optimizer;
  /** An fp32 copy of half-precision weights beside the optimizer state, as DeepSpeed and Megatron keep it. */
  readonly masterWeights: boolean;
  /** Trained parameters: all of the model, a part of it, or adapters beside it. */
  readonly trainable: number;
  /** Low-rank adapters are trained and the model is frozen. */
  readonly loraRank?: number;
  readonly batch: number;
  readonly sequence: number;
  readonly checkpointing: boolean;
  /** The loss is computed in pieces, so that the logits never exist as a whole. */
  readonly chunkedLoss: boolean;
  readonly gpus: number;
  readonly parallel: Parallelism;
  readonly offload: Offload;
  /** Bytes that somebody measured or wrote down, in the place of ours. */
  readonly given: Given;
}

export interface Given {
  readonly adapters?: number;
  readonly gradients?: number;
  readonly optimizer?: number;
  readonly activations?: number;
  readonly overhead?: number;
}

export type RowName =
  | 'weights'
  | 'adapters'
  | 'gradients'
  | 'optimizer'
  | 'activations'
  | 'logits'
  | 'casts'
  | 'buckets'
  | 'gathered'
  | 'overhead';

export interface Row {
  readonly name: RowName;
  /** On the GPU that needs the most. */
  readonly bytes: number;
  /** In host memory instead. */
  readonly host: number;
  /** The arithmetic in words. */
  readonly how: string;
  readonly given: boolean;
}

export interface Budget {
  readonly rows: readonly Row[];
  /** All rows together, as if they were needed at one time. */
  readonly total: number;
  /** In the optimizer step, where the activations are gone and temporaries come. */
  readonly step: number;
  /** What the GPU must have. */
  readonly peak: number;
  /** Host memory of all processes together. */
  readonly host: number;
}

const WEIGHT_BYTES: Readonly<Record<Dtype, number>> = {
  fp32: 4,
  mixed: 4,
  bf16: 2,
  fp16: 2,
  int8: 1,
  int4: 0.5,
};
/** bitsandbytes keeps a scale for every 64 weights, itself quantised. */
const INT4_SCALE_BYTES = 0.016;
const WHOLE: Row['how'] = 'given';
/** Whatever the dtype: the logits, their softmax and their gradient in fp32. */
const LOGIT_BYTES = 12;
/** Pieces that a chunked loss is commonly computed in. */
const CHUNKS = 8;

export function isHalf(dtype: Dtype): boolean {
  return dtype !== 'fp32';
}

export function isQuantized(dtype: Dtype): boolean {
  return dtype === 'int8' || dtype === 'int4';
}

/** Bytes of one trained weight: adapters are fp32 by peft's default, whatever the model is. */
export function trainedBytes({ dtype, loraRank }: Run): number {
  return loraRank === undefined ? WEIGHT_BYTES[dtype] : 4;
}

export function budgetOf(run: Run): Budget {
  const rows = [...states(run), ...transient(run)].filter((row) => row.bytes > 0 || row.host > 0);
  const total = sum(rows);
  const step = sum(rows.filter(({ name }) => !isOfThePass(name))) + stepTemporaries(run);
  const host = rows.reduce((whole, row) => whole + row.host, 0) * run.gpus;
  return { rows, total, step, peak: Math.max(total, step), host };
}

/** Gone when the optimizer steps. */
function isOfThePass(name: RowName): boolean {
  return name === 'activations' || name === 'logits' || name === 'casts' || name === 'gathered';
}

/** The default AdamW of torch works on lists of tensors, and needs about one copy of what it trains. */
function stepTemporaries(run: Run): number {
  const { optimizer, offload, trainable } = run;
  if (optimizer !== 'adamw' || offload !== 'none') return 0;
  return (trainable * (run.masterWeights ? 4 : trainedBytes(run))) / divided(run);
}

/** What lives for the whole run: weights, gradients, optimizer state. */
function states(run: Run): Row[] {
  const { parameters, trainable, dtype, loraRank, offload, given } = run;
  const each = trainedBytes(run);
  const place = (name: RowName, bytes: number, how: string, isOnHost: boolean, isGiven = false): Row => {
    const part = isGiven ? bytes : bytes / divided(run);
    return { name, bytes: isOnHost ? 0 : part, host: isOnHost ? part : 0, how, given: isGiven };
  };
  const away = offload === 'all';
  const spread = divided(run) > 1 ? ` ÷ ${run.gpus} GPUs` : '';
  const frozen = trainable < parameters || loraRank !== undefined ? `${countOf(trainable)} trained` : '';
  const trained = frozen === '' ? countOf(trainable) : frozen;
  const [stateBytes, stateHow] = optimizerBytes(run);
  return [
    place('weights', weightBytes(run), `${countOf(parameters)} × ${bytesText(dtype)}${spread}`, away),
    ...(loraRank === undefined
      ? []
      : given.adapters === undefined
        ? [place('adapters', trainable * each, `${trained} × ${each} bytes (fp32)${spread}`, away)]
        : [place('adapters', given.adapters, WHOLE, away, true)]),
    given.gradients === undefined
      ? place('gradients', trainable * each, `${trained} × ${each} bytes${spread}`, away)
      : place('gradients', given.gradients, WHOLE, away, true),
    given.optimizer === undefined
      ? place('optimizer', trainable * stateBytes, `${trained} × ${stateHow}${spread}`, offload !== 'none')
      : place('optimizer', given.optimizer, WHOLE, offload !== 'none', true),
  ];
}

function weightBytes({ parameters, dtype, shape }: Run): number {
  if (!isQuantized(dtype)) return parameters * WEIGHT_BYTES[dtype];
  const kept = Math.min(parameters, embeddingParameters(shape));
  const scale = dtype === 'int4' ? INT4_SCALE_BYTES : 0;
  return (parameters - kept) * (WEIGHT_BYTES[dtype] + scale) + kept * 2;
}

function bytesText(dtype: Dtype): string {
  if (isQuantized(dtype)) return `${WEIGHT_BYTES[dtype]} bytes (${dtype}; embeddings 2 bytes)`;
  return `${WEIGHT_BYTES[dtype]} bytes (${dtype === 'mixed' ? 'fp32 under autocast' : dtype})`;
}

/** Bytes for each trained parameter. torch keeps the moments in the dtype of the weight. */
function optimizerBytes(run: Run): readonly [bytes: number, how: string] {
  const each = trainedBytes(run);
  const master = run.masterWeights && each < 4 ? 4 : 0;
  const moment = master > 0 ? 4 : each;
  const plus = master > 0 ? ' + 4 for the fp32 copy' : '';
  switch (run.optimizer) {
    case 'adamw':
    case 'adamw-fused':
      return [2 * moment + master, `2 moments of ${moment} bytes${plus}`];
    case 'adamw-8bit':
      return [2 + master, `2 moments of 1 byte${plus}`];
    case 'sgd-momentum':
      return [moment + master, `${moment} bytes of momentum${plus}`];
    case 'sgd':
    case 'adafactor':
      return [master, master > 0 ? '4 bytes for the fp32 copy' : 'nothing'];
  }
}

/** What a forward and backward pass needs on top. */
function transient(run: Run): Row[] {
  const { given, shape, gpus, parallel, offload } = run;
  const rows = given.activations === undefined ? activations(run) : [];
  if (given.activations !== undefined) rows.push(row('activations', given.activations, WHOLE, true));
  const isGathered = (parallel === 'sharded' && gpus > 1) || offload === 'all';
  if (run.dtype === 'mixed' && !isGathered) {
    const cast = (2 * run.parameters) / divided(run);
    rows.push(row('casts', cast, `${countOf(run.parameters)} × 2 bytes, kept from forward to backward`));
  }
  if (parallel === 'data' && gpus > 1) {
    const copy = given.gradients ?? run.trainable * trainedBytes(run);
    rows.push(row('buckets', copy, 'DDP: the gradients once more, to send them'));
  }
  if (isGathered) {
    const layer = layerParameters(shape) * WEIGHT_BYTES[run.dtype];
    const gradient = run.loraRank === undefined ? layer : 0;
    rows.push(row('gathered', 2 * layer + gradient, 'two whole layers at a time, and the gradient of one'));
  }
  if (given.overhead !== undefined) rows.push(row('overhead', given.overhead, WHOLE, true));
  return rows;
}

function row(name: RowName, bytes: number, how: string, isGiven = false): Row {
  return { name, bytes, host: 0, how, given: isGiven };
}

/** The estimate of activations and logits, also where a figure was given for them. */
export function passBytes(run: Run): number {
  return sum(activations(run));
}

/**
 * Bytes of one token that a block keeps for its backward pass, with an attention that keeps no scores. Fitted to Llama and
 * GPT-2 of transformers 5.17 on an H200: norms of gated models keep an fp32 copy, and autocast keeps the residuals in fp32.
 */
function keptPerToken({ hidden, queries, keys, feedForward, gated }: Shape, dtype: Dtype): number {
  const rotated = gated ? queries + keys + 2 * (queries - keys) : 0;
  const numbers = 4 * hidden + 2 * queries + 2 * keys + 4 * feedForward + rotated;
  if (!isHalf(dtype)) return 4 * numbers;
  return 2 * numbers + (gated ? 8 : 0) * hidden + (dtype === 'mixed' ? 8 : 0) * hidden;
}

function activations(run: Run): Row[] {
  const { batch, sequence, shape, checkpointing, parallel, gpus, dtype } = run;
  const tokens = batch * sequence;
  const layers = parallel === 'model' ? Math.ceil(shape.layers / gpus) : shape.layers;
  const words = `${tokens} tokens × ${layers} layers`;
  const block = keptPerToken(shape, dtype);
  const input = shape.hidden * (isHalf(dtype) ? 2 : 4);
  const logits = (tokens * shape.vocabulary * LOGIT_BYTES) / (run.chunkedLoss ? CHUNKS : 1);
  const parts = run.chunkedLoss ? `, in ${CHUNKS} parts` : '';
  // The logits are gone when the first layer is computed anew.
  const anew = Math.max(0, tokens * block - logits);
  const kept = checkpointing
    ? row(
        'activations',
        tokens * layers * input + anew,
        `${words} × ${input} bytes, one layer at a time anew`,
      )
    : row('activations', tokens * layers * block, `${words} × ${block} bytes`);
  return [
    kept,
    row('logits', logits, `${tokens} tokens × ${shape.vocabulary} × ${LOGIT_BYTES} bytes${parts}`),
  ];
}

/** Among how many GPUs weights, gradients and optimizer state are divided. */
function divided({ gpus, parallel }: Run): number {
  return parallel === 'data' ? 1 : gpus;
}

function sum(rows: readonly Row[]): number {
  return rows.reduce((whole, { bytes }) => whole + bytes, 0);
}
