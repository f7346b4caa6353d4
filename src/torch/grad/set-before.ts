import { LIGHTNING, PLAIN_BASES } from '../../library/names.js';
import { ancestryOf, classAround } from '../../semantic/definitions.js';
import { isFreshContainer } from '../../semantic/literals.js';
import type { PyModule } from '../../semantic/module.js';
import { isAlwaysAfter } from '../../semantic/paths.js';
import { enclosingFunction, ownNodes } from '../../semantic/statements.js';
import type { PyNode } from '../../syntax/node.js';
import { within } from '../../syntax/within.js';
import { isOfKnownPackage } from '../../values/value/plain.js';

/**
 * Whether a read of `self.name` sees only what the same run of the method has set it to: whatever an earlier run left there
 * is gone by then. `isHeld`: it is what is put into the object that counts, so that only a new container will do.
 */
export function isSetBefore(module: PyModule, read: PyNode, isHeld: boolean): boolean {
  const method = enclosingFunction(read);
  const name = read.type === 'attribute' ? read.attribute?.text : undefined;
  const around = classAround(read);
  if (method === undefined || name === undefined || around === undefined) return false;
  const { self, classNode } = around;
  if (read.object?.text !== self || !module.alone.memo(hasKnownBases, classNode)) return false;
  if (!module.alone.memo(isPlainAttribute, name) || module.alone.memo(mayBeLeft, method)) return false;
  const targets = within(module.words(name), method).flatMap(({ parent: target }) => {
    const isPart = /^(?:pattern_list|tuple_pattern)$/.test(target?.parent?.type ?? '');
    const left = isPart ? target?.parent : target;
    const assignment = left?.parent;
    if (target?.text !== `${self}.${name}` || assignment?.type !== 'assignment') return [];
    if (assignment.left !== left || assignment.right === undefined) return [];
    return isHeld && (isPart || !isNew(assignment.right)) ? [] : [target];
  });
  return targets.length > 0 && isAlwaysAfter(module, read, targets, undefined);
}

/** Nothing is in it yet, and nobody else has it. */
function isNew(value: PyNode): boolean {
  return isFreshContainer(value) || /^(?:integer|float|none)$/.test(value.type);
}

/** Assigning to it binds it: no property of the file, and nobody who takes assignments. */
function isPlainAttribute(module: PyModule, name: string): boolean {
  return [name, '__setattr__', '__getattribute__'].every((each) =>
    module.words(each).every(({ parent, text }) => {
      return parent?.type !== 'function_definition' || parent.name?.text !== text;
    }),
  );
}

/** No class of another file may take assignments to the attribute. */
function hasKnownBases(module: PyModule, classNode: PyNode): boolean {
  const { imported, unknown } = ancestryOf(module, classNode);
  const isKnown = (path: string) => PLAIN_BASES.has(path) || LIGHTNING.test(path) || isOfKnownPackage(path);
  return !unknown && imported.every(isKnown);
}

/** Others may run between two lines of it, or `self` is another object at the second. */
function mayBeLeft(module: PyModule, method: PyNode): boolean {
  const self = classAround(method.body ?? method)?.self ?? '';
  if (module.writes(module.scopeOf(method), self).length > 1) return true;
  return [...ownNodes(method)].some(({ type }) => type === 'yield' || type === 'await');
}
