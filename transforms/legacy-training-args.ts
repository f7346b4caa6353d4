/*
 * TrainingArguments("out", evaluation_strategy="steps", no_cuda=True)     Trainer(model, args, tokenizer=tokenizer)
 *
 * TrainingArguments("out", eval_strategy="steps", use_cpu=True)           Trainer(model, args, processing_class=tokenizer)
 *
 * Arguments that transformers has removed are a TypeError at start. Each is renamed, replaced or taken out, but only in a
 * call that the imports resolve to transformers or trl, and only where the value keeps its meaning: the table with the
 * versions is in `src/torch/huggingface/legacy-arguments.ts`. A dict that is spread into such a call, here or in
 * another file, counts as the call.
 * What reads the old attribute later (`args.evaluation_strategy`) would find nothing, so that such files are left alone.
 */
import type { Given, PyModule, PyNode, Site, Transform } from '../src/toolkit/index.js';
import {
  argumentsCall,
  argumentsCalls,
  ask,
  definitionBehind,
  filesOf,
  givenAcross,
  givenIn,
  hasParameter,
  isAtLeast,
  isGivenBeside,
  isTrainerClass,
  libraryOf,
  Proof,
  requireArrival,
  requireVersion,
  SETTINGS_OF_A_MODULE,
  setsField,
  siblingOf,
  spreadsMore,
  takesLibraryKeyword,
} from '../src/toolkit/index.js';
import type { LegacyArgument } from './legacy-training-args/legacy-arguments.js';
import {
  LEGACY_TRAINER_ARGUMENTS,
  LEGACY_TRAINING_ARGUMENTS,
} from './legacy-training-args/legacy-arguments.js';

interface LegacySite extends Site {
  readonly given: Given;
  readonly legacy: LegacyArgument;
  readonly name: string;
}

const NAMES = [...LEGACY_TRAINING_ARGUMENTS.keys()];
const WRITTEN = new RegExp(`\\b(?:${NAMES.join('|')})["']?\\s*[=:]`);

