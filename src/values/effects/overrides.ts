import { isAnywhere } from '../../semantic/anywhere.js';
import { setsAttribute } from '../../semantic/given-away.js';
import type { PyModule } from '../../semantic/module.js';
import { isMethodOfProject, subclassesElsewhere } from '../../semantic/project-names.js';
import { enclosingClass, methodName } from '../../semantic/statements.js';
import type { PyNode } from '../../syntax/node.js';
import type { Suspect } from './differentiators.js';
import { copiesMembers, movesByName } from './handed-on.js';
import { functionTaking, suspectElsewhere } from './unknown-code.js';

/** What may run in place of a method of this class, and differentiates: of another file, or set on an object or a class. */
export function differentiatingOverride(module: PyModule, call: PyNode, method: PyNode): Suspect | undefined {
  const owner = enclosingClass(method)?.name?.text;
  const name = methodName(call);
  if (owner === undefined || name === undefined) return undefined;
  const isSet = isAnywhere(module, name, setsAttribute) || isAnywhere(module, name, movesByName);
  const set = isSet ? functionTaking(module, call) : undefined;
  if (set !== undefined || !isMethodOfProject(module, name)) return set;
  return suspectElsewhere(
    module,
    (each) =>
      each.name === name &&
      each.owner !== undefined &&
      (each.bases.includes(owner) || module.memo(isMixedIn, each.owner)),
  );
}

/** Whether a class of the project inherits from this one beside others, or may. */
function isMixedIn(module: PyModule, mixin: string): boolean {
  const heirs = subclassesElsewhere(module, mixin);
  return (
    heirs === undefined ||
    [mixin, ...heirs.map(({ name }) => name)].some((name) => isAnywhere(module, name, isBaseBesideOthers)) ||
    module.memo(copiesMembers, module)
  );
}

function isBaseBesideOthers(alone: PyModule, name: string): boolean {
  return alone.words(name).some((node) => {
    const bases = node.closest('class_definition')?.superclasses;
    return bases?.contains(node) === true && bases.named.length > 1;
  });
}
