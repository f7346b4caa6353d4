import { ARGUMENT_WORDS } from '../library/huggingface.js';
import { callsNamed, lastName } from '../semantic/called-name.js';
import { ancestryOf } from '../semantic/definitions.js';
import { givenIn } from '../semantic/given.js';
import type { PyModule } from '../semantic/module.js';
import { isAtLeast } from '../semantic/standing.js';
import { isTestCode } from '../semantic/test-code.js';
import type { PyNode } from '../syntax/node.js';
import {
  type ArgumentsCall,
  argumentsCall,
  argumentsCalls,
  isDefault,
  isTrainerClass,
  libraryOf,
} from '../torch/huggingface/huggingface.js';
import { optimizerNamed, type Reading, type Said, toldOf, type Untold } from './reading.js';
import { asFlag, asNumber, asText, type Script } from './script.js';
import { definitionOf } from './trained.js';

/** The trainer of a script: its class, and its arguments where a call makes them. */
export interface TrainerParts {
  /** `Trainer(…)`, `SFTTrainer(…)`. */
  readonly trainers: readonly PyNode[];
  readonly made: ArgumentsCall | undefined;
  /** `HfArgumentParser(TrainingArguments)`: the command line makes them. */
  readonly parsed: PyNode | undefined;
}

const TYPICAL = [
  'output_dir',
  'per_device_train_batch_size',
  'learning_rate',
  'num_train_epochs',
  'max_steps',
];

export function trainerOf(script: Script): TrainerParts {
  const { module } = script;
  const trainers = trainerCalls(module);
  const made = script.running([
    ...new Set([
      ...ARGUMENT_WORDS.flatMap((word) => callsNamed(module, word)).map(({ call }) => call),
      ...TYPICAL.flatMap((name) => givenIn(module, name)).flatMap((given) =>
        argumentsCalls(module, given).map(({ call }) => call),
      ),
    ]),
  ]);
  const calls = made.flatMap((call) => (isTestCode(module, call) ? [] : (argumentsCall(module, call) ?? [])));
  const [first] = calls.sort((a, b) => a.call.start - b.call.start);
  return { trainers, made: first, parsed: first === undefined ? parserOf(module) : undefined };
}

function trainerCalls(module: PyModule): readonly PyNode[] {
  const names = module
    .at('Trainer')
    .filter(({ type, text }) => type === 'identifier' && /Trainer$/.test(text));
  return [...new Set(names.map(({ text }) => text))]
    .flatMap((word) => callsNamed(module, word))
    .map(({ call }) => call)
    .filter((call) => isTrainerCall(module, call) && !isTestCode(module, call));
}

function isTrainerCall(module: PyModule, call: PyNode): boolean {
  if (call.function !== undefined && isTrainerClass(module, call.function)) return true;
  // One of the project's own, in another file.
  const there = definitionOf(module, call);
  return (
    there?.node.type === 'class_definition' &&
    ancestryOf(there.module, there.node).imported.some((path) =>
      /^(?:transformers|trl)\..*Trainer$/.test(path),
    )
  );
}

/** The parser that makes trainer arguments of the command line. */
function parserOf(module: PyModule): PyNode | undefined {
  const makers = ['HfArgumentParser', 'TrlParser'].flatMap((name) => callsNamed(module, name));
  return makers.find(({ call }) => ARGUMENT_WORDS.some((word) => call.text.includes(word)))?.call;
}

/** From these versions on the optimizer of a trainer is the fused one by default. */
const FUSED: readonly (readonly [name: string, version: string])[] = [
  ['transformers', '4.52'],
  ['torch', '2.8'],
];

function unfusedIn(module: PyModule): Pick<Reading, 'unfused'> {
  const older = FUSED.find(([name, version]) => isAtLeast(module, name, version) === 'no');
  return older === undefined ? {} : { unfused: `${older[0]} before ${older[1]}` };
}

