import { NN_MODULE } from '../../library/names.js';
import { isModuleClass } from '../../library/paths.js';
import { isAnywhere } from '../../semantic/anywhere.js';
import { everywhere } from '../../semantic/companions.js';
import { classAround } from '../../semantic/definitions.js';
import { setsAttribute } from '../../semantic/given-away.js';
import type { PyModule } from '../../semantic/module.js';
import { mayBeSubclass, type Passed, subclassesElsewhere } from '../../semantic/project-names.js';
import { remembered } from '../../semantic/remembered.js';
import { enclosingFunction, isTarget } from '../../semantic/statements.js';
import { CALLED } from './differentiators.js';
import type { Differentiator } from './differentiators-in-file.js';
import type { Run } from './forward-index.js';
import { copiesMembers, movesByName } from './handed-on.js';
import { isStranger } from './strangers.js';

/** Whether a method runs where its object is called: it is the forward, or what a forward that its class inherits runs. */
export function isRunByCall(module: PyModule, each: Differentiator): boolean {
  const { name, inherits } = each;
  return (
    CALLED.has(name) || inherits.some((path) => hasForward(module, path)) || isRunByInherited(module, each)
  );
}

/** `class Mine(nn.TransformerEncoderLayer)`: a forward that is not in the project, and may run what its heirs put in place. */
function hasForward(module: PyModule, path: string): boolean {
  if (isModuleClass(path)) return path !== NN_MODULE;
  return isStranger(module, path) && !isAnywhere(module, path.slice(path.lastIndexOf('.') + 1), hasClass);
}

function hasClass(alone: PyModule, name: string): boolean {
  return alone
    .words(name)
    .some((node) => node.parent?.type === 'class_definition' && node.parent.name === node);
}

/** Whether a forward that the class of a method inherits runs it: `forward` of a base, in another file, calls `self.head(x)`. */
function isRunByInherited(module: PyModule, { name, owner, bases }: Differentiator): boolean {
  if (owner === undefined) return false;
  const names = new Set([name]);
  for (const each of names) {
    const callers = callersOnSelf(module, each);
    if (callers === undefined) return true;
    for (const caller of callers) {
      const isBase = bases.includes(caller.owner) || mayBeSubclass(module, owner, caller.owner);
      if (!isBase && !isMixedIn(module, owner)) continue;
      if (CALLED.has(caller.name)) return true;
      names.add(caller.name);
    }
  }
  return false;
}

/** A method that reads another one of its object. */
interface Caller {
  readonly owner: string;
  readonly name: string;
}

const callersOnSelf = remembered((module: PyModule, name: string): readonly Caller[] | undefined => {
  return everywhere(module, name, callersIn)?.flat();
});

function callersIn(alone: PyModule, name: string): readonly Caller[] {
  return alone.words(name).flatMap(({ parent: attribute }): readonly Caller[] => {
    if (attribute === undefined) return [];
    const around = classAround(attribute);
    const method = enclosingFunction(attribute);
    if (around === undefined || method === undefined || attribute.object?.text !== around.self) return [];
    if (attribute.attribute?.text !== name || isTarget(attribute)) return [];
    return [{ owner: around.classNode.name?.text ?? '', name: method.name?.text ?? '' }];
  });
}

/** Whether a class of the project inherits from this one beside others, or may. */
export const isMixedIn = remembered((module: PyModule, mixin: string): boolean => {
  const heirs = subclassesElsewhere(module, mixin);
  return (
    heirs === undefined ||
    [mixin, ...heirs.map(({ name }) => name)].some((name) => isAnywhere(module, name, isBaseBesideOthers)) ||
    module.memo(copiesMembers, module)
  );
});

/** `class Both(Tap, Net)` */
export function isBaseBesideOthers(alone: PyModule, name: string): boolean {
  return alone.words(name).some((node) => {
    const bases = node.closest('class_definition')?.superclasses;
    return bases?.contains(node) === true && bases.named.length > 1;
  });
}

/** Those of methods only where something may be set in their place: `net.head = f`, `type("Net", (Base,), {"head": f})`. */
export function runsOfGiven(module: PyModule, runs: readonly Run[]): readonly Passed[] {
  return runs.flatMap((run) => {
    if (run.method === undefined) return [run];
    return isSetInPlace(module, run.method) ? [run, bound(run)] : [];
  });
}

/** Whether something may be set in place of a method: on an object, on a class, or in one that a call makes. */
export const isSetInPlace = remembered(
  (module: PyModule, name: string): boolean =>
    isAnywhere(module, name, setsAttribute) ||
    isAnywhere(module, name, movesByName) ||
    module.memo(copiesMembers, module),
);

/** Set on a class, or by `MethodType`, a function gets the object first. */
export function bound(given: Passed): Passed {
  return { ...given, positional: given.positional + 1, all: given.all + 1 };
}
