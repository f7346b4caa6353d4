import { callsNamed, methodCallsAt, targetGiven } from '../semantic/called-name.js';
import { calledDefinition } from '../semantic/definitions.js';
import { definedElsewhere } from '../semantic/elsewhere.js';
import { givenIn } from '../semantic/given.js';
import { calledPath } from '../semantic/imports.js';
import { entryOf } from '../semantic/literals.js';
import { isAtLeast } from '../semantic/standing.js';
import { argumentsOf, keywordValue, methodName, ownNodes, receiverOf } from '../semantic/statements.js';
import { isTestCode } from '../semantic/test-code.js';
import { waysReaching } from '../semantic/variables.js';
import type { PyNode } from '../syntax/node.js';
import { modelLoad } from '../torch/huggingface/pretrained.js';
import { configuration, configured, HEADS } from './configured.js';
import { networkOf } from './network.js';
import { readOthers } from './others.js';
import {
  type Found,
  type Reading,
  type Said,
  together,
  toldOf,
  type Untold,
  type Weights,
} from './reading.js';
import { asFlag, asNumber, asText, asWeights, Script } from './script.js';
import type { Trained } from './trained.js';
import { readUnsloth } from './unsloth.js';
import { onlyValue, type Plain } from './value.js';

const CONVOLUTIONAL = ['resnet18', 'resnet34', 'resnet50', 'resnet101', 'resnet152'];

/** The model that a script trains, and what its weights are, and the others that it holds. `trainers`: calls that may name it. */
export function readModel(script: Script, trainers: readonly PyNode[], trained: Trained): Reading {
  const { module } = script;
  const fast = readUnsloth(script);
  if (fast !== undefined) return fast;
  const calls = [...module.at('from_pretrained'), ...module.at('from_config')].flatMap((node) => {
    const call = node.closest('call');
    const load = call && modelLoad(module, call);
    return load === undefined || isTestCode(module, load.call) ? [] : [load.call];
  });
  const running = script.running([...new Set(calls)].sort((a, b) => a.start - b.start));
  const made = script.running(trained.makers.flatMap((each) => (each.module === module ? each.call : [])));
  const given = trainers.flatMap((trainer) => givenModel(script, trainer));
  const call =
    running.find((each) => made.includes(each)) ??
    running.find((each) => given.some((value) => value.contains(each)));
  const others = (chosen: PyNode | undefined) =>
    readOthers(script, trained, trainers, chosen, [...new Set(calls)], (load) => loaded(script, load));
  const ofConfig = call === undefined ? configured(script, made) : undefined;
  if (ofConfig !== undefined) return together(ofConfig.reading, others(ofConfig.call));
  // What a trainer loads by its name goes before what is loaded for something else.
  const named = call === undefined ? namedTo(script, trainers) : undefined;
  if (named !== undefined) return { ...named, ...others(undefined) };
  const first = call ?? running[0];
  if (first !== undefined) {
    const own = loaded(script, first);
    const isNamed = toldOf(own.model) !== undefined;
    return { ...own, ...configuration(script, { call: first, isNamed }), ...others(first) };
  }
  return { ...unloaded(script), ...others(undefined) };
}

/** Without a load: by a configuration, or as a network that is not counted. */
function unloaded(script: Script): Reading {
  const made = { ...convolutional(script), ...configuration(script) };
  const network = made.model === undefined && made.config === undefined ? networkOf(script) : undefined;
  if (network !== undefined) return { ...made, network };
  const hidden = made.model === undefined && made.config === undefined ? hiddenLoad(script) : undefined;
  return { ...made, ...(hidden !== undefined && { hidden }) };
}

/** What a trainer gets as its model: the values of the variable that is given. */
function givenModel({ module }: Script, trainer: PyNode): readonly PyNode[] {
  const model = keywordValue(trainer, 'model') ?? argumentsOf(trainer)[0];
  if (model?.type !== 'identifier') return [];
  return waysReaching(module, model).flatMap((way) => (way.kind === 'value' ? way.value : []));
}

/** `kind.from_pretrained(path)`, by a class that the code does not show. */
function hiddenLoad(script: Script): Untold<string> | undefined {
  const { module } = script;
  const [call] = methodCallsAt(module, '.from_pretrained(').filter((each) => {
    const name = receiverOf(each)?.text ?? '';
    // `nn.Embedding.from_pretrained(table)` is torch's own: one layer.
    return (
      !/(?:Tokenizer|Processor|Config|Extractor|Scheduler|Peft\w*)$/i.test(name) &&
      calledPath(module, each)?.startsWith('torch.') !== true &&
      !isTestCode(module, each)
    );
  });
  return (
    call &&
    script.untold<string>(
      call.function ?? call,
      undefined,
      'loads a model by a class that the code does not show',
    )
  );
}

