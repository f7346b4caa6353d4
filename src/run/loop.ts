import type { Optimizer } from '../budget/memory.js';
import { row } from '../library/library.js';
import { OTHER_OPTIMIZERS } from '../library/paths.js';
import { callsNamed } from '../semantic/called-name.js';
import { givenIn } from '../semantic/given.js';
import { calledPath } from '../semantic/imports.js';
import { argumentsOf, keywordValue, methodName } from '../semantic/statements.js';
import { plainString } from '../semantic/strings.js';
import { isTestCode } from '../semantic/test-code.js';
import type { PyNode } from '../syntax/node.js';
import { adamCalls } from '../torch/training/optimizer-call.js';
import { type Found, type Reading, type Said, takenFor, toldOf } from './reading.js';
import { asFlag, asNumber, asText, type Script, shownCode } from './script.js';
import type { TrainerParts } from './trainer.js';

/** What a script does by hand: its loop, its loaders, its processes. */
export function readLoop(script: Script, parts: TrainerParts, trainer: Reading): Reading {
  const autocast = trainer.autocast ?? autocastIn(script);
  const batch = trainer.batch ?? batchIn(script, trainer);
  const sequence = trainer.sequence ?? lengthIn(script);
  const optimizer = trainer.optimizer ?? optimizerIn(script, trainer);
  const accumulation = trainer.accumulation ?? ofAccelerator(script, 'gradient_accumulation_steps', asNumber);
  const padded = paddingIn(script);
  return {
    ...(autocast !== undefined && { autocast }),
    ...(batch !== undefined && { batch }),
    ...(sequence !== undefined && { sequence }),
    ...(optimizer !== undefined && { optimizer }),
    ...(accumulation !== undefined && { accumulation }),
    ...(padded !== undefined && { padded: script.found(true, padded) }),
    ...sharding(script, parts),
    ...buckets(script),
  };
}

function named(script: Script, ...names: readonly string[]): readonly PyNode[] {
  return names
    .flatMap((name) => callsNamed(script.module, name))
    .map(({ call }) => call)
    .filter((call) => !isTestCode(script.module, call));
}

function ofAccelerator<T>(
  script: Script,
  name: string,
  as: (value: Parameters<typeof asText>[0]) => T | undefined,
  likely?: T,
): Said<T> | undefined {
  return named(script, 'Accelerator')
    .map((call) => script.setting(call, name, as, likely))
    .find((each) => each !== undefined);
}

/** `torch.autocast(…, enabled=…)`, `Accelerator(mixed_precision="bf16")`. */
function autocastIn(script: Script): Said<boolean> | undefined {
  const said = named(script, 'autocast').flatMap((call) => {
    const enabled = script.setting(call, 'enabled', asFlag, true) ?? script.found(true, call);
    return script.ifRun(call, enabled) ?? [];
  });
  const on = said.find((each) => takenFor(each) === true);
  if (on !== undefined) return on;
  const mixed = ofAccelerator(script, 'mixed_precision', (value) => value !== 'no', true);
  return mixed ?? said[0];
}

const BATCH_OPTION = /^--?(?:(?:per_device_)?train[-_])?(?:batch[-_]?size|bs)$/;

/** The size of a batch, by an option of the command line or by what a loader of the project is given. */
export function batchSaid(script: Script): Said<number> | undefined {
  const options = script.module.at('.add_argument(').flatMap((node): readonly Found<number>[] => {
    const call = node.closest('call');
    const texts = call === undefined ? [] : argumentsOf(call).flatMap((each) => plainString(each) ?? []);
    const name = texts.find((each) => BATCH_OPTION.test(each));
    const written = call && keywordValue(call, 'default');
    const value = written && asNumber(script.value(written)?.value ?? null);
    if (call === undefined || name === undefined || value === undefined) return [];
    return [script.byDefault(value, call, `\`${name}\` is ${value} by default`)];
  });
  const given = givenIn(script.module, 'batch_size').flatMap(({ entry, value }): readonly Found<number>[] => {
    const told = asNumber(script.value(value)?.value ?? null);
    return told === undefined ? [] : [script.byDefault(told, entry, `\`${shownCode(entry)}\``)];
  });
  return options[0] ?? [...given].sort((a, b) => b.value - a.value)[0];
}

/** The loader that shuffles, or the first. */
function batchIn(script: Script, { trainer }: Reading): Said<number> | undefined {
  if (trainer !== undefined) return undefined;
  const loaders = named(script, 'DataLoader');
  const call =
    loaders.find((each) => takenFor(script.setting(each, 'shuffle', asFlag)) === true) ?? loaders[0];
  return call && script.argument(call, 'batch_size', 1, asNumber);
}

const TOKENIZES = /^(?:__call__|batch_encode_plus|encode|encode_plus|batch_encode|prepare_for_model)$/;

/** `tokenizer(…, max_length=512)`: the longest of them; what is generated has other lengths. */
function lengthIn(script: Script): Said<number> | undefined {
  const given = ['max_length', 'model_max_length'].flatMap((name) => givenIn(script.module, name));
  const said = given.flatMap(({ name: key, calls, entry, value }) => {
    const isIt = calls.some((call) => {
      if (/model_max_length/.test(key.text)) return methodName(call) === 'from_pretrained';
      const name = methodName(call) ?? call.function?.text ?? '';
      const truncates = script.given(call, 'truncation') ?? script.given(call, 'padding');
      return truncates !== undefined || TOKENIZES.test(name) || /tokeniz|encod|processor/i.test(name);
    });
    // That of a tokenizer is given where it is made.
    const isOfTokenizer = value.type === 'attribute' && value.attribute?.text === 'model_max_length';
    return isIt && !(isOfTokenizer && given.some(({ name }) => name.text === 'model_max_length'))
      ? (script.said(entry, value, asNumber) ?? [])
      : [];
  });
  if (said.length === 0) return lengthGiven(script);
  const untold = said.find((each) => toldOf(each) === undefined);
  const longest = said.flatMap((each) => toldOf(each) ?? []).sort((a, b) => b.value - a.value)[0];
  if (untold === undefined) return longest;
  return longest === undefined ? untold : { ...untold, likely: longest.value };
}

