import type { PyNode } from '../syntax/node.js';
import { attributeWritesElsewhere } from './attribute-writes.js';
import type { PyModule } from './module.js';
import { hasOpenBase } from './open-base.js';
import { functionsIn, functionsNamed, methodMention, subclassesElsewhere } from './project-names.js';
import { enclosingClass } from './statements.js';

/** Whether another file may have something else in place of this method: in a subclass, in what that inherits besides, or set. */
export function isOverriddenElsewhere(module: PyModule, method: PyNode): boolean {
  const owner = enclosingClass(method)?.name?.text;
  const name = method.name?.text ?? '';
  if (owner === undefined) return false;
  const family = subclassesElsewhere(module, owner);
  if (family?.every(({ members }) => !members.includes(name)) !== true) return true;
  if (attributeWritesElsewhere(module, name)?.length !== 0) return true;
  const isMade = module.around.summaries({ word: owner, beside: [], needs: ['type('] }, makesClassOf);
  if (isMade?.includes(true) !== false) return true;
  if (isMethodElsewhere(module, name, (each) => family.length > 0 || hasOpenBase(module, each))) return true;
  return isMovedToClass(module, name);
}

/** Whether another class of another file, of which something is true, has a method of this name, or of this file one whose base is open. */
function isMethodElsewhere(module: PyModule, name: string, is: (owner: string) => boolean): boolean {
  const others = module.around.summaries(methodMention(name), functionsIn);
  if (others === undefined) return true;
  if (others.flat().some(({ owner }) => owner !== undefined && is(owner.name))) return true;
  return functionsIn(module.alone, name).some(({ owner }) => owner && hasOpenBase(module, owner.name));
}

/** Whether some file may set a function of this name on a class by the name that it has: `setattr(cls, f.__name__, f)`. */
function isMovedToClass(module: PyModule, name: string): boolean {
  if (!module.memo(movesFunctions, module)) return false;
  return functionsNamed(module, name)?.some(({ owner }) => owner === undefined) !== false;
}

function movesFunctions(module: PyModule): boolean {
  if (movesByOwnName(module.alone)) return true;
  return module.around.summaries({ word: 'setattr', beside: [] }, movesByOwnName)?.includes(true) ?? true;
}

function movesByOwnName({ code }: PyModule): boolean {
  return /\bsetattr\([^()]*\b__(?:qual)?name__\b/.test(code);
}

/** `type("Heir", (Base,), {…})` */
function makesClassOf({ code }: PyModule, name: string): boolean {
  return new RegExp(`\\btype\\([^()]*,[^)]*\\b${name}\\b`).test(code);
}
