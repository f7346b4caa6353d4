/*
 * args = TrainingArguments(              model = AutoModelForCausalLM.from_pretrained(name)
 *     output_dir="out",
 * )
 *
 * args = TrainingArguments(              model = AutoModelForCausalLM.from_pretrained(name)
 *     output_dir="out",                  model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={…})
 *     gradient_checkpointing=True,
 *     gradient_checkpointing_kwargs={"use_reentrant": False},
 * )
 *
 * With a trainer its arguments, in a hand-written loop the model that the loop trains. Never where the file speaks of
 * checkpointing at all: then somebody has decided. The form is always the non-re-entrant one, which also works behind
 * `get_peft_model`. It trades time for memory and some models refuse it, so it is never safe.
 */
import type { Site, Transform } from '../src/toolkit/index.js';
import {
  ARGUMENT_WORDS,
  type ArgumentsCall,
  argumentsCall,
  ask,
  CHECKPOINTING,
  CHECKPOINTING_ENABLE,
  CHECKPOINTING_KWARGS,
  formGates,
  isAtLeast,
  isTestCode,
  isTransformersModel,
  mayMakeArguments,
  mayTrain,
  NOT_REENTRANT,
  Proof,
  setsField,
  standalone,
  surroundingGates,
  type TrainedModel,
  takesLibraryKeyword,
  trainedModels,
} from '../src/toolkit/index.js';
import {
  mayWrapModel,
  type WrappedModel,
  wrappedModels,
} from './enable-gradient-checkpointing/wrapped-model.js';

const DECIDED = /gradient_checkpointing|prepare_model_for_(?:kbit|int8)|use_checkpoint|grad_checkpoint/;

interface PeakSite extends Site {
  readonly place:
    | { readonly kind: 'arguments'; readonly made: ArgumentsCall }
    | { readonly kind: 'model'; readonly trained: TrainedModel }
    | { readonly kind: 'wrapped'; readonly wrapped: WrappedModel };
}

/** The case that was measured with a model of its own loop. */
const AS_MODEL = 'training step, `gradient_checkpointing_enable';

