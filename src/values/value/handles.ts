import { calledDefinition } from '../../semantic/definitions.js';
import { definitionOf } from '../../semantic/flow.js';
import { qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { methodName, receiverOf, unparenthesized } from '../../semantic/statements.js';
import type { PyNode } from '../../syntax/node.js';
import { isOfKnownPackage } from './plain.js';

/** An object from outside, whose methods are somebody else's code: an import, `self`, a parameter, a global. */
export function isHandle(module: PyModule, receiver: PyNode, self: string | undefined): boolean {
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
  return module.writes(scope, root.text).some((write) => {
    const definition = definitionOf(write);
    if (definition.kind === 'loop') return !givesTensors(definition.iterable);
    return definition.kind === 'value' ? module.memo(isForeignResult, write) : definition.kind !== 'update';
  });
}

/** `for name, p in model.named_parameters()`, also counted or sorted. */
function givesTensors(iterable: PyNode): boolean {
  return [...iterable.walk()].some(
    (node) => node.type === 'call' && /^(?:named_)?(?:parameters|buffers)$/.test(methodName(node) ?? ''),
  );
}

/** `thing = other`, `thing = Thing(…)`, `thing = get_thing(…)` of code that neither the file, Python nor a known package has. */
function isForeignResult(module: PyModule, write: PyNode): boolean {
  const definition = definitionOf(write);
  if (definition.kind !== 'value') return true;
  if (
    /^(?:identifier|attribute|subscript|conditional_expression|boolean_operator)$/.test(definition.value.type)
  )
    return true;
  if (definition.value.type !== 'call') return false;
  const callee = definition.value.function;
  if (callee === undefined || calledDefinition(module, definition.value) !== undefined) return false;
  const path = qualifiedName(module, callee);
  if (path !== undefined) return !isOfKnownPackage(path);
  return callee.type === 'identifier' && module.resolve(callee) !== undefined;
}
