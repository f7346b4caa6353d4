import type { PyNode } from '../syntax/node.js';
import { qualifiedName } from './imports.js';
import type { PyModule } from './module.js';
import { argumentsOf, keywordValue, unparenthesized } from './statements.js';

/** How a `for` goes over its data. */
export interface Pass {
  /** What is iterated over, progress bars and `enumerate` taken off. */
  readonly data: PyNode;
  /** The loop variable that counts the passes from `from` on; undefined where there is none. */
  readonly counter: PyNode | undefined;
  readonly from: number;
  /** The target of each item, if `enumerate` or nothing counts. */
  readonly item: PyNode | undefined;
}

/** `for x in data`, `for i, x in enumerate(data)`, `for i in range(n)`, each perhaps in a progress bar. */
export function passOf(module: PyModule, loop: PyNode): Pass | undefined {
  const target = loop.type === 'for_statement' ? loop.left : undefined;
  const iterable = loop.right;
  if (target === undefined || iterable === undefined) return undefined;
  const outer = withoutBar(module, iterable);
  const builtin = builtinCalled(module, outer);
  if (builtin === 'range') {
    const counts = target.type === 'identifier' && argumentsOf(outer).length === 1;
    return { data: outer, counter: counts ? target : undefined, from: 0, item: undefined };
  }
  if (builtin !== 'enumerate') return { data: outer, counter: undefined, from: 0, item: target };
  const [first, second] = argumentsOf(outer);
  const [counter, item, ...rest] = target.named;
  if (first === undefined || target.type !== 'pattern_list' || rest.length > 0 || item === undefined)
    return undefined;
  const begin = keywordValue(outer, 'start') ?? second;
  const counts = counter?.type === 'identifier' && (begin === undefined || begin.type === 'integer');
  return {
    data: withoutBar(module, first),
    counter: counts ? counter : undefined,
    from: Number(begin?.text ?? 0),
    item,
  };
}

/** What a progress bar shows: `loader` of `tqdm(loader, desc=…)`. */
function withoutBar(module: PyModule, iterable: PyNode): PyNode {
  const node = unparenthesized(iterable);
  const callee = node.type === 'call' ? node.function : undefined;
  const [first] = node.type === 'call' ? argumentsOf(node) : [];
  if (callee === undefined || first === undefined || first.type === 'keyword_argument') return node;
  const name = callee.type === 'attribute' ? callee.attribute?.text : callee.text;
  const isBar =
    /^tqdm(?:\.|$)/.test(qualifiedName(module, callee) ?? '') ||
    /^(?:tqdm|track|progress_bar)$/.test(name ?? '');
  return isBar && name !== 'trange' ? withoutBar(module, first) : node;
}

function builtinCalled(module: PyModule, node: PyNode): string | undefined {
  const callee = node.type === 'call' ? node.function : undefined;
  return callee?.type === 'identifier' && module.resolve(callee) === undefined ? callee.text : undefined;
}
