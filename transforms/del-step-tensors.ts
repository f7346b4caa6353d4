/**
 *   for batch in loader:                       for batch in loader:
 *       outputs = model(batch)                     outputs = model(batch)
 *       loss = criterion(outputs, …)               loss = criterion(outputs, …)
 *       loss.backward()                            loss.backward()
 *       optimizer.step()                           optimizer.step()
 *                                                  del outputs, loss
 *
 * What a step's forward gave stays alive until the next forward has given its own. That lowers the peak only where it lies
 * in the forward, not in the backward. `del` is written only for variables that every pass sets anew before it reads them
 * and that nothing reads after the loop before they are set again: no `else`, `finally`, closure or `locals()` can miss them.
 * `batch.clear()` is never written.
 */
import {
  ask,
  enclosingFunction,
  enclosingLoops,
  frameReader,
  isTestCode,
  mayTrain,
  neededAfter,
  Proof,
  type PyNode,
  type Site,
  shown,
  swallowingManager,
  type Transform,
  trainingLoops,
} from '../src/toolkit/index.js';
import { type StepTensors, stepTensors } from './del-step-tensors/step-tensors.js';

interface StepSite extends Site {
  readonly body: PyNode;
  readonly tensors: StepTensors;
}

export const delStepTensors: Transform<StepSite> = {
  meta: {
    id: 'del-step-tensors',
    summary: 'Delete what a training step computed before the next one starts',
    symptom: 'peak',
    moments: ['forward'],
    safety: 'safe',
    numerics: 'bit-identical',
    group: 'opt-in',
    options: {},
    requires: {},
    docs: {
      why: 'A variable keeps its value until it is set anew. `outputs` of one step, with the logits in it, lives on while the next forward computes its own, so that forward holds both. The backward that follows holds the logits, what the loss saved of them, and the gradients of both: in most training the peak is there, and nothing is saved.',
      does: 'Adds `del outputs, loss` as the last statement of the body of a training loop, for the results of the forward and the tensors computed from them. Only names are deleted that every pass sets, and that are proven to be set anew on every path from that `del` to a read.',
      refuses: [
        'the result is read after the loop before it is set again: behind it, in its `else`, in a `finally`, or in the condition of a `while`',
        'it is read in the next pass before it is set anew, or not set in every pass',
        'a nested function, a lambda or a generator uses it, or the function looks at all its variables with `locals()`',
        'every way through the body leaves it before its end',
      ],
      limits: [
        'Something is saved where the forward gives out more than its loss needs (hidden states, attention, caches), or where an evaluation follows in the same function.',
        'Nothing is saved where something else still holds the results: a list, a meter, a second name that is read later.',
        'Unsafe at module level, where another file may read the variable; where a function that looks at the variables of its callers is called; where a `with` in the body may go on after an error; and where the file counts the objects that are alive.',
        'After `continue` the `del` is not reached; that pass keeps its tensors as before.',
        'A loss that the model itself returns is a single number and no reason for a `del`. Batches are left alone.',
      ],
    },
    evidence: {
      verdict:
        'Nil in the loop itself where it trains on logits and a cross entropy: the peak is in the backward, which holds more than two forwards. An evaluation behind the loop, in the same function, peaks lower by the logits',
      measurements: [],
    },
    origin: [
      {
        document: 'Memory leak solutions (LLM-QAT GPT-2)',
        section: '3. Training Loop Memory Management',
        fidelity: 'inspired',
      },
    ],
    example: 'fix-outputs-and-loss',
  },

  skipsTests: true,
  prefilter: ['.backward(', '.step('],
  cue: mayTrain,

  *detect(module) {
    for (const loop of trainingLoops(module)) {
      if (isTestCode(module, loop.loop)) continue;
      const tensors = stepTensors(module, loop);
      const bodies = new Set(tensors.results.map(bodyAround));
      for (const body of bodies) {
        const inside = (name: PyNode): boolean => bodyAround(name) === body;
        const results = tensors.results.filter(inside);
        const [first] = results;
        if (first === undefined || body === undefined || isDeleted(body, first.text)) continue;
        const node = results.find(({ text }) => neededAfter(module, body, text) === undefined) ?? first;
        yield {
          node,
          body,
          tensors: { results, derived: tensors.derived.filter(inside) },
          message: `\`${node.text}\` of one step stays alive through the forward of the next, which then holds both`,
        };
      }
    }
  },

  fix({ body, tensors, node }, edit, module) {
    const needed = (name: PyNode): string | undefined => neededAfter(module, body, name.text);
    const results = tensors.results.filter((name) => needed(name) === undefined);
    if (results.length === 0) return edit.refuse(needed(node) ?? '');
    const last = body.named.at(-1);
    if (last === undefined) return edit.refuse('the loop has no body');
    const names = [...results, ...tensors.derived.filter((name) => needed(name) === undefined)];
    edit.insertStatementAfter(last, [`del ${names.map(({ text }) => text).join(', ')}`]);
    const around = enclosingFunction(body);
    const reader = frameReader(module, around ?? module.root);
    const manager = swallowingManager(module, body);
    const proof = new Proof()
      .require(
        around === undefined ? 'unknown' : 'yes',
        ask('own-variable')`Is \`${node.text}\`, a variable of this module, read only in this file?`,
      )
      .require(
        reader === undefined ? 'yes' : 'unknown',
        ask(
          'frame-reader',
        )`Does \`${reader && shown(reader)}\`, which looks at the variables of its callers, work without these?`,
      )
      .require(
        manager === undefined ? 'yes' : 'unknown',
        ask(
          'errors-pass',
        )`Does \`${manager && shown(manager)}\` let errors through (after one that it catches, \`${node.text}\` may be unset)?`,
      )
      .require(
        module.mentions(WATCHES) ? 'unknown' : 'yes',
        ask('uncounted')`May \`${node.text}\` be missing where this file counts the tensors that are alive?`,
      );
    return edit.done("Delete the step's tensors", proof);
  },
};

/** What tells when an object goes. */
const WATCHES = /\bweakref\b|\bget_(?:objects|referrers)\b|\bgetrefcount\b/;

function bodyAround(name: PyNode): PyNode | undefined {
  return enclosingLoops(name)[0]?.body;
}

function isDeleted(body: PyNode, name: string): boolean {
  for (const node of body.walk())
    if (node.type === 'delete_statement' && new RegExp(`\\b${name}\\b`).test(node.text)) return true;
  return false;
}
