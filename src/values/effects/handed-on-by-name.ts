import { OPTIMIZERS, PLAIN_BASES, TORCH_DATA } from '../../library/names.js';
import { isModuleClass } from '../../library/paths.js';
import { isAnywhere } from '../../semantic/anywhere.js';
import { everywhere } from '../../semantic/companions.js';
import { ancestryOf, methodsOf, selfName } from '../../semantic/definitions.js';
import { setsAttribute } from '../../semantic/given-away.js';
import { qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { functionsNamed, mayInherit } from '../../semantic/project-names.js';
import { functionsByName } from '../../semantic/reach.js';
import { isGenerator } from '../../semantic/returns.js';
import { calleeOf, decoratorsOf, enclosingClass, isAsync } from '../../semantic/statements.js';
import type { PyNode } from '../../syntax/node.js';
import { isOfKnownPackage } from '../value/plain.js';
import {
  classNamed,
  copiesMembers,
  type HandedOn,
  handedOn,
  isParameterKept,
  movesByName,
  RUNNERS,
  usedAsValue,
} from './handed-on.js';
import { isSetInPlace } from './inherited.js';

/** Whether somebody of the project may have a function of this name otherwise than by calling it. */
export function isHandedOnByName(module: PyModule, name: string): boolean {
  if (module.memo(hasOwnRunner, module) && isAnywhere(module, name, usedAsValue)) return true;
  const files = everywhere(module, name, handedOn);
  if (files === undefined) return true;
  const mayBeIt = (owner: string) => mayHaveMethod(module, owner, name);
  return files.some((file) => file.isValue || file.owners.some(mayBeIt) || mayBeKeptBy(module, file));
}

/** Whether a method that gets a function to run it may be another one, which keeps it. */
export function mayBeKeptBy(
  module: PyModule,
  { methods, steps }: Pick<HandedOn, 'methods' | 'steps'>,
): boolean {
  const mayBeOther = (method: string) =>
    functionsNamed(module, method)?.length !== 1 || isAnywhere(module, method, setsAttribute);
  return (
    methods.some(mayBeOther) ||
    steps.some(({ method, classes }) => {
      const files = isSetInPlace(module, method) ? undefined : everywhere(module, method, keptByMethods);
      if (files === undefined || files.some((file) => file.isKept || file.methods.some(mayBeOther)))
        return true;
      const known = files.flatMap((file) => file.classes);
      return !classes.every((each) => known.includes(each));
    })
  );
}

/** What the methods of a name in a file do with the function that they get first. Plain data: it outlives the scan. */
interface KeptByMethods {
  readonly isKept: boolean;
  /** What else gets it to run it. */
  readonly methods: readonly string[];
  /** The classes that have one of these methods, and no other of the name. */
  readonly classes: readonly string[];
}

function keptByMethods(alone: PyModule, name: string): KeptByMethods {
  const functions = functionsByName(alone, name);
  const methods: string[] = [];
  const steps: HandedOn['steps'][number][] = [];
  const isKept = functions.some((each) => {
    if (isGenerator(alone, each) || isAsync(each)) return true;
    if (!decoratorsOf(each).every((by) => isOfKnownPackage(qualifiedName(alone, calleeOf(by)) ?? '')))
      return true;
    const first = each.parameters?.named[selfName(each) === undefined ? 0 : 1];
    if (first === undefined) return false;
    const parameter = first.type === 'identifier' ? first : (first.name ?? first.named[0]);
    if (parameter?.type !== 'identifier' || /splat/.test(first.type)) return true;
    return isParameterKept(alone, each, parameter.text, { methods, steps }, 0);
  });
  const classes = functions.flatMap((each) => {
    const classNode = enclosingClass(each);
    return classNode !== undefined && isPlainClass(alone, classNode) ? classNamed(alone, classNode) : [];
  });
  return { isKept: isKept || steps.length > 0, methods, classes };
}

/** Its methods are those that it and its known bases show. */
function isPlainClass(alone: PyModule, classNode: PyNode): boolean {
  const { classes, imported, unknown } = ancestryOf(alone, classNode);
  return (
    !unknown &&
    imported.every((path) => isPlainBase(path) || path.startsWith(OPTIMIZERS)) &&
    classes.every(
      (each) => decoratorsOf(each).length === 0 && !/\bmetaclass\b/.test(each.superclasses?.text ?? ''),
    )
  );
}

/** Whether a file of the project has the name of one of these packages, and is it. */
function hasOwnRunner(module: PyModule): boolean {
  return RUNNERS.some((name) => module.around.text(name) !== undefined);
}

/**
 * Whether `self.train` of a dataset, which has set it, may be a method of the project all the same: some class or file takes
 * or gives attributes in its own way, or it is no object of this class.
 */
function mayHaveMethod(module: PyModule, owner: string, name: string): boolean {
  if ([mayInherit, callsByClass].some((changes) => isAnywhere(module, owner, changes))) return true;
  if (isAnywhere(module, name, movesByName) || module.memo(copiesMembers, module)) return true;
  const names = new Set([owner]);
  for (const each of names) {
    const files = module.around.summaries({ word: each, beside: [] }, linesOf);
    const lines = files && [...linesOf(module.alone, each), ...files.flat()];
    if (lines === undefined || lines.length === 0) return true;
    if (lines.some((line) => line.isOpen || line.methods.some((own) => own === name || FORWARDS.has(own))))
      return true;
    for (const base of lines.flatMap((line) => line.bases)) names.add(base);
  }
  return false;
}

/** `Numbers.parts(other)` */
function callsByClass(alone: PyModule, owner: string): boolean {
  return alone.words(owner).some((node) => node.parent?.type === 'attribute' && node.parent.object === node);
}

/** They give the attributes of another object. */
const FORWARDS: ReadonlySet<string> = new Set(['__getattr__', '__getattribute__']);

/** A class of a file with those that it inherits from there. */
interface Line {
  readonly methods: readonly string[];
  /** Last names of bases of other files. */
  readonly bases: readonly string[];
  /** It has bases of which nothing is known, or is changed by who decorates or makes it. */
  readonly isOpen: boolean;
}

function linesOf(alone: PyModule, owner: string): readonly Line[] {
  return alone.words(owner).flatMap(({ parent: classNode, start }) => {
    if (classNode?.type !== 'class_definition' || classNode.name?.start !== start) return [];
    const { classes, imported, unknown } = ancestryOf(alone, classNode);
    const others = imported.filter((path) => !isPlainBase(path));
    const isChanged = classes.some(
      (each) => decoratorsOf(each).length > 0 || /\bmetaclass\b/.test(each.superclasses?.text ?? ''),
    );
    return {
      methods: classes.flatMap(methodsOf).map((method) => method.name?.text ?? ''),
      bases: others.map((path) => path.slice(path.lastIndexOf('.') + 1)),
      isOpen: unknown || isChanged,
    };
  });
}

function isPlainBase(path: string): boolean {
  return PLAIN_BASES.has(path) || isModuleClass(path) || path.startsWith(TORCH_DATA);
}
