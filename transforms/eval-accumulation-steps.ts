/*
 * trainer = Trainer(model, args, eval_dataset=dev, compute_metrics=metrics)
 *
 * With `compute_metrics` and nothing else, a transformers trainer keeps the logits of every evaluated batch on the GPU until
 * the evaluation ends. For a language model that is examples × tokens × vocabulary: the out-of-memory error that comes only
 * at the first evaluation. Said, not done: shrinking the logits first (`preprocess_logits_for_metrics`) depends on what the
 * metrics read, and `eval_accumulation_steps` moves the same logits to the host, which can run out as well.
 *
 * Silent for narrow outputs (a classifier gives a few numbers per example), for generation, where only token ids are kept,
 * wherever the arguments are made out of sight, and for a model out of sight where the file speaks of classes.
 */
import type { Site, Transform } from '../src/toolkit/index.js';
import { isTestCode } from '../src/toolkit/index.js';
import { logitCollectors, mayCollectLogits } from './eval-accumulation-steps/eval-logits.js';

export const evalAccumulationSteps: Transform<Site> = {
  meta: {
    id: 'eval-accumulation-steps',
    summary: 'Say where a trainer keeps the logits of a whole evaluation on the GPU',
    symptom: 'peak',
    moments: ['evaluation'],
    movesTo: 'host',
    safety: 'advice',
    numerics: 'bit-identical',
    group: 'default',
    options: {},
    requires: {},
    docs: {
      why: 'A transformers trainer with `compute_metrics` gathers the logits of all evaluation batches before it computes anything, and `eval_accumulation_steps` is unset by default: they stay on the GPU. A model with a vocabulary of 32 000 gives 64 MB per example of 512 tokens in float32.',
      does: 'Points at `compute_metrics=` of a `Trainer`, `Seq2SeqTrainer` or `SFTTrainer` whose model gives wide logits, where neither `preprocess_logits_for_metrics` nor `eval_accumulation_steps` is set. There is no diff: which of the two is right depends on the metrics.',
      refuses: [],
      limits: [
        'Only where the file shows the trainer and its arguments. A model that is made elsewhere counts as wide unless the file speaks of classes or scores.',
        '`preprocess_logits_for_metrics` that returns `logits.argmax(-1)` is the cheaper answer: one integer per token. `eval_accumulation_steps=N` only moves the logits to the host every N steps, which is slower and can fill its memory.',
      ],
    },
    evidence: {
      verdict:
        'Real: token ids instead of logits take 1925 MiB instead of 8908 MiB, in less time. Logits that are moved to the host take as little and twice the time',
      measurements: [],
    },
    origin: [
      {
        document: 'What real code needs beyond the documents',
        section: 'eval-accumulation-steps',
        fidelity: 'same',
      },
    ],
    example: 'report-causal-model',
  },

  skipsTests: true,
  prefilter: ['compute_metrics', ['transformers', 'trl']],
  cue: mayCollectLogits,

  *detect(module) {
    for (const node of logitCollectors(module)) {
      if (isTestCode(module, node)) continue;
      yield {
        node,
        message:
          'every evaluated batch leaves its logits on the GPU until the evaluation ends: examples × tokens × vocabulary values',
      };
    }
  },

  fix(_, edit) {
    return edit.advise(
      'Return only what the metrics read from `preprocess_logits_for_metrics`, such as `logits.argmax(-1)`, or set `eval_accumulation_steps` to move the logits to the host every few steps',
    );
  },
};
