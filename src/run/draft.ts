import { knownModel } from '../budget/known.js';
import type { AttentionKind, Dtype, Optimizer, OtherModel, Run } from '../budget/memory.js';
import { countOf } from '../budget/quantity.js';
import {
  adapterParameters,
  type KnownModel,
  LINEARS,
  type Linear,
  longestOf,
  withClasses,
} from '../budget/shape.js';
import { isQuantized } from '../budget/state.js';
import { isTold, type Other, type Reading, type Said, takenFor, toldOf } from './reading.js';

/** A value of a run, and who said it. */
export interface Source {
  readonly name: string;
  readonly value: string;
  /** `train.py:12`; undefined where no file speaks of it. */
  readonly place: string | undefined;
  /** As it is written there, or why it is assumed. */
  readonly words: string;
  /** No file says it, or what one says cannot be told. */
  readonly isAssumed: boolean;
}

export interface Draft {
  readonly run: Run;
  readonly sources: readonly Source[];
  /** What is there and is not counted: each a sentence. */
  readonly open: readonly string[];
}

/** What was said on the command line, which goes before what files say. */
export interface Wished {
  readonly dtype?: Dtype;
  readonly optimizer?: Optimizer;
  readonly batch?: number;
  readonly sequence?: number;
  readonly checkpointing?: boolean;
  readonly attention?: AttentionKind;
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
export function draftOf(reading: Reading, model: KnownModel, said: Wished): Draft {
  const sources: Source[] = [];
  const add = (name: string, value: string, said: Saying): void => {
    sources.push({ name, value, ...said });
  };
  const take = <T>(
    name: string,
    own: T | undefined,
    said: Said<T> | undefined,
    otherwise: T,
    why: string,
    show: (value: T) => string = String,
  ): T => {
    const value = own ?? takenFor(said) ?? otherwise;
    add(name, show(value), own === undefined ? sayingOf(said, why, name) : BY_COMMAND);
    return value;
  };
  const named = toldOf(reading.model) ?? reading.config;
  if (named !== undefined)
    add(
      'model',
      `${model.shape.model || 'model'}, ${countOf(model.parameters)}`,
      sayingOf(named, '', 'model'),
    );
  const isTrl = reading.trainer?.value === 'trl';
  const hasTrainer = reading.trainer !== undefined;
  const isVision = model.shape.kind === 'convolutional' || model.shape.image !== undefined;
  const dtype = dtypeOf(reading, model, said, sources);
  const rank = said.loraRank ?? takenFor(reading.rank);
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
            // The option speaks of every linear layer.
            reading.rank === undefined ? LINEARS : QUERY_VALUE,
            reading.rank === undefined
              ? 'every linear layer'
              : '`target_modules` is not given; the default of peft for most families',
            (each) => each.join(', '),
          ),
          dropout: takenFor(reading.adapterDropout) ?? 0,
        };
  if (reading.padded !== undefined)
    take('padding', undefined, reading.padded, false, '', (value) => (value ? 'yes' : 'no'));
  if (reading.classes !== undefined) take('classes', undefined, reading.classes, 0, '');
  const { shape, parameters } = model;
  const gpus = take('GPUs', said.gpus, reading.gpus, 1, 'nothing says how many processes there are');
  const isSharded = takenFor(reading.sharded) === true;
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
    said.checkpointing,
    reading.checkpointing,
    false,
    'nothing turns it on',
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
  const length = isTrl ? SFT_LENGTH : LENGTH;
  const longest = longestOf(shape) ?? Infinity;
  const isOldTrainer = hasTrainer && reading.unfused !== undefined;
  const beside = othersOf(reading, model);
  for (const other of beside.counted)
    add('other model', `${other.size.shape.model || 'model'}, ${countOf(other.size.parameters)}`, {
      place: other.place,
      words:
        other.passes > 0
          ? `${other.words}; ${other.passes > 1 ? `${other.passes} passes` : 'one pass'} a step`
          : other.words,
      isAssumed: false,
    });
  if (reading.passes !== undefined) take('passes', undefined, reading.passes, 1, '');
  const open = [...(reading.open ?? []), ...beside.open];
  const run: Run = {
    task: 'train',
    parameters,
    shape,
    dtype,
    optimizer: take(
      'optimizer',
      said.optimizer,
      reading.optimizer,
      hasTrainer && !isOldTrainer ? 'adamw-fused' : 'adamw',
      isOldTrainer
        ? `the default of the Trainer with ${reading.unfused}`
        : hasTrainer
          ? 'the default of the Trainer with torch 2.8 or newer'
          : 'no optimizer is made here',
      (value) => (/paged/.test(toldOf(reading.optimizer)?.words ?? '') ? `${value}, paged` : value),
    ),
    masterWeights: reading.masterWeights?.value === true && takenFor(reading.autocast) === true,
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
          Math.min(length, longest),
          longest < length
            ? `no length is written here, and the model has ${longest} positions`
            : isTrl
              ? 'the default of trl'
              : 'no length is written here',
        ),
    attention:
      shape.kind === 'convolutional'
        ? 'sdpa'
        : take('attention', said.attention, reading.attention, 'sdpa', 'the default of transformers'),
    padded: reading.padded?.value ?? 'unknown',
    checkpointing,
    chunkedLoss: takenFor(reading.chunkedLoss) ?? false,
    ...(reading.prepared !== undefined && { prepared: reading.prepared.place }),
    keepsOutputs: false,
    ...(reading.passes !== undefined && { passes: reading.passes.value }),
    ...(beside.counted.length > 0 && { others: beside.counted.map(heldOf) }),
    ...(reading.leaner !== undefined && { leaner: reading.leaner }),
    ...(open.length > 0 && { isOpen: true }),
    accumulates: accumulation > 1,
    gpus,
    parallel: isSharded && gpus > 1 ? 'sharded' : 'data',
    ...(zero !== undefined && gpus > 1 && { zero: zero.value }),
    ...(isBucketed && {
      bucketing: { views: takenFor(reading.bucketViews) ?? false, remade: !findsUnused },
    }),
    offload: reading.offload?.value ?? 'none',
    given: {},
  };
  return { run, sources, open };
}

