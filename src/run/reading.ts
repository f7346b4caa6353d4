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

/** What files say about a training run; what is not in it nobody said. */
export interface Reading {
  readonly model?: Found<string>;
  /** A configuration that is written in code. */
  readonly config?: Found<Readonly<Record<string, unknown>>>;
  /** Of the weights. */
  readonly weights?: Found<'fp32' | 'bf16' | 'fp16' | 'int8' | 'int4'>;
  readonly autocast?: Found<boolean>;
  readonly optimizer?: Found<Optimizer>;
  readonly batch?: Found<number>;
  readonly sequence?: Found<number>;
  readonly accumulation?: Found<number>;
  readonly checkpointing?: Found<boolean>;
  readonly attention?: Found<AttentionKind>;
  readonly rank?: Found<number>;
  readonly targets?: Found<readonly Linear[]>;
  readonly adapterDropout?: Found<number>;
  readonly sharded?: Found<boolean>;
  /** The stage of ZeRO, where weights are not sharded. */
  readonly zero?: Found<1 | 2>;
  /** Of DDP: `gradient_as_bucket_view` and `find_unused_parameters`. */
  readonly bucketViews?: Found<boolean>;
  readonly findsUnused?: Found<boolean>;
  readonly masterWeights?: Found<boolean>;
  readonly offload?: Found<Offload>;
  readonly gpus?: Found<number>;
  readonly chunkedLoss?: Found<boolean>;
  /** Classes that the head tells apart, where it is none for words. */
  readonly classes?: Found<number>;
  readonly padded?: Found<boolean>;
  /** The trainer of transformers or trl is used, with its defaults. */
  readonly trainer?: Found<'transformers' | 'trl'>;
  /** transformers 5 or newer: weights are loaded in the dtype that they were saved in. */
  readonly keepsSavedDtype?: Found<boolean>;
  /** Settings that are there and cannot be told: worked out, or given on the command line. */
  readonly untold: readonly Found<string>[];
}

export const NOTHING: Reading = { untold: [] };

/** What the second says goes before what the first says. */
export function together(first: Reading, second: Reading): Reading {
  return { ...first, ...second, untold: [...first.untold, ...second.untold] };
}

export const DTYPE_WORDS: ReadonlyMap<string, Dtype & ('fp32' | 'bf16' | 'fp16')> = new Map([
  ['float32', 'fp32'],
  ['float', 'fp32'],
  ['bfloat16', 'bf16'],
  ['float16', 'fp16'],
  ['half', 'fp16'],
]);

/** `optim=` of the trainer's arguments. */
export function optimizerNamed(name: string): Optimizer | undefined {
  const plain = name.toLowerCase();
  if (/8bit|bnb/.test(plain)) return 'adamw-8bit';
  if (plain.startsWith('adamw_torch_fused')) return 'adamw-fused';
  if (plain.startsWith('adamw')) return 'adamw';
  if (plain.startsWith('adafactor')) return 'adafactor';
  return plain === 'sgd' ? 'sgd' : undefined;
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
