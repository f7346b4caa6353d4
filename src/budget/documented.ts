import { modelOf } from './configuration.js';
import { budgetOf, type Row, type RowName, type Run } from './memory.js';
import { gigabytes } from './quantity.js';
import { LINEARS, type Shape, shapeFor } from './shape.js';

/** A budget that a document did by hand, beside the same run computed. */
export interface Documented {
  readonly name: DocumentedName;
  readonly document: string;
  readonly steps: readonly DocumentedStep[];
  /** Its assumptions that are wrong, the most costly first. */
  readonly wrong: readonly string[];
}

export interface DocumentedStep {
  readonly name: string;
  /** How the same step was computed. */
  readonly computedAs: string;
  readonly rows: readonly DocumentedRow[];
  readonly claimed: number;
  readonly computed: number;
}

export interface DocumentedRow {
  readonly name: RowName;
  readonly claimed: number;
  /** Undefined where the document's figure cannot be computed. */
  readonly computed: number | undefined;
}

export const DOCUMENTED = ['13b', '7b-lora'] as const;
export type DocumentedName = (typeof DOCUMENTED)[number];

const GB = 1e9;

export function documented(name: DocumentedName): Documented {
  return name === '13b' ? thirteenBillion() : sevenBillionLora();
}

const PLAIN = {
  task: 'train',
  attention: 'sdpa',
  padded: false,
  keepsOutputs: false,
  accumulates: false,
  masterWeights: false,
  batch: 1,
  sequence: 2048,
  checkpointing: false,
  chunkedLoss: false,
  gpus: 1,
  parallel: 'data',
  offload: 'none',
} as const;

/** 13.14 billion parameters on two GPUs of 24 GB; the document names 57 layers. */
function thirteenBillion(): Documented {
  const parameters = 13.14e9;
  const full: Run = {
    ...PLAIN,
    parameters,
    trainable: parameters,
    shape: shapeFor(parameters, { layers: 57 }),
    dtype: 'fp32',
    optimizer: 'adamw',
    given: { activations: 20 * GB },
  };
  const halved: Run = {
    ...full,
    dtype: 'fp16',
    optimizer: 'adamw-8bit',
    checkpointing: true,
    given: { activations: 5 * GB, optimizer: 26.28 * GB },
  };
  const offloaded: Run = { ...halved, offload: 'optimizer' };
  const mixed: Run = { ...halved, dtype: 'mixed', given: { activations: 5 * GB } };
  const away: Run = { ...mixed, offload: 'all' };
  const sharded: Run = { ...offloaded, gpus: 2, parallel: 'sharded' };
  const steps = [
    step('unoptimised', full, full, 'the same'),
    step(
      'fp16, 8-bit AdamW, checkpointing',
      halved,
      mixed,
      'mixed precision: fp32 weights and gradients, and half-precision copies',
    ),
    step('optimizer offloaded', offloaded, away, '`CPUOffload(offload_params=True)`, as the code has it'),
    perGpu('on each of 2 GPUs', offloaded, sharded),
  ];
  return {
    name: '13b',
    document: 'Memory optimization implementation report (13.14B parameters)',
    steps,
    wrong: [
      `Mixed precision does not halve weights and gradients. Under autocast with a GradScaler both stay fp32, and half-precision copies of the weights come on top: ${gigabytes(budgetOf(mixed).total)} instead of ${gigabytes(budgetOf(halved).total)}. Training fp16 weights alone loses small updates, and the GradScaler refuses their gradients.`,
      `Two GPUs do not halve the total. Data parallelism divides nothing: ${gigabytes(budgetOf(offloaded).total)} on each. Sharding divides weights and gradients but not activations, and gathers layers: ${gigabytes(budgetOf(sharded).total)}, not ${gigabytes(budgetOf(offloaded).total / 2)}.`,
      `\`CPUOffload(offload_params=True)\` does not move the optimizer state alone: weights and gradients go too, the GPU keeps ${gigabytes(budgetOf(away).total)}, and the host needs ${gigabytes(budgetOf(away).host)}. With accumulation outside \`no_sync()\` it loses gradients.`,
      'Splitting the layers over 2 GPUs is said to need 14 + 13 + 5 = 32 GB each and to fit in 24: half of the weights and gradients alone is 26.28 GB.',
      `Activations of 20 and 5 GB are not derived from anything. The default AdamW step needs ${gigabytes(budgetOf(full).peak)} before they are counted.`,
    ],
  };
}

