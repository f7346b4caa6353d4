/*
 * optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
 *
 * optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, fused=True)
 *
 * The default step works on lists of all parameters and makes temporary copies of about their size; the fused kernel makes
 * none. Never safe: sums round differently in the last place, and parameters that are not floating point, or not on a
 * device that has the kernel, raise. Calls that choose an implementation themselves are left alone.
 */
import type { AdamCall, Site, Transform } from '../src/toolkit/index.js';
import {
  adamCalls,
  ask,
  hasSplat,
  isInExpressionScope,
  isMadeOnGpu,
  isTestCode,
  keywordArgument,
  keywordNames,
  optimizerDoes,
  otherEngine,
  ownsItsLines,
  Proof,
  positionalArguments,
  requireVersion,
  statementOf,
} from '../src/toolkit/index.js';

interface OptimizerSite extends Site {
  readonly made: AdamCall;
}

const CHOICES: readonly string[] = ['fused', 'foreach', 'capturable', 'differentiable'];

export const fusedOptimizer: Transform<OptimizerSite> = {
  meta: {
    id: 'fused-optimizer',
    summary: 'Update the parameters with the fused kernel of Adam and AdamW',
    symptom: 'peak',
    moments: ['optimizer'],
    safety: 'unsafe',
    numerics: 'rounding',
    group: 'opt-in',
    options: {},
    requires: { torch: '2.0' },
    docs: {
      why: 'On a GPU the default step of `Adam` and `AdamW` (`foreach`) works on lists of all parameters at once. Its intermediate results need about one more copy of the parameters, at the moment when gradients and state are there as well. The fused kernel keeps them in registers.',
      does: 'Adds `fused=True` as the last argument of `torch.optim.Adam(…)` or `AdamW(…)`.',
      refuses: [
        'the call chooses `fused`, `foreach`, `capturable` or `differentiable` itself, or spreads its arguments',
        'the learning rate is a tensor, or `step` is given a closure',
        'the file uses DeepSpeed, FSDP, XLA or another engine that takes the place of the step, or no GPU at all',
        'the statement shares its line with other code, or the call stands in a lambda or a comprehension',
      ],
      limits: [
        'Results differ in the last place from those of the default step.',
        'Before torch 2.4 the parameters must be on the GPU when the optimizer is made; parameters that are not floating point raise on every version.',
        '`load_state_dict` brings the setting of the run that was saved: resuming an older checkpoint turns the fused kernel off again.',
        'Where activations set the peak, and not the step, the peak stays the same.',
      ],
    },
    evidence: {
      verdict:
        'The cheapest saving where the optimizer makes the peak: 19 % less. Nil on memory where the activations make it; the time is about the same',
      measurements: [],
    },
    origin: [],
    example: 'fix-training-script',
  },

  skipsTests: true,
  prefilter: ['Adam', 'torch', 'optim'],
  cue: (text) => /\bAdamW?\s*\(/.test(text),

  *detect(module) {
    for (const made of adamCalls(module, ['Adam', 'AdamW'])) {
      const keywords = keywordNames(made.call);
      if (keywords.some((name) => CHOICES.includes(name)) || isTestCode(module, made.call)) continue;
      const callee = made.call.function;
      yield {
        node: callee?.attribute ?? callee ?? made.call,
        made,
        message: `the default step of \`${made.name}\` makes temporary copies of about the size of all parameters, on top of gradients and state`,
      };
    }
  },

  fix({ made }, edit, module) {
    const { call } = made;
    const engine = otherEngine(module);
    const onGpu = isMadeOnGpu(module, made);
    const proof = new Proof()
      .forbid(hasSplat(call), 'its arguments are spread, so an implementation may already be chosen')
      .forbid(!ownsItsLines(module, statementOf(call)), 'its statement shares its line with other code')
      .forbid(isInExpressionScope(call), 'it stands in a lambda or a comprehension')
      .forbid(
        positionalArguments(call).length === 0 && keywordArgument(call, 'params') === undefined,
        'it has no parameters',
      )
      .forbid(
        /\b(?:tensor|Tensor|as_tensor)\(/.test(keywordArgument(call, 'lr')?.text ?? ''),
        'its learning rate is a tensor',
      )
      .forbid(optimizerDoes(module, made, 'step', true), '`step` is given a closure')
      .forbid(
        engine !== undefined,
        `\`${engine}\` of this file takes the place of the step or moves its state`,
      )
      .forbid(onGpu === 'no', 'this file does not use a GPU');
    if (onGpu === 'unknown')
      requireVersion(
        proof,
        module,
        'torch',
        '2.4',
        'the parameters must be on the GPU when the optimizer is made, which this file does not show',
      );
    else requireVersion(proof, module, 'torch', '2.0', '`fused` does not exist for it');
    proof.require(
      'unknown',
      ask(
        'rounding',
      )`May the steps of \`${call.function?.text}\` be rounded otherwise, as the fused kernel does?`,
    );
    edit.appendKeyword(call, 'fused', 'True');
    return edit.done('Use the fused kernel', proof);
  },
};
