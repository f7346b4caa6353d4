/*
 * for x, y in loader:                              for x, y in loader:
 *     loss = F.mse_loss(model(x), y)                   loss = F.mse_loss(model(x), y)
 *     loss.backward()                                  loss.backward()
 *     history["loss"].append(loss)                     history["loss"].append(loss.detach())
 *
 * What a training loop puts into a dictionary, an attribute or a meter that outlives the round. The project's other files
 * are asked who reads it, but code outside may, so every finding is unsafe; one whose graph backward has used up in the same round has no open question.
 * A dictionary that is summed into the loss is no site. `self.log`, `accelerator.log` and `wandb.log` take the number
 * themselves and are never touched; `stats.update({…})` is a dictionary's method and no meter's.
 */
import type { Site, Transform } from '../src/toolkit/index.js';
import {
  differentiatingReader,
  enclosingFunction,
  graphCarrier,
  IS_TORCH,
  isComputedHere,
  isDetachable,
  isTestCode,
  isTorchCode,
  isWithoutGrad,
  lossRecord,
  Proof,
  shown,
  spendingBackward,
  storeGates,
} from '../src/toolkit/index.js';
import type { LoggedTensor } from './detach-logged-tensor/logged-tensor.js';
import { loggedTensors } from './detach-logged-tensor/logged-tensor.js';

interface LogSite extends Site {
  readonly logged: LoggedTensor;
}

export const detachLoggedTensor: Transform<LogSite> = {
  meta: {
    id: 'detach-logged-tensor',
    summary: 'Detach tensors that a training loop keeps in dictionaries, attributes and meters',
    symptom: 'leak',
    safety: 'unsafe',
    numerics: 'bit-identical',
    group: 'opt-in',
    options: {},
    requires: {},
    docs: {
      why: 'A loss or an output that is kept for a plot or a log keeps its autograd graph alive with it. Where nothing runs backward through it, that is one set of activations per kept step; where backward has run, only the nodes of the graph stay, in host memory. A meter that adds the values up chains the graphs of all steps.',
      does: 'Adds `.detach()` to the value in `history["loss"] = loss`, `history[k].append(loss)`, `self.losses.append(loss)`, `rows.append((step, loss))` and `meter.update(loss, n)`, in loops that call `backward()`. Never `.item()`, which would wait for the GPU.',
      refuses: [
        'the value is a Python number on one path: it has no `.detach()`',
        'torch is not imported by a file that trains as it does: unsafe',
        'the store is differentiated, here or by another function of the file: no finding; by another file of the project: left alone',
        'the store is made anew in each round, the value is a parameter, or its `.grad` is read: no finding',
        'the class of the meter is in the file and takes the number itself: no finding',
      ],
      limits: [
        'Whether code outside the project differentiates what the store holds is not seen, so each finding is unsafe. Many detection codes keep their training losses in such a dictionary.',
        'A value that is kept under one key is replaced in the next round: then only one graph is kept at a time.',
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
  prefilter: [['torch', '.zero_grad('], 'backward('],
  cue: (_text, _path, glimpse) => glimpse.repeatingWith('backward(').length > 0,

  *detect(module) {
    for (const logged of loggedTensors(module)) {
      const { store, root, kind } = logged;
      if (isTestCode(module, store) || isWithoutGrad(module, store)) continue;
      const values = logged.values.filter(
        (value) => isDetachable(module, value) !== undefined && isComputedHere(module, value),
      );
      const around = enclosingFunction(store);
      if (values.length === 0 || (around && differentiatingReader(module, around, root))) continue;
      if (root.type === 'identifier' && lossRecord(module, root, values) === undefined) continue;
      const held = kind === 'set' ? 'the graph of its last value' : 'the graph of every value';
      const message = values.every((value) => spendingBackward(module, value))
        ? `\`${shown(store)}\` keeps the nodes of ${held} in host memory; backward has freed the activations they held`
        : `\`${shown(store)}\` keeps ${held} alive, with the activations it saved`;
      yield { node: store, message, logged: { ...logged, values } };
    }
  },

  fix({ logged: { values, store, root, kind } }, edit, module) {
    const proof = new Proof().require(isTorchCode(module), IS_TORCH);
    for (const value of values) {
      proof.require(isDetachable(module, value) ?? 'unknown', {
        no: `\`${shown(value)}\` is a Python number on one path, which has no \`.detach()\``,
        unknown: `\`${shown(value)}\` is a tensor (a Python number has no \`.detach()\`)`,
      });
    }
    const spent = values.every((value) => spendingBackward(module, value));
    const record = root.type === 'identifier' ? lossRecord(module, root, values) : undefined;
    for (const { answer, otherwise } of record?.gates ?? []) proof.require(answer, otherwise);
    if (record === undefined && !spent)
      proof.require('unknown', `nobody differentiates what \`${shown(root)}\` holds`);
    if (proof.refuted === undefined)
      for (const { answer, otherwise } of storeGates(module, root)) proof.require(answer, otherwise);
    if (kind === 'meter') proof.require('unknown', `\`${shown(store)}\` keeps the tensor that it is given`);
    for (const value of values) edit.appendCall(graphCarrier(module, value), '.detach()');
    return edit.done(`Detach what \`${shown(store)}\` keeps`, proof);
  },
};
