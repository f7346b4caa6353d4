import { resolve } from 'node:path';
import { assumptionsOf } from '../../budget/assumptions.js';
import { cardNamed } from '../../budget/cards.js';
import { DOCUMENTED, documented } from '../../budget/documented.js';
import { fitInto } from '../../budget/fit.js';
import {
  budgetOf,
  DTYPES,
  type Given,
  isQuantized,
  OFFLOADS,
  OPTIMIZERS,
  PARALLELISMS,
  type Run,
} from '../../budget/memory.js';
import { PUBLISHED, publishedShape } from '../../budget/published.js';
import { parseBytes, parseCount, parseShare } from '../../budget/quantity.js';
import {
  adapterParameters,
  type KnownModel,
  modelOf,
  parametersOf,
  type Shape,
  shapeFor,
} from '../../budget/shape.js';
import { budgetJson, documentedJson, renderBudget, renderDocumented } from '../../report/budget.js';
import { LARGEST_SETTINGS, textOf } from '../../workspace/bounded.js';
import { Failure } from '../../workspace/failure.js';
import { didYouMean } from '../../workspace/resemblance.js';
import type { Arguments } from '../arguments.js';
import { type Context, EXIT } from '../context.js';
import { PAGE_FORMATS } from '../formats.js';
import type { OptionName } from '../options.js';

const DEFAULT_SEQUENCE = 2048;

export async function budget(context: Context): Promise<number> {
  const { args, view, io } = context;
  const isJson = args.oneOf('output-format', PAGE_FORMATS, 'full') === 'json';
  const write = (json: () => unknown, text: () => string) =>
    context.out(isJson ? `${JSON.stringify(json(), undefined, 2)}\n` : text());
  if (args.text('example') !== undefined) {
    if (args.operands.length > 0) throw args.misuse('`--example` brings its own model; leave the other out.');
    const told = documented(args.oneOf('example', DOCUMENTED, '13b'));
    write(
      () => documentedJson(told),
      () => renderDocumented(told, view),
    );
    return EXIT.clean;
  }
  const { run, remarks } = runOf(args, io.cwd);
  const size = cardNamed(args.text('fit') ?? '') ?? bytes(args, 'fit');
  const report = {
    run,
    budget: budgetOf(run),
    assumptions: [...remarks, ...assumptionsOf(run)],
    ...(size !== undefined && { fit: fitInto(run, size) }),
  };
  write(
    () => budgetJson(report),
    () => renderBudget(report, view),
  );
  return report.fit?.verdict === 'no' ? EXIT.findings : EXIT.clean;
}

function runOf(args: Arguments, cwd: string): { run: Run; remarks: readonly string[] } {
  const { parameters, shape, remarks, sequence = DEFAULT_SEQUENCE } = modelNamed(args, cwd);
  const dtype = args.oneOf('dtype', DTYPES, 'bf16');
  const loraRank = count(args, 'lora-rank');
  const gpus = count(args, 'gpus') ?? 1;
  if (isQuantized(dtype) && loraRank === undefined) {
    throw args.misuse(`\`--dtype ${dtype}\` weights cannot be trained; add \`--lora-rank\`.`);
  }
  if (gpus === 1 && args.text('parallel') !== undefined) {
    throw args.misuse('`--parallel` divides the work among GPUs; say how many with `--gpus`.');
  }
  const all = loraRank === undefined ? parameters : Math.round(adapterParameters(shape, loraRank));
  return {
    remarks,
    run: {
      parameters,
      shape,
      dtype,
      optimizer: args.oneOf('optimizer', OPTIMIZERS, 'adamw'),
      masterWeights: args.flag('master-weights'),
      trainable: share(args, parameters) ?? all,
      ...(loraRank !== undefined && { loraRank }),
      batch: count(args, 'batch') ?? 1,
      sequence: count(args, 'sequence') ?? sequence,
      checkpointing: args.flag('checkpointing'),
      chunkedLoss: false,
      gpus,
      parallel: args.oneOf('parallel', PARALLELISMS, 'data'),
      offload: args.oneOf('offload', OFFLOADS, 'none'),
      given: givenIn(args),
    },
  };
}

function givenIn(args: Arguments): Given {
  const adapters = bytes(args, 'adapters');
  const gradients = bytes(args, 'gradients');
  const optimizer = bytes(args, 'optimizer-state');
  const activations = bytes(args, 'activations');
  const overhead = bytes(args, 'overhead');
  return {
    ...(adapters !== undefined && { adapters }),
    ...(gradients !== undefined && { gradients }),
    ...(optimizer !== undefined && { optimizer }),
    ...(activations !== undefined && { activations }),
    ...(overhead !== undefined && { overhead }),
  };
}

/** A number such as `7B`, or a model's `config.json` or the folder that has one. */
function modelNamed(args: Arguments, cwd: string): KnownModel {
  const [word, another] = args.operands;
  if (word === undefined || another !== undefined) {
    throw args.misuse(
      '`memfix budget` takes one model: a number of parameters such as `7B`, or a config.json.',
    );
  }
  const parameters = parseCount(word);
  const shape = publishedShape(word);
  const named = shape && { parameters: parametersOf(shape), shape, remarks: [] };
  const model = parameters === undefined ? (named ?? configured(word, cwd)) : { parameters, remarks: [] };
  return { ...model, shape: shaped(args, model) };
}

function shaped(args: Arguments, model: { parameters: number; shape?: Shape }): Shape {
  const layers = count(args, 'layers');
  const hidden = count(args, 'hidden');
  const vocabulary = count(args, 'vocabulary');
  const known = {
    ...(layers !== undefined && { layers }),
    ...(hidden !== undefined && { hidden }),
    ...(vocabulary !== undefined && { vocabulary }),
  };
  return model.shape === undefined ? shapeFor(model.parameters, known) : { ...model.shape, ...known };
}

function configured(word: string, cwd: string): KnownModel {
  const read = (path: string) => textOf(path, LARGEST_SETTINGS);
  const text = read(resolve(cwd, word)) ?? read(resolve(cwd, word, 'config.json'));
  const next = 'Give the number of parameters instead, for example `memfix budget 7B`.';
  if (text === undefined) {
    const detail = `\`${word}\` is neither a number of parameters, nor a config.json that can be read, nor a model that memfix knows.${didYouMean(word, PUBLISHED)}`;
    throw new Failure('Unknown model', detail, `${next} Known: ${PUBLISHED.join(', ')}.`);
  }
  const model = modelOf(parsed(word, text));
  if (typeof model === 'string') {
    throw new Failure(
      'Model not understood',
      `the size of the model in \`${word}\` cannot be told: ${model}`,
      next,
    );
  }
  return model;
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

function bytes(args: Arguments, name: OptionName): number | undefined {
  const text = args.text(name);
  if (text === undefined) return undefined;
  const value = parseBytes(text);
  if (value !== undefined) return value;
  throw args.misuse(
    `\`--${name}\` cannot be \`${text}\`: it is a size, such as 24GB or 512MiB${name === 'fit' ? ', or a card, such as 4090 or A100' : ''}.`,
  );
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
