import { howOf } from './how.js';
import { marginOf } from './margin.js';
import { generationOf, type Pass } from './pass.js';
import { type Bucketing, bucketsOf, divided, endGradients, gatheredBytes } from './processes.js';
import { wasteOf } from './rounding.js';
import type { Linear, Network } from './shape.js';
import {
  momentsOf,
  optimizerBytes,
  temporariesOf,
  trainedBytes,
  WEIGHT_BYTES,
  weightBytes,
} from './state.js';
import { otherBytes, passOf } from './step.js';

export const DTYPES = ['fp32', 'mixed', 'bf16', 'fp16', 'int8', 'int4'] as const;
export const OPTIMIZERS = ['adamw', 'adamw-fused', 'adamw-8bit', 'sgd-momentum', 'sgd', 'adafactor'] as const;
export const PARALLELISMS = ['data', 'sharded', 'model'] as const;
export const OFFLOADS = ['none', 'optimizer', 'all'] as const;
export const ATTENTIONS = ['sdpa', 'flash', 'eager'] as const;

/** `mixed` is autocast: weights, gradients and optimizer state in fp32, activations in half precision. */
export type Dtype = (typeof DTYPES)[number];
export type Optimizer = (typeof OPTIMIZERS)[number];
/** `data`: every GPU holds everything. `sharded`: FSDP or ZeRO-3. `model`: layers spread over the GPUs. */
export type Parallelism = (typeof PARALLELISMS)[number];
export type Offload = (typeof OFFLOADS)[number];
export type AttentionKind = (typeof ATTENTIONS)[number];

/** A training run, as far as its memory is concerned. */
export interface Run {
  readonly task: 'train' | 'generate';
  readonly parameters: number;
  readonly shape: Network;
  readonly dtype: Dtype;
  readonly optimizer: Optimizer;
  /** An fp32 copy of half-precision weights beside the optimizer state, as DeepSpeed and Megatron keep it. */
  readonly masterWeights: boolean;
  /** Trained parameters: all of the model, a part of it, or adapters beside it. */
  readonly trainable: number;
  /** Low-rank adapters are trained and the model is frozen. */
  readonly lora?: Lora;
  readonly batch: number;
  /** Tokens of a sequence, or pixels along a side of an image. */
  readonly sequence: number;
  /** Tokens that a decoder writes behind an encoder, or that are generated. */
  readonly target?: number;
  readonly attention: AttentionKind;
  /** Sequences of different lengths in a batch, so that attention needs a mask. */
  readonly padded: boolean | 'unknown';
  readonly checkpointing: boolean;
  /** The loss is computed in pieces, so that the logits never exist as a whole. */
  readonly chunkedLoss: boolean;
  /** Where peft prepares a quantized model, which keeps in fp32 what is not quantized. */
  readonly prepared?: string;
  /** The loop holds on to the model's outputs from one step to the next. */
  readonly keepsOutputs: boolean;
  /** Passes of the trained model whose graphs are held until one backward; where nothing is said, one. */
  readonly passes?: number;
  /** Models beside the trained one: of a teacher, a reference, an average. */
  readonly others?: readonly OtherModel[];
  /** By which share the run may need less than what is counted. */
  readonly leaner?: number;
  /** Something is there that is not counted: what is, is the least. */
  readonly isOpen?: boolean;
  /** Gradients of several passes are added up, so that they are there while a pass runs. */
  readonly accumulates: boolean;
  readonly gpus: number;
  readonly parallel: Parallelism;
  /** Of `data`: ZeRO-1 divides the optimizer state among the GPUs, ZeRO-2 the gradients as well. */
  readonly zero?: 1 | 2;
  /** How DDP holds what it sends; where nothing is said, by its defaults. */
  readonly bucketing?: Bucketing;
  readonly offload: Offload;
  /** Bytes that somebody measured or wrote down, in the place of ours. */
  readonly given: Given;
}

/** A model that is not trained. */
export interface OtherModel {
  readonly parameters: number;
  readonly shape: Network;
  /** Of its weights; where nothing is said, that of the trained model. */
  readonly dtype?: Dtype;
  /** How often a step runs it. */
  readonly passes: number;
}

export interface Lora {
  readonly rank: number;
  readonly adapted: readonly Linear[];
  readonly dropout: number;
}

export interface Given {
  readonly adapters?: number;
  readonly gradients?: number;
  readonly optimizer?: number;
  readonly activations?: number;
  readonly overhead?: number;
}

