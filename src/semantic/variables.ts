import { PYTHON_NAMES } from '../library/python.js';
import type { PyNode } from '../syntax/node.js';
import { type Definition, definitionOf, reachingDefinitions } from './flow.js';
import type { PyModule } from './module.js';
import { isStarred } from './stars.js';

/** Where the file writes the variable that an identifier names. */
export function writesOf(module: PyModule, identifier: PyNode | undefined): readonly PyNode[] {
  const scope = identifier?.type === 'identifier' ? module.resolve(identifier) : undefined;
  return scope === undefined || identifier === undefined ? [] : module.writes(scope, identifier.text);
}

/** Where the file reads it. */
export function readsOf(module: PyModule, identifier: PyNode | undefined): readonly PyNode[] {
  const scope = identifier?.type === 'identifier' ? module.resolve(identifier) : undefined;
  return scope === undefined || identifier === undefined ? [] : module.reads(scope, identifier.text);
}

/** Every way in which the file gives it a value, whether that reaches the place or not. */
export function waysGiven(module: PyModule, identifier: PyNode | undefined): readonly Definition[] {
  return writesOf(module, identifier).map(definitionOf);
}

/** The ways that reach a read; of a variable that lives outside the function, all that there are. */
export function waysReaching(module: PyModule, identifier: PyNode): readonly Definition[] {
  return reachingDefinitions(module, identifier) ?? waysGiven(module, identifier);
}

/** What a variable surely holds where it is read: the one value that reaches the place. */
export function onlyValue(module: PyModule, identifier: PyNode): PyNode | undefined {
  if (identifier.type !== 'identifier') return undefined;
  const [only, ...others] = reachingDefinitions(module, identifier) ?? [];
  return only?.kind === 'value' && others.length === 0 ? only.value : undefined;
}

/** A name that the file binds nowhere: one of Python's own, unless a star import brings it; one of those is none where the project has another. */
export function isUnbound(module: PyModule, name: PyNode | undefined): boolean {
  if (name?.type !== 'identifier' || module.resolve(name) !== undefined) return false;
  return !PYTHON_NAMES.has(name.text) || !isStarred(module, name.text);
}

/** A variable of a function, or of one inside it. */
export function livesIn(module: PyModule, identifier: PyNode, functionNode: PyNode): boolean {
  const scope = module.resolve(identifier);
  return scope !== undefined && functionNode.contains(scope.node);
}

/** `i` of `for i, x in enumerate(…)`. */
export function isCount(module: PyModule, target: PyNode, iterable: PyNode): boolean {
  const callee = iterable.type === 'call' ? iterable.function : undefined;
  const isFirst = /pattern|tuple/.test(target.parent?.type ?? '') && target.parent?.named[0] === target;
  const isOwn = target.parent?.parent?.left === target.parent;
  return isFirst && isOwn && callee?.text === 'enumerate' && isUnbound(module, callee);
}

/** `batch[0]` of `for batch in loader` in a function: nobody has it by this name. */
export function isLoopElement(module: PyModule, functionNode: PyNode, place: PyNode): boolean {
  const root = place.type === 'subscript' ? place.value : undefined;
  if (root?.type !== 'identifier' || module.resolve(root)?.node !== functionNode) return false;
  return waysGiven(module, root).every(({ kind }) => kind === 'loop');
}
