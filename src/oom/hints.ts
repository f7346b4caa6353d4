import type { Moment } from '../toolkit/contract.js';
import type { Frame } from './frame.js';
import type { GradOff } from './grad-off.js';
import type { OutOfMemory } from './log.js';
import { heldWhenKilled, isFragmented, isOldWording, outsideOf, sizeOf } from './message.js';
import { copiesModel, loadsOptimizer } from './moment.js';
import type { Spot } from './places.js';
import type { Setting } from './setting.js';

interface Known {
  readonly moments: readonly Moment[];
  readonly gradOff: GradOff | undefined;
  readonly located: readonly {
    readonly frame: Frame;
    readonly isLibrary: boolean;
    readonly spot: Spot | undefined;
  }[];
  readonly setting: Setting;
}

const MEANING: Readonly<Record<Moment, string>> = {
  loading:
    'A model or checkpoint was being loaded: where the device has its weights already, it holds them twice until that is done.',
  moving: 'A model was being moved to the device.',
  saving: 'A checkpoint was being saved.',
  forward: 'It was the forward pass: it keeps activations for the backward pass, more with every layer.',
  backward:
    'It was the backward pass: activations, gradients and what it computes with are all held at once.',
  state:
    'The optimizer was making its state, which it does in its first step and then keeps: that of Adam is twice as large as the weights that are trained.',
  optimizer: 'It was the step of the optimizer, which computes with copies of what it updates.',
  evaluation:
    'It was an evaluation: it keeps activations only where gradients are recorded, and outputs only where they are collected.',
  data: 'Data were being loaded.',
};

const OPTIMIZER_LOADED =
  'The state of the optimizer was being loaded: it is copied to where the weights are, and where the file was read onto the device, it is there twice until that is done. That of Adam is twice as large as the weights that are trained.';

const COPIED =
  'Something was being copied by `copy.deepcopy`, a model for the most part: both are on the device from then on, with the gradients of the first where it has some.';

/** What the message, its figures and the frames say, in sentences. */
export function hintsFor(error: OutOfMemory, known: Known): readonly string[] {
  return [
    ...sizeHints(error),
    ...(isOfWorker(error) ? [WORKER] : othersHints(error)),
    ...sourceHints(error, known),
    ...momentHints(error, known),
    ...frameHints(error, known),
  ];
}

/** The variable and the value that keep memory from being fragmented, with the torch that wrote the message. */
export function allocatorSetting({ who, message }: Pick<OutOfMemory, 'who' | 'message'>): string {
  const variable = /PYTORCH_(?:\w+_)?ALLOC_CONF/.exec(message)?.[0];
  const name = variable ?? (who === 'HIP' ? 'PYTORCH_HIP_ALLOC_CONF' : 'PYTORCH_CUDA_ALLOC_CONF');
  return `${name}=${isOldWording(message) ? 'max_split_size_mb:128' : 'expandable_segments:True'}`;
}

function sizeHints(error: OutOfMemory): readonly string[] {
  const { figures } = error;
  const { tried, capacity, free, unallocated } = figures;
  if (tried !== undefined && capacity !== undefined && tried > capacity)
    return [
      `One tensor of ${sizeOf(tried)} is more than the whole device has: look at its shape; a missing batch dimension or a matrix of all pairs is more likely than a leak.`,
    ];
  if (isFragmented(figures) !== true || tried === undefined || unallocated === undefined) return [];
  const idle =
    unallocated >= tried || free === undefined
      ? `${sizeOf(unallocated)} is reserved but unallocated, and would have held`
      : `${sizeOf(free)} is free and ${sizeOf(unallocated)} is reserved but unallocated: together they would have held`;
  const newer = isOldWording(error.message)
    ? '; from torch 2.1 on, `expandable_segments:True` does more'
    : ' (torch 2.1 or newer)';
  return [
    `${idle} the ${sizeOf(tried)} that was asked for: the memory is fragmented. See whether \`${allocatorSetting(error)}\` in the environment helps${error.who === 'HIP' ? '' : newer}.`,
  ];
}

const WORKER =
  'It was a worker process of a `DataLoader`, which used the GPU: each worker has a CUDA context there, some hundreds of MiB, beside what it makes.';

/** A worker of a loader ran out on the GPU, where it has nothing to do. */
export function isOfWorker({ memory, frames }: Pick<OutOfMemory, 'memory' | 'frames'>): boolean {
  return (
    memory === 'GPU' && frames.some(({ path }) => /\/torch\/utils\/data\/_utils\/worker\.py$/.test(path))
  );
}

function othersHints({ figures, ranks, devices, who }: OutOfMemory): readonly string[] {
  const { capacity, others = [] } = figures;
  if (others.length > 0) {
    const held = sizeOf(others.reduce((sum, { bytes }) => sum + bytes, 0));
    const isOne = others.length === 1;
    return [
      `${held} of the device is held by ${isOne ? 'another process' : 'other processes'}: ${others.map(({ process }) => process).join(', ')}. If ${isOne ? 'it is' : 'they are'} of this run, each rank needs a card of its own: \`torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))\` before anything is made on the GPU. Else no change to this code frees that.`,
    ];
  }
  const hints: string[] = [];
  const outside = outsideOf(figures);
  if (outside > 0.1 * (capacity ?? Infinity))
    hints.push(
      `${sizeOf(outside)} is in use outside of PyTorch's allocator: by other processes on the device (\`${monitorOf(who)}\` lists them), by the driver for this one, or by libraries such as ${who === 'HIP' ? 'RCCL' : 'NCCL'}. No tensor of this code holds it.`,
    );
  if (ranks.length > 1 && devices.length === 1)
    hints.push(
      `${ranks.length} ranks ran out on what each calls GPU ${devices[0]}: that is right where each sees one card only (\`CUDA_VISIBLE_DEVICES\`). Else they share it, and each needs one of its own: \`torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))\`.`,
    );
  return hints;
}

