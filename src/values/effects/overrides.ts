import type { PyModule } from '../../semantic/module.js';
import { isMethodOfProject, mayBeSubclass } from '../../semantic/project-names.js';
import { enclosingClass, methodName } from '../../semantic/statements.js';
import type { PyNode } from '../../syntax/node.js';
import type { Suspect } from './differentiators.js';
import { isMixedIn, isSetInPlace } from './inherited.js';
import { functionTaking, suspectElsewhere } from './unknown-code.js';

/** What may run in place of a method of this class, and differentiates: of another file, or set on an object or a class. */
export function differentiatingOverride(module: PyModule, call: PyNode, method: PyNode): Suspect | undefined {
  const owner = enclosingClass(method)?.name?.text;
  const name = methodName(call);
  if (owner === undefined || name === undefined) return undefined;
  const set = isSetInPlace(module, name) ? functionTaking(module, call) : undefined;
  if (set !== undefined || !isMethodOfProject(module, name)) return set;
  return suspectElsewhere(
    module,
    (each) =>
      each.name === name &&
      each.owner !== undefined &&
      (each.bases.includes(owner) ||
        mayBeSubclass(module, each.owner, owner) ||
        isMixedIn(module, each.owner)),
  );
}
