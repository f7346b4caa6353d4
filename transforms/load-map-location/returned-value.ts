import type { PyModule } from '../../src/semantic/module.js';
import type { PyNode } from '../../src/syntax/node.js';
import { type Fate, type Load, readsOf, type Stray } from './loaded-use.js';
import { Flow, OF_CALLER } from './loaded-value.js';
import { takersOf } from './takers.js';

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

/** What becomes of a value that a function is given by a parameter. What it puts back into that, its caller has anyway. */
export function fateOfParameter(module: PyModule, parameter: PyNode): Fate {
  const { loads, isCopied, strays } = new Flow(module).through(readsOf(module, parameter));
  const scope = module.resolve(parameter);
  const isOnly = scope !== undefined && module.writes(scope, parameter.text).length === 1;
  const isPutBack = ({ node, does }: Stray): boolean =>
    isOnly && does === OF_CALLER && node.text === parameter.text && module.resolve(node) === scope;
  return { loads, isCopied, strays: strays.filter((stray) => !isPutBack(stray)) };
}
