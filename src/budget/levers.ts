import type { Run } from './memory.js';
import { adapterParameters, LINEARS } from './shape.js';
import { isHalf, isQuantized } from './state.js';

/** What a change does to the training: 1 nothing but time, 2 how a step is run, 3 its numbers, 4 what is trained on what. */
export type Tier = 1 | 2 | 3 | 4;

/** One way to need less, in the order in which to try them. */
export interface Lever {
  readonly name: string;
  /** The transform that writes it into code, where there is one. */
  readonly transform?: string;
  readonly tier: Tier;
  /** What it costs, in words. */
  readonly price: string;
  /** The runs it leads to, gentlest first; none where it does not apply. */
  settings(run: Run): readonly Setting[];
}

export interface Setting {
  readonly run: Run;
  readonly what: string;
  /** What its transform has to be told. */
  readonly options?: Readonly<Record<string, number>>;
}

const SHORTEST_SEQUENCE = 256;
const SMALL_RANK = 16;

export const LEVERS: readonly Lever[] = [
  {
    name: 'fused optimizer',
    transform: 'fused-optimizer',
    tier: 1,
    price: 'results differ in the last bits; faster',
    settings: (run) =>
      run.optimizer === 'adamw' ? [{ run: { ...run, optimizer: 'adamw-fused' }, what: '`fused=True`' }] : [],
  },
  {
    name: 'gradient checkpointing',
    transform: 'enable-gradient-checkpointing',
    tier: 1,
    price: 'the same results; a step took 26 % longer where it was measured',
    settings: (run) =>
      run.checkpointing || run.shape.kind === 'convolutional'
        ? []
        : [{ run: { ...run, checkpointing: true }, what: '`gradient_checkpointing=True`' }],
  },
  {
    name: 'gradients in the buckets',
    tier: 1,
    price: 'the same results; a gradient must not be detached in place',
    settings: (run) =>
      run.parallel === 'data' && run.gpus > 1 && run.zero === undefined && run.bucketing?.views !== true
        ? [
            {
              run: { ...run, bucketing: { views: true, remade: run.bucketing?.remade ?? true } },
              what: '`gradient_as_bucket_view=True` in DDP',
            },
          ]
        : [],
  },
  {
    name: 'sharding',
    tier: 2,
    price: 'the same results up to rounding; more traffic between the GPUs',
    settings: (run) =>
      run.parallel === 'data' && run.gpus > 1
        ? [
            {
              run: withoutZero({ ...run, parallel: 'sharded' }),
              what: `FSDP or ZeRO-3 instead of ${run.zero === undefined ? 'DDP' : `ZeRO-${run.zero}`}`,
            },
          ]
        : [],
  },
  {
    name: 'smaller batch, more accumulation',
    transform: 'rebalance-batch',
    tier: 2,
    price: 'the same effective batch, slower; not for batch norm or losses across the batch',
    settings: (run) =>
      halvings(run.batch, 1).map((batch) => ({
        run: { ...run, batch, accumulates: true },
        what: `batch ${run.batch} → ${batch}, accumulation × ${Math.round(run.batch / batch)}`,
        options: { 'batch-size': batch },
      })),
  },
  {
    name: 'loss in chunks',
    transform: 'logits-upcast',
    tier: 2,
    price: 'results differ in the last bits; needs liger-kernel, or a TRL that has it',
    settings: (run) =>
      run.chunkedLoss
        ? []
        : [
            {
              run: { ...run, chunkedLoss: true },
              what: '`use_liger_kernel=True`, or a chunked cross entropy',
            },
          ],
  },
  {
    name: 'optimizer state in host memory',
    tier: 2,
    price: 'the same results, slower steps; costs as much host memory',
    settings: (run) =>
      run.offload === 'none'
        ? [{ run: { ...run, offload: 'optimizer' }, what: 'ZeRO-Offload, or a paged optimizer' }]
        : [],
  },
  {
    name: 'autocast',
    tier: 3,
    price: 'changes the numbers: activations in half precision',
    settings: (run) =>
      run.dtype === 'fp32' ? [{ run: { ...run, dtype: 'mixed' }, what: '`bf16=True`' }] : [],
  },
  {
    name: '8-bit optimizer state',
    transform: 'adamw-8bit',
    tier: 3,
    price: 'changes the numbers: moments in 8 bits; needs bitsandbytes',
    settings: (run) =>
      run.optimizer === 'adamw' || run.optimizer === 'adamw-fused'
        ? [{ run: { ...run, optimizer: 'adamw-8bit' }, what: '`AdamW8bit`' }]
        : [],
  },
  {
    name: 'weights in bf16',
    tier: 3,
    price: 'changes the numbers: small updates are rounded away',
    settings: (run) =>
      (run.dtype === 'fp32' || run.dtype === 'mixed') && !run.masterWeights
        ? [{ run: { ...run, dtype: 'bf16' }, what: 'load the model in bfloat16' }]
        : [],
  },
  {
    name: 'shorter sequences',
    transform: 'max-sequence-length',
    tier: 4,
    price: 'cuts off longer examples',
    settings: (run) =>
      isVision(run)
        ? []
        : halvings(run.sequence, SHORTEST_SEQUENCE).map((sequence) => ({
            run: { ...run, sequence },
            what: `sequence ${run.sequence} → ${sequence}`,
            options: { length: sequence },
          })),
  },
  {
    name: 'low-rank adapters',
    tier: 4,
    price: 'trains adapters instead of the model',
    settings: (run) => (run.lora === undefined ? adapted(run, SMALL_RANK) : []),
  },
  {
    name: 'smaller rank',
    transform: 'lora-rank',
    tier: 4,
    price: 'takes capacity from the adapters',
    settings: (run) =>
      halvings(run.lora?.rank ?? 0, SMALL_RANK).flatMap((rank) => {
        const { lora } = run;
        if (lora === undefined) return [];
        const trainable = Math.round((run.trainable * rank) / lora.rank);
        return [
          {
            run: { ...run, trainable, lora: { ...lora, rank } },
            what: `rank ${lora.rank} → ${rank}`,
            options: { rank },
          },
        ];
      }),
  },
  {
    name: 'base model in 4 bits',
    tier: 4,
    price: 'changes the numbers: the frozen weights are rounded to 4 bits; needs bitsandbytes',
    settings: (run) =>
      run.lora !== undefined && isHalf(run.dtype) && !isQuantized(run.dtype)
        ? [{ run: { ...run, dtype: 'int4' }, what: '`load_in_4bit=True` in a `BitsAndBytesConfig`' }]
        : [],
  },
];

function withoutZero({ zero: _, ...run }: Run): Run {
  return run;
}

function isVision({ shape }: Run): boolean {
  return shape.kind === 'convolutional' || shape.image !== undefined;
}

function adapted(run: Run, rank: number): readonly Setting[] {
  if (run.shape.kind === 'convolutional') return [];
  const trainable = Math.round(adapterParameters(run.shape, rank));
  const lora = { rank, adapted: LINEARS, dropout: 0 };
  return [{ run: { ...run, trainable, lora }, what: `LoRA of rank ${rank}` }];
}

/** 8 → 4, 2, 1 */
function halvings(from: number, least: number): readonly number[] {
  const found: number[] = [];
  for (let at = Math.floor(from / 2); at >= least; at = Math.floor(at / 2)) found.push(at);
  return found;
}
