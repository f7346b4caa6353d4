import type { PyNode } from '../syntax/node.js';
import { type AttributeWrite, attributeWritesElsewhere } from './attribute-writes.js';
import { ancestryOf, basesOf, methodsOf } from './definitions.js';
import { lineageOf } from './elsewhere.js';
import { hasStarImport } from './imports.js';
import type { PyModule } from './module.js';
import { hasOpenBase } from './open-base.js';
import { importsProgram } from './program.js';
import { remembered } from './remembered.js';
import { argumentsOf, enclosingClass, hasSplat, positionalArguments } from './statements.js';
import type { Mention } from './surroundings.js';
import { isUnbound } from './variables.js';

/**
 * What the files of a project define and set, by name. For conclusions from what nobody does: each answer is `undefined`
 * where too many files have the name to be looked into.
 */

/** A `def` of a name. */
export interface NamedFunction {
  /** Undefined for a function that is no method. */
  readonly owner: NamedClass | undefined;
  readonly arity: Arity;
}

export interface NamedClass {
  readonly name: string;
  /** Last names of the classes that it inherits from, as far as its file shows. */
  readonly bases: readonly string[];
  /** Names of its own methods and of what its body assigns. */
  readonly members: readonly string[];
}

/** How many positional arguments a call must and may give, `self` left out. */
export type Arity = readonly [least: number, most: number];

/** The functions and methods of a name in the project, this file among its files. */
export function functionsNamed(module: PyModule, name: string): readonly NamedFunction[] | undefined {
  return withOthers(module, name, functionsIn);
}

export function functionsIn(alone: PyModule, name: string): readonly NamedFunction[] {
  return alone.words(name).flatMap((node) => {
    const definition = node.parent;
    if (definition?.type !== 'function_definition' || definition.name !== node) return [];
    const classNode = enclosingClass(definition);
    const owner = classNode && namedClass(alone, classNode);
    return [{ owner, arity: arityOf(definition) }];
  });
}

/** Whether a class of the project has a method of a name; also true where that cannot be told. Few files are looked into for it. */
export const isMethodOfProject = remembered((module: PyModule, name: string): boolean => {
  if (definesMethod(module.alone, name)) return true;
  return module.around.summaries(methodMention(name), definesMethod)?.includes(true) ?? true;
});

/** The files that may have a method of a name. */
export function methodMention(name: string): Mention {
  return { word: name, beside: [], needs: [`def ${name}`] };
}

function definesMethod(alone: PyModule, name: string): boolean {
  if (!new RegExp(`\\bdef[\\s\\\\]+${name}\\b`).test(alone.text)) return false;
  return functionsIn(alone, name).some(({ owner }) => owner !== undefined);
}

/**
 * Whether a class of the project has a method of a library's name that does not call the one it is named after: what the
 * library's does is not known of an object that may be of the class.
 */
export const isRedefined = remembered((module: PyModule, name: string): boolean => {
  if (redefines(module.alone, name)) return true;
  const mention = { word: name, beside: [], needs: [`def ${name}`] };
  return module.around.summaries(mention, redefines)?.includes(true) ?? true;
});

function redefines(alone: PyModule, name: string): boolean {
  return alone.words(name).some((node) => {
    const definition = node.parent;
    if (definition?.type !== 'function_definition' || definition.name !== node) return false;
    if (enclosingClass(definition) === undefined) return false;
    return ![...(definition.body ?? definition).walk()].some(
      ({ type, parent, text }) =>
        type === 'identifier' &&
        text === name &&
        parent?.type === 'attribute' &&
        parent.parent?.type === 'call',
    );
  });
}

/** Classes of other files that inherit from one of this name, directly or not. */
export function subclassesElsewhere(module: PyModule, name: string): readonly NamedClass[] | undefined {
  return subclassesOf(module, name)?.elsewhere;
}

