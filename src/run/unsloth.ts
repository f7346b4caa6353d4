import { UNSLOTH_ADAPTS, UNSLOTH_LOADS } from '../library/paths.js';
import { methodCallsAt } from '../semantic/called-name.js';
import { calledPath } from '../semantic/imports.js';
import { isTestCode } from '../semantic/test-code.js';
import type { PyNode } from '../syntax/node.js';
import { type Reading, type Said, takenFor, toldOf, type Weights } from './reading.js';
import { asFlag, asNumber, asText, asWeights, type Script } from './script.js';
import type { Plain } from './value.js';

const BY_DEFAULT = 'the default of unsloth';
/** By which share its own kernels may need less than what is counted. */
const LEANER = 0.4;

function calls({ module }: Script, literal: string, wanted: RegExp): readonly PyNode[] {
  return methodCallsAt(module, literal).filter(
    (call) => wanted.test(calledPath(module, call) ?? '') && !isTestCode(module, call),
  );
}

/** `FastLanguageModel.from_pretrained(…)`: the model, and what its weights are. */
export function readUnsloth(script: Script): Reading | undefined {
  const [call] = script.running(calls(script, '.from_pretrained(', UNSLOTH_LOADS));
  if (call === undefined) return undefined;
  const model = script.argument(call, 'model_name', 0, asText);
  const sequence = script.argument(call, 'max_seq_length', 1, asNumber);
  const place = script.placeOf(call);
  return {
    ...(model !== undefined && { model }),
    ...(sequence !== undefined && { sequence }),
    weights: weightsOf(script, call, takenFor(model) ?? ''),
    leaner: LEANER,
    remarks: [
      `unsloth (${place}) brings kernels of its own, which were not measured: the lower end allows for what they save.`,
    ],
  };
}

/** In 4 bits where nobody says otherwise. */
function weightsOf(script: Script, call: PyNode, name: string): Said<Weights> {
  const callee = call.function ?? call;
  const isOn = (flag: string) => toldOf(script.setting(call, flag, asFlag))?.value === true;
  if (isOn('load_in_8bit')) return script.found('int8', callee, '`load_in_8bit`');
  const four = script.argument(call, 'load_in_4bit', 3, asFlag, true);
  if (!isOn('full_finetuning') && !isOn('load_in_16bit')) {
    if (/4bit$/i.test(name)) return script.found('int4', callee, `\`${name}\` is saved in 4 bits`);
    if (four === undefined) return script.byDefault('int4', callee, `in 4 bits: ${BY_DEFAULT}`);
    if (!('value' in four)) return { ...four, likely: 'int4' };
    if (four.value) return { ...four, value: 'int4' };
  }
  const dtype = script.argument(call, 'dtype', 2, asWeights);
  return dtype ?? script.byDefault('bf16', callee, `in half precision: ${BY_DEFAULT}`);
}

/** `FastLanguageModel.get_peft_model(model, r=16, …)`, which also checkpoints. */
export function unslothAdapters(script: Script): readonly PyNode[] {
  return script.running(calls(script, '.get_peft_model(', UNSLOTH_ADAPTS));
}

export function unslothCheckpointing(script: Script): readonly Said<boolean>[] {
  return unslothAdapters(script).flatMap((call) => {
    const given = script.setting(call, 'use_gradient_checkpointing', asSwitch, true);
    return script.ifRun(call, given ?? script.byDefault(true, call.function ?? call, BY_DEFAULT)) ?? [];
  });
}

function asSwitch(value: Plain): boolean | undefined {
  return value === 'unsloth' || value === 'True' ? true : value === 'False' ? false : asFlag(value);
}
