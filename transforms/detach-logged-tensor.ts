/*
 * for x, y in loader:                              for x, y in loader:
 *     loss = F.mse_loss(model(x), y)                   loss = F.mse_loss(model(x), y)
 *     loss.backward()                                  loss.backward()
 *     history["loss"].append(loss)                     history["loss"].append(loss.detach())
 *
 * What a step of training puts into a dictionary, an attribute, a meter or a variable that outlives it. Backward has used the graph up
 * in the same round, so that nobody can differentiate it again; or every read of the store, in all files of the project, ends
 * as a number or a text. What others may get hold of with its graph is unsafe.
 * A dictionary that is summed into the loss is no site. `self.log`, `accelerator.log` and `wandb.log` take the number
 * themselves and are never touched; `stats.update({…})` is a dictionary's method and no meter's.
 */
import {
  ask,
  differentiatingReader,
  enclosingFunction,
  graphCarrier,
  hasDetach,
  IS_TORCH,
  isDetachable,
  isProgram,
  isTestCode,
  isTorchCode,
  isWithoutGrad,
  type LossRecord,
  lossRecord,
  mayBeReadOutside,
  ONLY_READ,
  Proof,
  type PyModule,
  requireOriginals,
  type Site,
  shown,
  storeGates,
  type Transform,
  valueOf,
} from '../src/toolkit/index.js';
import type { LoggedTensor } from './detach-logged-tensor/logged-tensor.js';
import {
  isOwnContainer,
  isReturnedLoss,
  loggedTensors,
  mayLog,
  ownStoring,
} from './detach-logged-tensor/logged-tensor.js';
import { fatesInMeter, handsOn, keepsWhatItGets } from './detach-logged-tensor/meter.js';

interface LogSite extends Site {
  readonly logged: LoggedTensor;
  readonly record: LossRecord;
}