const STATES = ['weights', 'adapters', 'gradients', 'optimizer'] as const;
const ROW_NAMES = [
  ...(['weights', 'others', 'adapters', 'gradients', 'optimizer'] as const),
  ...(['activations', 'logits', 'casts', 'cache', 'temporaries'] as const),
  ...(['buckets', 'gathered', 'workspaces', 'overhead'] as const),
] as const;
export type RowName = (typeof ROW_NAMES)[number];

function isState(name: RowName): name is keyof States {
  return STATES.some((other) => other === name);
}

export interface Row {
  readonly name: RowName;
  /** On the GPU that needs the most, at the peak. */
  readonly bytes: number;
  /** In host memory instead. */
  readonly host: number;
  /** The arithmetic in words. */
  readonly how: string;
  readonly given: boolean;
}

/** Moments of a step, in their order. */
export type PhaseName = 'forward' | 'loss' | 'backward' | 'first' | 'embedding' | 'step' | 'generate';

export interface Phase {
  readonly name: PhaseName;
  readonly parts: Readonly<Partial<Record<RowName, number>>>;
  readonly bytes: number;
  /** Of them what is there only where NCCL still holds the buckets of the first step. */
  readonly old: number;
}

export interface Budget {
  /** What is there at the peak, and what waits in host memory. */
  readonly rows: readonly Row[];
  readonly phases: readonly Phase[];
  /** Every part at its largest, as if all were needed at one time: how such sums are done by hand. */
  readonly together: readonly Row[];
  readonly total: number;
  /** The phase that needs the most. */
  readonly at: Phase;
  /** What the GPU must have. */
  readonly peak: number;
  /** Where the peak is taken to lie. */
  readonly low: number;
  readonly high: number;
  /** Host memory of all processes together. */
  readonly host: number;
}

/** Two workspaces of cuBLAS, of the forward and of the backward thread, on a Hopper card; others have less. */
const WORKSPACES = 2 * 32 * 2 ** 20;
/** What cuDNN takes for convolutions; it was between 7 and 50 MiB. */
const CONVOLUTIONS = 24 * 2 ** 20;

/** Where each part of the state is: here, or in host memory. */
interface State {
  readonly bytes: number;
  readonly isOnHost: boolean;
}

export function budgetOf(run: Run): Budget {
  const pass = passOf(run);
  const states = statesOf(run);
  const phases = run.task === 'generate' ? [generating(run, states)] : training(run, pass, states);
  const at = phases.reduce((most, phase) => (phase.bytes > most.bytes ? phase : most));
  const [below, above] = marginOf(run);
  const padded = run.padded === 'unknown' ? budgetOf({ ...run, padded: true }).high : 0;
  const words = howOf(run, pass);
  const rowsWith = (bytesOf: (name: RowName) => number) =>
    ROW_NAMES.flatMap((name): Row[] => {
      const state = isState(name) ? states[name] : undefined;
      const host = state?.isOnHost === true ? state.bytes : 0;
      const bytes = bytesOf(name);
      return bytes + host > 0 ? [{ name, bytes, host, ...words[name] }] : [];
    });
  const rows = rowsWith((name) => at.parts[name] ?? 0);
  const together = rowsWith((name) => Math.max(...phases.map(({ parts }) => parts[name] ?? 0))).filter(
    ({ name }) => name !== 'temporaries' && name !== 'workspaces',
  );
  return {
    rows,
    phases,
    together,
    total: together.reduce((sum, { bytes }) => sum + bytes, 0),
    at,
    peak: at.bytes,
    low: Math.max(...phases.map(({ bytes, old }) => bytes - old)) * (1 - below),
    high: run.isOpen === true ? Infinity : Math.max(at.bytes * (1 + above), padded),
    host: rows.reduce((whole, row) => whole + row.host, 0) * run.gpus,
  };
}

type States = Readonly<Record<(typeof STATES)[number], State>>;

function statesOf(run: Run): States {
  const { trainable, lora, offload, given } = run;
  const { zero = 0, gpus } = run;
  const each = trainedBytes(run);
  const away = offload === 'all';
  const state = (bytes: number, isOnHost: boolean, own?: number, from = 3): State => ({
    bytes: own ?? bytes / (zero >= from ? gpus : divided(run)),
    isOnHost,
  });
  const isTrained = run.task === 'train';
  const wasted = lora === undefined ? wasteOf(run, each) : 0;
  return {
    weights: state(weightBytes(run) + wasteOf(run, WEIGHT_BYTES[run.dtype]), away),
    adapters: state(lora === undefined ? 0 : trainable * each, away, given.adapters),
    gradients: state(isTrained ? trainable * each + wasted : 0, away, given.gradients, 2),
    optimizer: state(
      isTrained ? trainable * optimizerBytes(run)[0] + momentsOf(run) * wasted : 0,
      offload !== 'none',
      given.optimizer,
      1,
    ),
  };
}

