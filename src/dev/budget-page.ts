import { readFileSync } from 'node:fs';
import { type Budget, budgetOf } from '../budget/memory.js';
import { gibibytes } from '../budget/quantity.js';
import {
  isHeldOut,
  type Measured,
  type MeasuredProcess,
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

## What is read

Of a script: its model, dtype, optimizer, batch, length, checkpointing, adapters and sharding, through variables, dicts, defaults of
argparse and of dataclasses, and files that it imports from its project; which versions of trl, transformers and torch there are
comes from where [transforms](../README.md#versions) have it, and \`--target-version trl=0.30\` goes first. Every value is printed with its place.
What nobody says is *assumed*, with the default that counts; what is given and cannot be told without running it is *assumed* as
well, with its place, and never called a default. A line behind an \`if\` counts by the answer, where that can be told.

Counted are the transformers of transformers (decoders such as Llama, Qwen, Mistral, Gemma, Phi, GPT-2; BERT and its kin, T5, ViT), by name, by
config.json or by a configuration in the code, and resnet18 to resnet152 of torchvision. Other networks are named and not guessed at.

Models beside the trained one count as well: a \`deepcopy\` of it, a teacher or a reference that is loaded, with its weights and the logits of its
passes; so do passes of the trained one that share a backward, as those over two answers. The range is wider there, since which
outputs a loss by hand still holds depends on how it is written (\`bench/gpu/preference.py\` measured preference losses and distillations, and
the range holds all of them). What is there and cannot be counted (a model of unknown size, a loop of passes, modules that peft trains as a whole) is said, the peak is
then the *least*, and no card is said to fit. unsloth is read with its own defaults; its kernels were not measured, so the lower end is lower.

## Sizes

Sizes are GiB, 2³⁰ bytes, as torch and nvidia-smi count; on the command line GB is the same. A card that is sold with 24 GB has 24 GiB, of which
CUDA reports about 23.6 (taken as 0.6 % and 300 MiB less than nvidia-smi shows; measured on an H200 only, where that is 0.5 GiB too little), and the CUDA context with the kernels of a training
step takes up to 0.75 GiB (measured on an H200; smaller cards need less). The rest is *usable*, and what verdicts go by.

| \`--fit\` | means |
|---|---|
| \`24GB\`, \`24\` | a card that is sold with 24 GB |
| \`23.64GiB\` | the total capacity that CUDA reports, as an out-of-memory message has it |
| \`4090\`, \`a100-80gb\` | that card; T4, L4, A10G and L40S have error correction and show less than they are sold with |

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
correction is in the figures, as are the 24 MiB that cuDNN takes for convolutions, which came later; those 8 are not among the held-out
ones, and without both corrections these were 0.4 % off on average, 2.3 % too high and 2.9 % too low at most.

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

What DDP and FSDP add, measured on one GPU: one process with NCCL (\`bench/gpu/budget_nccl.py\`), or two that share the GPU, with
Gloo, since NCCL wants a GPU for each (\`bench/gpu/budget_sharded.py\`). The peak is that of one process.

- DDP holds the gradients once more, in buckets. With \`gradient_as_bucket_view=True\` the gradients are in the buckets: nothing more
  between the backward pass and the step, and still all of it in the forward pass, where other gradients are gone.
- In the second forward pass DDP makes its buckets anew, in the order in which gradients came. NCCL's process group holds what it sent
  until its watchdog, which looks every 100 ms, has seen that it is sent, and the next collective comes by. So the old buckets
  are there in the second forward pass and at the begin of its backward pass, and in steps of less than 100 ms until their end: the
  gradients three times. Whether they are is chance; with a pause of 0.3 s before each step they were not there in any run without accumulation. The
  estimate counts them, and the lower end of the interval does not. Runs were tried up to twelve times, until the peak of the second
  step had them; the table has the smallest and the largest try, and the error against the largest.
- With \`find_unused_parameters=True\`, the default of the Trainer without checkpointing, buckets are not made anew.
- With accumulation they are made anew in the first step, before the optimizer has its state; that is the peak only for one without state.
- FSDP holds the embeddings whole from the forward to the backward pass, and two layers.

The formulas were found with the runs of 16 configurations, and those of Gloo. 16 others were drawn by a program, and looked at when
the formulas were final, apart from one: that convolutions have workspaces of cuDNN, which the smallest of them showed.

${processSummary()}

${processTable()}

Not measured, and so with a wider interval where the budget knows of it: more than one GPU, what NCCL keeps outside of torch's
allocator, DeepSpeed's own buffers, offloading, flash-attn 2 (its estimate is that of sdpa's flash kernel), and transformers before 5, of
which fp32 copies of logits and norms are known from its code only.

## The runs that were held out

${table(held)}

## The others

${table(found)}
`;
}

interface ComparedProcess {
  readonly row: MeasuredProcess;
  readonly budget: Budget;
  readonly error: number;
}

/** The measured processes, each with what the budget says of it. */
export function comparedProcesses(): readonly ComparedProcess[] {
  return measuredProcesses().map((row) => {
    const budget = budgetOf(processRun(row));
    return { row, budget, error: budget.peak / row.peak - 1 };
  });
}

function processSummary(): string {
  const rows = comparedProcesses();
  const of = (name: string, wanted: (row: MeasuredProcess) => boolean) =>
    line(
      name,
      rows.filter(({ row }) => wanted(row)),
    );
  return [
    '| processes | rows | mean error | too high at most | too low at most |',
    '|---|---|---|---|---|',
    of('NCCL × 1, drawn', ({ world, seed }) => world === 1 && seed !== undefined),
    of('NCCL × 1, the others', ({ world, seed }) => world === 1 && seed === undefined),
    of('Gloo × 2', ({ world }) => world === 2),
  ].join('\n');
}

function processTable(): string {
  const rows = comparedProcesses().map(({ row, budget: { peak, low, high }, error }) => {
    const { config, dtype, optimizer, batch, sequence, checkpointing, accumulated, mode, world, peaks } = row;
    const inside = low <= row.peak && row.peak <= high ? 'inside' : 'outside';
    const also = `${checkpointing ? ', checkpointing' : ''}${accumulated > 1 ? `, accumulation ${accumulated}` : ''}${row.lora === null ? '' : ', LoRA'}`;
    const name = `${mode} × ${world}${row.paused === true ? ', paused' : ''}${row.seed === undefined ? '' : ' (drawn)'}`;
    const least = Math.min(row.peak, ...(peaks ?? []));
    const measured =
      row.peak > 1.005 * least ? `${gibibytes(least)} – ${gibibytes(row.peak)}` : gibibytes(row.peak);
    const model = config['model_type'] === 'torchvision' ? config['name'] : config['model_type'];
    return `| ${name} | ${model} | ${dtype}, ${optimizer}, ${batch} × ${sequence}${also} | ${measured} | ${gibibytes(peak)} | ${signed(error)} | ${inside} |`;
  });
  return [
    '| processes | model | run | measured | memfix | error | interval |',
    '|---|---|---|---|---|---|---|',
    ...rows,
  ].join('\n');
}

function line<Row extends { readonly error: number }>(
  name: string,
  rows: readonly Row[],
  errorOf = ({ error }: Row) => error,
): string {
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

  const optimizer = row.optimizer === 'none' ? '' : row.optimizer;
  return `| ${row.id} | ${size} | ${row.dtype} | ${optimizer} | ${batch} | ${also} | ${gibibytes(row.peak)} | ${gibibytes(budget.peak)} | ${signed(error)} | ${other === undefined ? '' : signed(other)} |`;
}
