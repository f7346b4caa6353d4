/*
 * args = TrainingArguments(
 *     gradient_checkpointing=True,
 * )
 *
 * args = TrainingArguments(
 *     gradient_checkpointing=True,
 *     gradient_checkpointing_kwargs={"use_reentrant": False},
 * )
 *
 * The call must be resolved to a class of transformers or trl (or a same-file class derived from one): projects have their
 * own `TrainingArguments` and `PPOConfig`. DeepSpeed and FSDP are left alone, since ZeRO-3 with PEFT needs the re-entrant
 * form. The keyword goes right behind `gradient_checkpointing`, because the last argument is where the comments are.
 * A dict that is spread into such a call, here or in another file, counts as the call, where every reader of it is seen.
 */
import type { Answer, Given, PyModule, PyNode, Site, Transform } from '../src/toolkit/index.js';
import {
  type ArgumentsCall,
  all,
  argumentsCall,
  argumentsCalls,
  ask,
  CHECKPOINTING,
  CHECKPOINTING_KWARGS,
  filesOf,
  formGates,
  givenAcross,
  hasSplat,
  importsPackage,
  isAtLeast,
  isDefault,
  isTestCode,
  isTestFile,
  keywordArgument,
  libraryOf,
  mayLearnMore,
  NOT_REENTRANT,
  Proof,
  qualifiedName,
  requireArrival,
  requireOriginal,
  SETTINGS_OF_A_MODULE,
  setsField,
  siblingOf,
  takesLibraryKeyword,
} from '../src/toolkit/index.js';
import { dictGates } from './gradient-checkpointing-kwargs/dict-gates.js';

interface CheckpointingSite extends Site {
  /** The setting that turns checkpointing on; undefined where trl does by default. */
  readonly given: Given | undefined;
  /** The calls that receive it: one, unless it stands in a dict. */
  readonly made: readonly ArgumentsCall[];
}

