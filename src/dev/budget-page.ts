import { readFileSync } from 'node:fs';
import { type Budget, budgetOf } from '../budget/memory.js';
import { gigabytes } from '../budget/quantity.js';
import {
  isHeldOut,
  type Measured,
  measuredProcesses,
  measuredRun,
  measuredRuns,
  processRun,
} from './measured.js';

const PREFLIGHT = new URL('../../bench/gpu/preflight.json', import.meta.url);

export interface Compared {
  readonly row: Measured;
  readonly budget: Budget;
  readonly error: number;
  /** What torch-preflight 0.5 says, where it can express the run. */
  readonly other: number | undefined;
}

/** The measured runs, each with what the budget and torch-preflight say of it. */
export function comparedRuns(): readonly Compared[] {
  const others: Readonly<Record<string, number>> = JSON.parse(readFileSync(PREFLIGHT, 'utf8'));
  return measuredRuns().map((row): Compared => {
    const budget = budgetOf(measuredRun(row));
    const said = others[`${row.id}`];
    return {
      row,
      budget,
      error: budget.peak / row.peak - 1,
      other: said === undefined ? undefined : said / row.peak - 1,
    };
  });
}

/** `docs/budget.md`: how the budget is computed, and the measured runs that it is held to. */
export function budgetPage(): string {
  const rows = comparedRuns();
  const held = rows.filter(({ row }) => isHeldOut(row));
  const found = rows.filter(({ row }) => !isHeldOut(row));
  const both = rows.filter(({ other }) => other !== undefined);
  const reserves = rows.map(({ row }) => row.reserved / row.peak - 1).sort((a, b) => a - b);
  const [first] = measuredRuns();
  const { device = '', versions = {} } = first ?? {};
  return `# The budget

\`memfix budget\` says what a training run holds on a GPU at its peak: read off a script, a config or a name, without running
anything. \`memfix budget --help\` lists its options.

## How it is computed

A step has phases, and the largest is the peak:

| phase | what is there beside weights and optimizer state |
|---|---|
| loss, forward | what blocks keep for their backward pass, logits and their copies, copies of weights under autocast, the key-value cache of the outputs |
| loss, backward | the same, with the gradients of the logits |
| last block, backward | what blocks keep, the gradient of the output embedding, the widest moment of a block; with checkpointing the block computed anew |
| first block, backward | all other gradients, one block |
| embedding, backward | all gradients, and where both embeddings are one tensor its gradient once more |
| optimizer step | all gradients, and the copies that the step makes |

What a block keeps follows from the configuration: attention (sdpa with or without a mask, eager, queries that share keys, fused
projections, rotary and query norms), the norm and its fp32 copies, the activation and its gate, dropout, experts, adapters, and
whether linear layers are frozen. torch's allocator rounds; that is counted as well. How much the widest moment of a backward
pass takes beyond what is kept was read off measured runs; no factor is fitted to a total.

## How good it is

Peaks of \`torch.cuda.max_memory_allocated\` over four steps, random weights, ${device.split(',')[0]}, torch ${versions['torch']},
transformers ${versions['transformers']}; \`bench/gpu/budget.py\` measures them, \`bench/gpu/budget.jsonl\` has them with their phases.
The formulas were found with ${found.length} runs. ${held.length} others were drawn at random by a program, and measured when the formulas were
final. After that, one of 8 runs with heads for classes showed that the gradient of an input embedding comes last; that
correction is in the figures, those 8 are not among the held-out ones, and without it these were 0.4 % off on average, 2.3 % too high and
2.9 % too low at most.

| runs | number | mean error | too high at most | too low at most |
|---|---|---|---|---|
${line('held out', held)}
${line('the formulas were found with', found)}
${line('that torch-preflight 0.5 can express too', both)}
${line('the same, torch-preflight 0.5', both, ({ other }) => other ?? 0)}

The interval that is printed held ${share(held)} of the held-out runs. What the allocator reserves beyond what it gives out, on a card
with room, was
${percent(average(reserves))} on average, and at most ${percent(reserves[Math.floor(0.95 * reserves.length)] ?? 0)} in 19 of 20 runs; on a full card it gives that back before it fails.

## Several processes

What DDP and FSDP add, measured on one GPU by \`bench/gpu/budget_sharded.py\`: one process with NCCL, or two that share the GPU, with
Gloo, since NCCL wants a GPU for each. The peak is that of one process.

${processTable()}

- DDP holds the gradients once more, in buckets; \`gradient_as_bucket_view\` gives that back only between the steps.
- After the first step DDP makes its buckets anew. With NCCL the old ones may stay for that step: then the gradients are there three times.
  The upper end of the interval counts that, the estimate does not.
- Of FSDP with one process nothing is sharded, and the estimate for one GPU has no gathered layers; that row is there for comparison.

Not measured, and so with a wider interval where the budget knows of it: more than one GPU, what NCCL keeps outside of torch's
allocator, DeepSpeed's own buffers, offloading, flash-attn 2 (its estimate is that of sdpa's flash kernel), and transformers before 5, of
which fp32 copies of logits and norms are known from its code only.

## The runs that were held out

${table(held)}

## The others

${table(found)}
`;
}