function phase(name: PhaseName, parts: Phase['parts'], old = 0): Phase {
  return { name, parts, bytes: Object.values(parts).reduce((sum, bytes) => sum + bytes, 0), old };
}

function here({ bytes, isOnHost }: State): number {
  return isOnHost ? 0 : bytes;
}

function training(run: Run, pass: Pass, states: States): readonly Phase[] {
  const { given, gpus, parallel, offload } = run;
  const whole = here(states.gradients);
  const { buckets, old, later, isGradient } = bucketsOf(run, whole, here(states.optimizer));
  const gradients = isGradient ? 0 : whole;
  const before = run.accumulates ? gradients : 0;
  const isGathered = parallel === 'sharded' || offload === 'all';
  const gathered = isGathered ? gatheredBytes(run) : 0;
  const always = {
    weights: here(states.weights),
    others: otherBytes(run),
    adapters: here(states.adapters),
    optimizer: here(states.optimizer),
    workspaces: WORKSPACES + (run.shape.kind === 'convolutional' ? CONVOLUTIONS : 0) + pass.batch,
    overhead: given.overhead ?? 0,
  };
  const early = (name: PhaseName, parts: Phase['parts']) =>
    phase(name, { ...always, gathered, buckets: buckets + old, ...parts }, old);
  const late = (name: PhaseName, parts: Phase['parts']) =>
    phase(name, { ...always, gathered, buckets: buckets + later, ...parts }, later);
  // What is gathered is whole, as are its gradients and its copies.
  const scale = isGathered ? 1 : 1 / divided(run);
  const outputs = run.keepsOutputs ? pass.outputs + pass.cached : 0;
  const afterwards = run.keepsOutputs ? pass.outputs + pass.caches : 0;
  const activations = (bytes: number) => given.activations ?? bytes;
  const logits = (bytes: number) => (given.activations === undefined ? bytes : 0);
  const kept = pass.kept + pass.ends;
  const headGradient =
    run.lora === undefined ? Math.min(whole * gpus, pass.head * trainedBytes(run) * scale) : 0;
  const ofHead = isGradient ? 0 : headGradient;
  const ofFirst = isGradient ? 0 : pass.first * trainedBytes(run) * scale;
  // The embeddings' gradients are whole until all of them are there.
  const ends = isGathered ? endGradients(run) : 0;
  const share = ends / divided(run);
  return [
    early('forward', {
      gradients: before,
      activations: activations(kept + pass.cached),
      // Those of the step before, too.
      logits: logits(pass.lossForward + afterwards),
      casts: pass.casts * scale,
    }),
    early('loss', {
      gradients: before,
      activations: activations(kept),
      logits: logits(pass.lossBackward + outputs),
      casts: pass.castsAfter * scale,
    }),
    early('backward', {
      gradients: isGathered ? before + ofHead : Math.max(before, ofHead),
      activations: activations(pass.kept + pass.atLast),
      logits: logits(outputs),
      casts: pass.castsAfter * scale,
    }),
    late('first', {
      gradients: Math.max(before, gradients + (isGathered ? ofHead - share : -ofFirst)),
      activations: Math.min(activations(pass.atFirst), pass.atFirst),
      logits: logits(afterwards),
    }),
    late('embedding', {
      gradients: gradients + ends - share,
      logits: logits(afterwards),
      temporaries: isTied(run) ? headGradient : 0,
    }),
    late('step', {
      gathered: 0,
      gradients,
      logits: logits(afterwards),
      temporaries:
        offload === 'none' ? temporariesOf(run) / (run.zero === undefined ? divided(run) : gpus) : 0,
    }),
  ];
}

/** One embedding at both ends gets its gradient in two parts. */
function isTied({ shape, lora }: Run): boolean {
  if (shape.kind === 'convolutional' || lora !== undefined || shape.classes !== undefined) return false;
  return shape.tied || shape.family.head === 'masked';
}

function generating(run: Run, states: States): Phase {
  const { cache, moment, casts } = generationOf(run);
  return phase('generate', {
    weights: here(states.weights),
    others: otherBytes(run),
    adapters: here(states.adapters),
    cache: cache / divided(run),
    casts: casts / divided(run),
    activations: run.given.activations ?? moment,
    workspaces: WORKSPACES / 2,
    overhead: run.given.overhead ?? 0,
  });
}

/** The estimate of activations and logits in the backward pass, also where a figure was given for them. */
export function passBytes(run: Run): number {
  const pass = passOf(run);
  return Math.max(pass.kept + pass.ends + pass.lossBackward, pass.kept + pass.atLast);
}