/** `make_dataset(max_seq_length=512)`: what a function of the project is given, which is likely to cut to it. */
function lengthGiven(script: Script): Said<number> | undefined {
  const [longest] = givenIn(script.module, 'max_seq_length')
    .flatMap(({ entry, value }) => toldOf(script.said(entry, value, asNumber)) ?? [])
    .sort((a, b) => b.value - a.value);
  return (
    longest && {
      place: longest.place,
      why: `\`${longest.words.split(';', 1)[0]}\` is taken for the length that data is cut to`,
      likely: longest.value,
    }
  );
}

function paddingIn(script: Script): PyNode | undefined {
  const given = givenIn(script.module, 'padding').find(({ value }) => {
    const told = script.value(value)?.value;
    return told === true || told === 'longest' || told === 'max_length';
  });
  return given?.entry ?? named(script, 'DataCollatorWithPadding')[0];
}

const KNOWN_OPTIMIZERS: readonly (readonly [RegExp, Optimizer])[] = [
  [/^(?:Paged)?AdamW?8bit$/, 'adamw-8bit'],
  [/^Paged(?:AdamW?|AdamW?32bit)$|^FusedAdam$/, 'adamw-fused'],
  [/^Adafactor$/, 'adafactor'],
];

function optimizerIn(script: Script, { trainer }: Reading): Said<Optimizer> | undefined {
  const { module } = script;
  // A trainer makes its own, unless it is handed one.
  if (trainer !== undefined && givenIn(module, 'optimizers').length === 0) return undefined;
  const own = named(
    script,
    'AdamW8bit',
    'Adam8bit',
    'PagedAdamW8bit',
    'PagedAdam8bit',
    'PagedAdamW',
    'FusedAdam',
    'Adafactor',
  );
  const [known] = own;
  if (known !== undefined) {
    const name = (calledPath(module, known) ?? known.function?.text ?? '').split('.').at(-1) ?? '';
    const value = KNOWN_OPTIMIZERS.find(([pattern]) => pattern.test(name))?.[1];
    if (value !== undefined) return script.ifRun(known, script.found(value, known));
  }
  // That of transformers takes one parameter after the other, and needs no more room for its step than the fused one.
  const [plain] = named(script, 'AdamW').filter((call) =>
    OTHER_OPTIMIZERS.test(calledPath(module, call) ?? ''),
  );
  if (plain !== undefined)
    return script.ifRun(plain, script.found('adamw-fused', plain, 'as small as the fused one of torch'));
  const [adam] = adamCalls(module, ['Adam', 'AdamW']);
  if (adam !== undefined) {
    const fused = script.setting(adam.call, 'fused', asFlag);
    return script.found(takenFor(fused) === true ? 'adamw-fused' : 'adamw', adam.call);
  }
  const [sgd] = named(script, 'SGD').filter((call) => calledPath(module, call)?.startsWith('torch.'));
  if (sgd !== undefined) {
    const momentum = script.argument(sgd, 'momentum', 2, asNumber, 0.9);
    return script.found(momentum === undefined || takenFor(momentum) === 0 ? 'sgd' : 'sgd-momentum', sgd);
  }
  const other = module
    .at('optim.')
    .flatMap((node) => node.closest('call') ?? [])
    .find((call) => row(calledPath(module, call) ?? '')?.is === 'optimizer');
  return other && script.untold<Optimizer>(other, undefined, 'is no optimizer that memfix counts');
}

/** FSDP, by hand or by the trainer. */
function sharding(script: Script, { made }: TrainerParts): { readonly sharded?: Said<boolean> } {
  const [wrapped] = named(script, 'FullyShardedDataParallel', 'FSDP', 'fully_shard');
  const sharded =
    wrapped === undefined ? fsdpOf(script, made?.call) : script.ifRun(wrapped, script.found(true, wrapped));
  return sharded === undefined || toldOf(sharded)?.value === false ? {} : { sharded };
}

/** What may be spread into the arguments is not taken for it. */
function fsdpOf(script: Script, call: PyNode | undefined): Said<boolean> | undefined {
  const given = call && script.given(call, 'fsdp');
  return given !== undefined && 'calls' in given
    ? script.said(given.entry, given.value, fsdpNamed, false)
    : undefined;
}

function fsdpNamed(value: Parameters<typeof asText>[0]): boolean | undefined {
  if (typeof value === 'boolean') return value;
  const words = Array.isArray(value) ? value.join(' ') : asText(value);
  return words === undefined ? undefined : /shard/.test(words);
}

function buckets(script: Script): Reading {
  const flag = (name: string) => {
    const [given] = givenIn(script.module, name);
    return given && script.said(given.entry, given.value, asFlag);
  };
  const views = flag('gradient_as_bucket_view');
  const unused = flag('ddp_find_unused_parameters') ?? flag('find_unused_parameters');
  return {
    ...(views !== undefined && { bucketViews: views }),
    ...(unused !== undefined && { findsUnused: unused }),
  };
}
