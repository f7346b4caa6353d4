import type { AttentionKind, Dtype, Offload, Optimizer } from '../budget/memory.js';
import type { Linear } from '../budget/shape.js';

/** Something that a file says about a run, and where. */
export interface Found<T> {
  readonly value: T;
  /** `train.py:12` */
  readonly place: string;
  /** As it is written: `batch_size=8`. */
  readonly words: string;
}

/** Something that a file says, and that cannot be told from it. */
export interface Untold<T> {
  readonly place: string;
  /** A sentence: "`r=args.rank` cannot be told without running it". */
  readonly why: string;
  /** What it is taken for, where that is not the default. */
  readonly likely?: T;
  /** The command line gives another value than the one that the script has. */
  readonly isGiven?: true;
}

export type Said<T> = Found<T> | Untold<T>;

export function isTold<T>(said: Said<T>): said is Found<T> {
  return 'value' in said;
}

/** What was said, if it can be told. */
export function toldOf<T>(said: Said<T> | undefined): Found<T> | undefined {
  return said !== undefined && isTold(said) ? said : undefined;
}

/** What it is taken for: what was said, or what is likely. */
export function takenFor<T>(said: Said<T> | undefined): T | undefined {
  if (said === undefined) return undefined;
  return isTold(said) ? said.value : said.likely;
}

/** What files say about a training run; what is not in it nobody said. */
export interface Reading {
  readonly model?: Said<string>;
  /** A configuration that is written in code. */
  readonly config?: Found<Readonly<Record<string, unknown>>>;
  /** A network of the project that is trained, where no other model is. */
  readonly network?: Found<Network>;
  /** A load by a class that the code does not show: the model, where nothing else is. */
  readonly hidden?: Untold<string>;
  /** Of the weights. */
  readonly weights?: Said<Weights>;
  readonly autocast?: Said<boolean>;
  readonly optimizer?: Said<Optimizer>;
  readonly batch?: Said<number>;
  readonly sequence?: Said<number>;
  readonly accumulation?: Said<number>;
  readonly checkpointing?: Said<boolean>;
  readonly attention?: Said<AttentionKind>;
  readonly rank?: Said<number>;
  readonly targets?: Said<readonly Linear[]>;
  readonly adapterDropout?: Said<number>;
  readonly sharded?: Said<boolean>;
  /** The stage of ZeRO, where weights are not sharded. */
  readonly zero?: Found<1 | 2>;
  /** Of DDP: `gradient_as_bucket_view` and `find_unused_parameters`. */
  readonly bucketViews?: Said<boolean>;
  readonly findsUnused?: Said<boolean>;
  readonly masterWeights?: Found<boolean>;
  readonly offload?: Found<Offload>;
  readonly gpus?: Found<number>;
  readonly chunkedLoss?: Said<boolean>;
  /** Classes that the head tells apart, where it is none for words. */
  readonly classes?: Said<number>;
  readonly padded?: Found<boolean>;
  /** The trainer of transformers or trl is used, with its defaults. */
  readonly trainer?: Found<'transformers' | 'trl'>;
  /** The versions that the project pins, with which the optimizer of a trainer is not fused by default. */
  readonly unfused?: string;
  /** peft prepares the quantized model, and keeps in fp32 what is not quantized. */
  readonly prepared?: Found<true>;
  /** transformers 5 or newer: weights are loaded in the dtype that they were saved in. */
  readonly keepsSavedDtype?: Found<boolean>;
  /** Passes of the trained model whose graphs one backward takes apart. */
  readonly passes?: Found<number>;
  /** Models beside the trained one. */
  readonly others?: readonly Other[];
  /** By which share the run may need less than what is counted. */
  readonly leaner?: number;
  /** What is said and counted otherwise, or as more than it is: each a sentence. */
  readonly remarks?: readonly string[];
  /** What is there and comes on top of what is counted: each a sentence. */
  readonly open?: readonly string[];
}

