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
  argumentsCalls,
  CHECKPOINTING,
  CHECKPOINTING_KWARGS,
  dictGates,
  filesOf,
  formGates,
  givenAcross,
  isAtLeast,
  keywordArgument,
  NOT_REENTRANT,
  Proof,
  requireArrival,
  SETTINGS_OF_A_MODULE,
  setsField,
  siblingOf,
  takesLibraryKeyword,
} from '../src/toolkit/index.js';

interface CheckpointingSite extends Site {
  readonly given: Given;
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
      does: 'Adds `gradient_checkpointing_kwargs={"use_reentrant": False}` right behind `gradient_checkpointing=True`, in the style of that argument. On transformers 5 this only writes down the default; on 4.35 to 4.57 it replaces the re-entrant form.',
      refuses: [
        'the arguments are spread with `*` or `**`, so the keyword may be given twice',
        '`deepspeed=`, `fsdp=` or `fsdp_config=` is given, or the code uses DeepSpeed: ZeRO-3 with PEFT needs the re-entrant form',
        'the file sets `gradient_checkpointing_kwargs` on the arguments later, or pins transformers below 4.35',
        'transformers is pinned to 5.0 or newer, where this is the default',
        'unsloth is imported: it replaces checkpointing by its own',
        'a same-file subclass has a default of its own for the field, or an `__init__` that does not take it',
        'the call stands in a lambda or a comprehension, or its statement shares its line with other code',
      ],
      limits: [
        'Before transformers 4.35 the keyword is a TypeError.',
        'Peak memory is the same in both forms; the popular claim that this saves memory is false.',
        'Gradients are the same in both forms as long as an input of each block requires one. Where none does, re-entrant training on 4.x silently learns nothing in those blocks and now learns: that run changes, for the better.',
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

  prefilter: [CHECKPOINTING],
  cue: (text) =>
    /\bgradient_checkpointing["']?\s*[=:]\s*True/.test(text) &&
    (/transformers|trl/.test(text) || SETTINGS_OF_A_MODULE.test(text)),

  *detect(module) {
    for (const given of givenAcross(module, CHECKPOINTING)) {
      if (given.value.type !== 'true' || siblingOf(given, CHECKPOINTING_KWARGS) !== undefined) continue;
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
  },

  fix({ given, made }, edit, module) {
    const proof = new Proof().forbid(
      isAtLeast(module, 'transformers', '5.0') === 'yes',
      'transformers 5 chooses the non-re-entrant form by itself',
    );
    const gates =
      given.dict === undefined
        ? made.flatMap(({ call }) => formGates(module, call))
        : dictGates(module, given);
    for (const { answer, otherwise } of gates) proof.require(answer, otherwise);
    proof.forbid(
      made.length < given.calls.length,
      'the dict is also spread into a call that is not a trainer of transformers or trl',
    );
    for (const each of made) {
      proof
        .forbid(
          setsField(each, CHECKPOINTING_KWARGS),
          `its class has a default of its own for \`${CHECKPOINTING_KWARGS}\``,
        )
        .require(takesLibraryKeyword(each), {
          no: `its class has an \`__init__\` that does not take \`${CHECKPOINTING_KWARGS}\``,
          unknown: `that the \`__init__\` of its class hands \`${CHECKPOINTING_KWARGS}\` on`,
        });
    }
    requireArrival(proof, given);
    for (const each of filesOf(module, given)) {
      const file = each === module ? 'this file' : `\`${each.path}\``;
      proof.require(each.memo(isFree, each), {
        no: `${file} sets \`${CHECKPOINTING_KWARGS}\` itself`,
        unknown: `that nothing depends on \`${CHECKPOINTING_KWARGS}\` being unset, which ${file} reads`,
      });
    }
    const asking = proof.refuted === undefined ? askingElsewhere(module) : undefined;
    proof.require(
      asking === undefined ? 'yes' : 'unknown',
      `that nothing depends on \`${CHECKPOINTING_KWARGS}\` being unset, which ${asking} reads`,
    );
    if (given.entry.type === 'pair') edit.addEntryAfter(given.entry, CHECKPOINTING_KWARGS, NOT_REENTRANT);
    else edit.addKeywordAfter(given.entry, CHECKPOINTING_KWARGS, NOT_REENTRANT);
    return edit.done('Choose non-re-entrant checkpointing', proof);
  },
};

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
  while (target.parent?.type === 'subscript' && target.parent.field('value') === target)
    target = target.parent;
  const { parent } = target;
  if (parent?.type === 'assignment' || parent?.type === 'augmented_assignment')
    return parent.field('left') === target;
  return (
    parent?.type === 'attribute' &&
    /^(?:update|setdefault|pop|clear)$/.test(parent.field('attribute')?.text ?? '')
  );
}
