import { OPTIMIZERS, PARTIAL, TORCH_DATA } from '../../library/names.js';
import { makersOf } from '../../semantic/attributes.js';
import { callGiven, isOnlyAsked, isParsed, isVariable, pathsOf } from '../../semantic/given-away.js';
import { qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { methodName, receiverOf, wholeName } from '../../semantic/statements.js';
import { isUnbound, readsOf, waysGiven } from '../../semantic/variables.js';
import type { PyNode } from '../../syntax/node.js';

/** Whether the code of a file uses a name, or an attribute of that name, otherwise than by calling it. */
export function usedAsValue(module: PyModule, name: string): boolean {
  return placesNamed(module, name).some((value) => {
    if (isOnlyAsked(value) || isParsed(module, value)) return false;
    const user = value.parent;
    if (user?.type === 'call' && user.function === value) return false;
    if (user?.type === 'attribute' && user.object === value) return false;
    // Python indexes no function.
    if (user?.type === 'subscript' && user.value === value) return false;
    if (user?.type === 'assignment' && user.left === value) return false;
    return !isGivenToLibrary(module, value);
  });
}

/** Where a file may speak of a function of this name, or of an attribute: not where it binds, imports or passes by the name. */
export function placesNamed(module: PyModule, name: string): readonly PyNode[] {
  return module.words(name).flatMap((node) => {
    const place = node.parent;
    if (node.type !== 'identifier' || node.text !== name || place === undefined) return [];
    if (/import|^dotted_name$|^(?:function|class)_definition$|parameter|global/.test(place.type)) return [];
    if (place.type === 'keyword_argument' && place.name === node) return [];
    const value = place.type === 'attribute' && place.attribute === node ? place : node;
    return value === node && isVariable(module, node) ? [] : [value];
  });
}

/** `mp.spawn(worker)`, `optimizer.step(closure)`: what a library runs, no other code of the project gets. */
export function isGivenToLibrary(module: PyModule, value: PyNode): boolean {
  const call = callGiven(value);
  const callee = call?.function;
  if (call === undefined || callee === undefined) return false;
  if (methodName(call) === 'step') {
    const receiver = receiverOf(call);
    return receiver !== undefined && makersOf(module, receiver).every((path) => path?.startsWith(OPTIMIZERS));
  }
  const paths = pathsOf(module, callee);
  return paths.length > 0 && paths.every((path) => RUNS_IT.test(path));
}

const RUNS_IT =
  /^(?:torch\.multiprocessing|multiprocessing|threading|concurrent|fire|click|typer|hydra|atexit|signal|torch\.distributed)\./;

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
      : readsOf(module, target);
  return reads.some((read) => runsWhenGoneThrough(module, read, hops + 1));
}

/** What such a call gives runs what it was given, one item after the other. */
function goesThrough(module: PyModule, call: PyNode): boolean {
  const callee = call.function;
  if (callee === undefined) return false;
  if (isUnbound(module, callee)) return /^(?:map|filter|iter)$/.test(callee.text);
  const path = qualifiedName(module, callee) ?? '';
  return path.startsWith(TORCH_DATA) || path.startsWith('itertools.');
}

const EAGER = /^(?:all|any|dict|frozenset|len|list|max|min|next|set|sorted|sum|tuple)$/;

/** Somebody goes through it on the spot. */
function isConsumed(module: PyModule, lazy: PyNode): boolean {
  const callee =
    callGiven(lazy)?.function ?? (lazy.parent?.type === 'call' ? lazy.parent.function : undefined);
  if (callee !== undefined && isUnbound(module, callee)) return EAGER.test(callee.text);
  if (callee !== undefined && (qualifiedName(module, callee) ?? '').startsWith('torch.'))
    return !goesThrough(module, callee.parent ?? callee);
  return lazy.parent?.type === 'for_statement' || lazy.parent?.type === 'for_in_clause';
}

/** `partial(f, net)`, also by a variable: a function that takes fewer arguments than its own code says. */
export function isMadePartial(module: PyModule, place: PyNode): boolean {
  const callee = callGiven(wholeName(place))?.function;
  if (callee === undefined) return false;
  if (qualifiedName(module, callee) === PARTIAL) return true;
  return waysGiven(module, callee).some(
    (way) => way.kind === 'value' && qualifiedName(module, way.value) === PARTIAL,
  );
}