const QWEN_7B = {
  model_type: 'qwen2',
  num_hidden_layers: 28,
  hidden_size: 3584,
  num_attention_heads: 28,
  num_key_value_heads: 4,
  intermediate_size: 18_944,
  vocab_size: 152_064,
  tie_word_embeddings: false,
};

function qwen(): Shape {
  const model = modelOf(QWEN_7B);
  if (typeof model === 'string' || model.shape.kind !== 'transformer') throw new Error('unreachable');
  return model.shape;
}

/** Qwen 2.5 7B with adapters of rank 128 on a GPU of 24 GB. */
function sevenBillionLora(): Documented {
  const parameters = 7_615_616_512;
  const before: Run = {
    ...PLAIN,
    parameters,
    trainable: 239e6,
    lora: { rank: 128, adapted: LINEARS, dropout: 0 },
    shape: qwen(),
    dtype: 'fp16',
    optimizer: 'adamw',
    batch: 2,
    checkpointing: true,
    given: {},
  };
  const after: Run = { ...before, batch: 1, sequence: 1536 };
  const claims = (figures: readonly (readonly [RowName, number])[]) =>
    figures.map(([name, gb]) => ({ name, bytes: gb * GB }));
  const first = claims([
    ['weights', 14],
    ['adapters', 0.5],
    ['activations', 5],
    ['gradients', 2.5],
    ['optimizer', 1.5],
    ['overhead', 1.5],
  ]);
  const second = claims([
    ['weights', 14],
    ['adapters', 0.5],
    ['activations', 2],
    ['gradients', 2],
    ['optimizer', 1],
    ['overhead', 0.5],
  ]);
  const own = budgetOf(before);
  const bytes = (name: RowName) => own.together.find((row) => row.name === name)?.bytes ?? 0;
  return {
    name: '7b-lora',
    document: 'Memory optimization guide (baseline 7B training)',
    steps: [
      compared(
        'batch 2 × 2048',
        first,
        own.together,
        'Qwen 2.5 7B with checkpointing on, as the code has it',
      ),
      compared('batch 1 × 1536', second, budgetOf(after).together, 'the same'),
    ],
    wrong: [
      `Gradients and optimizer state do not shrink with the batch or the sequence: they follow the 239M trained parameters, ${gigabytes(bytes('gradients'))} and ${gigabytes(bytes('optimizer'))} before and after. The 1 GB that they are said to save is not saved.`,
      `What shrinks is activations, and most of them are logits: ${gigabytes(bytes('logits'))} of ${gigabytes(bytes('logits') + bytes('activations'))} at batch 2 × 2048, since the vocabulary has 152,064 words. Checkpointing, which was on already, does not touch them; a chunked loss does.`,
      `"7B" is 7.62B parameters: ${gigabytes(bytes('weights'))} of weights, not 14 GB.`,
      'Thread settings and `empty_cache()` before training give back nothing that a training step needs; overhead is stated, not derived.',
    ],
  };
}

type Claim = Pick<Row, 'name' | 'bytes'>;

function step(name: string, claimed: Run, computed: Run, computedAs: string): DocumentedStep {
  return compared(name, budgetOf(claimed).together, budgetOf(computed).together, computedAs);
}

/** The document divides everything, activations too. */
function perGpu(name: string, claimed: Run, computed: Run): DocumentedStep {
  const halves = budgetOf(claimed).together.map((row) => ({ ...row, bytes: row.bytes / computed.gpus }));
  return compared(name, halves, budgetOf(computed).together, 'sharded over both, optimizer state offloaded');
}

function compared(
  name: string,
  claims: readonly Claim[],
  rows: readonly Row[],
  computedAs: string,
): DocumentedStep {
  const names = new Set([...claims, ...rows].map((row) => row.name));
  const of = (list: readonly Claim[], wanted: RowName) => list.find((row) => row.name === wanted)?.bytes;
  return {
    name,
    computedAs,
    rows: [...names].map((wanted) => ({
      name: wanted,
      claimed: of(claims, wanted) ?? 0,
      computed: wanted === 'overhead' ? undefined : (of(rows, wanted) ?? 0),
    })),
    claimed: claims.reduce((sum, { bytes }) => sum + bytes, 0),
    computed: rows.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}
