import { resolve } from 'node:path';
import { modelOf } from '../budget/configuration.js';
import { KNOWN_NAMES, knownModel } from '../budget/known.js';
import { parseCount } from '../budget/quantity.js';
import { type KnownModel, shapeFor } from '../budget/shape.js';
import { type Found, type Network, type Reading, toldOf } from '../run/reading.js';
import { didYouMean } from '../text/resemblance.js';
import { LARGEST_SETTINGS, textOf } from '../workspace/bounded.js';
import { Failure } from '../workspace/failure.js';
import type { Arguments } from './arguments.js';
import type { OptionName } from './options.js';

const NEXT = 'Give the number of parameters instead, for example `memfix budget 7B`, or a config.json.';
export const TAKES =
  'Give a training script (.py or .ipynb), a folder of them, a number of parameters such as 7B, a name such as llama-3.1-8b, or a config.json; beside a script also settings (.yaml, .json, .sh).';

/** The model that files name. */
export function modelIn(args: Arguments, reading: Reading, cwd: string): KnownModel {
  const { config, model, network } = reading;
  if (config !== undefined) {
    const made = modelOf({ ...config.value });
    if (typeof made !== 'string') return made;
  }
  const named = toldOf(model);
  if (named !== undefined) {
    const known = knownModel(named.value) ?? configured(named.value, cwd);
    if (known !== undefined) return known;
    throw new Failure(
      'Unknown model',
      `\`${named.value}\` (${named.place}) is no model that memfix knows by name`,
      `Give its config.json as well, \`${args.again('config.json')}\`, or its number of parameters, such as 7B.`,
    );
  }
  if (model !== undefined && 'why' in model)
    throw new Failure(
      'Which model cannot be told',
      `${model.why} (${model.place})`,
      `Say it: \`${args.again('7B')}\`, with its size, a known name or its config.json; a YAML that the script reads may be given as well.`,
    );
  if (network !== undefined) throw notCounted(args, network);
  throw new Failure(
    'No model found',
    `the files load no model that memfix understands: ${UNDERSTOOD}`,
    `Name it: \`${args.again('7B')}\`, with its size, a known name or its config.json.`,
  );
}

const UNDERSTOOD =
  'a transformer of transformers (by its name, its config.json or a configuration in the code: decoders such as Llama, Qwen, Mistral, Gemma, Phi, GPT-2; BERT and its kin, T5, ViT), or a resnet18 to resnet152 of torchvision';

/** A budget for it would be a guess. */
function notCounted(args: Arguments, { value: { name, isConvolutional }, place }: Found<Network>): Failure {
  const kind = isConvolutional ? 'a convolutional network' : 'a network of its own';
  return new Failure(
    'Not a model that can be counted',
    `this script trains \`${name}\` (${place}), ${kind}; counted is ${UNDERSTOOD}`,
    isConvolutional
      ? 'Measure it: `torch.cuda.max_memory_allocated()` after a few steps, or `memfix prove`, tells what a step needs.'
      : `If it is a transformer, say its size: \`${args.again('7B')}\`, with \`--layers\` and \`--hidden\`; otherwise \`torch.cuda.max_memory_allocated()\` after a few steps tells what it needs.`,
  );
}

/** A number such as `7B`, a model's `config.json` or the folder that has one, or a name that is known. */
export function modelNamed(args: Arguments, word: string, cwd: string): KnownModel {
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

export function parsed(word: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    if (!word.endsWith('.json'))
      throw new Failure('Not something to budget', `\`${word}\` is none of what a budget is made of`, TAKES);
    throw new Failure(
      'Model not understood',
      `\`${word}\` is no JSON`,
      'Repair the file, or give the number of parameters instead.',
    );
  }
}

export function count(args: Arguments, name: OptionName): number | undefined {
  const text = args.text(name);
  if (text === undefined) return undefined;
  const value = parseCount(text);
  if (value !== undefined && value >= 1) return value;
  throw args.misuse(`\`--${name}\` cannot be \`${text}\`: it is a whole number, such as 8 or 4K.`);
}