function processTable(): string {
  const rows = measuredProcesses().map((row) => {
    const { peak, low, high } = budgetOf(processRun(row));
    const { config, dtype, optimizer, batch, sequence, checkpointing, mode, world } = row;
    const inside = low <= row.peak && row.peak <= high ? 'inside' : 'outside';
    const also = checkpointing ? ', checkpointing' : '';
    return `| ${mode} × ${world} | ${config['model_type']} | ${dtype}, ${optimizer}, ${batch} × ${sequence}${also} | ${gigabytes(row.peak)} | ${gigabytes(peak)} | ${signed(peak / row.peak - 1)} | ${inside} |`;
  });
  return [
    '| processes | model | run | measured | memfix | error | interval |',
    '|---|---|---|---|---|---|---|',
    ...rows,
  ].join('\n');
}

function line(name: string, rows: readonly Compared[], errorOf = ({ error }: Compared) => error): string {
  const errors = rows.map(errorOf);
  const mean = average(errors.map(Math.abs));
  return `| ${name} | ${rows.length} | ${percent(mean)} | ${percent(Math.max(0, ...errors))} | ${percent(Math.max(0, ...errors.map((error) => -error)))} |`;
}

function share(rows: readonly Compared[]): string {
  const inside = rows.filter(({ row, budget }) => budget.low <= row.peak && row.peak <= budget.high).length;
  return inside === rows.length ? 'all' : `${inside} of ${rows.length}`;
}

function average(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function percent(value: number): string {
  return `${(100 * value).toFixed(1)} %`;
}

function signed(value: number): string {
  return `${value < 0 ? '−' : '+'}${(100 * Math.abs(value)).toFixed(1)} %`;
}

function table(rows: readonly Compared[]): string {
  const head =
    '| run | model | dtype | optimizer | batch | also | measured | memfix | error | torch-preflight |\n|---|---|---|---|---|---|---|---|---|---|';
  return [head, ...rows.map(tableRow)].join('\n');
}

function tableRow({ row, budget, error, other }: Compared): string {
  const { config } = row;
  const run = measuredRun(row);
  const { shape } = run;
  const size =
    shape.kind === 'convolutional'
      ? shape.model
      : `${String(config['model_type'])} ${shape.layers} × ${shape.hidden}`;
  const batch = `${row.batch} × ${row.sequence}${row.target === null ? '' : row.task === 'generate' ? ` + ${row.target}` : ` → ${row.target}`}`;
  const also = [
    ...(row.task === 'generate' ? ['generation'] : []),
    ...(row.checkpointing ? ['checkpointing'] : []),
    ...(row.attention === 'eager' ? ['eager'] : []),
    ...(row.lora === null ? [] : [`LoRA ${row.lora.rank}`]),
    ...(row.quantized === null ? [] : [row.quantized]),
    ...(row.padded ? ['padded'] : []),
    ...(row.keeps ? ['outputs kept'] : []),
    ...(row.accumulated > 1 ? [`accumulation ${row.accumulated}`] : []),
  ].join(', ');
  const gb = (bytes: number) => `${(bytes / 1e9).toFixed(2)} GB`;
  const optimizer = row.optimizer === 'none' ? '' : row.optimizer;
  return `| ${row.id} | ${size} | ${row.dtype} | ${optimizer} | ${batch} | ${also} | ${gb(row.peak)} | ${gb(budget.peak)} | ${signed(error)} | ${other === undefined ? '' : signed(other)} |`;
}
