/*
 * loss = criterion(model(x), y)                    loss = criterion(model(x), y)
 * loss.backward(retain_graph=True)                 loss.backward()
 *
 * Advice: in real code most of these are needed, by a second backward through the same graph (GANs that share a generator
 * pass, several losses of one forward) or by a state that is carried from step to step. So it speaks only where the function
 * has no other backward and every part of the graph is made in the same round, and even then a network of another file may
 * carry a state of its own. A person decides.
 */
import type { Backward, Site, Transform } from '../src/toolkit/index.js';
import { backwards, isTestCode, keywordArgument, Proof } from '../src/toolkit/index.js';
import { isOnlyBackward } from './retain-graph/repeated-backward.js';

interface RetainSite extends Site {
  readonly backward: Backward;
}

export const retainGraph: Transform<RetainSite> = {
  meta: {
    id: 'retain-graph',
    summary: 'Find `retain_graph=True` where nothing differentiates the graph again',
    symptom: 'peak',
    moments: ['forward', 'backward'],
    safety: 'advice',
    numerics: 'bit-identical',
    group: 'opt-in',
    options: {},
    requires: {},
    docs: {
      why: '`backward(retain_graph=True)` does not free the activations as it goes. They stay until the loss is replaced, which is after the next forward has made its own: two sets of activations at the peak.',
      does: 'Reports a `retain_graph=True` whose function has no other backward and whose graph is made in the same round, and shows the call without it. Nothing is applied unless a person takes it.',
      refuses: [
        'the function has another backward, or takes gradients in another way',
        'a part of the graph comes from before the loop, from an earlier round, from an attribute or from the caller',
        'the loss, or a tensor that it is computed from, is returned or stored',
        'a network of the file stores something on itself in its forward: it may carry a state',
        '`create_graph` is given: second derivatives need the graph',
      ],
      limits: [
        'A network of another file that carries its state from call to call needs the graph. Then torch raises "Trying to backward through the graph a second time" in the second step.',
      ],
    },
    evidence: {
      verdict:
        'Real where it is needless: the graph lives into the next step, and the peak is 36 % lower without it. Most uses are needed',
      measurements: [],
    },
    origin: [
      {
        document: 'Memory leak solutions (LLM-QAT GPT-2)',
        section: '3. Training Loop Memory Management',
        fidelity: 'inspired',
      },
    ],
    example: 'report-single-loss',
  },

  skipsTests: true,
  prefilter: ['retain_graph', 'backward('],
  cue: (text) => /\bretain_graph\s*=\s*True\b/.test(text),

  *detect(module) {
    for (const backward of backwards(module)) {
      const retain = keywordArgument(backward.call, 'retain_graph');
      if (retain?.value?.type !== 'true') continue;
      if (keywordArgument(backward.call, 'create_graph') !== undefined) continue;
      if (isTestCode(module, retain) || !isOnlyBackward(module, backward)) continue;
      const message =
        '`retain_graph=True` keeps the activations of this step until the next forward is done, and nothing here differentiates them again';
      yield { node: retain, message, backward };
    }
  },

  fix({ node }, edit) {
    edit.removeArgument(node);
    return edit.done('Let backward free the graph', new Proof());
  },
};
