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
import type { PyModule, PyNode, Site, Transform } from '../src/toolkit/index.js';
import {
  type ArgumentsCall,
  argumentsCall,
  argumentsOf,
  CHECKPOINTING,
  CHECKPOINTING_ENABLE,
  CHECKPOINTING_KWARGS,
  formGates,
  isTestCode,
  isTestFile,
  isTransformersModel,
  mayTrain,
  modelLoad,
  NOT_REENTRANT,
  ownsItsLines,
  Proof,
  receiverOf,
  setsField,
  shown,
  statementOf,
  surroundingGates,
  takesLibraryKeyword,
  trainingLoops,
} from '../src/toolkit/index.js';

const DECIDED = /gradient_checkpointing|prepare_model_for_kbit|use_checkpoint|grad_checkpoint/;

interface PeakSite extends Site {
  readonly place:
    | { readonly kind: 'arguments'; readonly made: ArgumentsCall }
    | { readonly kind: 'model'; readonly statement: PyNode; readonly model: PyNode };
}

export const enableGradientCheckpointing: Transform<PeakSite> = {
  meta: {
    id: 'enable-gradient-checkpointing',
    summary: 'Recompute activations in the backward pass instead of keeping them',
    symptom: 'peak',
    safety: 'unsafe',
    numerics: 'bit-identical',
    group: 'opt-in',
    options: {},
    requires: { transformers: '4.35' },
    docs: {
      why: 'Every layer keeps its activations from the forward pass to the backward pass. For long sequences they are the largest part of the peak. With gradient checkpointing only the inputs of the layers are kept, and each layer is run once more when its gradient is needed.',
      does: 'Adds `gradient_checkpointing=True` with `gradient_checkpointing_kwargs={"use_reentrant": False}` to the arguments of a transformers or trl trainer. In a hand-written loop it calls `model.gradient_checkpointing_enable(…)` below the line that loads the model which the loop trains.',
      refuses: [
        'the file speaks of checkpointing already: nothing is said',
        'the arguments are spread, or belong to a class of the file with settings of its own',
        'the code uses DeepSpeed or FSDP, or imports unsloth: they checkpoint by their own settings',
        'trl is pinned to 0.29 or newer, where checkpointing is on by default',
      ],
      limits: [
        'It costs time: a second forward pass, about a quarter more per step in the measurement.',
        'A model that does not support it raises a ValueError when training starts.',
        'The key-value cache is off while it is on, which transformers does by itself.',
      ],
    },
    evidence: {
      verdict: 'Real: less than half of the peak for a quarter more time; results stay the same',
      measurements: [
        {
          what: 'peak allocated of a training step, `gradient_checkpointing_enable()`',
          before: '12 730 MiB',
          after: '5043 MiB',
          setup: 'NVIDIA H200, torch 2.11, transformers 5.17, Llama 12 layers × 1024, fp32',
        },
        {
          what: 'peak allocated and time of a step with `torch.utils.checkpoint` around each block',
          before: '10 913 MiB, 149 ms',
          after: '6443 MiB, 188 ms',
          setup: 'NVIDIA H200, torch 2.11, GPT 12 layers × 768, batch 8 × 1024, fp32',
        },
      ],
    },
    origin: [
      { document: 'Memory Optimization Changes Summary', section: '1', fidelity: 'same' },
      { document: 'Memory Optimization Guide - Baseline 7B Training', section: '4', fidelity: 'same' },
    ],
    example: 'fix-trainer-arguments',
  },

  prefilter: [
    ['transformers', 'trl'],
    ['TrainingArguments', 'Config', 'from_pretrained'],
  ],
  cue: (text, path) =>
    !DECIDED.test(text) &&
    (/(?:TrainingArguments|Config)\s*\(/.test(text) || mayTrain(text)) &&
    !isTestFile(path, text),

  *detect(module) {
    if (DECIDED.test(module.text)) return;
    let hasArguments = false;
    for (const node of ['TrainingArguments(', 'Config('].flatMap((literal) => module.at(literal))) {
      const call = (node.parent?.type === 'attribute' ? node.parent : node).parent;
      const made = call?.type === 'call' ? argumentsCall(module, call) : undefined;
      if (made === undefined || isTestCode(module, made.call)) continue;
      hasArguments = true;
      const message = 'the activations of every layer are kept until the backward pass';
      yield { node, place: { kind: 'arguments', made }, message };
    }
    if (!hasArguments) yield* trainedModels(module);
  },

  fix({ place }, edit, module) {
    const proof = new Proof();
    if (place.kind === 'model') {
      const { statement, model } = place;
      for (const { answer, otherwise } of surroundingGates(module, statement))
        proof.require(answer, otherwise);
      proof.require(
        isTransformersModel(module, model),
        `that \`${shown(model)}\` is a model of transformers`,
      );
      edit.insertStatementAfter(statement, [
        `${model.text}.${CHECKPOINTING_ENABLE}(${CHECKPOINTING_KWARGS}=${NOT_REENTRANT})`,
      ]);
      return edit.done('Enable gradient checkpointing', proof);
    }
    const { made } = place;
    for (const { answer, otherwise } of formGates(module, made.call)) proof.require(answer, otherwise);
    proof
      .forbid(
        setsField(module, made, CHECKPOINTING_KWARGS),
        `its class has a default of its own for \`${CHECKPOINTING_KWARGS}\``,
      )
      .require(takesLibraryKeyword(module, made), {
        no: `its class has an \`__init__\` that does not take \`${CHECKPOINTING}\``,
        unknown: `that the \`__init__\` of its class hands \`${CHECKPOINTING}\` on`,
      })
      .forbid(
        /Config$/.test(made.call.field('function')?.text ?? '') &&
          module.versions.isAtLeast('trl', '0.29') === 'yes',
        'trl 0.29 and newer checkpoint by default',
      );
    edit.appendKeywords(made.call, [
      [CHECKPOINTING, 'True'],
      [CHECKPOINTING_KWARGS, NOT_REENTRANT],
    ]);
    return edit.done('Enable gradient checkpointing', proof);
  },
};

/** Models that this file loads, gives to an optimizer or to peft, and runs in a loop that trains. */
function* trainedModels(module: PyModule): Generator<PeakSite> {
  const loops = trainingLoops(module);
  if (loops.length === 0) return;
  for (const node of module.at('from_pretrained')) {
    const call = node.parent?.parent;
    if (call?.type !== 'call' || modelLoad(module, call) === undefined || isTestCode(module, call)) continue;
    const statement = statementOf(call);
    const assignment = statement.named[0];
    const model = assignment?.type === 'assignment' ? assignment.field('left') : undefined;
    if (model?.type !== 'identifier' || !ownsItsLines(module, statement)) continue;
    const scope = module.resolve(model);
    const reads = scope === undefined ? [] : module.reads(scope, model.text);
    const runs = reads.some((read) => isCalled(read) && loops.some(({ body }) => body.contains(read)));
    const isFrozen = reads.some((read) => methodOn(read) === 'requires_grad_');
    if (!runs || isFrozen || !reads.some(isTrained)) continue;
    yield {
      node: model,
      place: { kind: 'model', statement, model },
      message: `the activations of every layer of \`${model.text}\` are kept until the backward pass`,
    };
  }
}

function isCalled(read: PyNode): boolean {
  return read.parent?.type === 'call' && read.parent.field('function') === read;
}

function methodOn(read: PyNode): string | undefined {
  const call = read.parent?.parent;
  return call?.type === 'call' && receiverOf(call) === read
    ? read.parent?.field('attribute')?.text
    : undefined;
}

/** `model.parameters()`, `model.train()`, `get_peft_model(model, …)`. */
function isTrained(read: PyNode): boolean {
  const call = read.closest('call');
  const isGiven = call !== undefined && argumentsOf(call)[0] === read;
  return (
    /^(?:(?:named_)?parameters|train)$/.test(methodOn(read) ?? '') ||
    (isGiven && /get_peft_model$/.test(call.field('function')?.text ?? ''))
  );
}