/** Settings of the trainer; what it does with the model is told by `readCheckpointing`. */
export function readTrainer(script: Script, { trainers, made, parsed }: TrainerParts): Reading {
  const [first] = trainers;
  const named = made?.call ?? first;
  if (named === undefined) return {};
  const isTrl = [made?.call, first].some((call) => call && libraryOf(script.module, call) === 'trl');
  const setting = <T>(name: string, as: (value: Parameters<typeof asText>[0]) => T | undefined) =>
    made === undefined ? undefined : script.setting(made.call, name, as);
  const number = (...names: readonly string[]) => firstOf(names.map((name) => setting(name, asNumber)));
  const left = <T>(name: string): Said<T> | undefined => parsed && leftToCommand(script, parsed, name);
  const batch =
    number('per_device_train_batch_size', 'per_gpu_train_batch_size') ?? left('per_device_train_batch_size');
  const accumulation = number('gradient_accumulation_steps') ?? left('gradient_accumulation_steps');
  // Those of transformers know no length.
  const isOfTrl = made !== undefined && libraryOf(made.module, made.call) === 'trl';
  const sequence =
    (isOfTrl ? number('max_length', 'max_seq_length') : undefined) ?? givenToTrainer(script, trainers);
  const autocast = autocastOf(script, made) ?? left<boolean>('bf16');
  const optimizer = setting('optim', (value) => optimizerNamed(asText(value) ?? '')) ?? left('optim');
  const chunked = setting('use_liger_kernel', asFlag);
  return {
    trainer: script.found(isTrl ? ('trl' as const) : ('transformers' as const), named.function ?? named),
    ...(batch !== undefined && { batch }),
    ...(accumulation !== undefined && { accumulation }),
    ...(sequence !== undefined && { sequence }),
    ...(autocast !== undefined && { autocast }),
    ...(optimizer !== undefined && { optimizer }),
    ...unfusedIn(script.module),
    ...(chunked !== undefined && { chunkedLoss: chunked }),
    open: otherMethod(script, made?.call ?? first),
  };
}

/** Of trl, what is trained otherwise than on texts: a step holds more than the model's own pass. */
function otherMethod(script: Script, call: PyNode | undefined): readonly string[] {
  const name = call?.function && (lastName(call.function)?.text ?? '');
  const isTrl = call !== undefined && libraryOf(script.module, call) === 'trl';
  if (!isTrl || name === undefined || /^(?:SFT|IterativeSFT|Reward|PRM)/.test(name)) return [];
  const place = script.placeOf(call);
  return [
    `\`${name}\` in ${place}: one pass over a batch is counted; a reference model, pairs of answers and generation come on top.`,
  ];
}

/** `HfArgumentParser(TrainingArguments)` makes an option of each field. */
export function leftToCommand<T>(script: Script, parsed: PyNode, name: string, likely?: T): Untold<T> {
  return {
    place: script.placeOf(parsed),
    why: `the command line may say \`--${name}\``,
    ...(likely !== undefined && { likely }),
  };
}

function firstOf<T>(said: readonly (Said<T> | undefined)[]): Said<T> | undefined {
  return said.find((each) => each !== undefined);
}

/** Before trl 0.13 the trainer took it: `SFTTrainer(max_seq_length=1024)`. */
function givenToTrainer(script: Script, trainers: readonly PyNode[]): Said<number> | undefined {
  const ofTrl = trainers.filter((call) => libraryOf(script.module, call) === 'trl');
  return firstOf(
    ofTrl.flatMap((call) =>
      ['max_seq_length', 'max_length'].map((name) =>
        script.given(call, name) === undefined ? undefined : script.setting(call, name, asNumber),
      ),
    ),
  );
}

/** `bf16=` or `fp16=`; one of both is on where one is the other's opposite. */
function autocastOf(script: Script, made: ArgumentsCall | undefined): Said<boolean> | undefined {
  if (made === undefined) return undefined;
  const said = ['bf16', 'fp16'].map((name) => script.setting(made.call, name, asFlag));
  const on = said.find((each) => toldOf(each)?.value === true);
  if (on !== undefined) return on;
  const [bf16, fp16] = ['bf16', 'fp16'].map((name) => {
    const given = script.given(made.call, name);
    return given !== undefined && 'calls' in given ? given : undefined;
  });
  const isOpposite = (a: string | undefined, b: string | undefined) =>
    a !== undefined &&
    b?.replace(/^not\s+/, '').replaceAll(/[()]/g, '') === a.replaceAll(/[()]/g, '') &&
    b !== a;
  if (
    bf16 !== undefined &&
    (isOpposite(bf16.value.text, fp16?.value.text) || isOpposite(fp16?.value.text, bf16.value.text))
  )
    return script.found(true, bf16.entry, '`bf16` or `fp16`');
  const untold = said.find((each) => each !== undefined && toldOf(each) === undefined);
  if (untold !== undefined) return { ...untold, likely: true };
  return said.find((each) => each !== undefined) ?? byVersion(script, made);
}

/** trl trains under autocast of bfloat16 where nothing is said, from some version on. */
function byVersion(script: Script, made: ArgumentsCall): Said<boolean> | undefined {
  if (libraryOf(made.module, made.call) !== 'trl') return undefined;
  const isOn = isDefault(made, 'bf16', 'True');
  const node = made.call.function ?? made.call;
  if (isOn === 'yes') return script.byDefault(true, node, 'bf16 by default, in this version of trl');
  return isOn === 'no'
    ? undefined
    : script.untold(node, true, 'trains in bf16 in newer versions of trl, and which one this is nobody says');
}
