/*
 * def keep(name):                                  def keep(name):
 *     def hook(module, inputs, output):                def hook(module, inputs, output):
 *         features[name] = output                          features[name] = output.detach()
 *     return hook                                      return hook
 * layer.register_forward_hook(keep("layer"))       layer.register_forward_hook(keep("layer"))
 *
 * Only hooks that the file registers itself. Where the stored outputs go into a loss, a `forward`, or anything that asks for
 * their gradients (Grad-CAM, feature losses, distillation), detaching would break the training, so the hook is left alone.
 * The project's other files are asked for readers too, but code outside it may read the store as well, and a layer may give
 * out a tuple: every finding is unsafe.
 */
import {
  ask,
  differentiatingReader,
  effectsOf,
  enclosingFunction,
  isTestCode,
  ONLY_READ,
  Proof,
  type Site,
  shown,
  storeGates,
  type Transform,
  usesOf,
  valueOf,
} from '../src/toolkit/index.js';
import { callerGates } from './hook-detach/caller-gates.js';
import type { StoredOutput } from './hook-detach/forward-hooks.js';
import {
  feedsLoss,
  isReadInForward,
  isStoreFetched,
  readsOfStore,
  storedOutputs,
} from './hook-detach/forward-hooks.js';

interface HookSite extends Site {
  readonly stored: StoredOutput;
}

/** More than anybody would follow, for each of the hooks that store into it. */
const MAX_READS = 100;

export const hookDetach: Transform<HookSite> = {
  meta: {
    id: 'hook-detach',
    summary: 'Detach the outputs that a forward hook stores',
    symptom: 'leak',
    safety: 'unsafe',
    numerics: 'bit-identical',
    group: 'opt-in',
    options: {},
    requires: {},
    docs: {
      why: 'A forward hook that stores the output of its layer stores the autograd graph behind it too. In a dictionary the graph of the last forward stays until the next one; in a list the graphs of all forwards stay.',
      does: 'Adds `.detach()` where the output is stored. The numbers stay the same, and so does the output that the network goes on with.',
      refuses: [
        'the stored outputs are differentiated, in this file, in another one of the project, or by a caller of the function that returns them',
        'the stored outputs are read in a `forward`, `training_step` or `compute_loss`: they may be part of the loss',
        'the hook looks its store up elsewhere, or stores into an attribute that the file never reads: the readers are not to be seen',
        'a loss is computed from the stored outputs',
        'gradients of the outputs are asked for (`register_hook`, `retain_grad`, backward hooks), as in Grad-CAM',
      ],
      limits: [
        'Whether code outside the project differentiates the stored outputs is not seen, so each finding is unsafe.',
        'A layer that gives out a tuple has no `.detach()`: the hook then raises in the first forward.',
        'Hooks that are registered under another name, or by a library, are not seen.',
      ],
    },
    evidence: {
      verdict:
        'Real where gradients are on and no backward runs: 27 % less at the peak of a forward pass. Nil in a training step, whose backward frees the graph',
      measurements: [],
    },
    origin: [],
    example: 'fix-features-by-name',
  },

  skipsTests: true,
  prefilter: ['register_forward_hook'],

  *detect(module) {
    for (const stored of storedOutputs(module)) {
      if (isTestCode(module, stored.hook)) continue;
      const what = stored.every ? 'every output of its layer' : 'the last output of its layer';
      const message = `the hook keeps ${what} in \`${shown(stored.store)}\`, with the graph behind it`;
      yield { node: stored.value, message, stored };
    }
  },

  fix({ stored }, edit, module) {
    const { hook, value, store } = stored;
    const reads = readsOfStore(module, stored);
    if (reads.length > MAX_READS) return edit.refuse(`\`${shown(store)}\` is read in ${reads.length} places`);
    const fates = usesOf(module, reads);
    const reader = differentiatingReader(module, hook, store)?.name?.text;
    const caller = fates
      .flatMap(({ kind, node }) => (kind === 'returned' ? [enclosingFunction(node)] : []))
      .find((around) => around !== undefined && effectsOf(module, around).differentiatedBy !== undefined);
    const asked = ['register_hook', 'retain_grad', 'backward_hook'].find(
      (word) => module.at(word).length > 0,
    );
    const proof = new Proof();
    proof.forbid(
      reader !== undefined || caller !== undefined || fates.some(({ kind }) => kind === 'differentiated'),
      `what \`${shown(store)}\` holds is differentiated`,
    );
    proof.forbid(
      isReadInForward(reads),
      `\`${shown(store)}\` is read in a forward, and may be part of the loss`,
    );
    proof.forbid(
      isStoreFetched(module, stored),
      `\`${shown(store)}\` belongs to other code, which may differentiate it`,
    );
    proof.forbid(
      reads.length === 0 && /^\w+\./.test(store.text),
      `nothing in this file reads \`${shown(store)}\`, so what becomes of it is not to be seen`,
    );
    proof.forbid(reads.some(feedsLoss), `a loss is computed from \`${shown(store)}\``);
    proof.forbid(asked !== undefined, `\`${asked}\` asks for gradients of the outputs`);
    if (proof.refuted === undefined)
      proof.meet(
        ...storeGates(module, store, (use) => feedsLoss(use) || isReadInForward([use])),
        ...fates.flatMap(({ kind, node }) => (kind === 'returned' ? callerGates(module, node) : [])),
      );
    proof.require(
      valueOf(module, value).isTensor ? 'yes' : 'unknown',
      ask('tensor')`Is \`${shown(value)}\` a tensor, and no tuple?`,
    );
    proof.require(
      'unknown',
      ask('only-read')`Is what \`${shown(store)}\` holds ${ONLY_READ} by others, too?`,
    );
    edit.appendCall(value, '.detach()');
    return edit.done(`Detach what the hook stores`, proof);
  },
};
