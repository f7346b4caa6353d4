import type { Elsewhere } from '../../src/semantic/elsewhere.js';
import type { PyModule } from '../../src/semantic/module.js';
import { namesIn } from '../../src/semantic/names.js';
import { mayLead } from '../../src/semantic/paths.js';
import {
  argumentsOf,
  enclosingFunction,
  enclosingLoops,
  ownNodes,
  receiverOf,
} from '../../src/semantic/statements.js';
import type { PyNode } from '../../src/syntax/node.js';
import { LR_SCHEDULERS } from '../../src/torch/catalog-modules.js';
import { type Maker, madeBy } from '../../src/torch/module/made-by.js';
import { isNetwork } from './keeper.js';

/** What takes over numbers only. */
const NUMBERS_ONLY: Maker = {
  gives: (path) => path.startsWith(LR_SCHEDULERS) || /^torch\.(?:\w+\.)*GradScaler$/.test(path),
  isClass: () => 'unknown',
  outlivesOthers: false,
};

/**
 * Whether an optimizer may be given state that is looked at again, by another load above all. It keeps loaded tensors that are on
 * its device and trains on in them, so whoever comes later finds them changed; copies from the CPU stay as they were saved.
 */
export function isUsedAgain(module: PyModule, loaded: PyNode, loads: readonly Elsewhere[]): boolean {
  return loads.some(({ module: home, node: load }) => {
    const receiver = receiverOf(load);
    const [state] = argumentsOf(load);
    if (receiver === undefined || state === undefined || state === loaded) return false;
    if (isNetwork(home, receiver) || madeBy(home, receiver, NUMBERS_ONLY) === 'yes') return false;
    if (home !== module || enclosingFunction(load) !== enclosingFunction(loaded)) return true;
    if (enclosingLoops(load).some((loop) => !loop.contains(loaded) && !isOfRound(loop, state))) return true;
    const around = enclosingFunction(load) ?? module.root;
    return [...ownNodes(around)].some(
      (node) =>
        node !== state &&
        node.text === state.text &&
        !isRetry(load, node) &&
        mayLead(module, load, node, [loaded]),
    );
  });
}

/** `saved[name]` in `for name, part in parts`: another one in each round. */
function isOfRound(loop: PyNode, state: PyNode): boolean {
  const index = state.type === 'subscript' ? state.subscript : undefined;
  return loop.type === 'for_statement' && namesIn(loop.left).some(({ text }) => text === index?.text);
}

/** In the handler of an error of the load: that took nothing over. */
function isRetry(load: PyNode, node: PyNode): boolean {
  const handler = node.closest('except_clause');
  return handler?.parent?.body?.contains(load) === true;
}
