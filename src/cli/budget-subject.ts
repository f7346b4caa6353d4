import { relative, resolve } from 'node:path';
import { isRecord, modelOf } from '../budget/configuration.js';
import { KNOWN_NAMES, knownModel } from '../budget/known.js';
import {
  ATTENTIONS,
  DTYPES,
  type Given,
  OFFLOADS,
  OPTIMIZERS,
  PARALLELISMS,
  type Run,
} from '../budget/memory.js';
import { parseBytes, parseCount, parseShare } from '../budget/quantity.js';
import {
  adapterParameters,
  type KnownModel,
  LINEARS,
  type Network,
  shapeFor,
  withClasses,
} from '../budget/shape.js';
import { isQuantized } from '../budget/state.js';
import type { SourceFile } from '../engine/outcome.js';
import { draftOf, type Said, type Source } from '../run/draft.js';
import { readPython } from '../run/python.js';
import { NOTHING, type Reading, together } from '../run/reading.js';
import { readSettings } from '../run/settings.js';
import { PyModule } from '../semantic/module.js';
import { loadParser } from '../syntax/parser.js';
import { isNotebookName } from '../text/notebook/notebook.js';
import { didYouMean } from '../text/resemblance.js';
import { bytesOf, LARGEST_FILE, LARGEST_SETTINGS, textOf } from '../workspace/bounded.js';
import { codeOf, Failure, reasonOf } from '../workspace/failure.js';
import { slashed } from '../workspace/places.js';
import { interpret } from '../workspace/read.js';
import type { Arguments } from './arguments.js';
import type { OptionName } from './options.js';

const DEFAULT_SEQUENCE = 2048;
const NEXT = 'Give the number of parameters instead, for example `memfix budget 7B`, or a config.json.';

/** The run that a budget is about. */
export interface Subject {
  readonly run: Run;
  readonly remarks: readonly string[];
  /** For a run that was read off files. */
  readonly sources?: readonly Source[];
  readonly script?: SourceFile;
}

