import type { Dtype, Optimizer, Run } from '../budget/memory.js';
import { countOf } from '../budget/quantity.js';
import { adapterParameters, type KnownModel, LINEARS, type Linear } from '../budget/shape.js';
import { isQuantized } from '../budget/state.js';
import type { Found, Reading } from './reading.js';

/** A value of a run, and who said it. */
export interface Source {
  readonly name: string;
  readonly value: string;
  /** `train.py:12`; undefined where it is assumed. */
  readonly place: string | undefined;
  /** As it is written there, or why it is assumed. */
  readonly words: string;
}

export interface Draft {
  readonly run: Run;
  readonly sources: readonly Source[];
}

/** What was said on the command line, which goes before what files say. */
export interface Said {
  readonly dtype?: Dtype;
  readonly optimizer?: Optimizer;
  readonly batch?: number;
  readonly sequence?: number;
  readonly checkpointing?: true;
  readonly loraRank?: number;
  readonly gpus?: number;
}

const TRAINER_BATCH = 8;
const SFT_LENGTH = 1024;
const LENGTH = 2048;
const QUERY_VALUE: readonly Linear[] = ['q', 'v'];
/** Families that are published in half precision. */
const PUBLISHED_IN_HALF = /^(?:llama|mistral|mixtral|qwen|gemma|phi|olmo|smollm|falcon|gpt_neox)/;

/** The run that files describe; every value with its place, or with why it is assumed. */
export function draftOf(reading: Reading, model: KnownModel, said: Said): Draft {
  const sources: Source[] = [];
  const take = <T>(
    name: string,
    own: T | undefined,
    found: Found<T> | undefined,
    otherwise: T,
    why: string,
    show: (value: T) => string = String,
  ): T => {
    const value = own ?? found?.value ?? otherwise;
    if (own !== undefined)
      sources.push({ name, value: show(value), place: undefined, words: 'said on the command line' });
    else if (found === undefined)
      sources.push({ name, value: show(value), place: undefined, words: `assumed: ${why}` });
    else sources.push({ name, value: show(value), place: found.place, words: found.words });
    return value;
  };
  const named = reading.model ?? reading.config;
  if (named !== undefined) {
    sources.push({
      name: 'model',
      value: `${model.shape.model || 'model'}, ${countOf(model.parameters)}`,
      place: named.place,
      words: named.words,
    });
  }
  const isTrl = reading.trainer?.value === 'trl';
  const hasTrainer = reading.trainer !== undefined;
  const isVision = model.shape.kind === 'convolutional' || model.shape.image !== undefined;
  const dtype = dtypeOf(reading, model, said, sources);
  const rank = said.loraRank ?? reading.rank?.value;
  if (reading.rank !== undefined) take('LoRA rank', said.loraRank, reading.rank, 0, '');
  const lora =
    rank === undefined
      ? undefined
      : {
          rank,
          adapted: take(
            'adapted layers',
            undefined,
            reading.targets,
            QUERY_VALUE,
            'the default of peft for most families',
            (each) => each.join(', '),
          ),
          dropout: reading.adapterDropout?.value ?? 0,
        };
  if (reading.padded !== undefined)
    take('padding', undefined, reading.padded, false, '', (value) => (value ? 'yes' : 'no'));
  if (reading.classes !== undefined) take('classes', undefined, reading.classes, 0, '');
  const { shape, parameters } = model;
  const gpus = take('GPUs', said.gpus, reading.gpus, 1, 'nothing says how many processes there are');
  const isSharded = reading.sharded?.value === true;
  const zero = isSharded ? undefined : reading.zero;
  if (zero !== undefined) take('ZeRO stage', undefined, zero, 1, '');
  else if (reading.sharded !== undefined) take('sharding', undefined, reading.sharded, false, '');
  if (reading.offload !== undefined) take('offload', undefined, reading.offload, 'none', '');
  const accumulation = take(
    'accumulation',
    undefined,
    reading.accumulation,
    1,
    'every pass is followed by a step',
  );
  const checkpointing = take(
    'checkpointing',
    said.checkpointing === true ? true : undefined,
    reading.checkpointing,
    isTrl,
    isTrl ? 'the default of trl from 0.22 on' : 'nothing turns it on',
    (value) => (value ? 'on' : 'off'),
  );
  const isBucketed = gpus > 1 && !isSharded && zero === undefined;
  if (isBucketed && reading.bucketViews !== undefined)
    take('gradients in buckets', undefined, reading.bucketViews, false, '', (value) =>
      value ? 'yes' : 'no',
    );
  const findsUnused =
    isBucketed &&
    take(
      'unused parameters',
      undefined,
      reading.findsUnused,
      hasTrainer && !checkpointing,
      `the default of ${hasTrainer ? `the Trainer with${checkpointing ? '' : 'out'} checkpointing` : 'DDP'}`,
      (value) => (value ? 'looked for' : 'not looked for'),
    );
  const run: Run = {
    task: 'train',
    parameters,
    shape,
    dtype,
    optimizer: take(
      'optimizer',
      said.optimizer,
      reading.optimizer,
      hasTrainer ? 'adamw-fused' : 'adamw',
      hasTrainer ? 'the default of the Trainer with torch 2.8 or newer' : 'no optimizer is made here',
    ),
    masterWeights: reading.masterWeights?.value === true && reading.autocast !== undefined,
    trainable:
      lora === undefined || shape.kind === 'convolutional'
        ? parameters
        : Math.round(adapterParameters(shape, lora.rank, lora.adapted.length === 0 ? LINEARS : lora.adapted)),
    ...(lora !== undefined && { lora }),
    batch: take(
      'batch',
      said.batch,
      reading.batch,
      hasTrainer ? TRAINER_BATCH : 1,
      hasTrainer ? 'the default of the Trainer' : 'no size of a batch is written here',
    ),
    sequence: isVision
      ? take(
          'image side',
          said.sequence,
          undefined,
          imageSide(model),
          'the size that the model is published for',
        )
      : take(
          'sequence',
          said.sequence,
          reading.sequence,
          isTrl ? SFT_LENGTH : LENGTH,
          isTrl ? 'the default of trl' : 'no length is written here',
        ),
    attention:
      shape.kind === 'convolutional'
        ? 'sdpa'
        : take('attention', undefined, reading.attention, 'sdpa', 'the default of transformers'),
    padded: reading.padded?.value ?? 'unknown',
    checkpointing,
    chunkedLoss: reading.chunkedLoss?.value ?? false,
    keepsOutputs: false,
    accumulates: accumulation > 1,
    gpus,
    parallel: isSharded && gpus > 1 ? 'sharded' : 'data',
    ...(zero !== undefined && gpus > 1 && { zero: zero.value }),
    ...(isBucketed && {
      bucketing: { views: reading.bucketViews?.value ?? false, remade: !findsUnused },
    }),
    offload: reading.offload?.value ?? 'none',
    given: {},
  };
  return { run, sources };
}

