import { LR_SCHEDULERS } from '../../src/library/names.js';
import type { PyModule } from '../../src/semantic/module.js';
import { namesIn, roleOf } from '../../src/semantic/names.js';
import { excludeOneAnother, mayLead } from '../../src/semantic/paths.js';
import {
  argumentsOf,
  enclosingFunction,
  enclosingLoops,
  ownNodes,
  receiverOf,
} from '../../src/semantic/statements.js';
import type { PyNode } from '../../src/syntax/node.js';
import { type Maker, madeBy } from '../../src/torch/module/made-by.js';
import { isNetwork, valuesAt } from './keeper.js';
import type { Load } from './loaded-use.js';

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
export function isUsedAgain(module: PyModule, loaded: PyNode, loads: readonly Load[]): boolean {
  return loads.some(({ module: home, node: load, from }) => {
    const receiver = receiverOf(load);
    const [state] = argumentsOf(load);
    if (receiver === undefined || state === undefined || state === loaded) return false;
    if (isNetwork(home, receiver) || madeBy(home, receiver, NUMBERS_ONLY) === 'yes') return false;
    const start = from ?? { module, node: loaded };
    if (home !== start.module || enclosingFunction(load) !== enclosingFunction(start.node)) return true;
    // Who gets it afterwards gets what the optimizer trains on in.
    if (from === undefined && loads.some((other) => other.from !== undefined)) return true;
    const loops = enclosingLoops(load).filter((loop) => !loop.contains(start.node));
    if (loops.some((loop) => !isOfRound(loop, state))) return true;
    const around = enclosingFunction(load) ?? home.root;
    return ownNodes(around).some((node) => {
      if (node === state || node.text !== state.text || node.type !== state.type) return false;
      if (isRetry(load, node) || isOtherValue(home, state, node)) return false;
      const round = loops.find((loop) => loop.contains(node));
      if (round !== undefined) return !excludeOneAnother(home, load, node, round);
      return mayLead(home, load, node, [start.node]);
    });
  });
}

/** A name that is no variable here, or holds something else. */
function isOtherValue(module: PyModule, state: PyNode, node: PyNode): boolean {
  if (node.type !== 'identifier') return false;
  return roleOf(node) !== 'read' || !mayBeSame(valuesAt(module, state), valuesAt(module, node));
}

function mayBeSame(values: readonly PyNode[] | undefined, others: readonly PyNode[] | undefined): boolean {
  return values === undefined || others === undefined || values.some((each) => others.includes(each));
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