/** What the operands are: a model, and files that describe a run. */
export async function subjectOf(args: Arguments, cwd: string): Promise<Subject> {
  let reading: Reading = NOTHING;
  let model: KnownModel | undefined;
  let script: SourceFile | undefined;
  let isRead = false;
  for (const word of args.operands) {
    const path = resolve(cwd, word);
    const shown = slashed(relative(cwd, path));
    if (word.endsWith('.py') || isNotebookName(word)) {
      script = sourceAt(path, shown);
      const text = script.source.text;
      reading = together(reading, readPython(new PyModule(shown, text, (await loadParser()).parse(text))));
      isRead = true;
      continue;
    }
    const settings = /\.(?:ya?ml|json)$/.test(word) ? settingsAt(path, shown) : undefined;
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
  const found = model ?? modelIn(reading, cwd);
  const read = reading.classes === undefined ? found : withClasses(found, reading.classes.value);
  const { run, sources } = draftOf(reading, read, saidIn(args));
  const untold = reading.untold.map(
    ({ value, place }) =>
      `\`${value}\` in ${place} cannot be told without running it; say it with an option.`,
  );
  const remarks = [...read.remarks, ...untold];
  const checked = checkedRun(args, overridden(args, run));
  const told = sources.map((source) =>
    model !== undefined && source.name === 'model'
      ? { ...source, place: undefined, words: 'said on the command line' }
      : source,
  );
  return { run: checked, remarks, sources: told, ...(script !== undefined && { script }) };
}

function tooMany(args: Arguments): Error {
  return args.misuse(
    '`memfix budget` takes one model: a number of parameters such as `7B`, a name, or a config.json; or a training script.',
  );
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
function settingsAt(path: string, shown: string): Reading | undefined {
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
  const reading = readSettings(shown, text);
  if (typeof reading !== 'string') return reading;
  throw new Failure('Settings not understood', `${shown}: ${reading}`, 'Give a flat YAML or JSON file.');
}

function modelIn(reading: Reading, cwd: string): KnownModel {
  const { config, model } = reading;
  if (config !== undefined) {
    const made = modelOf({ ...config.value });
    if (typeof made !== 'string') return made;
  }
  if (model !== undefined) {
    const known = knownModel(model.value) ?? configured(model.value, cwd);
    if (known !== undefined) return known;
    throw new Failure(
      'Unknown model',
      `\`${model.value}\` (${model.place}) is no model that memfix knows by name`,
      'Give its config.json as well: `memfix budget train.py config.json`.',
    );
  }
  throw new Failure(
    'No model found',
    'the files say nothing about a model that memfix understands',
    'Give it as well: `memfix budget train.py 7B`, a known name, or a config.json.',
  );
}

function saidIn(args: Arguments): Said {
  const batch = count(args, 'batch');
  const sequence = count(args, 'sequence');
  const gpus = count(args, 'gpus');
  const loraRank = count(args, 'lora-rank');
  return {
    ...(args.text('dtype') !== undefined && { dtype: args.oneOf('dtype', DTYPES, 'bf16') }),
    ...(args.text('optimizer') !== undefined && { optimizer: args.oneOf('optimizer', OPTIMIZERS, 'adamw') }),
    ...(batch !== undefined && { batch }),
    ...(sequence !== undefined && { sequence }),
    ...(gpus !== undefined && { gpus }),
    ...(loraRank !== undefined && { loraRank }),
    ...(args.flag('checkpointing') && { checkpointing: true as const }),
  };
}

/** Options that say nothing about where a value is from. */
function overridden(args: Arguments, run: Run): Run {
  const parallel =
    args.text('parallel') === undefined ? run.parallel : args.oneOf('parallel', PARALLELISMS, 'data');
  const offload = args.text('offload') === undefined ? run.offload : args.oneOf('offload', OFFLOADS, 'none');
  return {
    ...run,
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
    sequence: count(args, 'sequence') ?? (isVision ? sideOf(shape) : DEFAULT_SEQUENCE),
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

/** A number such as `7B`, a model's `config.json` or the folder that has one, or a name that is known. */
function modelNamed(args: Arguments, word: string, cwd: string): KnownModel {
  const parameters = parseCount(word);
  const layers = count(args, 'layers');
  const hidden = count(args, 'hidden');
  const vocabulary = count(args, 'vocabulary');
  const known = {
    ...(layers !== undefined && { layers }),
    ...(hidden !== undefined && { hidden }),
    ...(vocabulary !== undefined && { vocabulary }),
  };
  if (parameters !== undefined) return { parameters, shape: shapeFor(parameters, known), remarks: [] };
  const model = configured(word, cwd) ?? knownModel(word);
  if (model === undefined) {
    const detail = `\`${word}\` is neither a number of parameters, nor a known name, nor a config.json that can be read.${didYouMean(word, KNOWN_NAMES)}`;
    throw new Failure('Unknown model', detail, NEXT);
  }
  return model.shape.kind === 'convolutional' ? model : { ...model, shape: { ...model.shape, ...known } };
}

function configured(word: string, cwd: string): KnownModel | undefined {
  const read = (path: string) => textOf(path, LARGEST_SETTINGS);
  const text = read(resolve(cwd, word)) ?? read(resolve(cwd, word, 'config.json'));
  if (text === undefined) return undefined;
  const model = modelOf(parsed(word, text));
  if (typeof model !== 'string') return model;
  throw new Failure(
    'Model not understood',
    `the size of the model in \`${word}\` cannot be told: ${model}`,
    NEXT,
  );
}

/** A folder whose `config.json` describes a model; that of a project may say something else. */
export function isModelFolder(word: string, cwd: string): boolean {
  const text = textOf(resolve(cwd, word, 'config.json'), LARGEST_SETTINGS);
  return text?.includes('"model_type"') === true;
}

function parsed(word: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new Failure(
      'Model not understood',
      `\`${word}\` is no JSON`,
      'Repair the file, or give the number of parameters instead.',
    );
  }
}

function count(args: Arguments, name: OptionName): number | undefined {
  const text = args.text(name);
  if (text === undefined) return undefined;
  const value = parseCount(text);
  if (value !== undefined && value >= 1) return value;
  throw args.misuse(`\`--${name}\` cannot be \`${text}\`: it is a whole number, such as 8 or 4K.`);
}

export function sized(args: Arguments, name: OptionName): number | undefined {
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
