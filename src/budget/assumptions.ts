import { budgetOf, isQuantized, passBytes, type Run, trainedBytes } from './memory.js';
import { countOf, gigabytes } from './quantity.js';

/** What a budget takes for granted, and what is wrong about it: each a sentence for the reader. */
export function assumptionsOf(run: Run): readonly string[] {
  return [...given(run), ...precision(run), ...placement(run), ...step(run), ...estimate(run)];
}

/** Figures that came from elsewhere, beside what they should be. */
function given(run: Run): string[] {
  const { adapters, gradients, optimizer, activations } = run.given;
  const own = budgetOf({ ...run, given: {} });
  const row = (name: string) => own.rows.find((other) => other.name === name);
  const found: string[] = [];
  const differs = (a: number, b: number) => Math.abs(a - b) > 0.1 * Math.max(a, b);
  for (const [name, bytes, label] of [
    ['adapters', adapters, 'Adapters'],
    ['gradients', gradients, 'Gradients'],
    ['optimizer', optimizer, 'Optimizer state'],
  ] as const) {
    const computed = row(name);
    const size = computed === undefined ? 0 : computed.bytes + computed.host;
    if (bytes === undefined || !differs(bytes, size)) continue;
    found.push(
      `${label} ${label.endsWith('s') ? 'were' : 'was'} given as ${gigabytes(bytes)}; ${computed?.how ?? 'it'} is ${gigabytes(size)}, whatever the batch and the sequence length.`,
    );
  }
  if (activations !== undefined && differs(activations, passBytes(run)))
    found.push(
      `Activations were given as ${gigabytes(activations)}; this shape, batch and sequence length make an estimate of ${gigabytes(passBytes(run))}, ${gigabytes(logitBytes(run))} of it logits.`,
    );
  return found;
}

function logitBytes(run: Run): number {
  return budgetOf({ ...run, given: {} }).rows.find(({ name }) => name === 'logits')?.bytes ?? 0;
}

/** Half-precision weights that are trained. */
function precision(run: Run): string[] {
  const { dtype, loraRank, masterWeights } = run;
  if (loraRank !== undefined || masterWeights || (dtype !== 'fp16' && dtype !== 'bf16')) return [];
  const autocast = gigabytes(budgetOf({ ...run, dtype: 'mixed' }).total);
  const copied = gigabytes(budgetOf({ ...run, masterWeights: true }).total);
  const hazard =
    dtype === 'fp16'
      ? 'a GradScaler refuses such gradients, and small updates vanish'
      : 'small updates are rounded away';
  return [
    `Training ${dtype} weights without an fp32 copy is assumed: ${hazard}. Mixed precision halves neither weights nor gradients: under autocast both stay fp32 (\`--dtype mixed\`: ${autocast}), and DeepSpeed or Megatron keep an fp32 copy (\`--master-weights\`: ${copied}).`,
  ];
}

function placement(run: Run): string[] {
  const { gpus, parallel, offload } = run;
  const found: string[] = [];
  if (gpus > 1 && parallel === 'data') {
    found.push(`Data parallelism divides nothing: each of the ${gpus} GPUs holds all of it.`);
  }
  if (gpus > 1 && parallel === 'sharded') {
    found.push('Sharding divides weights, gradients and optimizer state, but not activations.');
  }
  if (gpus > 1 && parallel === 'model') {
    found.push('Layers are taken to be spread evenly; the GPU with the last one also holds the logits.');
  }
  if (offload === 'optimizer') {
    found.push(
      'Only the optimizer state leaves the GPU, as with ZeRO-Offload; `CPUOffload(offload_params=True)` of FSDP is something else, and moves weights and gradients too (`--offload all`).',
    );
  }
  if (offload === 'all') {
    found.push(
      'FSDP with `CPUOffload` loses the gradients of all but the last micro-batch when it accumulates outside `no_sync()`.',
    );
  }
  return found;
}

function step(run: Run): string[] {
  const budget = budgetOf(run);
  if (budget.step <= budget.total) return [];
  const fused = budgetOf({ ...run, optimizer: 'adamw-fused' });
  return [
    `The default AdamW step needs about one more copy of what it trains, when the activations are gone: ${gigabytes(budget.step)}; with \`fused=True\` the run needs ${gigabytes(fused.peak)}.`,
  ];
}

function estimate(run: Run): string[] {
  const { shape, loraRank, dtype } = run;
  const found: string[] = [];
  if (shape.guessed && run.given.activations === undefined) {
    found.push(
      `The shape is guessed from the number of parameters (${shape.layers} layers × ${shape.hidden}); give \`--layers\` and \`--hidden\`, or a config.json.`,
    );
  }
  if (loraRank !== undefined) {
    found.push(
      `Adapters are counted in fp32 (${trainedBytes(run)} bytes), as peft keeps them by default; ${countOf(run.trainable)} are trained.`,
    );
  }
  if (isQuantized(dtype)) found.push('Scales of quantised weights are counted roughly.');
  if (run.given.activations === undefined) {
    found.push(
      'Activations are an estimate, fitted to Llama and GPT-2 in transformers on an H200 (totals were within a fifth). Attention that keeps its scores needs more: eager attention, or fp32 with shared keys.',
    );
  }
  found.push('GB are 10⁹ bytes; what a card has beyond its name goes to the CUDA context.');
  return found;
}