export function monitorOf(who: string): string {
  return who === 'HIP' || who === 'hipBLAS' || who === 'MIOpen' ? 'rocm-smi' : 'nvidia-smi';
}

/** The driver said so, and no allocator of PyTorch: it has no figures. */
export function isOfDriver({
  message,
  memory,
  figures,
}: Pick<OutOfMemory, 'message' | 'memory' | 'figures'>): boolean {
  return (
    memory === 'GPU' && figures.tried === undefined && /\b(?:CUDA|HIP) error: out of memory/.test(message)
  );
}

/** Libraries of matrix products and convolutions, which ask for memory of their own. */
export const KERNELS: ReadonlySet<string> = new Set([
  ...['cuBLAS', 'cuDNN', 'cuSOLVER', 'cuSPARSE', 'cuFFT', 'hipBLAS', 'MIOpen'],
]);

function sourceHints(error: OutOfMemory, { moments }: Known): readonly string[] {
  const { who, memory, isGuess } = error;
  const held = heldWhenKilled(error.message);
  if (held !== undefined)
    return [`The kernel killed the process, which held ${sizeOf(held)}, for want of host memory.`];
  if (/\boom[-_]kill/i.test(error.message))
    return ['The scheduler says that a process was killed for want of host memory.'];
  if (isGuess)
    return ['A process was killed. That is mostly for want of host memory; `dmesg` or the scheduler knows.'];
  if (memory === 'host') return ['It was the memory of the host, not of the GPU.'];
  if (isOfDriver(error)) {
    const first = moments.includes('moving')
      ? ' This was while the model was moved there, before any training.'
      : '';
    return [
      `It was the driver that had no memory, not the allocator of PyTorch: mostly the card is held by another process, or by what is left of an earlier run.${first}`,
    ];
  }
  if (KERNELS.has(who))
    return [
      `${who} asked the driver for its own handle or workspace, some tens of MiB, and got none: PyTorch had taken the rest of the card by then, or another process had.${who === 'cuBLAS' ? ' Where the card is not full, an index out of range (a label, a token) ends like this as well: `CUDA_LAUNCH_BLOCKING=1` shows where.' : ''}`,
    ];
  return [];
}

function momentHints(error: OutOfMemory, { moments, gradOff, setting }: Known): readonly string[] {
  const isFull = holdsMuch(error);
  return moments.flatMap((moment) => {
    // What the driver says about it is said.
    if (moment === 'moving' && isOfDriver(error)) return [];
    // Loading a model in an evaluation is no pass of one.
    if (moment === 'evaluation' && moments.length > 1) return [];
    if (moment === 'loading' && loadsOptimizer(error.frames)) return [OPTIMIZER_LOADED];
    if (moment === 'loading' && copiesModel(error.frames)) return [COPIED];
    if ((moment === 'moving' || moment === 'loading') && isFull && !isOfCheckpoint(error))
      return [
        `A model was being ${moment === 'moving' ? 'moved to the device' : 'loaded'}, where tensors hold ${sizeOf(error.figures.allocated ?? 0)}: what of it is there already, and what was there before, such as a model that was trained.`,
      ];
    if (gradOff?.isPart === true && moment === 'forward')
      return [
        `${MEANING.forward} The part that ran out runs without gradients (${gradOff.by}), beside what the pass around it keeps.`,
      ];
    if (moment !== 'evaluation' || gradOff?.isPart !== false) return [MEANING[moment]];
    return [
      `It ran without gradients (${gradOff.by}), so nothing is kept for a backward pass: one pass, or what is collected of them, is too large beside what the program holds already.${setting.isGenerating ? ' `generate()` keeps the keys and values of every token so far, which grow with the prompt, the answer and the number of sequences.' : ''}`,
    ];
  });
}

/** It was a file of tensors that was read, beside which the model is. */
export function isOfCheckpoint({ frames }: Pick<OutOfMemory, 'frames'>): boolean {
  return frames.some(({ path }) => /\/torch\/serialization\.py$/.test(path)) || loadsOptimizer(frames);
}

/** Tensors held more than half of the device. */
export function holdsMuch({ figures: { allocated, capacity } }: Pick<OutOfMemory, 'figures'>): boolean {
  return allocated !== undefined && capacity !== undefined && allocated > capacity / 2;
}

function frameHints({ frames, isMixed }: OutOfMemory, { located }: Known): readonly string[] {
  const own = located.findLast((frame) => !frame.isLibrary)?.frame.path;
  return [
    ...(isMixed === true
      ? ['Several processes wrote their tracebacks into each other: what they share is shown as one.']
      : []),
    ...(frames.some(({ path }) => /\/torchinductor_|\/torch\/_inductor\//.test(path))
      ? ['It was in compiled code, whose frames stand for no line of yours.']
      : []),
    ...(own !== undefined && located.every(({ spot }) => spot === undefined)
      ? [
          own.startsWith('In[')
            ? `Which notebook \`${own}\` is a cell of is not known: name the one that ran after the log, \`memfix check --oom LOG run.ipynb\`.`
            : `None of its files is among those that were checked: run memfix where \`${own}\` is.`,
        ]
      : []),
  ];
}
