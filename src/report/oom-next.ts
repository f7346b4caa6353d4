import { type Diagnosis, type Located, startedScript } from '../oom/diagnosis.js';
import {
  allocatorSetting,
  holdsMuch,
  isOfCheckpoint,
  isOfDriver,
  isOfWorker,
  KERNELS,
  monitorOf,
} from '../oom/hints.js';
import { isFragmented, ONE_ARRAY, outsideOf, sizeOf } from '../oom/message.js';
import { copiesModel } from '../oom/moment.js';
import type { Moment } from '../toolkit/contract.js';
import { shellWord } from './prose.js';

/** What a person can do whatever the findings are, by what ran out, on what, when, and in what program. */
export function nextSteps(diagnosis: Diagnosis): readonly string[] {
  const { errors, snapshot } = diagnosis;
  if (errors.length > 0 && errors.every(({ error }) => error.memory === 'host')) return hostSteps(errors);
  if (errors.some(({ error }) => isOfWorker(error)))
    return [
      'Keep the GPU out of the workers: let the data set and `collate_fn` return CPU tensors, and move the batch in the training loop; or load with `num_workers=0`.',
    ];
  // What they hold is none of this program's.
  const taken = errors.find((each) => isOfDriver(each.error) || isMostlyHeldByOthers(each));
  if (taken !== undefined)
    return [
      `\`${monitorOf(taken.error.who)}\` tells what holds the card: end what is left of an earlier run, wait for it, or take another card (\`CUDA_VISIBLE_DEVICES=1\`).`,
    ];
  if (errors.length > 0 && errors.every(({ error }) => error.who === 'NCCL'))
    return [
      'NCCL takes its buffers from the driver, outside of what PyTorch counts: `nvidia-smi` tells what holds each card. Leave it some room (`torch.cuda.set_per_process_memory_fraction(0.9)`, or a smaller batch), see that no two ranks share a card, and that nothing of an earlier run is left on one.',
    ];
  const isCuda = errors.every(({ error }) => !OTHER_DEVICES.has(error.who));
  return [
    ...(errors.some(({ setting }) => setting.isNotebook)
      ? [
          'Restart the kernel and run it again: what earlier cells made, and what the traceback of a cell that failed refers to, stays on the device until then.',
        ]
      : []),
    ...new Set(errors.flatMap(fragmentSteps)),
    ...new Set(
      toldBest(errors)
        .flatMap(momentSteps)
        .filter((step) => step !== GUARD || !isGuarded(diagnosis)),
    ),
    ...new Set(toldBest(errors).flatMap(optionSteps)),
    ...(errors.some(({ error }) => error.who === 'MPS')
      ? [
          'A Mac shares its memory with all that is open: close what is not needed. `PYTORCH_MPS_HIGH_WATERMARK_RATIO` sets the limit; without one (0.0) the whole system may come to a halt.',
        ]
      : []),
    ...(snapshot === undefined && isCuda
      ? [
          'To see what holds the memory, call `torch.cuda.memory._record_memory_history()` at the start and `torch.cuda.memory._dump_snapshot("snapshot.pickle")` where it runs out, and add `--snapshot snapshot.pickle`.',
        ]
      : []),
    ...budgetSteps(diagnosis),
  ];
}

const GUARD = 'See that it runs under `torch.no_grad()`: else every pass keeps its activations.';

/** A fix that writes it is shown, or it was written since. */
function isGuarded({ errors, related }: Diagnosis): boolean {
  return (
    errors.some(({ hints }) => hints.some((hint) => hint.includes('turns gradients off by a decorator'))) ||
    [...related].some(({ finding }) => finding.fix !== undefined && /\bno_grad\b/.test(finding.fix.title))
  );
}

/** `torch.cuda` knows nothing of them. */
const OTHER_DEVICES = new Set(['MPS', 'XPU', 'NPU', 'MUSA', 'MLU']);

function isMostlyHeldByOthers({ error: { figures } }: Located): boolean {
  const named = (figures.others ?? []).reduce((sum, { bytes }) => sum + bytes, 0);
  const held = Math.max(named, outsideOf(figures));
  return held > (figures.capacity ?? Infinity) / 2;
}