export const enableGradientCheckpointing: Transform<PeakSite> = {
  meta: {
    id: 'enable-gradient-checkpointing',
    summary: 'Recompute activations in the backward pass instead of keeping them',
    symptom: 'peak',
    moments: ['forward', 'backward'],
    safety: 'unsafe',
    numerics: 'bit-identical',
    group: 'opt-in',
    options: {},
    requires: { transformers: '4.35' },
    docs: {
      why: 'Every layer keeps its activations from the forward pass to the backward pass. For long sequences they are the largest part of the peak. With gradient checkpointing only the inputs of the layers are kept, and each layer is run once more when its gradient is needed.',
      does: 'Adds `gradient_checkpointing=True` with `gradient_checkpointing_kwargs={"use_reentrant": False}` to the arguments of a transformers or trl trainer. In a hand-written loop it calls `model.gradient_checkpointing_enable(…)` below the line that loads the model which the loop trains, or, where the loop is in another file, below `self.model = …from_pretrained(…)` of a module that wraps the model.',
      refuses: [
        'the file speaks of checkpointing already: nothing is said',
        'the arguments are spread, or belong to a class of the file with settings of its own',
        'the code uses DeepSpeed or FSDP, or imports unsloth: they checkpoint by their own settings',
        'trl is pinned to 0.22 or newer, where checkpointing is on by default',
      ],
      limits: [
        'It costs time: a second forward pass, about a quarter more per step in the measurement.',
        'A model that does not support it raises a ValueError when training starts.',
        'The key-value cache is off while it is on, which transformers does by itself.',
      ],
    },
    evidence: {
      verdict: 'Real: about half of the peak for a quarter more time; results stay the same',
      measurements: [],
    },
    origin: [
      { document: 'Memory optimization changes summary (Phi4 fine-tuning)', section: '1', fidelity: 'same' },
      { document: 'Memory optimization guide (baseline 7B training)', section: '4', fidelity: 'same' },
    ],
    example: 'fix-trainer-arguments',
  },

  skipsTests: true,
  prefilter: [
    ['transformers', 'trl'],
    ['from_pretrained', ...ARGUMENT_WORDS],
    ['.backward(', 'def forward', ...ARGUMENT_WORDS],
  ],
  cue: (text) => mayMakeArguments(text) || mayTrain(text) || mayWrapModel(text),

  *detect(module) {
    if (module.mentions(DECIDED)) return;
    let hasArguments = false;
    for (const node of ['TrainingArguments(', 'Config('].flatMap((literal) => module.at(literal))) {
      const call = (node.parent?.type === 'attribute' ? node.parent : node).parent;
      const made = call?.type === 'call' ? argumentsCall(module, call) : undefined;
      if (made === undefined || isTestCode(module, made.call)) continue;
      hasArguments = true;
      const message = 'the activations of every layer are kept until the backward pass';
      yield { node, place: { kind: 'arguments', made }, message, measuredAs: '5 steps of `Trainer`' };
    }
    if (hasArguments) return;
    for (const trained of trainedModels(module)) {
      if (isTestCode(module, trained.statement)) continue;
      const message = `the activations of every layer of \`${trained.model.text}\` are kept until the backward pass`;
      yield { node: trained.model, place: { kind: 'model', trained }, message, measuredAs: AS_MODEL };
    }
    for (const wrapped of mayTrain(module.text) ? [] : wrappedModels(module)) {
      if (isTestCode(module, wrapped.statement)) continue;
      const message = `the activations of every layer of \`${wrapped.target.text}\` are kept until the backward pass`;
      yield { node: wrapped.target, place: { kind: 'wrapped', wrapped }, message, measuredAs: AS_MODEL };
    }
  },

  fix({ place }, edit, module) {
    const proof = new Proof().require(
      'unknown',
      ask('more-time')`May each step take about a quarter more time for \`${'gradient_checkpointing'}\`?`,
    );
    const isModel = ({ text }: { readonly text: string }) => ({
      no: `\`${text}\` is no model of transformers`,
      unknown: ask('transformers-model')`Is \`${text}\` a model of transformers?`,
    });
    if (place.kind === 'model') {
      const { statement, model, value } = place.trained;
      proof.meet(...surroundingGates(module, statement));
      proof.require(isTransformersModel(module, value), isModel(model));
      edit.insertStatementAfter(statement, [
        `${standalone(model)}.${CHECKPOINTING_ENABLE}(${CHECKPOINTING_KWARGS}=${NOT_REENTRANT})`,
      ]);
      return edit.done('Enable gradient checkpointing', proof);
    }
    if (place.kind === 'wrapped') {
      const { statement, target, value, className } = place.wrapped;
      proof.meet(...surroundingGates(module, statement));
      proof
        .require(isTransformersModel(module, value), isModel(target))
        .require(
          'unknown',
          ask('trained-once')`Is \`${className}\` trained, and checkpointing enabled nowhere but here?`,
        );
      edit.insertStatementAfter(statement, [
        `${target.text}.${CHECKPOINTING_ENABLE}(${CHECKPOINTING_KWARGS}=${NOT_REENTRANT})`,
      ]);
      return edit.done('Enable gradient checkpointing', proof);
    }
    const { made } = place;
    proof.meet(...formGates(module, made.call));
    proof
      .forbid(
        setsField(made, CHECKPOINTING_KWARGS),
        `its class has a default of its own for \`${CHECKPOINTING_KWARGS}\``,
      )
      .require(takesLibraryKeyword(made), {
        no: `its class has an \`__init__\` that does not take \`${CHECKPOINTING}\``,
        unknown: ask(
          'handed-on',
        )`Does the \`__init__\` of \`${made.call.function?.text}\` hand \`${CHECKPOINTING}\` on?`,
      })
      .require(
        module.mentions(/Trainer\s*\(/) ? 'yes' : 'unknown',
        ask(
          'trainer-receives',
        )`Does a trainer get this \`${made.call.function?.text}\` (this file has none)?`,
      )
      .forbid(
        /Config$/.test(made.call.function?.text ?? '') && isAtLeast(module, 'trl', '0.22') === 'yes',
        'trl 0.22 and newer checkpoint by default',
      );
    edit.appendKeywords(made.call, [
      [CHECKPOINTING, 'True'],
      [CHECKPOINTING_KWARGS, NOT_REENTRANT],
    ]);
    return edit.done('Enable gradient checkpointing', proof);
  },
};
