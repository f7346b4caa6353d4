/*
 * logits = self.lm_head(hidden)
 * logits = logits.float()
 * loss = F.cross_entropy(logits.view(-1, self.vocab_size), labels.view(-1))
 *
 * Advice only: removing the cast changes the numbers of the loss. What helps is a loss that never holds all logits at once.
 * The cast must reach a cross entropy of the same function, and the code must say that the last dimension is a vocabulary:
 * the scores of a classifier or of a router are small.
 */
import type { PyModule, PyNode, Site, Transform } from '../src/toolkit/index.js';
import {
  argumentsOf,
  FLOAT32,
  isTestCode,
  methodName,
  qualifiedName,
  reachingDefinitions,
  receiverOf,
  recordsNoGraph,
} from '../src/toolkit/index.js';
import { entropyFrom } from './logits-upcast/cross-entropy.js';

/**
 * Written on the way to the loss: a size of the vocabulary, the shift by one token of a language model, or the tokens of a
 * batch in one row, each with its own number of logits.
 */
const VOCABULARY =
  /vocab|(?:\[\s*\.\.\.\s*,|\[\s*:\s*,)\s*:\s*-\s*1\s*[,\]]|\(\s*-\s*1\s*,\s*\w*logits\s*\.\s*(?:size\(\s*-\s*1\s*\)|shape\s*\[\s*-\s*1\s*\])/i;
const CAST = /\.(?:float\s*\(\s*\)|to\s*\(\s*(?:dtype\s*=\s*)?(?:\w+|[\w.]*\.float(?:32)?)\s*(?:,\s*)?\))/g;
/** A string that may name the size or the layer: one that is no message. */
const NAMES_BY_STRING = /(?:[[,=]|(?<!Error|Exception|warn|warning|warning_once|info)\()\s*[fFrRbBuU]{0,2}"/;
const LANGUAGE_HEAD = /\b(?:lm_heads?|embed_out|output_projection|wte)\b/;

export const logitsUpcast: Transform = {
  meta: {
    id: 'logits-upcast',
    summary: 'Point to a chunked loss where language-model logits are copied to fp32',
    symptom: 'peak',
    moments: ['forward', 'backward', 'evaluation'],
    safety: 'advice',
    numerics: 'rounding',
    group: 'default',
    options: {},
    requires: {},
    docs: {
      why: '`logits.float()` copies one number per token and word of the vocabulary to fp32. The copy, its softmax and its gradient are 12 bytes for each of them at the peak of the step, often more than all layers with checkpointing keep.',
      does: 'Says where that happens. It edits nothing: without the cast the loss is computed in half precision, which changes the training.',
      refuses: [],
      limits: [
        'Only casts that reach `cross_entropy` or `CrossEntropyLoss` in the same function, with a sign of a vocabulary on the way: `vocab_size`, a shift by one token, rows of `logits.size(-1)`, or `lm_head`.',
        'With fp32 logits the cast is free, and so is what stands here; the dtype is not known from the code.',
        'Code under `no_grad` and tests are not looked at.',
      ],
    },
    evidence: {
      verdict:
        'A chunked loss takes 558 MiB instead of 4123 MiB, in twice the time; the cast alone cannot be taken away',
      measurements: [
        {
          what: 'peak allocated of a bf16 training step by vocabulary, 128,000 → 32,000 words (6 bytes a parameter of it are embeddings and their state)',
          before: '10 559 MiB',
          after: '4933 MiB',
          setup:
            'NVIDIA H200, torch 2.11, transformers 5.17, Llama 12 layers × 1024, batch 4 × 1024, fused AdamW',
        },
      ],
    },
    origin: [],
    example: 'report-language-head',
  },

  skipsTests: true,
  prefilter: ['ogits', ['.float', 'float32'], ['ross_entropy', 'CrossEntropy']],
  cue: (text, _path, glimpse) =>
    /ogits\b[^\n]*\.(?:float|to\()/.test(text) &&
    (VOCABULARY.test(text) || LANGUAGE_HEAD.test(text)) &&
    glimpse.stretchesWith('ogits').some(castsLogits),

  *detect(module) {
    for (const hit of ['.float', '.to('].flatMap((literal) => module.atWhere(literal, castsLogits))) {
      const cast = hit.parent?.parent;
      if (cast?.type !== 'call' || hit.parent?.attribute !== hit || !isCast(module, cast)) continue;
      const source = receiverOf(cast);
      if (source === undefined || !/ogits\b[^\n]*\.(?:float|to)\s*\([^()]*\)$/.test(cast.text)) continue;
      const loss = entropyFrom(module, cast);
      if (loss === undefined || !isVocabulary(module, source, loss.way)) continue;
      if (recordsNoGraph(module, cast) || isTestCode(module, cast)) continue;
      yield {
        node: hit,
        message:
          'this copies one number per token and word of the vocabulary to fp32 and keeps it for the backward pass: 1000 MiB for 8192 tokens and 32,000 words',
      } satisfies Site;
    }
  },

  fix(_site, edit) {
    return edit.advise(
      'compute the loss in chunks, so that the logits never exist as a whole: `use_liger_kernel=True` in the arguments of a trainer, `loss_type="chunked_nll"` in TRL, or a loop over pieces of the tokens',
    );
  },
};

/** In code without strings and comments: a cast to fp32, or to a type by its own name, behind `logits` on its line. */
function castsLogits(code: string): boolean {
  if (!VOCABULARY.test(code) && !LANGUAGE_HEAD.test(code) && !NAMES_BY_STRING.test(code)) return false;
  return [...code.matchAll(CAST)].some(({ index }) =>
    code.slice(code.lastIndexOf('\n', index) + 1, index).includes('ogits'),
  );
}

/** `.float()`, `.to(torch.float32)` or `.to(dtype=torch.float32)`. */
function isCast(module: PyModule, call: PyNode): boolean {
  const [given, another] = argumentsOf(call);
  if (methodName(call) === 'float') return given === undefined;
  if (methodName(call) !== 'to' || given === undefined || another !== undefined) return false;
  const dtype = given.type === 'keyword_argument' ? given.value : given;
  return dtype !== undefined && FLOAT32.has(qualifiedName(module, dtype) ?? '');
}

function isVocabulary(module: PyModule, source: PyNode, way: readonly PyNode[]): boolean {
  if (way.some(({ text }) => VOCABULARY.test(text))) return true;
  const made = source.type === 'identifier' ? (reachingDefinitions(module, source) ?? []) : [];
  const values = made.flatMap((each) => (each.kind === 'value' ? [each.value.text] : []));
  return [source.text, ...values].some((text) => LANGUAGE_HEAD.test(text));
}
