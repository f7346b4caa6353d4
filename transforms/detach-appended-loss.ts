/*
 * losses = []                                      losses = []
 * for x, y in loader:                              for x, y in loader:
 *     loss = F.mse_loss(model(x), y)                   loss = F.mse_loss(model(x), y)
 *     loss.backward()                                  loss.backward()
 *     optimizer.step()                                 optimizer.step()
 *     losses.append(loss)                              losses.append(loss.detach())
 *
 * The same proof as for a total (`detach-accumulated-loss`): every use of the list and of its elements is followed to a number
 * or a text, and where it leaves the function nobody could differentiate its elements any more. Lists that are stacked or
 * summed into a loss are no sites. In real code nearly all such lists hold Python floats, so nothing is said about a value
 * that is not provably a tensor. `.detach()` shares the memory of the tensor, so a change in place is seen as before.
 */
import {
  graphCarrier,
  IS_TORCH,
  isDetachable,
  isTestCode,
  isTorchCode,
  isWithoutGrad,
  type LossRecord,
  lossRecord,
  mayBeReadOutside,
  onlyReadOutside,
  Proof,
  type PyNode,
  requireOriginals,
  type Site,
  type Transform,
  valueOf,
} from '../src/toolkit/index.js';
import type { KeptList } from './detach-appended-loss/kept-list.js';
import { keptLists, mayKeepList } from './detach-appended-loss/kept-list.js';

interface ListSite extends Site {
  readonly list: KeptList;
  readonly values: readonly PyNode[];
  readonly record: LossRecord;
}

export const detachAppendedLoss: Transform<ListSite> = {
  meta: {
    id: 'detach-appended-loss',
    summary: 'Detach losses and outputs that are only collected in a list to be read',
    symptom: 'leak',
    safety: 'safe',
    numerics: 'bit-identical',
    group: 'default',
    options: {},
    requires: {},
    docs: {
      why: '`losses.append(loss)` keeps the autograd graph of every element alive as long as the list. Where nothing runs backward through the element (a second metric, an evaluation with gradients on), that is one set of activations per step. Where `loss.backward()` has run, only the nodes of the graph stay, in host memory.',
      does: 'Adds `.detach()` to what is appended. No `.item()` is added: that would wait for the GPU in every step. The numbers stay the same; printed as a tensor, an element no longer shows a `grad_fn`.',
      refuses: [
        'the value is not proven to be a tensor: no finding, since most such lists hold Python floats',
        'torch is not imported by a file that trains as it does: unsafe',
        'the value is a parameter, or any tensor that is not computed in the same round, or its `.grad` is read: no finding',
        'the tensor is more than its numbers: something is written on it, it is a key, or it is told from others by `is`, `in` or `id()`: no finding',
        'the list is stacked, summed or looped over and then differentiated, by the function or by a caller in the file: no finding',
        'the list leaves the function or is given to other code while a graph in it could still be used: unsafe in a loop that trains, no finding elsewhere',
        'the code runs without gradients, or only evaluates: no finding, the latter is `no-grad`',
      ],
      limits: [
        'In a file that calls no `backward()`, only functions are looked at that evaluate, or whose names say that they train, evaluate, measure or report.',
        'Lists inside a `forward` go with it and are passed over.',
        'Only lists in variables that start empty; for attributes, dictionaries and tuples see `detach-logged-tensor`.',
      ],
    },
    evidence: {
      verdict:
        'A real leak where no backward runs through the element: 5662 MiB per step. After `loss.backward()` on the same tensor no GPU memory is gained',
      measurements: [],
    },
    origin: [
      {
        document: 'Memory leak solutions (LLM-QAT GPT-2)',
        section: 'Best Practices, 3. Detach Loss Values Immediately',
        fidelity: 'inspired',
      },
    ],
    example: 'fix-list-of-losses',
  },

  skipsTests: true,
  prefilter: [['torch', '.zero_grad('], '.append(', ['for', 'while']],
  cue: (_text, _path, glimpse) => mayKeepList(glimpse),

  *detect(module) {
    if (isTorchCode(module) === 'no') return;
    for (const list of keptLists(module)) {
      const [first] = list.appends;
      if (first === undefined || isTestCode(module, first.target)) continue;
      const kept = list.appends.filter(
        ({ target, value }) =>
          valueOf(module, value).isComputedHere &&
          isDetachable(module, value) === 'yes' &&
          !isWithoutGrad(module, target),
      );
      const [node] = kept;
      const values = kept.map(({ value }) => value);
      const record = node && lossRecord(module, first.target, values);
      if (node === undefined || record === undefined) continue;
      const message = record.differentiated
        ? `\`${list.name}\` keeps the graph nodes of every step in host memory; backward has freed the activations they held`
        : `\`${list.name}\` keeps the graph of every step alive, with the activations it saved`;
      const measuredAs = record.differentiated
        ? '`losses.append(loss)` after'
        : '`losses.append(loss)` in a loop without';
      yield {
        node: node.target,
        message,
        measuredAs,
        ...(record.differentiated && { holds: 'host' as const }),
        list,
        values,
        record,
      };
    }
  },

  fix({ list, values, record }, edit, module) {
    const proof = new Proof().require(isTorchCode(module), IS_TORCH);
    proof.meet(...record.gates);
    if (list.scope.kind === 'module' && !record.spent && mayBeReadOutside(module, list.name))
      proof.require('unknown', onlyReadOutside(module, list.name));
    requireOriginals(proof, module, list.scope.node);
    for (const value of values) edit.appendCall(graphCarrier(module, value), '.detach()');
    if (proof.holds) proof.because(...record.reasons);
    return edit.done(`Detach what is appended to \`${list.name}\``, proof);
  },
};