function imageSide({ shape }: KnownModel): number {
  return shape.kind === 'transformer' && shape.image !== undefined ? shape.image.size : 224;
}

/** Weights and autocast together: fp32 weights under autocast are `mixed`. */
function dtypeOf(reading: Reading, { shape }: KnownModel, said: Said, sources: Source[]): Dtype {
  const add = (value: Dtype, place: string | undefined, words: string): Dtype => {
    sources.push({ name: 'dtype', value, place, words });
    return value;
  };
  const { weights, autocast, keepsSavedDtype } = reading;
  if (said.dtype !== undefined) return add(said.dtype, undefined, 'said on the command line');
  if (weights !== undefined && (weights.value !== 'fp32' || autocast?.value !== true)) {
    return add(weights.value, weights.place, weights.words);
  }
  const isHalf = PUBLISHED_IN_HALF.test(shape.model);
  if (keepsSavedDtype !== undefined && isHalf && weights === undefined) {
    return add('bf16', keepsSavedDtype.place, 'weights keep the dtype that they were saved in');
  }
  if (autocast?.value === true) return add('mixed', autocast.place, `${autocast.words}, on fp32 weights`);
  return add('fp32', undefined, 'assumed: nothing asks for another; transformers 5 would keep the saved one');
}

/** Whether weights of this dtype can be trained without adapters. */
export function isTrainable({ dtype, lora }: Run): boolean {
  return lora !== undefined || !isQuantized(dtype);
}
