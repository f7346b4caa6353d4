/*
 * def forward(self, x):
 *     y = self.proj(x)
 *     self.center = self.center * 0.9 + y.mean(0) * 0.1
 *
 *     self.center = self.center * 0.9 + y.mean(0).detach() * 0.1
 *
 * Every value that is stored gets `.detach()`, also the one of a first call. Nobody may need the gradient that is cut: each
 * other read of the attribute, and what is computed from it, ends without gradients, detached or as a number. A recurrent
 * state, a learnt decay and files that differentiate a graph twice are left alone. A float has no `.detach()`: what is not
 * provably a tensor is unsafe.
 * Where the average is proven to work as a buffer that is updated in place, `register-buffer-ema` does it instead; where it
 * may work, both are offered.
 */
import type { RunningStatistic, Site, Transform } from '../src/toolkit/index.js';
import {
  detachGates,
  mayHaveStatistic,
  Proof,
  statisticsCuredBy,
  valuesToDetach,
} from '../src/toolkit/index.js';

interface StatisticSite extends Site {
  readonly statistic: RunningStatistic;
}

export const emaDetach: Transform<StatisticSite> = {
  meta: {
    id: 'ema-detach',
    summary: 'Detach what is folded into a running statistic on `self`',
    symptom: 'leak',
    safety: 'safe',
    numerics: 'bit-identical',
    group: 'default',
    options: {},
    requires: {},
    docs: {
      why: 'A moving average on `self` that is computed with gradients on keeps the graph of the call that computed it, and through the old value the graphs of all earlier calls. Nothing ever differentiates them: memory grows with every step.',
      does: 'Adds `.detach()` to each value that is stored in the attribute, in the average and where it is set on a first call. The numbers stay the same.',
      refuses: [
        'the attribute, or what is computed from it, is returned or differentiated: a recurrent state needs its gradient',
        'the factor of the old value is a tensor that may be learnt',
        'the file uses `retain_graph=True` or `create_graph=True`',
        'training updates the attribute and only evaluation computes with it: unsafe, since one backward through a call of each could need the graph',
        'the attribute is also changed by `+=`, `del` or, outside `__init__`, an unpacking',
        'the average provably works as a buffer that is updated in place: `register-buffer-ema` does that',
      ],
      limits: [
        'Only averages in `forward`, `training_step` and what they call on `self` are looked at; in lists and dictionaries only where something shows that they hold tensors.',
        'Whether code outside the project differentiates the attribute is not seen; in other files of the project every attribute of that name counts.',
        'A value that is not provably a tensor makes the fix unsafe: a Python number has no `.detach()`.',
      ],
    },
    evidence: {
      verdict:
        'A real leak where no backward runs, or where the statistic keeps a tensor for a backward that never comes: 24 MiB per step for a maximum, the size of the activations. A mean of what is differentiated anyway keeps none. `.detach()` alone ends it; in place without no_grad does not.',
      measurements: [],
    },
    origin: [
      {
        document: 'Memory leak solutions (LLM-QAT GPT-2)',
        section: '2. Quantization Statistics Fix',
        fidelity: 'inspired',
      },
    ],
    example: 'fix-center-of-features',
  },

  prefilter: [
    ['torch', 'lightning', 'PreTrainedModel', 'ModelMixin'],
    'self.',
    ['forward', 'training_step', '__call__'],
  ],
  cue: mayHaveStatistic,

  *detect(module) {
    for (const statistic of statisticsCuredBy(module, 'detach')) {
      // Behind the target, where `register-buffer-ema` stands: of both, the buffer is planned first and needs no `.detach()`.
      const node = statistic.updates[0]?.fresh;
      if (node === undefined) continue;
      const message = statistic.updates.every(({ cutsOld }) => cutsOld)
        ? `\`self.${statistic.name}\` keeps the graph of a call alive until the next one has made its own`
        : `\`self.${statistic.name}\` keeps the graph of every call alive, and through it all earlier ones: memory grows with each step`;
      yield { node, statistic, message };
    }
  },

  fix({ statistic }, edit, module) {
    const proof = new Proof();
    proof.meet(...detachGates(module, statistic));
    for (const value of valuesToDetach(module, statistic)) edit.appendCall(value, '.detach()');
    return edit.done(`Detach what \`self.${statistic.name}\` keeps`, proof);
  },
};