export const gradientCheckpointingKwargs: Transform<CheckpointingSite> = {
  meta: {
    id: 'gradient-checkpointing-kwargs',
    summary: 'Choose non-re-entrant gradient checkpointing explicitly in trainer arguments',
    symptom: 'future-break',
    safety: 'safe',
    numerics: 'bit-identical',
    group: 'default',
    options: {},
    requires: { transformers: '4.35' },
    docs: {
      why: '`gradient_checkpointing=True` alone leaves `use_reentrant` to the installed version. transformers 4.35 to 4.37 pass nothing, so torch warns and takes the re-entrant form; 4.38 to 4.57 pass `True`; 5.0 and later pass `False`. The re-entrant form gives no gradient at all when no input of a block requires one, which is what frozen embeddings under LoRA do.',
      does: 'Adds `gradient_checkpointing_kwargs={"use_reentrant": False}` right behind `gradient_checkpointing=True` or an expression in its place, in the style of that argument, and to arguments of trl 0.22 to 0.26 that leave both to their defaults where peft is imported: that trainer prepares a quantized model again, so that what `prepare_model_for_kbit_training` was given before does not count. On transformers 5 this only writes down the default; on 4.35 to 4.57 it replaces the re-entrant form.',
      refuses: [
        'the arguments are spread with `*` or `**`, so the keyword may be given twice',
        '`deepspeed=`, `fsdp=` or `fsdp_config=` is given, or the code uses DeepSpeed: ZeRO-3 with PEFT needs the re-entrant form. A JSON file or dict that says stage 0, 1 or 2 is read',
        'the file sets `gradient_checkpointing_kwargs` on the arguments later, or pins transformers below 4.35',
        'transformers is pinned to 5.0 or newer, or trl to 0.27 or newer, where this is the default',
        'unsloth is imported: it replaces checkpointing by its own',
        'a same-file subclass has a default of its own for the field, or an `__init__` that does not take it',
        'the call stands in a lambda or a comprehension, or its statement shares its line with other code',
      ],
      limits: [
        'Before transformers 4.35 the keyword is a TypeError.',
        'Peak memory is the same in both forms; the popular claim that this saves memory is false.',
        'Gradients are the same in both forms as long as an input of each block requires one. Where none does, re-entrant training on 4.x silently learns nothing in those blocks and now learns: adapters of a vision tower, layers above frozen ones. Where the project freezes parameters, or has adapters in more than a model of text, the finding is unsafe and says that training may change.',
        'trl checkpoints by default from 0.22 on, and chooses this form itself from 0.27 on.',
        'The remaining source of the torch warning on transformers 5 is `prepare_model_for_kbit_training(model)` of peft, not these arguments.',
        'Arguments kept in a dict are edited where the project shows the call they are spread into; a dict of the module is unsafe, since others may use it.',
      ],
    },
    evidence: {
      verdict:
        'Nil on memory; it removes a warning and the re-entrant path on transformers 4.x, and is a no-op on 5.x',
      measurements: [],
    },
    origin: [{ document: 'GPU memory audit report (Fourier LS-LoRA)', section: '5', fidelity: 'same' }],
    example: 'fix-commented-arguments',
  },

  prefilter: [[CHECKPOINTING, 'trl']],
  cue: (text) =>
    (/\bgradient_checkpointing["']?\s*[=:](?!=|\s*(?:False|None)\b)/.test(text) &&
      (/transformers|trl/.test(text) || SETTINGS_OF_A_MODULE.test(text))) ||
    (/\btrl\b/.test(text) && text.includes('peft') && text.includes('Config(')),

  *detect(module) {
    for (const given of givenAcross(module, CHECKPOINTING)) {
      if (!mayBeOn(given.value) || siblingOf(given, CHECKPOINTING_KWARGS) !== undefined) continue;
      const made = argumentsCalls(module, given);
      if (made.length === 0 || made.some(({ call }) => hasKwargs(call))) continue;
      yield {
        node: given.name,
        given,
        made,
        message:
          "`use_reentrant` is left to the installed transformers: 4.x recomputes in the re-entrant form, which loses the gradient where a block's inputs need none",
      };
    }
    for (const made of leftToTrl(module)) {
      yield {
        node: made.call.function ?? made.call,
        given: undefined,
        made: [made],
        message:
          'trl 0.22 to 0.26 checkpoint by default and prepare a quantized model again, in the re-entrant form whatever was chosen before',
      };
    }
  },

  fix({ given, made }, edit, module) {
    const proof = new Proof().forbid(
      isAtLeast(module, 'transformers', '5.0') === 'yes',
      'transformers 5 chooses the non-re-entrant form by itself',
    );
    const files = given === undefined ? [module] : filesOf(module, given);
    const gates =
      given?.dict === undefined
        ? made.flatMap(({ call }) => formGates(module, call))
        : dictGates(module, given);
    proof.meet(...gates);
    proof.forbid(
      given !== undefined && made.length < given.calls.length,
      'the dict is also spread into a call that is not a trainer of transformers or trl',
    );
    for (const each of made) {
      proof
        .forbid(
          setsField(each, CHECKPOINTING_KWARGS),
          `its class has a default of its own for \`${CHECKPOINTING_KWARGS}\``,
        )
        .forbid(
          isDefault(each, CHECKPOINTING_KWARGS, NOT_REENTRANT) === 'yes',
          'trl 0.27 and later choose the non-re-entrant form by themselves',
        )
        .require(takesLibraryKeyword(each), {
          no: `its class has an \`__init__\` that does not take \`${CHECKPOINTING_KWARGS}\``,
          unknown: ask(
            'handed-on',
          )`Does the \`__init__\` of \`${each.call.function?.text}\` hand \`${CHECKPOINTING_KWARGS}\` on?`,
        });
      if (given === undefined)
        proof.require(
          all([isDefault(each, CHECKPOINTING, 'True'), isDefault(each, CHECKPOINTING_KWARGS, 'None')]),
          {
            no: 'its version of trl does not checkpoint by default, or chooses this form by itself',
            unknown: ask(
              'version',
            )`Is ${'trl 0.22 to 0.26'} (older ones do not checkpoint by default, newer ones choose this form by themselves)?`,
          },
        );
    }
    if (given !== undefined) requireArrival(proof, given);
    for (const each of files) {
      const file = each === module ? 'this file' : `\`${each.path}\``;
      proof.require(each.memo(isFree, each), {
        no: `${file} sets \`${CHECKPOINTING_KWARGS}\` itself`,
        unknown: ask('may-be-set')`May \`${CHECKPOINTING_KWARGS}\` be set for ${file}, which reads it?`,
      });
    }
    const asking = proof.refuted === undefined ? askingElsewhere(module) : undefined;
    proof.require(
      asking === undefined ? 'yes' : 'unknown',
      ask('may-be-set')`May \`${CHECKPOINTING_KWARGS}\` be set for ${asking}, which reads it?`,
    );
    const isTrl = made.every(({ module: home, call }) => libraryOf(home, call) === 'trl');
    const begins =
      proof.refuted === undefined
        ? files.map((each) => mayLearnMore(each, isTrl)).find((reason) => reason !== undefined)
        : undefined;
    if (begins !== undefined) proof.require('unknown', begins);
    requireOriginal(
      proof,
      module,
      ...made.map(({ module: home, call }) => call.function && qualifiedName(home, call.function)),
    );
    const [first] = made;
    if (given?.entry.type === 'pair') edit.addEntryAfter(given.entry, CHECKPOINTING_KWARGS, NOT_REENTRANT);
    else if (given !== undefined) edit.addKeywordAfter(given.entry, CHECKPOINTING_KWARGS, NOT_REENTRANT);
    else if (first !== undefined) edit.appendKeyword(first.call, CHECKPOINTING_KWARGS, NOT_REENTRANT);
    return edit.done(
      'Choose non-re-entrant checkpointing',
      proof,
      begins === undefined ? {} : { numerics: 'changes-training' },
    );
  },
};

/** `True`, or an expression that may be; not a text, which other libraries take. */
function mayBeOn({ type }: PyNode): boolean {
  return type === 'true' || !/^(?:false|none|string|concatenated_string|integer|float)$/.test(type);
}

/** Calls of trl that leave checkpointing to its default, which is on from 0.22, where adapters make the form matter. */
function* leftToTrl(module: PyModule): Generator<ArgumentsCall> {
  if (isTestFile(module.path, module.text)) return;
  if (!importsPackage(module, 'trl') || !importsPackage(module, 'peft')) return;
  for (const node of module.at('Config(')) {
    const call = (node.parent?.type === 'attribute' ? node.parent : node).parent;
    const made = call?.type === 'call' ? argumentsCall(module, call) : undefined;
    if (made === undefined || libraryOf(module, made.call) !== 'trl' || hasSplat(made.call)) continue;
    if (hasKwargs(made.call) || keywordArgument(made.call, CHECKPOINTING) !== undefined) continue;
    if (setsField(made, CHECKPOINTING) || isTestCode(module, made.call)) continue;
    if (isDefault(made, CHECKPOINTING, 'True') === 'no') continue;
    if (isDefault(made, CHECKPOINTING_KWARGS, 'None') !== 'no') yield made;
  }
}

function hasKwargs(call: PyNode): boolean {
  return keywordArgument(call, CHECKPOINTING_KWARGS) !== undefined;
}

/** Whether the file leaves the attribute of the same name alone: `no` when it is written, `unknown` when it is read. */
function isFree(module: PyModule): Answer {
  const uses = module
    .at(CHECKPOINTING_KWARGS)
    .flatMap((node) => (node.parent?.type === 'attribute' ? [node.parent] : []));
  if (module.mentions(/setattr\([^)]*gradient_checkpointing_kwargs/) || uses.some(isWritten)) return 'no';
  return uses.length > 0 || module.mentions(/["']gradient_checkpointing_kwargs["']/) ? 'unknown' : 'yes';
}

/** The files of the project that ask some arguments for it; what they only give to a call is their own. */
function askingElsewhere(module: PyModule): string | undefined {
  const asks = new RegExp(`[."']${CHECKPOINTING_KWARGS}\\b`);
  const mention = { word: CHECKPOINTING_KWARGS, beside: [] };
  const { modules, unread } = module.around.naming(mention, (text) => asks.test(text));
  const there = modules.find((each) => isFree(each) !== 'yes');
  return there === undefined ? unread : `\`${there.path}\``;
}

/** Assigned, assigned into, or changed by a method of dict. */
function isWritten(attribute: PyNode): boolean {
  let target = attribute;
  while (target.parent?.type === 'subscript' && target.parent.value === target) target = target.parent;
  const { parent } = target;
  if (parent?.type === 'assignment' || parent?.type === 'augmented_assignment') return parent.left === target;
  return (
    parent?.type === 'attribute' && /^(?:update|setdefault|pop|clear)$/.test(parent.attribute?.text ?? '')
  );
}
