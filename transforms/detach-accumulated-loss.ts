/*
 * for x, y in loader:                              for x, y in loader:
 *     pred = model(x)                                  pred = model(x)
 *     F.mse_loss(pred, y).backward()                   F.mse_loss(pred, y).backward()
 *     mae += F.l1_loss(pred, y)                        mae += F.l1_loss(pred, y).detach()
 *
 * A total that people read must not need its graph: every use of it is followed, through names, containers and arithmetic,
 * to a number, a text or a comparison. Where it leaves the function, nobody could differentiate it any more: backward has
 * used the graph up in the same round, or the optimizer has changed the weights under it. A total that is, or may be,
 * differentiated is no site: that is a loss. `.detach()` and never `.item()`, which waits for the GPU. Most totals are of
 * Python floats, so what is not provably a tensor is unsafe, and what is a number on one path is left alone.
 */
import {
  type Addition,
  type Answer,
  enclosingFunction,
  enclosingLoops,
  graphCarrier,
  hasDetach,
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
  shown,
  type Transform,
} from '../src/toolkit/index.js';
import {
  endsWithStep,
  mayTotal,
  type RunningTotal,
  runningTotals,
} from './detach-accumulated-loss/running-total.js';

interface TotalSite extends Site {
  readonly total: RunningTotal;
  readonly kept: readonly { readonly value: PyNode; readonly tensor: Answer }[];
  readonly record: LossRecord;
}

export const detachAccumulatedLoss: Transform<TotalSite> = {
  meta: {
    id: 'detach-accumulated-loss',
    summary: 'Detach losses and metrics that are only added up to be read',
    symptom: 'leak',
    safety: 'safe',
    numerics: 'bit-identical',
    group: 'default',
    options: {},
    requires: {},
    docs: {
      why: '`total += loss` keeps the autograd graph of every term alive until the total goes. Where nothing runs backward through the term (a second metric in training, an evaluation with gradients on), that is one set of activations per step. Where `loss.backward()` has run, the activations are freed and only the nodes of the graph stay, in host memory.',
      does: 'Adds `.detach()` to each term, where possible to the tensor in it (`loss.detach() * n`). No `.item()` is added: that would wait for the GPU in every step. The numbers stay the same; printed as a tensor, the total no longer shows a `grad_fn`.',
      refuses: [
        'a term is a Python number on one path: it has no `.detach()`',
        'not proven to be a tensor, only likely, or torch is not imported by a file that trains as it does: unsafe',
        'the total leaves the function or is given to other code while its graph could still be used: unsafe in a loop that trains, no finding elsewhere; safe where it is returned to callers in the project that all make numbers of it, after a backward of its terms or in a program',
        'it leaves the function, and nothing shows that backward or the step has spoiled its graph for good: a sum of weights can be differentiated again, and one layer alone after a step as well: unsafe',
        'the total is differentiated, by the function or by a caller in the file: no finding, it is a loss',
        'it starts anew in each step and adds up what a loss of that step adds up too: no finding, the loss keeps the graphs anyway',
        'the code runs without gradients, or only evaluates: no finding, the latter is `no-grad`',
      ],
      limits: [
        'In a file that calls no `backward()`, only functions are looked at that evaluate, or whose names say that they train, evaluate, measure or report.',
        'A `train_step` that runs backward on what it returns counts as the backward, with all its overrides in the project.',
        'Only totals in variables; for attributes and dictionaries see `detach-logged-tensor`.',
        'A total that starts as a tensor of the model, or is set to one, is passed over: adding to it may change that tensor in place.',
      ],
    },
    evidence: {
      verdict:
        'A real leak where no backward runs through the term: 5662 MiB per step for a loss, 1000 MiB for a second metric of what is trained on. After `loss.backward()` on the same tensor no GPU memory is gained',
      measurements: [],
    },
    origin: [
      {
        document: 'Memory leak solutions (LLM-QAT GPT-2)',
        section: '3. Training Loop Memory Management',
        fidelity: 'inspired',
      },
      {
        document: 'Memory leak solutions (LLM-QAT GPT-2)',
        section: 'Best Practices, 3. Detach Loss Values Immediately',
        fidelity: 'inspired',
      },
    ],
    example: 'fix-second-metric',
  },

  skipsTests: true,
  prefilter: [
    ['torch', '.zero_grad('],
    ['for', 'while'],
  ],
  cue: (_text, _path, glimpse) => mayTotal(glimpse),

  *detect(module) {
    if (isTorchCode(module) === 'no') return;
    for (const total of runningTotals(module)) {
      const [first] = total.additions;
      if (first === undefined || isTestCode(module, first.statement)) continue;
      if (endsWithStep(module, total)) continue;
      const kept = total.additions.flatMap(({ statement, value }: Addition) => {
        const tensor = isWithoutGrad(module, statement) ? undefined : isDetachable(module, value);
        return tensor === undefined ? [] : [{ value, tensor }];
      });
      const [node] = kept;
      if (node === undefined) continue;
      const values = kept.map(({ value }) => value);
      const record = lossRecord(module, first.target, values);
      if (record === undefined) continue;
      const message = record.differentiated
        ? `\`${total.name}\` keeps the graph nodes of every step in host memory; backward has freed the activations they held`
        : `\`${total.name}\` keeps the graph of every step alive, with the activations it saved`;
      const loop = enclosingLoops(first.statement)[0];
      const trains = loop !== undefined && module.atWithin('.backward(', loop).length > 0;
      const measuredAs = record.differentiated
        ? '`total += loss` after'
        : trains
          ? 'a second metric of the output'
          : '`total += loss` in a loop without';
      yield {
        node: first.target,
        message,
        measuredAs,
        ...(record.differentiated && { holds: 'host' as const }),
        total,
        kept,
        record,
      };
    }
  },

  fix({ total, kept, record }, edit, module) {
    const proof = new Proof().require(isTorchCode(module), IS_TORCH);
    for (const { value, tensor } of kept) {
      proof.require(tensor, {
        no: `\`${shown(value)}\` is a Python number on one path, which has no \`.detach()\``,
        unknown: hasDetach(shown(value)),
      });
    }
    proof.meet(...record.gates);
    if (total.scope.kind === 'module' && !record.spent && mayBeReadOutside(module, total.name))
      proof.require('unknown', onlyReadOutside(module, total.name));
    for (const { value } of kept.slice(0, 1))
      requireOriginals(proof, module, enclosingFunction(value) ?? module.root);
    for (const { value } of kept) edit.appendCall(graphCarrier(module, value), '.detach()');
    if (proof.holds) proof.because(...record.reasons);
    return edit.done(`Detach what is added to \`${total.name}\``, proof);
  },
};
