import { budgetOf, passBytes, type Run } from './memory.js';
import { countOf, gibibytes } from './quantity.js';
import { isQuantized, optimizerBytes, trainedBytes } from './state.js';
import { passOf } from './step.js';

/** What a budget takes for granted, and what is wrong about it: each a sentence for the reader. */
export function assumptionsOf(run: Run): readonly string[] {
  return [...given(run), ...precision(run), ...placement(run), ...step(run), ...estimate(run)];
}

/** Figures that came from elsewhere, beside what they should be. */
function given(run: Run): string[] {
  const { adapters, gradients, optimizer, activations } = run.given;
  const own = budgetOf({ ...run, given: {} });
  const row = (name: string) => own.together.find((other) => other.name === name);
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
      `${label} ${label.endsWith('s') ? 'were' : 'was'} given as ${gibibytes(bytes)}; ${computed?.how ?? 'it'} is ${gibibytes(size)}, whatever the batch and the sequence length.`,
    );
  }
  if (activations !== undefined && differs(activations, passBytes(run)))
    found.push(
      `Activations were given as ${gibibytes(activations)}; this shape, batch and sequence length make an estimate of ${gibibytes(passBytes(run))}, ${gibibytes(logitBytes(run))} of it logits.`,
    );
  return found;
}

function logitBytes(run: Run): number {
  return passOf(run).lossBackward;
}

/** Half-precision weights that are trained. */
function precision(run: Run): string[] {
  const { dtype, lora, masterWeights } = run;
  if (
    run.task === 'generate' ||
    lora !== undefined ||
    masterWeights ||
    (dtype !== 'fp16' && dtype !== 'bf16')
  )
    return [];
  const autocast = gibibytes(budgetOf({ ...run, dtype: 'mixed' }).total);
  const copied = gibibytes(budgetOf({ ...run, masterWeights: true }).total);
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
  if (gpus > 1 && run.zero !== undefined) {
    found.push(
      `ZeRO-${run.zero} divides the optimizer state${run.zero === 2 ? ' and the gradients' : ''} among the ${gpus} GPUs; weights are on each of them.`,
    );
  } else if (gpus > 1 && parallel === 'data') {
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
  if (budget.at.name !== 'step' || run.optimizer !== 'adamw') return [];
  const fused = budgetOf({ ...run, optimizer: 'adamw-fused' });
  return [
    `The default AdamW step needs about one more copy of what it trains, when the activations are gone; with \`fused=True\` the run needs ${gibibytes(fused.peak)}.`,
  ];
}

function estimate(run: Run): string[] {
  const { shape, lora, dtype } = run;
  const found: string[] = [];
  if (shape.kind === 'transformer' && shape.guessed && run.given.activations === undefined) {
    found.push(
      `The shape is guessed from the number of parameters (${shape.layers} layers × ${shape.hidden}); give a config.json or a known name, or \`--layers\` and \`--hidden\`.`,
    );
  }
  if (lora !== undefined) {
    found.push(
      `Adapters are counted in fp32 (${trainedBytes(run)} bytes), as peft keeps them by default; ${countOf(run.trainable)} are trained.`,
    );
  }
  if (
    run.padded === 'unknown' &&
    shape.kind === 'transformer' &&
    shape.image === undefined &&
    run.task === 'train'
  ) {
    found.push(
      'Sequences of a batch are taken to have one length; the upper end is with padding, which needs a mask.',
    );
  }
  if (isQuantized(dtype)) {
    found.push(
      run.prepared === undefined
        ? '`prepare_model_for_kbit_training` would keep norms and embeddings in fp32, which is not counted.'
        : `Embeddings are counted in fp32 (4 bytes), as \`prepare_model_for_kbit_training\` keeps them (${run.prepared}).`,
    );
  }
  if (
    run.task === 'train' &&
    optimizerBytes(run)[0] < 4 &&
    run.optimizer === 'adamw-8bit' &&
    lora === undefined
  ) {
    found.push('The Trainer of transformers keeps the moments of embeddings in fp32, which is not counted.');
  }
  if (run.given.activations === undefined) found.push(...measured(run));
  found.push(
    'Of a card that is sold with 24 GB, CUDA reports 23.6 GiB (2³⁰ bytes), and its context takes up to 0.75 GiB of them: usable is the rest. What the allocator reserves beyond what it gives out is not counted.',
  );
  return found;
}

/** How far the figure can be trusted. */
function measured({ shape, gpus, offload, parallel, zero }: Run): string[] {
  if (shape.kind === 'convolutional') {
    return [
      'Convolutions take workspaces that depend on the card and on the kernels that cuDNN chooses; measured with residual networks of torchvision on an H200.',
    ];
  }
  const caveats: string[] = [];
  if (shape.image !== undefined) {
    caveats.push('Counted for images of one size without augmentation on the GPU; measured with ViT only.');
  }
  if (!shape.family.measured) {
    caveats.push(`No run of \`${shape.model}\` was measured: its blocks are counted as its source says.`);
  }
  if (offload !== 'none' || zero !== undefined || (gpus > 1 && parallel === 'model')) {
    caveats.push(
      'Buffers of DeepSpeed, of offloading and of spread layers are counted by their documentation.',
    );
  } else if (gpus > 1) {
    caveats.push(
      'DDP and FSDP were measured on one GPU; what NCCL takes between GPUs is outside of torch, and not counted.',
    );
  }
  return caveats;
}