/** A model that a run holds and does not train. */
export interface Other {
  readonly place: string;
  readonly words: string;
  /** Its name, or that it is a copy of the trained one. */
  readonly model: Said<string> | 'copy';
  readonly classes?: Said<number>;
  readonly weights?: Said<Weights>;
  /** How often a step runs it. */
  readonly passes: number;
}

export type Weights = 'fp32' | 'bf16' | 'fp16' | 'int8' | 'int4';

/** A network that is none of a library whose models are known. */
export interface Network {
  readonly name: string;
  readonly isConvolutional: boolean;
}

export const NOTHING: Reading = { remarks: [] };

function isFound(said: unknown): boolean {
  return typeof said === 'object' && said !== null && 'value' in said;
}

/** What the second says goes before what the first says; what can be told, before what cannot. */
export function together(first: Reading, second: Reading): Reading {
  const { remarks = [], open = [], ...own } = second;
  const { remarks: earlier = [], open: already = [], ...before } = first;
  const kept = Object.entries(own).flatMap(([name, said]): readonly [string, unknown][] => {
    const held = before[name as keyof typeof before];
    if (!isFound(held) || typeof said !== 'object' || 'value' in said) return [[name, said]];
    return 'isGiven' in said ? [[name, { ...said, likely: (held as Found<unknown>).value }]] : [];
  });
  return {
    ...before,
    ...Object.fromEntries(kept),
    remarks: [...earlier, ...remarks],
    open: [...already, ...open],
  };
}

export const DTYPE_WORDS: ReadonlyMap<string, Dtype & ('fp32' | 'bf16' | 'fp16')> = new Map([
  ['float32', 'fp32'],
  ['float', 'fp32'],
  ['bfloat16', 'bf16'],
  ['float16', 'fp16'],
  ['half', 'fp16'],
]);

const OPTIMIZER_WORDS: readonly (readonly [RegExp, Optimizer])[] = [
  [/^(?:paged_)?adamw?(?:_bnb)?_?8bit$/, 'adamw-8bit'],
  // That of bitsandbytes needs no more room for its step than the fused one.
  [/^(?:adamw?_(?:torch|apex)_fused|paged_adamw(?:_32bit)?|adamw_32bit)$/, 'adamw-fused'],
  [/^(?:adamw?|adamw_torch|adamw_hf)$/, 'adamw'],
  [/^adafactor$/, 'adafactor'],
  [/^sgd$/, 'sgd'],
];

/** `optim=` of the trainer's arguments; undefined where its memory is not known. */
export function optimizerNamed(name: string): Optimizer | undefined {
  const plain = name.toLowerCase();
  return OPTIMIZER_WORDS.find(([pattern]) => pattern.test(plain))?.[1];
}

const LINEAR_WORDS: readonly (readonly [RegExp, readonly Linear[]])[] = [
  [/^all-linear$/, ['q', 'k', 'v', 'o', 'gate', 'up', 'down']],
  [/^(?:q_proj|q|query)$/, ['q']],
  [/^(?:k_proj|k|key)$/, ['k']],
  [/^(?:v_proj|v|value)$/, ['v']],
  [/^(?:o_proj|out_proj|o|dense)$/, ['o']],
  [/^(?:qkv_proj|query_key_value|c_attn)$/, ['q', 'k', 'v']],
  [/^(?:gate_up_proj)$/, ['gate', 'up']],
  [/^(?:gate_proj|w1)$/, ['gate']],
  [/^(?:up_proj|w3|fc1|c_fc|dense_h_to_4h|wi)$/, ['up']],
  [/^(?:down_proj|w2|fc2|dense_4h_to_h|wo)$/, ['down']],
];

/** The layers that `target_modules` names; undefined where one is not known. */
export function linearsNamed(names: readonly string[]): readonly Linear[] | undefined {
  const found = names.map((name) => LINEAR_WORDS.find(([pattern]) => pattern.test(name))?.[1]);
  return found.includes(undefined) ? undefined : [...new Set(found.flatMap((linears) => linears ?? []))];
}
