/*
 * model = prepare_model_for_kbit_training(model)
 *
 * model = prepare_model_for_kbit_training(model, gradient_checkpointing_kwargs={"use_reentrant": False})
 *
 * The call must be resolved to peft. Without the keyword peft hands an empty dict on, which no default of transformers fills,
 * so torch warns and recomputes in the re-entrant form. With it peft leaves out the hook that lets the embeddings require a
 * gradient: whoever enables checkpointing once more in the re-entrant form would then get none. Trainer arguments with
 * `gradient_checkpointing=True` alone do that on transformers 4, so they must be seen not to.
 */
import {
  argumentsOf,
  ask,
  CHECKPOINTING_KWARGS,
  calledPath,
  callsNamed,
  formGates,
  isKbitPreparation,
  isTestCode,
  kbitSwitch,
  keywordArgument,
  mayLearnMore,
  NOT_REENTRANT,
  Proof,
  type PyNode,
  positionalArguments,
  type Site,
  shown,
  type Transform,
} from '../src/toolkit/index.js';
import { hookGates, staysNotReentrant } from './kbit-checkpointing-kwargs/again.js';

const PREPARE = 'prepare_model_for_kbit_training';

interface KbitSite extends Site {
  readonly call: PyNode;
}

export const kbitCheckpointingKwargs: Transform<KbitSite> = {
  meta: {
    id: 'kbit-checkpointing-kwargs',
    summary: 'Choose non-re-entrant checkpointing when peft prepares a quantized model',
    symptom: 'future-break',
    safety: 'safe',
    numerics: 'bit-identical',
    group: 'default',
    options: {},
    requires: { peft: '0.6', transformers: '4.35' },
    docs: {
      why: '`prepare_model_for_kbit_training(model)` enables gradient checkpointing with an empty dict of keywords. That is not `None`, so no version of transformers puts its own default there, and torch warns that `use_reentrant` should be passed and takes the re-entrant form. This call, not the trainer arguments, is where the warning still comes from on transformers 5.',
      does: 'Adds `gradient_checkpointing_kwargs={"use_reentrant": False}` to the call, behind `use_gradient_checkpointing` where that is given. peft then also leaves out the hook that makes the embeddings require a gradient, which only the re-entrant form needs.',
      refuses: [
        '`use_gradient_checkpointing=False` is given: nothing is checkpointed, and nothing is said',
        'the arguments are spread with `*` or `**`, so the keyword may be given twice',
        'the code uses DeepSpeed or FSDP: ZeRO-3 with PEFT needs the re-entrant form',
        'unsloth is imported: it replaces checkpointing by its own',
        'transformers is pinned below 5 and the file enables checkpointing again in the re-entrant form: without the hook the loss would have no gradient',
        'unsafe where the trainer arguments are not in this file, or say `gradient_checkpointing=True` without the form',
        'the file calls `disable_input_require_grads`, which fails where the hook was never set',
        'unsafe with `trust_remote_code`: modeling code in the old format ignores the keyword and stays re-entrant, without the hook',
        'unsafe where the file checkpoints by itself or asks for the gradient of the embeddings, where the model’s class is from no known library, and where a function of another file that is called here enables checkpointing',
        'the call stands in a lambda or a comprehension, or its statement shares its line with other code',
      ],
      limits: [
        'Before peft 0.6 the keyword is a TypeError; before transformers 4.35 peft drops it.',
        'Peak memory is the same in both forms.',
        'Tests are not looked at: they may be about the default.',
        'Where the trainer arguments say `gradient_checkpointing=True` alone, take `gradient-checkpointing-kwargs` with this fix: both must choose the same form.',
      ],
    },
    evidence: {
      verdict:
        'Nil on memory, same losses; it removes the warning and the re-entrant path on every version of transformers. A step of a 7B model takes as long; of a small one, which waits for launches, a tenth to a third longer (three runs)',
      measurements: [],
    },
    origin: [{ document: 'GPU memory audit report (Fourier LS-LoRA)', section: '5', fidelity: 'inspired' }],
    example: 'fix-before-lora',
  },

  skipsTests: true,
  prefilter: [PREPARE, 'peft'],

  *detect(module) {
    for (const { call, name: node } of callsNamed(module, PREPARE)) {
      const path = calledPath(module, call);
      if (path === undefined || !isKbitPreparation(path) || choosesOrNeedsNone(call)) continue;
      if (isTestCode(module, call)) continue;
      yield {
        node,
        call,
        message:
          'peft enables checkpointing with an empty dict of keywords, so torch warns and recomputes in the re-entrant form on every version of transformers',
      };
    }
  },

  fix({ call }, edit, module) {
    const proof = new Proof();
    const isRemote = module.mentions(/trust_remote_code["']?\s*[=:]\s*(?!False)/);
    proof.meet(...[...formGates(module, call), ...hookGates(module, call)]);
    proof
      .forbid(
        module.mentions(/\bprepare_model_for_kbit_training\s*=(?!=)/),
        'this file puts something else in its place',
      )
      .forbid(
        module.at('.disable_input_require_grads').length > 0,
        'this file calls `disable_input_require_grads`, and the hook that it removes would not be set',
      )
      .require(
        isRemote ? 'unknown' : 'yes',
        ask(
          'remote-takes-form',
        )`Does the code that comes with \`${shown(argumentsOf(call)[0] ?? call)}\` take the form (some of it ignores the keyword)?`,
      )
      .require(staysNotReentrant(module, call), {
        no: 'checkpointing is enabled again below in the re-entrant form of transformers 4, which needs the hook that this would leave out',
        unknown: ask(
          'enabled-alike',
        )`Is the form chosen wherever checkpointing of \`${shown(argumentsOf(call)[0] ?? call)}\` is enabled again (on transformers 4 the loss would lose its gradient)?`,
      });
    const begins = proof.refuted === undefined ? mayLearnMore(module, true) : undefined;
    if (begins !== undefined && !isRemote) proof.require('unknown', begins);
    const given = kbitSwitch(call)?.entry;
    if (given?.type !== 'keyword_argument') edit.appendKeyword(call, CHECKPOINTING_KWARGS, NOT_REENTRANT);
    else edit.addKeywordAfter(given, CHECKPOINTING_KWARGS, NOT_REENTRANT);
    return edit.done(
      'Choose non-re-entrant checkpointing',
      proof,
      begins === undefined ? {} : { numerics: 'changes-training' },
    );
  },
};

/** The form is given, or checkpointing is off: `(model, use_gradient_checkpointing, gradient_checkpointing_kwargs)`. */
function choosesOrNeedsNone(call: PyNode): boolean {
  if (keywordArgument(call, CHECKPOINTING_KWARGS) !== undefined) return true;
  const positional = positionalArguments(call);
  if (positional.length > 2 && !positional.some(({ type }) => type.endsWith('_splat'))) return true;
  const on = kbitSwitch(call)?.value;
  return on !== undefined && /^(?:False|None|0)$/.test(on.text);
}
