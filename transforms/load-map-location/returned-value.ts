import type { Elsewhere } from '../../src/semantic/elsewhere.js';
import {
  callOf,
  functionUses,
  isReachedByText,
  partReturned,
  targetOf,
} from '../../src/semantic/function-uses.js';
import type { PyModule } from '../../src/semantic/module.js';
import { isInstallable } from '../../src/semantic/program.js';
import { givesReturned } from '../../src/semantic/returns.js';
import { enclosingClass, enclosingFunction } from '../../src/semantic/statements.js';
import { usesElsewhere } from '../../src/semantic/uses-elsewhere.js';
import type { PyNode } from '../../src/syntax/node.js';
import { type Fate, type Load, readsOf, type Stray } from './loaded-use.js';
import { Flow } from './loaded-value.js';

/** What becomes of what a call loads: in its function, and in those that this one returns it to. */
export function fateOf(module: PyModule, loaded: PyNode): Fate {
  const flow = new Flow(module).through([loaded]);
  if (flow.returned.length === 0) return flow;
  const strays: Stray[] = [...flow.strays];
  const loads: Load[] = [...flow.loads];
  let { isCopied } = flow;
  for (const node of flow.returned) {
    const takers = takersOf(module, node);
    const flows = takers?.map((taker) => ({ taker, inner: new Flow(taker.module, 1).through([taker.node]) }));
    if (flows === undefined || flows.some(({ inner }) => inner.strays.length > 0 || inner.isReturned))
      strays.push({ node, does: 'is returned', answer: 'unknown', matter: 'device' });
    for (const { taker, inner } of flows ?? []) {
      isCopied ||= inner.isCopied;
      for (const load of inner.loads)
        loads.push({ ...load, from: { module: taker.module, node: taker.call } });
    }
  }
  return { loads, isCopied, strays };
}

/** What becomes of a value that a function is given by a parameter. */
export function fateOfParameter(module: PyModule, parameter: PyNode): Fate {
  return new Flow(module).through(readsOf(module, parameter));
}

interface Taker extends Elsewhere {
  readonly call: PyNode;
}

/** What gets a value that a function returns: its calls, or a variable of theirs. Undefined where that does not show, or others may call it. */
function takersOf(module: PyModule, returned: PyNode): readonly Taker[] | undefined {
  const giver = enclosingFunction(returned);
  if (giver?.type !== 'function_definition' || giver.name === undefined || !givesReturned(giver))
    return undefined;
  if (enclosingClass(giver) !== undefined || isInstallable(module) || isReachedByText(module, giver))
    return undefined;
  const { uses, unread } = usesElsewhere(module, giver.name, { may: () => true, byName: true });
  const all = [...functionUses(module, giver).map((node) => ({ module, node })), ...uses];
  if (unread !== undefined || all.length === 0) return undefined;
  const part = partReturned(returned);
  const takers: Taker[] = [];
  for (const { module: there, node } of all) {
    const call = callOf(node);
    // Where nobody takes it, it is there for others.
    if (call?.parent?.type === 'expression_statement') return undefined;
    const target = call && part && targetOf(call, part);
    if (call === undefined || (part !== undefined && target?.type !== 'identifier')) return undefined;
    takers.push({ module: there, node: target ?? call, call });
  }
  return takers;
}