function fragmentSteps({ error }: Located): readonly string[] {
  return isFragmented(error.figures) === true && !OTHER_DEVICES.has(error.who)
    ? [
        `Run it again with \`${allocatorSetting(error)}\` in the environment: it changes no code and no result.`,
      ]
    : [];
}

/** Those whose place in the program is known, each kind once. */
function toldBest(errors: readonly Located[]): readonly Located[] {
  const placed = errors.filter(({ frames }) => frames.some(({ spot }) => spot !== undefined));
  const best = placed.length > 0 ? placed : errors;
  return [...new Map(best.map((each) => [each.moments.join(), each])).values()];
}

function momentSteps(located: Located): readonly string[] {
  const { moments, error } = located;
  const now = (...some: readonly Moment[]) => some.some((moment) => moments.includes(moment));
  if (now('moving', 'loading')) return loadingSteps(located);
  if (now('evaluation')) return evaluationSteps(located);
  if (now('state')) return stateSteps(located);
  if (now('optimizer') && error.frames.some(({ path }) => /\/transformers\/optimization\.py$/.test(path)))
    return [
      'It is the `AdamW` of transformers, which makes tensors for each weight in turn: `torch.optim.AdamW(…, fused=True)` takes its place and makes none.',
    ];
  if (now('optimizer'))
    return [
      'The copies that a step computes with go away with `fused=True` (torch 2.0 or newer) or `foreach=False` of the optimizer; its result is rounded otherwise.',
    ];
  if (now('saving'))
    return ['Save a state that is moved to the CPU first, tensor by tensor, and drop it afterwards.'];
  if (now('forward', 'backward') || error.isTensor || KERNELS.has(error.who)) return trainingSteps(located);
  return [];
}

/** What the script offers on its command line already. */
function optionSteps({ setting: { options }, moments }: Located): readonly string[] {
  const isPass = moments.length === 0 || moments.some((moment) => PASSES.has(moment));
  if (!isPass || options.length === 0) return [];
  const words = options.map(({ name, help, place, isOff }) =>
    isOff ? `\`${name}\` (${place}), off by default` : `\`${name}\` (${place}): “${help}”`,
  );
  return [`The script has options for it: ${words.join('; ')}.`];
}

const PASSES: ReadonlySet<Moment> = new Set<Moment>(['forward', 'backward', 'evaluation']);

const FREE =
  'drop every name of the model, the optimizer and the trainer that are done with (`del model, trainer`, then `gc.collect(); torch.cuda.empty_cache()`), or hand on the model that is on the device instead of another';

function loadingSteps({ error, moments, setting }: Located): readonly string[] {
  if (copiesModel(error.frames))
    return [
      'Copy it before it is on the device, or to the host (`copy.deepcopy(model.cpu())`), and move what a step needs; a copy that is only read can be in 16 bits. Where only adapters are trained, the model without them (`model.disable_adapter()` of peft) is the copy.',
    ];
  if (isOfCheckpoint(error))
    return [
      'Load to the CPU (`map_location="cpu"`): `load_state_dict` copies each tensor to where the model has it.',
    ];
  // An evaluation mostly comes after a training.
  if (holdsMuch(error) && moments.includes('evaluation')) return [`Free what is there first: ${FREE}.`];
  return [
    `The weights alone may not fit: ${setting.isQuantized ? 'it is quantized already, so take a smaller model, or' : '16 bits (`torch.bfloat16`) are half of 32, 4 bits (bitsandbytes) an eighth, and'} \`device_map="auto"\` of transformers spreads them.${holdsMuch(error) ? ` Where another model was there before: ${FREE}.` : ''}`,
  ];
}