/** Whether a class of the project inherits from another one, by their names, or from one that it does not name; also where too many have those. */
export function mayBeSubclass(module: PyModule, name: string, base: string): boolean {
  return subclassesOf(module, base)?.names.has(name) !== false || hasOpenBase(module, name);
}

/** `names`: of those of this file too, and other names that they are given. */
const subclassesOf = remembered((module: PyModule, name: string) => {
  const found = new Map<string, NamedClass>();
  const names = new Set([name]);
  for (const at of names) {
    const files = module.around.summaries({ word: at, beside: [] }, subclassesIn);
    if (files === undefined || names.size > MOST_SUBCLASSES) return undefined;
    const others = files.flat();
    for (const each of others)
      if (typeof each !== 'string' && !found.has(each.name)) found.set(each.name, each);
    for (const each of [...subclassesIn(module.alone, at), ...others])
      names.add(typeof each === 'string' ? each : each.name);
  }
  return { elsewhere: [...found.values()], names };
});

const MOST_SUBCLASSES = 64;

/** Those that inherit from it, and other names that it is given. */
function subclassesIn(alone: PyModule, name: string): readonly (NamedClass | string)[] {
  return alone.words(name).flatMap((node): readonly (NamedClass | string)[] => {
    const base = node.parent?.type === 'attribute' ? node.parent : node;
    const alias = aliasOf(base);
    if (alias !== undefined) return [alias];
    const classNode = base.closest('class_definition');
    return classNode !== undefined && basesOf(classNode).includes(base) ? [namedClass(alone, classNode)] : [];
  });
}

/** `B` of `from nets import A as B` and of `B = nets.A`. */
function aliasOf(base: PyNode): string | undefined {
  const imported = base.closest('aliased_import', 'block', 'module');
  if (imported?.type === 'aliased_import')
    return imported.alias?.text === base.text ? undefined : imported.alias?.text;
  const assigned =
    base.parent?.type === 'assignment' && base.parent.right === base ? base.parent.left : undefined;
  return assigned?.type === 'identifier' ? assigned.text : undefined;
}

/** Where other files set an attribute of a class's objects, or may: in a subclass, in a base, or from outside. */
export function settersElsewhere(
  module: PyModule,
  classNode: PyNode,
  name: string,
): readonly AttributeWrite[] | undefined {
  const owner = classNode.name?.text ?? '';
  const heirs = subclassesElsewhere(module, owner);
  if (heirs === undefined) return undefined;
  const bases = lineageOf(module, classNode).elsewhere.map((base) => namedClass(base.module, base.node));
  const family = [...bases, ...heirs];
  const names = new Set([owner, ...family.flatMap((each) => [each.name, ...each.bases])]);
  const isOfFamily = (of: string | undefined) => of === undefined || names.has(of) || hasOpenBase(module, of);
  const writes = attributeWritesElsewhere(module, name)?.filter((write) => isOfFamily(write.owner));
  // A property takes what is set, and gives what it likes.
  const given = family.filter(({ members }) => members.includes(name));
  return writes && [...writes, ...given.map((each) => ({ owner: each.name, made: undefined }))];
}

function namedClass(module: PyModule, classNode: PyNode): NamedClass {
  const { classes, imported } = ancestryOf(module, classNode);
  const assigned = (classNode.body?.named ?? []).flatMap((statement) => {
    const left = statement.named[0]?.type === 'assignment' ? statement.named[0].left : undefined;
    return left?.type === 'identifier' ? [left.text] : [];
  });
  return {
    name: classNode.name?.text ?? '',
    bases: [
      ...classes.slice(1).map((each) => each.name?.text ?? ''),
      ...imported.map((path) => path.slice(path.lastIndexOf('.') + 1)),
    ],
    members: [...methodsOf(classNode).map((method) => method.name?.text ?? ''), ...assigned],
  };
}

