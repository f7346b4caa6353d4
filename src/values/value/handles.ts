import { calledDefinition } from '../../semantic/definitions.js';
import { qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { methodName, receiverOf, unparenthesized } from '../../semantic/statements.js';
import { isUnbound, waysGiven } from '../../semantic/variables.js';
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
  return waysGiven(module, root).some((way) => {
    if (way.kind === 'loop') return !givesTensors(way.iterable);
    return way.kind === 'value' ? module.memo(isForeignResult, way.value) : way.kind !== 'update';
  });
}

/** `for name, p in model.named_parameters()`, also counted or sorted. */
function givesTensors(iterable: PyNode): boolean {
  return [...iterable.walk()].some(
    (node) => node.type === 'call' && /^(?:named_)?(?:parameters|buffers)$/.test(methodName(node) ?? ''),
  );
}

/** `thing = other`, `thing = Thing(…)`, `thing = get_thing(…)` of code that neither the file, Python nor a known package has. */
function isForeignResult(module: PyModule, value: PyNode): boolean {
  if (/^(?:identifier|attribute|subscript|conditional_expression|boolean_operator)$/.test(value.type))
    return true;
  const callee = value.type === 'call' ? value.function : undefined;
  if (callee === undefined || calledDefinition(module, value) !== undefined) return false;
  const path = qualifiedName(module, callee);
  if (path !== undefined) return !isOfKnownPackage(path);
  return callee.type === 'identifier' && !isUnbound(module, callee);
}