function loaded(script: Script, call: PyNode): Reading {
  const { module } = script;
  const model = script.argument(call, 'pretrained_model_name_or_path', 0, asText) ?? nameless(script, call);
  const classes = classesOf(script, call);
  const quantized = quantization(script, call);
  const weights = quantized ?? dtypeGiven(script, call) ?? castBelow(script, call);
  const attention = script.setting(call, 'attn_implementation', attentionNamed);
  const isKept = toldOf(script.setting(call, 'torch_dtype', isAuto) ?? script.setting(call, 'dtype', isAuto));
  return {
    ...(model !== undefined && { model }),
    ...(classes !== undefined && { classes }),
    ...(weights !== undefined && { weights }),
    ...(isKept?.value === true && { keepsSavedDtype: isKept }),
    ...(attention !== undefined && { attention }),
    ...(isAtLeast(module, 'transformers', '5.0') === 'yes' &&
      weights === undefined && { keepsSavedDtype: script.found(true, call) }),
  };
}

/** A name that is `None` by default is said when it runs. */
function nameless(script: Script, call: PyNode): Said<string> | undefined {
  const [first] = argumentsOf(call);
  const isNone = first !== undefined && script.value(first)?.value === null;
  return isNone
    ? script.untold<string>(first, undefined, 'is `None` here, and is said when it runs')
    : undefined;
}

function isAuto(value: Plain): boolean | undefined {
  return value === 'auto' ? true : undefined;
}

function attentionNamed(value: Plain): 'eager' | 'sdpa' | 'flash' | undefined {
  if (value === 'eager' || value === 'sdpa') return value;
  return typeof value === 'string' && /^(?:kernels-community\/)?(?:vllm-)?flash/.test(value)
    ? 'flash'
    : undefined;
}

/** `SFTTrainer(model="Qwen/Qwen2.5-0.5B")` loads it itself: in fp32, or as `model_init_kwargs` say. */
function namedTo(script: Script, trainers: readonly PyNode[]): Reading | undefined {
  for (const trainer of trainers) {
    const model = toldOf(script.argument(trainer, 'model', 0, asText));
    if (model === undefined) continue;
    const entry = initEntry(script, ['dtype', 'torch_dtype']);
    const bits = initEntry(script, ['quantization_config']);
    const made = bits?.type === 'identifier' ? onlyValue(script.module, bits) : bits;
    const quantized = made?.type === 'call' ? bitsOf(script, made) : undefined;
    const dtype = entry && script.said<Weights | 'auto'>(entry.parent ?? entry, entry, kept, 'bf16');
    const isKept = toldOf(dtype)?.value === 'auto' ? toldOf(dtype) : undefined;
    const weights = quantized ?? (isKept === undefined ? (dtype as Said<Weights> | undefined) : undefined);
    const way = initEntry(script, ['attn_implementation']);
    const attention = way && script.said(way.parent ?? way, way, attentionNamed);
    return {
      model,
      ...(weights !== undefined && { weights }),
      ...(isKept !== undefined && { keepsSavedDtype: { ...isKept, value: true } }),
      ...(attention !== undefined && { attention }),
    };
  }
  return undefined;
}

function kept(value: Plain): Weights | 'auto' | undefined {
  return value === 'auto' ? 'auto' : asWeights(value);
}

/** An entry of `model_init_kwargs={"dtype": …}`. */
function initEntry({ module }: Script, names: readonly string[]): PyNode | undefined {
  for (const { value } of givenIn(module, 'model_init_kwargs')) {
    const dict = value.type === 'identifier' ? onlyValue(module, value) : value;
    const isCall = dict?.type === 'call' && dict.function?.text === 'dict';
    const found = names
      .map((name) => (isCall ? keywordValue(dict, name) : entryOf(dict, name)))
      .find((entry) => entry !== undefined);
    if (found !== undefined) return found;
  }
  return undefined;
}

function dtypeGiven(script: Script, call: PyNode): Said<Weights> | undefined {
  for (const name of ['dtype', 'torch_dtype']) {
    const said = script.setting<Weights | 'auto'>(call, name, (value) =>
      value === 'auto' ? 'auto' : asWeights(value),
    );
    if (said === undefined) continue;
    const told = toldOf(said);
    if (told === undefined) return { place: said.place, why: 'why' in said ? said.why : '', likely: 'bf16' };
    return told.value === 'auto' ? undefined : { ...told, value: told.value };
  }
  return undefined;
}

