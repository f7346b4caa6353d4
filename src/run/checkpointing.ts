import { preparesQuantized } from '../library/paths.js';
import { callsNamed } from '../semantic/called-name.js';
import { calledPath } from '../semantic/imports.js';
import { isTestCode } from '../semantic/test-code.js';
import type { PyNode } from '../syntax/node.js';
import { isDefault, libraryOf, setsField } from '../torch/huggingface/huggingface.js';
import { CHECKPOINTING, CHECKPOINTING_ENABLE, kbitSwitch } from '../torch/module/checkpointing.js';
import { type Reading, type Said, toldOf } from './reading.js';
import { asFlag, type Script } from './script.js';
import { leftToCommand, type TrainerParts } from './trainer.js';
import { unslothCheckpointing } from './unsloth.js';
import { isTrue } from './value.js';

/**
 * Whether blocks are computed anew. Each of these turns it on, and none turns off what another has turned on: the
 * trainer's arguments, `gradient_checkpointing_enable()`, unsloth, and peft where it prepares a quantized model.
 */
export function readCheckpointing(
  script: Script,
  parts: TrainerParts,
  weights: Reading['weights'],
): { readonly checkpointing?: Said<boolean> } {
  const said = [
    ...byTrainer(script, parts),
    ...calls(script, CHECKPOINTING_ENABLE).flatMap(
      (call) => script.ifRun(call, script.found(true, call)) ?? [],
    ),
    ...byPreparation(script, weights),
    ...unslothCheckpointing(script),
  ];
  const off = calls(script, 'gradient_checkpointing_disable')[0];
  const on = said.find((each) => toldOf(each)?.value === true);
  const [untold] = said.filter((each) => toldOf(each) === undefined);
  if (off !== undefined && (on ?? untold) !== undefined)
    return { checkpointing: script.untold(off, true, 'turns off what is turned on elsewhere') };
  const found = on ?? untold ?? said[0];
  return found === undefined ? {} : { checkpointing: found };
}

function calls({ module }: Script, name: string): readonly PyNode[] {
  return callsNamed(module, name)
    .map(({ call }) => call)
    .filter((call) => !isTestCode(module, call));
}

function byTrainer(script: Script, { made, parsed, trainers }: TrainerParts): readonly Said<boolean>[] {
  if (made === undefined) {
    const isTrl = trainers.some((call) => libraryOf(script.module, call) === 'trl');
    const [trainer] = trainers;
    if (parsed !== undefined) return [leftToCommand(script, parsed, CHECKPOINTING, isTrl)];
    return isTrl && trainer !== undefined ? [byNewerTrl(script, trainer)] : [];
  }
  const given = script.setting(made.call, CHECKPOINTING, asFlag, true);
  if (given !== undefined) return [given];
  const node = made.call.function ?? made.call;
  if (setsField(made, CHECKPOINTING)) return [script.untold(node, true, 'has a default of its own for it')];
  if (libraryOf(made.module, made.call) !== 'trl') return [];
  switch (isDefault(made, CHECKPOINTING, 'True')) {
    case 'yes':
      return [script.byDefault(true, node, 'on by default, in this version of trl')];
    case 'no':
      return [];
    default:
      return [byNewerTrl(script, node)];
  }
}

function byNewerTrl(script: Script, node: PyNode): Said<boolean> {
  return script.untold(
    node.function ?? node,
    true,
    'checkpoints in trl 0.22 and newer, and which one this is nobody says',
  );
}

function preparations(script: Script): readonly PyNode[] {
  return ['prepare_model_for_kbit_training', 'prepare_model_for_int8_training']
    .flatMap((name) => calls(script, name))
    .filter((call) => preparesQuantized(calledPath(script.module, call) ?? ''));
}

/** Where peft prepares the model for training. */
export function readPreparation(script: Script): Pick<Reading, 'prepared'> {
  const found = preparations(script)
    .map((call) => script.ifRun(call, script.found(true as const, call)))
    .map((said) => (said === undefined ? undefined : toldOf(said)))
    .find((said) => said !== undefined);
  return found === undefined ? {} : { prepared: found };
}

function byPreparation(script: Script, weights: Reading['weights']): readonly Said<boolean>[] {
  return preparations(script).flatMap((call): readonly Said<boolean>[] => {
    // Of a model that is not quantized it leaves checkpointing as it is.
    const told = toldOf(weights)?.value;
    if (weights === undefined || (told !== undefined && told !== 'int4' && told !== 'int8')) return [];
    const given = kbitSwitch(call);
    const value = given && script.value(given.value);
    if (given !== undefined && value === undefined) return [script.untold(given.entry, true)];
    if (value !== undefined && !isTrue(value.value)) return [];
    const said =
      told === undefined
        ? script.untold(call, true, 'turns it on for weights that are quantized')
        : script.found(true, call, given === undefined ? 'peft turns it on by default' : value?.by);
    return [script.ifRun(call, said) ?? []].flat();
  });
}
