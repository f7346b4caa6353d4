import { spotOf } from '../semantic/gate.js';
import { modulesWithin } from '../semantic/imported-modules.js';
import type { PyModule } from '../semantic/module.js';
import { argumentsOf } from '../semantic/statements.js';
import { readAdapters } from './adapters.js';
import { readCheckpointing, readPreparation } from './checkpointing.js';
import { readLoop } from './loop.js';
import { readModel } from './model.js';
import { type Reading, takenFor, toldOf } from './reading.js';
import { Script } from './script.js';
import { readSettings } from './settings.js';
import { readTrainer, trainerOf } from './trainer.js';

/** Words of a file that loads, adapts or trains a model, or reads its texts. */
const MATTERS = /from_pretrained|LoraConfig|TrainingArguments|\bTrainer\b|SFTConfig|max_length/;
/** Files that a script imports are followed this far. */
const HOPS = 2;

/** What a script says about the run that it is, and where it is silent, what the files say that it imports from its project. */
export function readPython(module: PyModule): Reading {
  let reading = readOne(module);
  for (const there of modulesWithin(module, HOPS))
    if (MATTERS.test(there.code)) reading = filled(reading, readOne(there, [module]));
  const frozen = reading.rank === undefined ? frozenIn(module) : undefined;
  if (frozen === undefined) return reading;
  const remark = `Parameters are frozen (${frozen}), and all are counted as trained: say how many are with \`--trainable\`.`;
  return { ...reading, remarks: [...(reading.remarks ?? []), remark] };
}

/** Where the script, or a file that it imports, freezes parameters by hand. */
function frozenIn(module: PyModule): string | undefined {
  for (const each of [module, ...modulesWithin(module, HOPS)]) {
    const node = each.at('requires_grad').find(({ parent }) => {
      const whole = parent?.parent;
      if (parent?.type !== 'attribute') return false;
      if (whole?.type === 'assignment') return whole.left === parent && whole.right?.type === 'false';
      return whole?.type === 'call' && argumentsOf(whole)[0]?.type === 'false';
    });
    if (node !== undefined) return spotOf(each, node);
  }
  return undefined;
}

function readOne(module: PyModule, callers: readonly PyModule[] = []): Reading {
  const script = new Script(module, callers);
  const parts = trainerOf(script);
  const model = readModel(script, parts.trainers);
  const trainer = readTrainer(script, parts);
  const adapters = readAdapters(script);
  return {
    ...deepspeed(script, parts.made?.call),
    ...model,
    ...trainer,
    ...readLoop(script, parts, trainer),
    ...readCheckpointing(script, parts, model.weights),
    ...readPreparation(script),
    ...adapters,
    remarks: [...(trainer.remarks ?? []), ...(adapters.remarks ?? [])],
  };
}

const OF_THE_MODEL: readonly (keyof Reading)[] = [
  ...(['model', 'config', 'network', 'classes', 'weights', 'attention', 'keepsSavedDtype'] as const),
  ...(['rank', 'targets', 'adapterDropout', 'checkpointing', 'prepared'] as const),
];

/** A file that trains is asked how; one that it imports, with which model. */
function filled(own: Reading, other: Reading): Reading {
  const trains = own.trainer !== undefined || own.optimizer !== undefined || own.batch !== undefined;
  const hasModel = own.model !== undefined || own.config !== undefined;
  const more = Object.entries(other).filter(([name]) => {
    // A tokenizer is mostly called in a file of its own.
    if (name === 'sequence' || name === 'padded') return own[name] === undefined;
    const isOfModel = OF_THE_MODEL.some((each) => each === name);
    return (
      own[name as keyof Reading] === undefined &&
      (isOfModel ? !hasModel || name === 'checkpointing' : !trains)
    );
  });
  const { checkpointing } = other;
  const isOnThere = checkpointing !== undefined && takenFor(checkpointing) === true;
  return {
    ...own,
    ...Object.fromEntries(more),
    remarks: [...(own.remarks ?? []), ...((hasModel ? undefined : other.remarks) ?? [])],
    // What one of them turns on, the other does not turn off.
    ...(isOnThere && takenFor(own.checkpointing) !== true && { checkpointing }),
  };
}

/** The file that `deepspeed="ds.json"` names, where the project has it: how it shards, and what it moves away. */
function deepspeed(script: Script, call: Parameters<Script['given']>[0] | undefined): Reading {
  const named =
    call &&
    toldOf(script.setting(call, 'deepspeed', (value) => (typeof value === 'string' ? value : undefined)));
  const file = named?.value.endsWith('.json') === true ? script.module.around.file(named.value) : undefined;
  const reading = file === undefined ? undefined : readSettings(file.path, file.text);
  if (reading === undefined || typeof reading === 'string') return {};
  const { sharded, zero, masterWeights, offload } = reading;
  return {
    ...(sharded !== undefined && { sharded }),
    ...(zero !== undefined && { zero }),
    ...(masterWeights !== undefined && { masterWeights }),
    ...(offload !== undefined && { offload }),
  };
}