export function arityOf(functionNode: PyNode): Arity {
  const isMethod = enclosingClass(functionNode) !== undefined;
  const parameters = (functionNode.parameters?.named ?? []).slice(isMethod ? 1 : 0);
  const before = parameters.findIndex(({ type }) => type === 'keyword_separator');
  const positional = before === -1 ? parameters : parameters.slice(0, before);
  const isSpread = parameters.some(({ type }) => type === 'list_splat_pattern');
  const plain = positional.filter(({ type }) => !/splat|separator/.test(type));
  const least = plain.filter(({ type }) => !type.includes('default')).length;
  return [least, isSpread ? Number.POSITIVE_INFINITY : plain.length];
}

function withOthers<T>(
  module: PyModule,
  word: string,
  look: (alone: PyModule, word: string) => readonly T[],
): readonly T[] | undefined {
  // What is called by no name may be anything.
  if (word === '') return undefined;
  const others = module.around.summaries({ word, beside: [] }, look);
  return others && [...look(module.alone, word), ...others.flat()];
}

/** Whether other files may read a variable of a script: `train.out`, `from train import out`, or `out` behind a star. */
export function mayBeReadElsewhere(module: PyModule, name: string): boolean {
  if (!module.memo(mayBeImported, module)) return false;
  return module.around.summaries({ word: name, beside: [] }, namesMember)?.includes(true) ?? true;
}

/** What loads a file by a text that some code makes. */
const LOADERS = [
  'importlib',
  '__import__',
  'runpy',
  'pkgutil',
  'load_source',
  'zipimport',
  'exec',
  'execfile',
];

/** Another file has its name in it, or loads files by names that it makes. */
function mayBeImported(module: PyModule): boolean {
  const stem = /(?:^|[\\/])([^\\/]+)\.py$/.exec(module.path)?.[1] ?? '__init__';
  if (!/^\w+$/.test(stem) || stem === '__init__') return true;
  // As the program that it is.
  const asked = module.around.summaries({ word: '__main__', beside: [] }, importsProgram);
  if (asked?.includes(true) ?? true) return true;
  return [stem, ...LOADERS].some(
    (word) => module.around.summaries({ word, beside: [] }, isNamed)?.includes(true) ?? true,
  );
}

/** In its code, and not in what it says. */
function isNamed(alone: PyModule, word: string): boolean {
  return alone.words(word).some(({ type }) => type === 'identifier');
}

function namesMember(alone: PyModule, name: string): boolean {
  const isQuoted = new RegExp(`["']${name}["']`).test(alone.code);
  if (
    isQuoted &&
    alone.mentions(/\b(?:getattr|attrgetter|vars|__dict__|run_path|run_module|exec(?:file)?)\b/)
  )
    return true;
  return alone.words(name).some((node) => {
    const { parent } = node;
    if (parent?.type === 'attribute' && parent.attribute === node) return parent.object?.text !== 'self';
    if ((hasStarImport(alone) || alone.mentions(/\bexec(?:file)?\s*\(/)) && isUnbound(alone, node))
      return true;
    return parent !== undefined && /import|dotted_name/.test(parent.type);
  });
}

/** Whether another file may make a class of a class: by its name, by another name that it gives it, or by a call. */
export function mayInherit({ code }: PyModule, name: string): boolean {
  return new RegExp(
    `\\bclass\\s+\\w+\\s*\\([^)]*\\b${name}\\b|\\b${name}\\s+as\\b|=\\s*(?:\\w+\\.)*${name}\\s*$|\\btype\\([^()]*,[^)]*\\b${name}\\b`,
    'm',
  ).test(code);
}

/** How many arguments a call gives. */
export interface Passed {
  readonly positional: number;
  readonly all: number;
  readonly isSpread: boolean;
}

export function passedBy(call: PyNode): Passed {
  const positional = positionalArguments(call).length;
  return { positional, all: argumentsOf(call).length, isSpread: hasSplat(call) };
}

/** Whether a function with so many parameters takes what a call gives. */
export function mayTake([least, most]: Arity, { positional, all, isSpread }: Passed): boolean {
  return isSpread || (positional <= most && all >= least);
}
