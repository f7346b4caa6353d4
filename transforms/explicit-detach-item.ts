/*
 * total_loss += loss.item()                        total_loss += loss.detach().item()
 *
 * As a document recommends it. `.item()` gives a Python number, which has never had a graph: the two are the same, in memory,
 * in time and in value. Offered for losses that are computed with gradients on; an array of numpy has `.item()` and no
 * `.detach()`, so what is not provably a tensor is unsafe.
 */
import {
  argumentsOf,
  hasDetach,
  IS_TORCH,
  isDetachable,
  isTestCode,
  isTorchCode,
  isWithoutGrad,
  Proof,
  type PyNode,
  receiverOf,
  type Site,
  shown,
  type Transform,
  valueOf,
} from '../src/toolkit/index.js';

interface ItemSite extends Site {
  readonly loss: PyNode;
}

export const explicitDetachItem: Transform<ItemSite> = {
  meta: {
    id: 'explicit-detach-item',
    summary: 'Write `loss.detach().item()` instead of `loss.item()`; has no effect',
    symptom: 'leak',
    safety: 'safe',
    numerics: 'bit-identical',
    group: 'documented',
    options: {},
    requires: {},
    docs: {
      why: 'A document calls `total_loss += loss.item()` a leak, with the graph "still attached". It is not: `.item()` returns a Python float. What does keep graphs is a tensor that is added or appended; `detach-accumulated-loss` and `detach-appended-loss` look for that.',
      does: 'Adds `.detach()` before `.item()` where the receiver is named a loss and may carry a gradient.',
      refuses: [
        'the loss is detached already, or computed without gradients: no finding',
        'the loss is not proven to be a tensor: unsafe, since numbers of numpy have no `.detach()`',
        'torch is not imported by a file that trains as it does: unsafe',
      ],
      limits: ['It makes one more view per call, and nothing else.'],
    },
    evidence: {
      verdict:
        'No effect on memory, time or values: `.item()` keeps no graph. Use `detach-accumulated-loss` for totals of tensors',
      measurements: [],
    },
    origin: [
      {
        document: 'Memory leak solutions (LLM-QAT GPT-2)',
        section: '3. Training Loop Memory Management',
        fidelity: 'same',
      },
      {
        document: 'Memory leak solutions (LLM-QAT GPT-2)',
        section: 'Best Practices, 3. Detach Loss Values Immediately',
        fidelity: 'same',
      },
    ],
    example: 'fix-as-documented',
  },

  skipsTests: true,
  prefilter: [['torch', '.zero_grad('], '.item()', ['oss', 'OSS']],
  cue: (text) => /loss\w*(?:["']\])?\s*\.item\(\)/i.test(text),

  *detect(module) {
    if (isTorchCode(module) === 'no') return;
    for (const hit of module.at('.item()')) {
      const call = hit.parent?.parent;
      const loss = call?.type === 'call' && argumentsOf(call).length === 0 ? receiverOf(call) : undefined;
      if (hit.text !== 'item' || loss === undefined || !isNamedLoss(loss)) continue;
      if (valueOf(module, loss).kind === 'number' || !valueOf(module, loss).mayHaveGraph()) continue;
      if (isWithoutGrad(module, loss) || isTestCode(module, loss)) continue;
      const message = `\`${shown(loss)}.item()\` gives a Python number; nothing is kept, whatever is said about it`;
      yield { node: loss, message, loss };
    }
  },

  fix({ loss }, edit, module) {
    const proven = valueOf(module, loss).isTensor || isDetachable(module, loss) === 'yes';
    const proof = new Proof()
      .require(isTorchCode(module), IS_TORCH)
      .require(proven ? 'yes' : 'unknown', hasDetach(shown(loss), 'a number of numpy'));
    edit.appendCall(loss, '.detach()');
    return edit.done('Detach the loss before taking its number', proof);
  },
};

/** `loss`, `outputs.loss`, `outputs["loss"]`. */
function isNamedLoss(node: PyNode): boolean {
  return /^(?:identifier|attribute|subscript)$/.test(node.type) && /loss\w*(?:["']\])?$/i.test(node.text);
}