/** `model.half()`, `model.to(torch.bfloat16)`: of the variable that the model goes to. */
function castBelow(script: Script, load: PyNode): Said<Weights> | undefined {
  const name = targetGiven(load)?.text;
  const methods = ['half', 'bfloat16', 'to'].flatMap((each) => callsNamed(script.module, each));
  for (const { call } of methods) {
    const receiver = receiverOf(call);
    const isIt = receiver !== undefined && (receiver.text === name || receiver.contains(load));
    if (!isIt || call.start < load.start) continue;
    const method = methodName(call);
    if (method === 'half' || method === 'bfloat16') {
      const value: Weights = method === 'half' ? 'fp16' : 'bf16';
      return script.ifRun(call, script.found(value, call));
    }
    const told = argumentsOf(call)
      .map((each) => script.value(each.type === 'keyword_argument' ? (each.value ?? each) : each))
      .map((each) => (each === undefined ? undefined : asWeights(each.value)))
      .find((each) => each !== undefined);
    if (told !== undefined) return script.ifRun(call, script.found<Weights>(told, call));
  }
  return undefined;
}

const BITS = [
  ['load_in_4bit', 'int4'],
  ['load_in_8bit', 'int8'],
] as const;

/** By the load itself, or by the configuration that it is given. */
function quantization(script: Script, load: PyNode): Said<Weights> | undefined {
  const own = bitsOf(script, load);
  if (own !== undefined) return own;
  const given = script.given(load, 'quantization_config');
  if (given === undefined) return undefined;
  if (!('calls' in given))
    return script.untold<Weights>(given, likelyBits(script), 'may quantize the weights');
  const { value, entry } = given;
  const ways = value.type === 'identifier' ? waysReaching(script.module, value) : [];
  const values =
    value.type === 'identifier' ? ways.flatMap((way) => (way.kind === 'value' ? way.value : [])) : [value];
  const isWhole = value.type !== 'identifier' || (ways.length > 0 && values.length === ways.length);
  // The last of them that runs counts.
  for (const each of isWhole ? values.toSorted((a, b) => b.start - a.start) : []) {
    const { answer } = script.runs(each);
    if (answer === 'no') continue;
    if (answer === 'unknown') break;
    if (script.value(each)?.value === null) return undefined;
    const bits = each.type === 'call' ? (bitsOf(script, each) ?? bitsReturned(script, each)) : undefined;
    if (bits !== undefined) return bits;
    break;
  }
  return script.untold<Weights>(entry, likelyBits(script));
}

/** Of `quantization_config=make_config()`, a function of the project that returns one call. */
function bitsReturned(script: Script, call: PyNode): Said<Weights> | undefined {
  const { module } = script;
  const path = calledPath(module, call);
  const own = calledDefinition(module, call);
  const there = own === undefined && path !== undefined ? definedElsewhere(module, path) : undefined;
  const made = own ?? there?.node;
  if (made?.type !== 'function_definition') return undefined;
  const home = there?.module ?? module;
  const returned = ownNodes(made).flatMap((node) =>
    node.type === 'return_statement' ? [node.named[0]] : [],
  );
  const [only] = returned;
  const value = only?.type === 'identifier' ? onlyValue(home, only) : only;
  return returned.length === 1 && value?.type === 'call' ? bitsOf(new Script(home), value) : undefined;
}

function bitsOf(script: Script, call: PyNode): Said<Weights> | undefined {
  const said = BITS.flatMap(([name, bits]) => {
    const flag = script.setting(call, name, asFlag);
    return flag === undefined ? [] : [{ flag, bits }];
  });
  for (const { flag, bits } of said) {
    if ('value' in flag && flag.value) return { ...flag, value: bits };
  }
  for (const { flag, bits } of said) if (!('value' in flag)) return { ...flag, likely: bits };
  return undefined;
}

/** What a configuration of the file asks for, whoever gets it. */
function likelyBits(script: Script): Weights | undefined {
  const found = callsNamed(script.module, 'BitsAndBytesConfig').flatMap(
    ({ call }) => toldOf(bitsOf(script, call))?.value ?? [],
  );
  return found[0];
}

/** `…ForSequenceClassification` and its like have no logits of words. */
function classesOf(script: Script, call: PyNode): Said<number> | undefined {
  const name = modelLoad(script.module, call)?.className ?? '';
  if (!HEADS.test(name)) return undefined;
  return (
    script.setting(call, 'num_labels', asNumber, 2) ??
    script.byDefault(2, call.function ?? call, 'the default of transformers')
  );
}

function convolutional(script: Script): { readonly model?: Found<string> } {
  for (const name of CONVOLUTIONAL) {
    const [made] = callsNamed(script.module, name);
    if (made === undefined) continue;
    if (calledPath(script.module, made.call)?.startsWith('torchvision.') !== true) continue;
    return { model: script.found(name, made.call) };
  }
  return {};
}
