/*
 * model.gradient_checkpointing_enable()
 *
 * model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
 *
 * The receiver must be a model of transformers, loaded in this file: other classes have a method of that name without the
 * keyword. After `get_peft_model` this is more than taste: the frozen embeddings require no gradient, and the re-entrant form
 * of transformers 4 then gives none to the adapters.
 */
import type { Answer, PyModule, PyNode, Site, Transform } from '../src/toolkit/index.js';
import {
  argumentsOf,
  ask,
  CHECKPOINTING_ENABLE,
  CHECKPOINTING_KWARGS,
  calledDefinition,
  formGates,
  isAtLeast,
  isTestCode,
  isTransformersModel,
  mayLearnMore,
  methodName,
  NOT_REENTRANT,
  Proof,
  receiverOf,
  shown,
} from '../src/toolkit/index.js';
import { hasAdapters } from './checkpointing-enable-kwargs/adapters.js';

interface EnableSite extends Site {
  readonly call: PyNode;
  readonly receiver: PyNode;
  /** Whether its method takes the keyword. */
  readonly isTaken: Answer;
}

export const checkpointingEnableKwargs: Transform<EnableSite> = {
  meta: {
    id: 'checkpointing-enable-kwargs',
    summary: 'Choose non-re-entrant checkpointing in `gradient_checkpointing_enable()`',
    symptom: 'future-break',
    safety: 'safe',
    numerics: 'bit-identical',
    group: 'opt-in',
    options: {},
    requires: { transformers: '4.35' },
    docs: {
      why: '`model.gradient_checkpointing_enable()` leaves `use_reentrant` to the installed version: transformers 4.35 to 4.37 pass nothing, 4.38 to 4.57 pass `True`, 5.0 and later pass `False`. The re-entrant form gives no gradient where no input of a block requires one, which is the case for a frozen model with adapters of peft unless `enable_input_require_grads()` was called.',
      does: 'Adds `gradient_checkpointing_kwargs={"use_reentrant": False}` to the call without arguments.',
      refuses: [
        'transformers is pinned to 5.0 or newer, where this is the default',
        'the file puts a method of its own in the place of `gradient_checkpointing_enable`',
        'the code uses DeepSpeed or FSDP: ZeRO-3 with PEFT needs the re-entrant form',
        'unsloth is imported: it replaces checkpointing by its own',
        'the call stands in a lambda or a comprehension, or its statement shares its line with other code',
        'unsafe where this file does not show that the receiver is a model of transformers, and where parameters are frozen, so that blocks without a gradient begin to learn',
      ],
      limits: [
        'Before transformers 4.35 the keyword is a TypeError.',
        'Peak memory is the same in both forms.',
        'A trainer whose arguments say `gradient_checkpointing=True` enables it again with its own choice: see `gradient-checkpointing-kwargs`.',
        'Tests are not looked at: they may be about the default.',
      ],
    },
    evidence: {
      verdict:
        'Nil on memory; on transformers 4 it replaces the re-entrant path, which gives adapters no gradient behind frozen embeddings; on 5 it is the default',
      measurements: [],
    },
    origin: [
      { document: 'GPU memory audit report (Fourier LS-LoRA)', section: '5', fidelity: 'inspired' },
      { document: 'Memory optimization guide (baseline 7B training)', section: '4', fidelity: 'inspired' },
    ],
    example: 'fix-after-adapters',
  },

  skipsTests: true,
  prefilter: [CHECKPOINTING_ENABLE],
  cue: (text) => /\.gradient_checkpointing_enable\s*\(\s*(?:\)|#)/.test(text),

  *detect(module) {
    for (const node of module.at(CHECKPOINTING_ENABLE)) {
      const call = node.parent?.parent;
      if (call?.type !== 'call' || methodName(call) !== CHECKPOINTING_ENABLE) continue;
      const receiver = receiverOf(call);
      if (receiver === undefined || argumentsOf(call).length > 0 || receiver.text === 'super()') continue;
      const isTaken = takesKwargs(module, call, receiver);
      if (isTaken === 'no' || isTestCode(module, call)) continue;
      const message =
        hasAdapters(module, receiver) && !module.mentions(/\.enable_input_require_grads\s*\(/)
          ? `transformers 4 recomputes in the re-entrant form, which gives the adapters of \`${shown(receiver)}\` no gradient behind frozen embeddings`
          : "`use_reentrant` is left to the installed transformers: 4.x recomputes in the re-entrant form, which loses the gradient where a block's inputs need none";
      yield { node, call, isTaken, receiver, message };
    }
  },

  fix({ call, receiver, isTaken }, edit, module) {
    const proof = new Proof();
    proof.meet(...formGates(module, call));
    proof
      .forbid(
        isAtLeast(module, 'transformers', '5.0') === 'yes',
        'transformers 5 chooses the non-re-entrant form by itself',
      )
      .forbid(
        module.mentions(REPLACED),
        'this file puts its own method in the place of `gradient_checkpointing_enable`',
      )
      .require(isTaken, {
        no: `\`${shown(receiver)}\` is no model of transformers`,
        unknown: ask(
          'transformers-model',
        )`Is \`${shown(receiver)}\` a model of transformers, whose method takes the keyword?`,
      });
    const begins =
      proof.refuted === undefined ? mayLearnMore(module, isBeforeAdapters(module, receiver)) : undefined;
    if (begins !== undefined) proof.require('unknown', begins);
    edit.appendKeyword(call, CHECKPOINTING_KWARGS, NOT_REENTRANT);
    return edit.done(
      'Choose non-re-entrant checkpointing',
      proof,
      begins === undefined ? {} : { numerics: 'changes-training' },
    );
  },
};

/** `model.gradient_checkpointing_enable = …`, or the same by its name; `hasattr` and `getattr` only ask. */
const REPLACED =
  /\.gradient_checkpointing_enable\s*=(?!=)|\b(?:setattr|patch(?:\.object)?)\([^)\n]*["'][\w.]*gradient_checkpointing_enable["']/;

/** peft makes the inputs require gradients itself where checkpointing is on before the adapters come. */
function isBeforeAdapters(module: PyModule, receiver: PyNode): boolean {
  return (
    receiver.type === 'identifier' &&
    !hasAdapters(module, receiver) &&
    module.mentions(/\bget_peft_model\s*\(/)
  );
}

function takesKwargs(module: PyModule, call: PyNode, receiver: PyNode): Answer {
  const own = calledDefinition(module, call);
  if (own === undefined) return isTransformersModel(module, receiver);
  const parameters = own.parameters?.named ?? [];
  if (parameters.some(({ text }) => text.startsWith(CHECKPOINTING_KWARGS))) return 'yes';
  return parameters.some(({ type }) => type === 'dictionary_splat_pattern') ? 'unknown' : 'no';
}