/** A model beside the trained one, and how large it is. */
interface Beside extends Other {
  readonly size: KnownModel;
}

function othersOf({ others = [] }: Reading, trained: KnownModel) {
  const counted: Beside[] = [];
  const open: string[] = [];
  for (const other of others) {
    const { model, classes, place, words } = other;
    const named = model === 'copy' ? undefined : toldOf(model);
    const size = model === 'copy' ? trained : named && knownModel(named.value);
    if (size === undefined)
      open.push(`\`${words}\` (${place}) is another model, of a size that is not known: it is not counted.`);
    else
      counted.push({
        ...other,
        size: classes === undefined ? size : withClasses(size, takenFor(classes) ?? 2),
      });
  }
  return { counted, open };
}

function heldOf({ model, size, weights, passes }: Beside): OtherModel {
  const { parameters, shape } = size;
  return { parameters, shape, passes, ...(model !== 'copy' && { dtype: takenFor(weights) ?? 'fp32' }) };
}

function imageSide({ shape }: KnownModel): number {
  return shape.kind === 'transformer' && shape.image !== undefined ? shape.image.size : 224;
}

/** Weights and autocast together: fp32 weights under autocast are `mixed`. */
function dtypeOf(reading: Reading, { shape }: KnownModel, wished: Wished, sources: Source[]): Dtype {
  const add = (value: Dtype, saying: Saying): Dtype => {
    sources.push({ name: 'dtype', value, ...saying });
    return value;
  };
  const { weights, autocast, keepsSavedDtype } = reading;
  if (wished.dtype !== undefined) return add(wished.dtype, BY_COMMAND);
  // What cannot be told is none of the dtypes that no run could train.
  const isUntrainable =
    reading.rank === undefined && wished.loraRank === undefined && !(weights && isTold(weights));
  const likely = takenFor(weights);
  const taken = isUntrainable && likely !== undefined && isQuantized(likely) ? undefined : likely;
  const isMixed = takenFor(autocast) === true;
  if (taken !== undefined && (taken !== 'fp32' || !isMixed))
    return add(taken, sayingOf(weights, '', 'dtype'));
  const isHalf = PUBLISHED_IN_HALF.test(shape.model);
  if (keepsSavedDtype !== undefined && isHalf && weights === undefined) {
    const words = 'weights keep the dtype that they were saved in';
    return add('bf16', { place: keepsSavedDtype.place, words, isAssumed: false });
  }
  if (isMixed) {
    const saying = sayingOf(autocast, '', 'dtype');
    const words = saying.isAssumed
      ? saying.words.replace('assumed: ', 'assumed, on fp32 weights: ')
      : `${saying.words}, on fp32 weights`;
    return add('mixed', { ...saying, words });
  }
  const why = 'nothing asks for another; transformers 5 would keep the saved one';
  return add('fp32', sayingOf(weights ?? untoldOf(autocast), why, 'dtype'));
}

function untoldOf<T>(said: Said<T> | undefined): Said<T> | undefined {
  return said !== undefined && !isTold(said) ? said : undefined;
}

/** Who says a value, for the reader. */
type Saying = Pick<Source, 'place' | 'words' | 'isAssumed'>;

const BY_COMMAND: Saying = { place: undefined, words: 'said on the command line', isAssumed: false };

/** The options that say what a file leaves open. */
const OPTIONS: Readonly<Record<string, string>> = {
  dtype: '--dtype',
  optimizer: '--optimizer',
  batch: '--batch',
  sequence: '--sequence',
  checkpointing: '--checkpointing` or `--no-checkpointing',
  attention: '--attention',
  'LoRA rank': '--lora-rank',
  sharding: '--parallel',
};

function sayingOf(said: Said<unknown> | undefined, why: string, name: string): Saying {
  if (said === undefined) return { place: undefined, words: `assumed: ${why}`, isAssumed: true };
  if (isTold(said)) return { place: said.place, words: said.words, isAssumed: false };
  const option = OPTIONS[name];
  const instead = option === undefined ? '' : `; say it with \`${option}\``;
  return { place: said.place, words: `assumed: ${said.why}${instead}`, isAssumed: true };
}

/** Whether weights of this dtype can be trained without adapters. */
export function isTrainable({ dtype, lora }: Run): boolean {
  return lora !== undefined || !isQuantized(dtype);
}
