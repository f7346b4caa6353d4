import { PARTIAL, TORCH_DATA } from '../../library/names.js';
import { definitionOf } from '../../semantic/flow.js';
import { callGiven } from '../../semantic/given-away.js';
import { qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import type { PyNode } from '../../syntax/node.js';

const MAX_HOPS = 3;

/** Parts of one expression. */
const PARTS =
  /^(?:argument_list|keyword_argument|parenthesized_expression|conditional_expression|list|tuple|dictionary|pair|list_splat|attribute|expression_list)$/;

/**
 * Whether what stands at a place runs only when somebody goes through what it is a part of: `map(f, data)`,
 * `(f(x) for x in data)`, `DataLoader(data, collate_fn=partial(f, net))`, also by a variable.
 */
export function runsWhenGoneThrough(module: PyModule, place: PyNode, hops = 0): boolean {
  // Whether it has run where the climb stands: its result goes on, not itself.
  let hasRun = false;
  for (let node = place, above = node.parent; above !== undefined; node = above, above = node.parent) {
    if (above.type === 'lambda') hasRun = false;
    else if (above.type === 'generator_expression') return !isConsumed(module, above);
    else if (above.type === 'call') {
      if (above.function === node) hasRun = true;
      else if (!hasRun && goesThrough(module, above)) return !isConsumed(module, above);
    } else if (above.type === 'assignment') {
      return !hasRun && above.right === node && hops < MAX_HOPS && readsGoThrough(module, above, hops);
    } else if (!PARTS.test(above.type)) return false;
  }
  return false;
}

function readsGoThrough(module: PyModule, assignment: PyNode, hops: number): boolean {
  const target = assignment.left;
  const reads =
    target?.type === 'attribute'
      ? module.words(`.${target.attribute?.text}`).flatMap(({ parent }) => parent ?? [])
      : target?.type === 'identifier'
        ? readsOf(module, target)
        : [];
  return reads.some((read) => runsWhenGoneThrough(module, read, hops + 1));
}

function readsOf(module: PyModule, identifier: PyNode): readonly PyNode[] {
  const scope = module.resolve(identifier);
  return scope === undefined ? [] : module.reads(scope, identifier.text);
}

/** What such a call gives runs what it was given, one item after the other. */
function goesThrough(module: PyModule, call: PyNode): boolean {
  const callee = call.function;
  if (callee === undefined) return false;
  if (callee.type === 'identifier' && module.resolve(callee) === undefined)
    return /^(?:map|filter|iter)$/.test(callee.text);
  const path = qualifiedName(module, callee) ?? '';
  return path.startsWith(TORCH_DATA) || path.startsWith('itertools.');
}

const EAGER = /^(?:all|any|dict|frozenset|len|list|max|min|next|set|sorted|sum|tuple)$/;

/** Somebody goes through it on the spot. */
function isConsumed(module: PyModule, lazy: PyNode): boolean {
  const callee =
    callGiven(lazy)?.function ?? (lazy.parent?.type === 'call' ? lazy.parent.function : undefined);
  if (callee?.type === 'identifier' && module.resolve(callee) === undefined) return EAGER.test(callee.text);
  if (callee !== undefined && (qualifiedName(module, callee) ?? '').startsWith('torch.'))
    return !goesThrough(module, callee.parent ?? callee);
  return lazy.parent?.type === 'for_statement' || lazy.parent?.type === 'for_in_clause';
}

/** `partial(f, net)`, also by a variable: a function that takes fewer arguments than its own code says. */
export function isMadePartial(module: PyModule, place: PyNode): boolean {
  const value = place.parent?.type === 'attribute' && place.parent.attribute === place ? place.parent : place;
  const callee = callGiven(value)?.function;
  if (callee === undefined) return false;
  if (qualifiedName(module, callee) === PARTIAL) return true;
  const scope = callee.type === 'identifier' ? module.resolve(callee) : undefined;
  const writes = scope === undefined ? [] : module.writes(scope, callee.text);
  return writes.some((write) => {
    const definition = definitionOf(write);
    return definition.kind === 'value' && qualifiedName(module, definition.value) === PARTIAL;
  });
}
