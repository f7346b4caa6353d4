import { walksModule } from '../../library/library.js';
import { calledDefinition } from '../../semantic/definitions.js';
import { definitionOf } from '../../semantic/flow.js';
import { qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { roleOf } from '../../semantic/names.js';
import { methodName, receiverOf, unparenthesized } from '../../semantic/statements.js';
import type { PyNode } from '../../syntax/node.js';
import { isOfKnownPackage } from './values.js';

/** The last name of what is called: `update` of `self.meter.update`. */
export function nameOf(callee: PyNode): string {
  if (callee.type === 'attribute') return callee.field('attribute')?.text ?? '';
  if (callee.type === 'subscript') return nameOf(callee.field('value') ?? callee);
  return callee.type === 'identifier' ? callee.text : '';
}

/** An object from outside, whose methods are somebody else's code: an import, `self`, a parameter, a global. */
export function isHandle(
  module: PyModule,
  receiver: PyNode,
  self: string | undefined,
  fromFunctions: boolean,
): boolean {
  let root = unparenthesized(receiver);
  for (;;) {
    // `self.mean.mul_(0.9)` is `self.mean`.
    const inner = /[a-z]_$/.test(methodName(root) ?? '')
      ? receiverOf(root)
      : root.field(root.type === 'attribute' ? 'object' : 'value');
    if (inner === undefined || !/^(?:attribute|subscript|call)$/.test(root.type)) break;
    root = unparenthesized(inner);
  }
  if (root.type !== 'identifier') return false;
  if (root.text === self) return true;
  const scope = module.resolve(root);
  if (scope === undefined || scope.kind === 'module') return true;
  const writes = module.writes(scope, root.text);
  return (
    writes.every((write) => /^(?:parameter|import)$/.test(roleOf(write))) ||
    writes.some((write) => isPartOfNetwork(write)) ||
    writes.some((write) => module.memo(fromFunctions ? isForeignResult : isForeignInstance, write))
  );
}

/** `layer` of `for name, layer in model.named_modules()`: a class of its own, which may be any. */
function isPartOfNetwork(write: PyNode): boolean {
  const definition = definitionOf(write);
  return (
    definition.kind === 'loop' &&
    [...definition.iterable.walk()].some(
      (node) => node.type === 'call' && walksModule(methodName(node) ?? ''),
    )
  );
}

/** `thing = Thing(…)` of code that neither the file nor a known package has. */
function isForeignInstance(module: PyModule, write: PyNode): boolean {
  return isForeignObject(module, write, false);
}

/** The same, and `thing = get_thing(…)`. */
function isForeignResult(module: PyModule, write: PyNode): boolean {
  return isForeignObject(module, write, true);
}

function isForeignObject(module: PyModule, write: PyNode, fromFunctions: boolean): boolean {
  const definition = definitionOf(write);
  if (definition.kind !== 'value' || definition.value.type !== 'call') return false;
  const callee = definition.value.field('function');
  if (
    callee === undefined ||
    !(fromFunctions ? callee.type === 'identifier' : /^[A-Z]/.test(nameOf(callee))) ||
    calledDefinition(module, definition.value) !== undefined
  )
    return false;
  return !isOfKnownPackage(qualifiedName(module, callee) ?? '');
}