function evaluationSteps({ setting, hints, moments }: Located): readonly string[] {
  const { driver, isGenerating, hasBatch, isSingle, beams } = setting;
  const isGraphed = hints.every((hint) => !hint.startsWith('It ran without gradients'));
  const guard = isGraphed && moments.length === 1 && driver === undefined ? [GUARD] : [];
  if (isGenerating)
    return [
      `${beams > 1 ? `Search with fewer beams than \`num_beams=${beams}\`, each of which is a sequence of its own; take` : 'Take'} fewer \`max_new_tokens\`, cut long prompts (\`truncation=True, max_length=…\`), and generate for fewer of them at a time.`,
    ];
  if (driver === 'transformers')
    return [
      'Lower `per_device_eval_batch_size`. Where metrics are computed, a `preprocess_logits_for_metrics` that returns `logits.argmax(dim=-1)` keeps the logits small, and `eval_accumulation_steps=8` moves what is collected to the host; `prediction_loss_only=True` collects nothing.',
    ];
  if (driver === 'lightning')
    return ['Take a smaller batch in the `val_dataloader`, and return nothing large from `validation_step`.'];
  return [
    ...guard,
    hasBatch && !isSingle
      ? 'Take a smaller batch where it evaluates: nothing of the result changes.'
      : 'Take smaller inputs: fewer tokens (`max_length`), smaller pictures, or parts of them one after the other.',
  ];
}

function stateSteps({ setting: { driver } }: Located): readonly string[] {
  const small =
    driver === 'transformers'
      ? '`optim="adamw_bnb_8bit"` (with bitsandbytes) keeps it in a quarter of that, `optim="adafactor"` in much less'
      : '`bitsandbytes.optim.AdamW8bit` keeps it in a quarter of that, SGD without momentum keeps none';
  return [
    `A smaller batch changes nothing about the state: ${small}. Fewer weights to train (LoRA) or sharding (FSDP, ZeRO) make it smaller, too; each trains otherwise but the last.`,
  ];
}

/** Which cards have bfloat16 is a matter of CUDA. */
function onDevice(words: string, who: string): string {
  return who === 'MPS' || who === 'HIP' ? words.replace(/ \(Ampere[^()]*\)/, '') : words;
}

