import { existsSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { isRecord, modelOf } from '../budget/configuration.js';
import {
  ATTENTIONS,
  DTYPES,
  type Given,
  OFFLOADS,
  OPTIMIZERS,
  PARALLELISMS,
  type Run,
} from '../budget/memory.js';
import { parseBytes, parseShare } from '../budget/quantity.js';
import {
  adapterParameters,
  type KnownModel,
  LINEARS,
  longestOf,
  type Network,
  withClasses,
} from '../budget/shape.js';
import { isQuantized } from '../budget/state.js';
import type { SourceFile } from '../engine/outcome.js';
import { draftOf, type Source, type Wished } from '../run/draft.js';
import { readPython } from '../run/python.js';
import { NOTHING, type Reading, takenFor, together } from '../run/reading.js';
import { readSettings } from '../run/settings.js';
import { loadParser } from '../syntax/parser.js';
import { isNotebookName } from '../text/notebook/notebook.js';
import { bytesOf, LARGEST_FILE, LARGEST_SETTINGS, textOf } from '../workspace/bounded.js';
import { codeOf, Failure, reasonOf } from '../workspace/failure.js';
import { slashed } from '../workspace/places.js';
import { Project } from '../workspace/project.js';
import { interpret } from '../workspace/read.js';
import type { Arguments } from './arguments.js';
import { count, modelIn, modelNamed, parsed, TAKES } from './budget-model.js';
import { type Around, aroundIn, moduleIn } from './budget-project.js';
import type { Context } from './context.js';
import type { OptionName } from './options.js';

const DEFAULT_SEQUENCE = 2048;
const SETTINGS = /\.(?:ya?ml|json|sh)$/;

/** The run that a budget is about. */
export interface Subject {
  readonly run: Run;
  readonly remarks: readonly string[];
  /** For a run that was read off files. */
  readonly sources?: readonly Source[];
  readonly script?: SourceFile;
  /** The project that the script is of. */
  readonly around?: Around;
}

/** What the operands are: a model, and files that describe a run. */
export async function subjectOf(context: Context): Promise<Subject> {
  const { args } = context;
  const { cwd } = context.io;
  let reading: Reading = NOTHING;
  let model: KnownModel | undefined;
  let script: SourceFile | undefined;
  let around: Around | undefined;
  let isRead = false;
  for (const word of args.operands) {
    const path = resolve(cwd, word);
    const shown = slashed(relative(cwd, path));
    if (word.endsWith('.py') || isNotebookName(word)) {
      script = sourceAt(path, shown);
      around = await projectOf(context, script);
      reading = together(reading, await scriptReading(around, script));
      isRead = true;
      continue;
    }
    if (SETTINGS.test(word) && !existsSync(path))
      throw new Failure('Settings not read', `\`${shown}\` does not exist`, TAKES);
    const run = args.operands.find((each) => each.endsWith('.py'));
    const settings = SETTINGS.test(word) ? settingsAt(path, shown, run) : undefined;
    if (settings !== undefined) {
      reading = together(reading, settings);
      isRead = true;
      continue;
    }
    if (model !== undefined) throw tooMany(args);
    model = modelNamed(args, word, cwd);
  }
  if (!isRead) {
    if (model === undefined) throw tooMany(args);
    return { run: runOf(args, model), remarks: model.remarks };
  }
  const found = model ?? modelIn(args, reading, cwd);
  const read = reading.classes === undefined ? found : withClasses(found, takenFor(reading.classes) ?? 2);
  const { run, sources, open } = draftOf(reading, read, saidIn(args));
  const remarks = [...open, ...read.remarks, ...(reading.remarks ?? [])];
  const checked = checkedRun(args, overridden(args, run));
  const told = spokenOf(sources, checked).map((source) =>
    model !== undefined && source.name === 'model'
      ? { ...source, place: undefined, words: 'said on the command line', isAssumed: false }
      : source,
  );
  return {
    run: checked,
    remarks,
    sources: told,
    ...(script !== undefined && { script }),
    ...(around !== undefined && { around }),
  };
}

/** Of what only a training has, a run that generates says nothing. */
const OF_TRAINING: ReadonlySet<string> = new Set([
  ...['optimizer', 'accumulation', 'checkpointing', 'gradients in buckets', 'unused parameters'],
]);

function spokenOf(sources: readonly Source[], { task, target }: Run): readonly Source[] {
  if (task === 'train') return sources;
  const words = 'said on the command line';
  return [
    ...sources.filter(({ name }) => !OF_TRAINING.has(name)),
    { name: 'new tokens', value: String(target), place: undefined, words, isAssumed: false },
  ];
}

function tooMany(args: Arguments): Error {
  return args.misuse(
    '`memfix budget` takes one model: a number of parameters such as `7B`, a name, or a config.json; or a training script.',
  );
}

async function projectOf({ args, io, catalogue }: Context, { path }: SourceFile): Promise<Around> {
  const request = { ...args.request(io.cwd, io.env), paths: [path] };
  return aroundIn(new Project(request, catalogue), await loadParser());
}

/** What a script says, with what its project says about it: files that it imports, versions of packages. */
async function scriptReading(around: Around, { path, source }: SourceFile): Promise<Reading> {
  const tree = (await loadParser()).parse(source.text);
  return readPython(moduleIn(around, path, source.text, tree));
}

function sourceAt(path: string, shown: string): SourceFile {
  const read = interpret({ path: shown, explicit: true }, scriptBytes(path, shown));
  if (read.kind === 'file') return read.file;
  throw notRead(`${shown}: ${read.reason}`);
}

function scriptBytes(path: string, shown: string): Uint8Array {
  try {
    return bytesOf(path, LARGEST_FILE);
  } catch (error) {
    throw notRead(
      codeOf(error) === 'ENOENT' ? `\`${shown}\` does not exist` : `${shown}: ${reasonOf(error)}`,
    );
  }
}

function notRead(reason: string): Failure {
  return new Failure('Script not read', reason, 'Give a Python file that memfix can read.');
}

/** Settings of a run; undefined where the file is a model's configuration. */
function settingsAt(path: string, shown: string, script: string | undefined): Reading | undefined {
  const text = textOf(path, LARGEST_SETTINGS);
  if (text === undefined) return undefined;
  if (shown.endsWith('.json')) {
    const json = parsed(shown, text);
    if (!isRecord(json) || 'model_type' in json || typeof modelOf(json) !== 'string') return undefined;
    const known = [
      'zero_optimization',
      'train_micro_batch_size_per_gpu',
      'per_device_train_batch_size',
      'bf16',
      'fp16',
    ];
    if (!known.some((key) => key in json)) return undefined;
  }
  const reading = readSettings(shown, text, script);
  if (typeof reading !== 'string') return reading;
  const next = shown.endsWith('.sh')
    ? 'Give the script that starts the training.'
    : 'Give a flat YAML or JSON file.';
  throw new Failure('Settings not understood', `${shown}: ${reading}`, next);
}

function saidIn(args: Arguments): Wished {
  const batch = count(args, 'batch');
  const sequence = count(args, 'sequence');
  const gpus = count(args, 'gpus');
  const loraRank = count(args, 'lora-rank');
  const checkpointing = args.choice('checkpointing');
  return {
    ...(args.text('dtype') !== undefined && { dtype: args.oneOf('dtype', DTYPES, 'bf16') }),
    ...(args.text('optimizer') !== undefined && { optimizer: args.oneOf('optimizer', OPTIMIZERS, 'adamw') }),
    ...(batch !== undefined && { batch }),
    ...(sequence !== undefined && { sequence }),
    ...(gpus !== undefined && { gpus }),
    ...(loraRank !== undefined && { loraRank }),
    ...(checkpointing !== undefined && { checkpointing }),
    ...(args.text('attention') !== undefined && { attention: args.oneOf('attention', ATTENTIONS, 'sdpa') }),
  };
}

/** Options that say nothing about where a value is from. */
function overridden(args: Arguments, run: Run): Run {
  const parallel =
    args.text('parallel') === undefined ? run.parallel : args.oneOf('parallel', PARALLELISMS, 'data');
  const offload = args.text('offload') === undefined ? run.offload : args.oneOf('offload', OFFLOADS, 'none');
  const target = count(args, 'generate');
  return {
    ...run,
    ...(target !== undefined && { task: 'generate', target }),
    parallel,
    offload,
    given: givenIn(args),
    trainable: share(args, run.parameters) ?? run.trainable,
  };
}

function runOf(args: Arguments, { parameters, shape }: KnownModel): Run {
  const rank = count(args, 'lora-rank');
  const lora = rank === undefined ? undefined : { rank, adapted: LINEARS, dropout: 0 };
  const gpus = count(args, 'gpus') ?? 1;
  if (gpus === 1 && args.text('parallel') !== undefined) {
    throw args.misuse('`--parallel` divides the work among GPUs; say how many with `--gpus`.');
  }
  const all =
    rank === undefined || shape.kind === 'convolutional'
      ? parameters
      : Math.round(adapterParameters(shape, rank));
  const target = count(args, 'generate');
  const isVision = shape.kind === 'convolutional' || shape.image !== undefined;
  return checkedRun(args, {
    task: target === undefined ? 'train' : 'generate',
    parameters,
    shape,
    dtype: args.oneOf('dtype', DTYPES, 'bf16'),
    optimizer: args.oneOf('optimizer', OPTIMIZERS, 'adamw'),
    masterWeights: args.flag('master-weights'),
    trainable: share(args, parameters) ?? all,
    ...(lora !== undefined && { lora }),
    batch: count(args, 'batch') ?? 1,
    sequence:
      count(args, 'sequence') ??
      (isVision ? sideOf(shape) : Math.min(DEFAULT_SEQUENCE, longestOf(shape) ?? Infinity)),
    ...(target !== undefined && { target }),
    attention: args.oneOf('attention', ATTENTIONS, 'sdpa'),
    padded: 'unknown',
    checkpointing: args.flag('checkpointing'),
    chunkedLoss: false,
    keepsOutputs: false,
    accumulates: false,
    gpus,
    parallel: args.oneOf('parallel', PARALLELISMS, 'data'),
    offload: args.oneOf('offload', OFFLOADS, 'none'),
    given: givenIn(args),
  });
}

function sideOf(shape: Network): number {
  return shape.kind === 'transformer' && shape.image !== undefined ? shape.image.size : 224;
}

function checkedRun(args: Arguments, run: Run): Run {
  if (isQuantized(run.dtype) && run.lora === undefined && run.task === 'train') {
    if (args.text('dtype') === undefined)
      throw new Failure(
        'Not a run that can be counted',
        `its weights are ${run.dtype}, which cannot be trained, and the files show no adapters`,
        `Say their rank, \`${args.again('--lora-rank 16')}\`, or another dtype with \`--dtype\`.`,
      );
    throw args.misuse(`\`--dtype ${run.dtype}\` weights cannot be trained; add \`--lora-rank\`.`);
  }
  return run;
}

function givenIn(args: Arguments): Given {
  const adapters = sized(args, 'adapters');
  const gradients = sized(args, 'gradients');
  const optimizer = sized(args, 'optimizer-state');
  const activations = sized(args, 'activations');
  const overhead = sized(args, 'overhead');
  return {
    ...(adapters !== undefined && { adapters }),
    ...(gradients !== undefined && { gradients }),
    ...(optimizer !== undefined && { optimizer }),
    ...(activations !== undefined && { activations }),
    ...(overhead !== undefined && { overhead }),
  };
}

function sized(args: Arguments, name: OptionName): number | undefined {
  const text = args.text(name);
  if (text === undefined) return undefined;
  const value = parseBytes(text);
  if (value !== undefined) return value;
  throw args.misuse(`\`--${name}\` cannot be \`${text}\`: it is a size, such as 24GB or 512MiB.`);
}

function share(args: Arguments, parameters: number): number | undefined {
  const text = args.text('trainable');
  if (text === undefined) return undefined;
  const value = parseShare(text, parameters);
  if (value !== undefined && value >= 1) return value;
  throw args.misuse(
    `\`--trainable\` cannot be \`${text}\`: it is a part of the parameters, such as 1.5% or 239M.`,
  );
}