export const legacyTrainingArgs: Transform<LegacySite> = {
  meta: {
    id: 'legacy-training-args',
    summary: 'Rename or drop trainer arguments that transformers has removed',
    symptom: 'future-break',
    safety: 'safe',
    numerics: 'bit-identical',
    group: 'opt-in',
    options: {},
    requires: {},
    docs: {
      why: 'transformers removes arguments after a time of warning: `evaluation_strategy` in 4.51, `no_cuda`, `per_gpu_*`, `adafactor`, `fp16_backend`, `overwrite_output_dir`, `save_safetensors` and `Trainer(tokenizer=…)` in 5.0, `group_by_length`, `warmup_ratio` and `logging_dir` later. From then on the script stops at the call with a TypeError, on a machine that was rented for the run.',
      does: 'Renames the keyword (`evaluation_strategy` → `eval_strategy`, `no_cuda` → `use_cpu`, `per_gpu_…` → `per_device_…`, `tokenizer` → `processing_class`), writes what takes its place (`adafactor=True` → `optim="adafactor"`), or takes it out where its value is what happens anyway. Also in a dict of the file that is spread into the call.',
      refuses: [
        'the project pins a version that does not know the new name, or a new name of 5.x is wanted and the project does not prove 5.x',
        'the call also gives the new name',
        'this file reads or sets the old name as an attribute or by a string',
        'a same-file subclass has the field or an `__init__` of its own',
        'the value has no equal any more: `half_precision_backend="apex"`, `save_safetensors=False`, `jit_mode_eval=True`',
        'the dict is changed before it is spread',
      ],
      limits: [
        'Without a pin in the project the fix is unsafe: the old name may still be the only one that is installed.',
        '`warmup_ratio` becomes `warmup_steps` only where transformers 5 is proven: before, a fraction there means no warm-up.',
        'Only the Python file is edited: launch scripts and YAML files may hold the same names.',
      ],
    },
    evidence: {
      verdict:
        'No effect on memory or speed: it keeps the script starting. Every one of these names raises TypeError on transformers 5.17, and every new one is accepted',
      measurements: [],
    },
    origin: [
      {
        document: 'What real code needs beyond the documents',
        section: 'legacy-training-args',
        fidelity: 'same',
      },
    ],
    example: 'fix-renamed-and-dropped',
  },

  prefilter: [
    [...NAMES, 'tokenizer'],
    [...NAMES, 'Trainer'],
  ],
  cue: (text) =>
    (/TrainingArguments|\btrl\b/.test(text) && WRITTEN.test(text)) ||
    (SETTINGS_OF_A_MODULE.test(text) && WRITTEN.test(text)) ||
    (/transformers|trl/.test(text) && /Trainer\s*\(/.test(text) && /\btokenizer["']?\s*[=:]/.test(text)),

  *detect(module) {
    for (const [name, legacy] of LEGACY_TRAINING_ARGUMENTS) {
      if (!module.text.includes(name)) continue;
      for (const given of givenAcross(module, name))
        if (argumentsCalls(module, given).length > 0) yield siteOf(name, legacy, given);
    }
    for (const [name, legacy] of LEGACY_TRAINER_ARGUMENTS) {
      for (const given of givenIn(module, name)) {
        if (given.calls.some((call) => isTrainerCall(module, call))) yield siteOf(name, legacy, given);
      }
    }
  },

  fix({ given, legacy, name }, edit, module) {
    const change = legacy.change(given.value.text);
    if (typeof change === 'string') return edit.refuse(change);
    const isArgument = LEGACY_TRAINING_ARGUMENTS.has(name);
    const proof = new Proof();
    const [call] = given.calls;
    const library = (call && libraryOf(given.homes.get(call) ?? module, call)) ?? 'transformers';
    if (legacy.since !== undefined) requireKnown(proof, module, legacy, library, change.kind !== 'remove');
    const to = change.kind === 'remove' ? undefined : change.to;
    const files = filesOf(module, given);
    requireArrival(proof, given)
      .forbid(to !== undefined && isGivenBeside(given, to), `\`${to}\` is given as well`)
      .require(
        to !== undefined && spreadsMore(given) ? 'unknown' : 'yes',
        ask('spread-without')`Is \`${to}\` missing from what is spread into the call?`,
      )
      .forbid(
        (given.dict?.reads.length ?? 0) > 0 || (isArgument && files.some((each) => isAttribute(each, name))),
        `\`${name}\` is used again, by its old name`,
      )
      .require(
        isArgument && files.some((each) => namedByString(each, name, each === module ? given : undefined))
          ? 'unknown'
          : 'yes',
        ask(
          'string-of-other',
        )`Does the string \`${name}\` in a file here mean something other than the argument?`,
      );
    for (const each of given.calls)
      requireClass(proof, given.homes.get(each) ?? module, each, name, isArgument);
    if (change.kind === 'remove' && change.unless !== undefined) {
      const fails = isAtLeast(module, library, legacy.removed) === 'yes';
      proof.require(fails || isIdle(name, given) ? 'yes' : 'unknown', change.unless);
    }
    if (change.kind === 'remove') edit.removeArgument(given.entry);
    else {
      edit.replace(given.name, given.name.text.replace(name, change.to));
      if (change.kind === 'replace') edit.replace(given.value, change.value);
    }
    return edit.done(titleOf(name, to), proof);
  },
};

function siteOf(name: string, legacy: LegacyArgument, given: Given): LegacySite {
  return {
    node: given.name,
    given,
    legacy,
    name,
    message: `\`${name}\` is gone from transformers ${legacy.removed} on: there the call stops with a TypeError`,
  };
}

function titleOf(name: string, to: string | undefined): string {
  return to === undefined ? `Take \`${name}\` out` : `Write \`${to}\` instead of \`${name}\``;
}

function isTrainerCall(module: PyModule, call: PyNode): boolean {
  const callee = call.function;
  return callee !== undefined && isTrainerClass(module, callee);
}

/** trl follows transformers with releases of its own. */
function requireKnown(
  proof: Proof,
  module: PyModule,
  { since = '', before }: LegacyArgument,
  library: string,
  isNew: boolean,
): void {
  if (library === 'trl' && since === '4.46') {
    requireVersion(proof, module, 'trl', '0.12', 'its trainers take `tokenizer` only');
    return;
  }
  const because = before ?? (isNew ? 'the new name is a TypeError' : 'leaving it out means something else');
  if (since.startsWith('5.') && isAtLeast(module, 'transformers', since) !== 'yes')
    proof.forbid(
      true,
      `the project does not prove transformers ${since} or newer, and before that ${because}`,
    );
  else requireVersion(proof, module, 'transformers', since, because);
}

/** Whether a class between the call and the library leaves the keyword to the library. */
function requireClass(proof: Proof, module: PyModule, call: PyNode, name: string, isArgument: boolean): void {
  const made = isArgument ? argumentsCall(module, call) : undefined;
  const callee = call.function;
  const own = made?.own ?? (callee && definitionBehind(module, callee));
  const isLibrary = made !== undefined || (!isArgument && isTrainerCall(module, call));
  proof.forbid(
    !isLibrary,
    'the dict is also spread into a call that is not a trainer of transformers or trl',
  );
  if (own?.type !== 'class_definition') return;
  proof
    .forbid(setsField({ module, call, own }, name), `its class has a field \`${name}\` of its own`)
    .forbid(hasParameter(module, own, '__init__', name), `its class takes \`${name}\` itself`)
    .require(takesLibraryKeyword({ module, call, own }), {
      no: `its class has an \`__init__\` that does not hand \`${name}\` on`,
      unknown: ask(
        'handed-on',
      )`Does the \`__init__\` of \`${call.function?.text}\` hand its keywords on as they are?`,
    });
}

function isAttribute(module: PyModule, name: string): boolean {
  return module.at(name).some(({ text, parent }) => text === name && parent?.type === 'attribute');
}

/** By another string than the key of a dict that is given. */
function namedByString(module: PyModule, name: string, given: Given | undefined): boolean {
  const strings = [...module.text.matchAll(new RegExp(`["']${name}["']`, 'g'))];
  return strings.length > (given?.entry.type === 'pair' ? 1 : 0);
}

const NO_TENSORBOARD =
  /^(?:\[\s*)?["'](?:none|wandb|mlflow|comet_ml|clearml|neptune|swanlab|trackio)["'](?:\s*\])?$/;

/** `logging_dir` beside a `report_to` that leaves TensorBoard out. */
function isIdle(name: string, given: Given): boolean {
  if (name !== 'logging_dir') return false;
  const report = siblingOf(given, 'report_to');
  return report !== undefined && NO_TENSORBOARD.test(report.value.text);
}