function trainingSteps({ setting, frames, error }: Located): readonly string[] {
  const { driver, isHalf, isCheckpointed, batch } = setting;
  const where = batch === undefined ? '' : ` (now \`${batch.code}\`, ${batch.place})`;
  const [smaller, half, checkpointed] = TERMS[driver ?? 'none'];
  const last = frames.at(-1)?.frame.path ?? '';
  const isOwn = driver === undefined || (driver === 'transformers' && /^per_device/.test(batch?.code ?? ''));
  const isSingle = batch?.size === 1 && isOwn;
  const ways = [
    isSingle ? `it is one item already${where.replace('now ', '')}, so take smaller inputs` : smaller(where),
    ...(isHalf ? [] : [onDevice(half, error.who)]),
    ...(isCheckpointed ? [] : [checkpointed]),
    ...(/\/transformers\//.test(last) || setting.isTransformer ? ['cut the longest sequences'] : []),
  ];
  return [
    `What a step keeps for the backward pass grows with the batch${isSingle ? ' and its inputs' : ''}: ${ways.slice(0, -1).join('; ')}${ways.length > 1 ? '; or ' : ''}${ways.at(-1)}.`,
  ];
}

type Terms = readonly [smaller: (where: string) => string, half: string, checkpointed: string];

const HALVE = (where: string) => `halve it${where} and add up the gradients of two batches`;
const TERMS: Readonly<Record<NonNullable<Located['setting']['driver']> | 'none', Terms>> = {
  transformers: [
    (where) =>
      `halve \`per_device_train_batch_size\`${where.includes('per_device') ? where : ''} and double \`gradient_accumulation_steps\`, for the same effective batch`,
    'set `bf16=True` (Ampere or newer; older cards: `fp16=True`)',
    'set `gradient_checkpointing=True`, which costs time and no accuracy',
  ],
  lightning: [
    (where) => `halve it${where} and set \`Trainer(accumulate_grad_batches=2)\``,
    'set `precision="bf16-mixed"` (Ampere or newer; older cards: `"16-mixed"`)',
    'checkpoint the largest layers (`torch.utils.checkpoint`), which costs time and no accuracy',
  ],
  deepspeed: [
    () => 'halve `train_micro_batch_size_per_gpu` and double `gradient_accumulation_steps` in the config',
    'enable `bf16` there (Ampere or newer; older cards: `fp16`)',
    'enable activation checkpointing, which costs time and no accuracy, or a higher `zero_optimization` stage',
  ],
  accelerate: [
    (where) => `halve it${where} and set \`Accelerator(gradient_accumulation_steps=2)\``,
    'set `mixed_precision="bf16"` (Ampere or newer; older cards: `"fp16"`)',
    'checkpoint the largest layers, which costs time and no accuracy',
  ],
  none: [
    HALVE,
    'run the forward pass under `torch.autocast` in bfloat16 (Ampere or newer; older cards: float16 with a `GradScaler`)',
    'checkpoint the largest layers (`torch.utils.checkpoint`), which costs time and no accuracy',
  ],
};

/** One allocation that is no matter of many small ones. */
const MUCH_FOR_ONE = 2 ** 30;

function isDataOf(errors: readonly Located[], said: string): boolean {
  return errors.some(({ moments }) => moments.includes('data')) || /DataLoader worker/.test(said);
}

function hostSteps(errors: readonly Located[]): readonly string[] {
  const said = errors.map(({ error }) => error.message).join('\n');
  const large = errors.find(
    ({ error: { message, figures } }) => ONE_ARRAY.test(message) && (figures.tried ?? 0) >= MUCH_FOR_ONE,
  )?.error.figures.tried;
  const isOfData = large === undefined && isDataOf(errors, said);
  return [
    ...(large === undefined
      ? []
      : [
          `One array of ${sizeOf(large)} was asked for at once: read it in parts, keep it in a file that is mapped (\`np.memmap\`, \`np.load(…, mmap_mode="r")\`), or take a smaller dtype.`,
        ]),
    ...(/Bus error/.test(said)
      ? [
          'A bus error in a worker mostly is a full /dev/shm: give the container more of it (`--shm-size=8g`), or call `torch.multiprocessing.set_sharing_strategy("file_system")`.',
        ]
      : []),
    ...(isOfData
      ? [
          'Each worker of a `DataLoader` is a process, with a copy of its own of the Python objects of the data set: run it once with `num_workers=0`. If that goes through, take fewer workers and a smaller `prefetch_factor`, and keep the data in arrays or in files instead of lists.',
        ]
      : []),
    ...(errors.some(({ error }) => error.isTensor)
      ? [
          'What ran out were tensors on the CPU. If the model was to run on a GPU, see that it and its batches are moved there; if not, take a smaller batch.',
        ]
      : []),
    'See what grows: print `psutil.Process().memory_info().rss` once a step. What grows with every step is something that is kept; one jump is one thing that is too large to be held at once.',
    ...(/slurm|StepId|srun/i.test(said)
      ? [
          '`sacct -j <job> --format=JobID,MaxRSS,ReqMem` tells what the job used and what it had; `--mem` asks for more.',
        ]
      : []),
  ];
}

/** Where the files do not say how many are generated. */
const SOME_TOKENS = 256;

/** Only transformers have one: `memfix budget src/train.py --fit 23.64GiB`: what the log tells of the device, and what the script leaves open. */
function budgetSteps({ errors, budget }: Diagnosis): readonly string[] {
  const isLikely = budget === 'can' || errors.some(({ setting }) => setting.isTransformer);
  if (budget === 'cannot' || !isLikely) return [];
  const script = startedScript(errors);
  const capacity = errors[0]?.error.figures.capacity;
  const fit =
    capacity === undefined
      ? ''
      : ` --fit ${(Math.floor((capacity / 2 ** 30) * 100 + 1e-6) / 100).toFixed(2)}GiB`;
  const words = script === undefined ? ' 7B' : ` ${shellWord(script)}${budget === 'can' ? '' : ' 7B'}`;
  const generating = errors.find(({ setting }) => setting.isGenerating && setting.driver === undefined);
  const tokens = generating === undefined ? '' : ` --generate ${generating.setting.newTokens ?? SOME_TOKENS}`;
  const places = [
    ...(budget === 'can' && script !== undefined
      ? []
      : ['the size of your model, its name or its config.json in the place of `7B`']),
    ...(generating !== undefined && generating.setting.newTokens === undefined
      ? [`the number of new tokens in that of \`${SOME_TOKENS}\``]
      : []),
  ];
  const open = places.length === 0 ? '' : `, with ${places.join(', and ')},`;
  return [
    `See whether the run can fit at all: \`memfix budget${words}${tokens}${fit}\`${open} adds up what it needs and names the gentlest changes.`,
  ];
}