export const detachLoggedTensor: Transform<LogSite> = {
  meta: {
    id: 'detach-logged-tensor',
    summary: 'Detach tensors that a step of training keeps in dictionaries, attributes, meters and variables',
    symptom: 'leak',
    safety: 'safe',
    numerics: 'bit-identical',
    group: 'default',
    options: {},
    requires: {},
    docs: {
      why: 'A loss or an output that is kept for a plot or a log keeps its autograd graph alive with it. Where nothing runs backward through it, that is one set of activations per kept step; where backward has run, only the nodes of the graph stay, in host memory. A meter that adds the values up chains the graphs of all steps.',
      does: 'Adds `.detach()` to the value in `history["loss"] = loss`, `history[k].append(loss)`, `totals["loss"] += loss`, `self.losses.append(loss)`, `self.total += loss`, `rows.append((step, loss))`, `meter.update(loss, n)` and `best = loss` or `self.best = loss` (what is a number at first and is read in later rounds), in loops and methods that call `backward()` and in the `training_step` of Lightning. Never `.item()`, which would wait for the GPU.',
      refuses: [
        'the value is a Python number on one path: it has no `.detach()`',
        'torch is not imported by a file that trains as it does: unsafe',
        'the store is differentiated, here or by another function or file of the project: no finding, or left alone with the place',
        'the store is made anew in each round, the value is a parameter, or its `.grad` is read: no finding',
        'the class of the meter is in the project and takes the number itself: no finding; the class is not seen: unsafe',
        'others get hold of the store, and nothing shows that backward has used the graphs in it up: unsafe',
        'a total does not start as a number: no finding, since adding to a tensor of somebody else changes it in place',
      ],
      limits: [
        'Whether code outside the project differentiates what an attribute holds is not seen; it could only where backward has not run through the value, and there the finding is unsafe unless the file is a program.',
        'A value that is kept under one key, or in a variable, is replaced in the next round: then only one graph is kept at a time.',
      ],
    },
    evidence: {
      verdict:
        'Real where no backward runs through the value: 1000 MiB per step for a second metric of what is trained on. After `loss.backward()` on the same tensor no GPU memory is gained',
      measurements: [],
    },
    origin: [
      {
        document: 'Memory leak solutions (LLM-QAT GPT-2)',
        section: 'Best Practices, 3. Detach Loss Values Immediately',
        fidelity: 'inspired',
      },
    ],
    example: 'fix-history-of-lists',
  },

  skipsTests: true,
  prefilter: [
    ['torch', '.zero_grad(', 'lightning'],
    ['backward(', 'training_step'],
  ],
  cue: (_text, _path, glimpse) => mayLog(glimpse),

  *detect(module) {
    for (const logged of loggedTensors(module)) {
      const { store, root, kind } = logged;
      if (isTestCode(module, store) || isWithoutGrad(module, store)) continue;
      const values = logged.values.filter(
        (value) => isDetachable(module, value) !== undefined && valueOf(module, value).isComputedHere,
      );
      const around = enclosingFunction(store);
      if (values.length === 0 || (around && differentiatingReader(module, around, root))) continue;
      const inMeter = kind === 'meter' ? (fatesInMeter(module, store) ?? []) : [];
      if (inMeter.some((fate) => fate.kind === 'differentiated' || fate.kind === 'gradless')) continue;
      const record = lossRecord(module, root, values);
      if (record === undefined) continue;
      const held =
        kind === 'set' || kind === 'carried' ? 'the graph of its last value' : 'the graph of every value';
      const isFreed = record.differentiated || values.every((value) => isReturnedLoss(module, value));
      const message = isFreed
        ? `\`${shown(store)}\` keeps the nodes of ${held} in host memory; backward has freed the activations they held`
        : `\`${shown(store)}\` keeps ${held} alive, with the activations it saved`;
      yield {
        node: store,
        message,
        ...(isFreed && { holds: 'host' as const }),
        logged: { ...logged, values },
        record,
      };
    }
  },

  fix({ logged, record }, edit, module) {
    const { values, store, root, kind } = logged;
    const proof = new Proof().require(isTorchCode(module), IS_TORCH);
    for (const value of values) {
      proof.require(isDetachable(module, value) ?? 'unknown', {
        no: `\`${shown(value)}\` is a Python number on one path, which has no \`.detach()\``,
        unknown: hasDetach(shown(value)),
      });
    }
    proof.meet(...record.gates);
    if (!record.spent && !isSeen(module, logged, record))
      proof.require('unknown', ask('only-read')`Is what \`${shown(root)}\` holds ${ONLY_READ}?`);
    if (proof.refuted === undefined) proof.meet(...storeGates(module, root));
    const storing = kind === 'meter' || kind === 'carried' ? undefined : ownStoring(module, root);
    if (storing !== undefined)
      proof.require(
        'unknown',
        ask(
          'works-without-graph',
        )`Does \`${storing}\`, which stores it, work without the graph of the tensor?`,
      );
    if (kind === 'meter' && keepsWhatItGets(module, store) !== 'yes')
      proof.require(
        'unknown',
        ask('keeps-tensor')`Does \`${shown(store)}\` keep the tensor that it is given?`,
      );
    if (kind === 'meter' && handsOn(module, store))
      proof.require(
        'unknown',
        ask('works-without-graph')`Does what \`${shown(store)}\` runs work without the graph of the tensor?`,
      );
    requireOriginals(proof, module, enclosingFunction(store) ?? module.root);
    for (const value of values) edit.appendCall(graphCarrier(module, value), '.detach()');
    if (proof.holds) proof.because(...record.reasons);
    return edit.done(`Detach what \`${shown(store)}\` keeps`, proof);
  },
};

/** Whoever reads the store has been looked at. */
function isSeen(module: PyModule, { values, store, root, kind }: LoggedTensor, record: LossRecord): boolean {
  if (kind === 'meter' && fatesInMeter(module, store)?.length !== 0) return false;
  if (root.type === 'attribute')
    return (
      record.differentiated || isProgram(module) || values.every((value) => isReturnedLoss(module, value))
    );
  const isLocal =
    module.resolve(root) !== module.scope || isProgram(module) || !mayBeReadOutside(module, root.text);
  return isLocal && (isOwnContainer(module, root) || /^(?:meter|added|carried)$/.test(kind));
}
