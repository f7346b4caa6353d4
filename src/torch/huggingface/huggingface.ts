import { ARGUMENT_WORDS, OLD_PPO } from '../../library/huggingface.js';
import { row } from '../../library/library.js';
import { type Answer, all, not } from '../../semantic/answer.js';
import { ancestryOf, definitionBehind, methodNamed } from '../../semantic/definitions.js';
import type { Given } from '../../semantic/given.js';
import { calledPath, importsPackage, qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { remembered } from '../../semantic/remembered.js';
import { isAtLeast } from '../../semantic/standing.js';
import { keywordArgument } from '../../semantic/statements.js';
import type { Taker } from '../../semantic/taken-by-name.js';
import type { PyNode } from '../../syntax/node.js';

/** What an expression names: an imported class of the kind, or a same-file class that derives from one. */
function listedClass(
  module: PyModule,
  expression: PyNode,
  kind: 'arguments' | 'trainer',
): { readonly own: PyNode | undefined } | undefined {
  const path = qualifiedName(module, expression);
  if (path !== undefined) return row(path)?.is === kind ? { own: undefined } : undefined;
  const own = definitionBehind(module, expression);
  if (own?.type !== 'class_definition') return undefined;
  return ancestryOf(module, own).imported.some((base) => row(base)?.is === kind) ? { own } : undefined;
}

/** A call that builds the arguments of a transformers or trl trainer, as the imports prove. */
export interface ArgumentsCall {
  /** The file that the call stands in. */
  readonly module: PyModule;
  readonly call: PyNode;
  /** The same-file class that derives from the library's, if that is what is called. */
  readonly own: PyNode | undefined;
}

/** Whether the code has such a word. */
export function mayMakeArguments(text: string): boolean {
  return ARGUMENT_WORDS.some((word) => text.includes(word));
}

export function argumentsCall(module: PyModule, call: PyNode): ArgumentsCall | undefined {
  const callee = call.function;
  const found = callee && listedClass(module, callee, 'arguments');
  return found === undefined || isOldPpoConfig(call) ? undefined : { module, call, own: found.own };
}

function isOldPpoConfig(call: PyNode): boolean {
  if (!/\bPPOConfig$/.test(call.function?.text ?? '')) return false;
  return OLD_PPO.some((name) => keywordArgument(call, name) !== undefined);
}

/** A dict that other files may import and spread into such a call. */
export const SETTINGS_OF_A_MODULE = /^\w+(?:[ \t]*:[^=\n]*)?[ \t]*=[ \t]*(?:\{|dict\()/m;

/** Those of the calls that receive a setting, here and in other files. */
export function argumentsCalls(module: PyModule, { calls, homes }: Given): readonly ArgumentsCall[] {
  return calls.flatMap((call) => argumentsCall(homes.get(call) ?? module, call) ?? []);
}

/** Those of the calls that take a setting out of its dict, by its name, which make trainer arguments. */
export function argumentsTakers(module: PyModule, { takers, homes }: Given): readonly Taker[] {
  return takers.filter(({ call }) => argumentsCall(homes.get(call) ?? module, call) !== undefined);
}

/** Whether a field has this value where nobody gives it, by the installed version of the library. */
export function isDefault({ module, call, own }: ArgumentsCall, field: string, value: string): Answer {
  const path = calledPath(module, call);
  const bases = own === undefined ? [] : ancestryOf(module, own).imported;
  const known = [path ?? '', ...bases].find((each) => row(each)?.is === 'arguments');
  const facts = known === undefined ? undefined : row(known);
  const defaults = facts?.settles?.[field] ?? facts?.defaults?.[field];
  const at = defaults?.findIndex((each) => each.is === value) ?? -1;
  const [library = ''] = known?.split('.') ?? [];
  if (defaults === undefined || at < 0) return 'unknown';
  const since = defaults[at]?.since;
  const until = defaults[at + 1]?.since;
  return all([
    since === undefined ? 'yes' : isAtLeast(module, library, since),
    until === undefined ? 'yes' : not(isAtLeast(module, library, until)),
  ]);
}

/** Whether the class still takes a keyword that the library's class takes. */
export function takesLibraryKeyword({ module, own }: ArgumentsCall): Answer {
  const init = own && methodNamed(module, own, '__init__');
  if (init === undefined) return 'yes';
  const parameters = init.parameters?.named ?? [];
  return parameters.some(({ type }) => type === 'dictionary_splat_pattern') ? 'unknown' : 'no';
}

/** Whether the same-file class gives a field a default of its own. */
export function setsField({ module, own }: ArgumentsCall, field: string): boolean {
  if (own === undefined) return false;
  return ancestryOf(module, own).classes.some((each) => module.scopeOf(each).has(field));
}

/** Whether an expression names a transformers or trl trainer class, or one of the file that derives from it. */
export const isTrainerClass = remembered(
  (module: PyModule, expression: PyNode): boolean => listedClass(module, expression, 'trainer') !== undefined,
);

/** `transformers` or `trl`: whose class a call makes, itself or through a base. */
export function libraryOf(module: PyModule, call: PyNode): string | undefined {
  const callee = call.function;
  if (callee === undefined) return undefined;
  const path = qualifiedName(module, callee);
  const own = path === undefined ? definitionBehind(module, callee) : undefined;
  const bases = own?.type === 'class_definition' ? ancestryOf(module, own).imported : [];
  return [path, ...bases]
    .map((each) => each?.split('.')[0])
    .find((name) => name === 'trl' || name === 'transformers');
}

/** Whether the trainer may run under DeepSpeed: `yes` when a name says so, `unknown` when a string or a launch command does. */
export function usesDeepSpeed(module: PyModule): Answer {
  const named = ['deepspeed', 'DeepSpeed', 'zero3'].flatMap((word) => module.at(word));
  if (named.some((node) => !isSwitchedOff(node))) return 'yes';
  const code = module.code.replace(/\bdeepspeed\s*=\s*(?:None|False|""|'')/g, '');
  return /deepspeed|zero-?3|zero_optimization/i.test(code) || LAUNCHED.test(module.text) ? 'unknown' : 'no';
}

/** How people are told to start it, in a remark: `deepspeed train.py`, `accelerate launch --config_file zero3.yaml train.py`. */
const LAUNCHED =
  /\bdeepspeed[ \t](?:[^\n]|\\\n)*?\.py\b|\baccelerate launch\b(?:[^\n]|\\\n)*?(?:deepspeed|zero)/i;

const OFF: ReadonlySet<string> = new Set(['None', 'False', '""', "''"]);

/** `deepspeed=None` and the like. */
export function isSwitchedOff(name: PyNode): boolean {
  const keyword = name.parent;
  return keyword?.type === 'keyword_argument' && OFF.has(keyword.value?.text ?? '');
}

/** Whether the file shows a sign of training: a trainer, adapters, a backward pass. */
export function showsTraining(module: PyModule): boolean {
  return (
    ['peft', 'trl', 'unsloth'].some((name) => importsPackage(module, name)) ||
    module.mentions(/TrainingArguments|\bTrainer\b|\.backward\(|\.train\(\)/)
  );
}
