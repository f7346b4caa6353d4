import { modulesWithin } from '../semantic/imported-modules.js';
import type { PyModule } from '../semantic/module.js';
import { readAdapters } from './adapters.js';
import { readCheckpointing, readPreparation } from './checkpointing.js';
import { frozenIn } from './frozen.js';
import { batchSaid, readLoop } from './loop.js';
import { readModel } from './model.js';
import { passesOf } from './passes.js';
import { type Reading, takenFor, toldOf } from './reading.js';
import { Script } from './script.js';
import { readSettings } from './settings.js';
import { type Trained, trainedIn } from './trained.js';
import { readTrainer, trainerOf } from './trainer.js';
import { oneTraining } from './trainings.js';

/** Words of a file that loads, adapts or trains a model, or reads its texts. */
const MATTERS = /from_pretrained|LoraConfig|TrainingArguments|\bTrainer\b|SFTConfig|max_length|DataLoader\(/;
/** Files that a script imports are followed this far. */
const HOPS = 2;

/** What a script says about the run that it is, and where it is silent, what the files say that it imports from its project. */
export function readPython(module: PyModule): Reading {
  let reading = readOne(module);
  for (const there of modulesWithin(module, HOPS))
    if (MATTERS.test(there.code)) reading = filled(reading, readOne(there, [module]));
  const { hidden, ...told } = withBatch(reading, new Script(module));
  const isOpen = told.model === undefined && told.config === undefined && told.network === undefined;
  return hidden !== undefined && isOpen ? { ...told, model: hidden } : told;
}

/** A batch that a loader gets in a way that is not followed: by what says how large it is. */
function withBatch(reading: Reading, script: Script): Reading {
  if (reading.trainer !== undefined || takenFor(reading.batch) !== undefined) return reading;
  const said = toldOf(batchSaid(script));
  if (said === undefined) return reading;
  const { batch } = reading;
  const why = batch === undefined || 'value' in batch ? 'no loader that gets it is seen' : batch.why;
  const place = batch?.place ?? said.place;
  return { ...reading, batch: { place, why: `${why}; ${said.words} (${said.place})`, likely: said.value } };
}

function readOne(module: PyModule, callers: readonly PyModule[] = []): Reading {
  const script = new Script(module, callers);
  const { parts, open, isAfter } = oneTraining(script, trainerOf(script));
  const trained = trainedIn(module, parts.trainers);
  const model = readModel(script, parts.trainers, trained);
  const trainer = readTrainer(script, parts);
  const adapters = readAdapters(script);
  const { looped, ...passes } = readPasses(script, trained);
  const place = adapters.rank === undefined ? frozenIn(module, trained, isAfter) : undefined;
  const frozen =
    place === undefined
      ? []
      : [
          `Parameters are frozen (${place}), and all are counted as trained: say how many are with \`--trainable\`.`,
        ];
  return {
    ...deepspeed(script, parts.made?.call),
    ...model,
    ...trainer,
    ...readLoop(script, parts, trainer),
    ...readCheckpointing(script, parts, model.weights),
    ...readPreparation(script),
    ...adapters,
    ...passes,
    remarks: [...(model.remarks ?? []), ...(trainer.remarks ?? []), ...(adapters.remarks ?? []), ...frozen],
    open: [...open, ...(model.open ?? []), ...(trainer.open ?? []), ...(adapters.open ?? []), ...looped],
  };
}

/** Passes whose graphs are held together. */
function readPasses(
  script: Script,
  { texts }: Trained,
): Pick<Reading, 'passes'> & { readonly looped: string[] } {
  const found = [...texts].flatMap((text) => {
    const passes = passesOf(script.module, text);
    return passes === undefined || passes.count < 2 ? [] : [{ text, ...passes }];
  });
  const looped = found
    .filter(({ count }) => count === Infinity)
    .map(
      ({ text, backward }) =>
        `\`${text}\` runs in a loop before one backward (${script.placeOf(backward)}): one pass of it is counted.`,
    );
  const [most] = found.filter(({ count }) => count < Infinity).sort((a, b) => b.count - a.count);
  return most === undefined
    ? { looped }
    : {
        looped,
        passes: script.byDefault(most.count, most.backward, `passes of \`${most.text}\` before one backward`),
      };
}

const OF_THE_MODEL: readonly (keyof Reading)[] = [
  ...([
    'model',
    'config',
    'network',
    'hidden',
    'classes',
    'weights',
    'attention',
    'keepsSavedDtype',
  ] as const),
  ...(['rank', 'targets', 'adapterDropout', 'checkpointing', 'prepared', 'leaner'] as const),
];

/** A file that trains is asked how; one that it imports, with which model. */
function filled(own: Reading, other: Reading): Reading {
  const trains = own.trainer !== undefined || own.optimizer !== undefined || own.batch !== undefined;
  const hasModel = own.model !== undefined || own.config !== undefined;
  const more = Object.entries(other).filter(([name]) => {
    // A tokenizer is mostly called in a file of its own.
    if (name === 'sequence' || name === 'padded') return own[name] === undefined;
    // So are loaders made.
    if (name === 'batch') return own.batch === undefined && own.trainer === undefined;
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
    open: [...(own.open ?? []), ...((hasModel ? undefined : other.open) ?? [])],
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
