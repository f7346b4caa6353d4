import { foundAnywhere, isAnywhere } from '../../semantic/anywhere.js';
import { attributeValues } from '../../semantic/attributes.js';
import { nameOf } from '../../semantic/called-name.js';
import { summariesTogether } from '../../semantic/companions.js';
import { ancestryOf, attributeOfSelf, calledDefinition, classAround } from '../../semantic/definitions.js';
import { qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { functionsByName, functionsOf, methodsByName, reachedFrom } from '../../semantic/reach.js';
import {
  decoratorsOf,
  enclosingClass,
  enclosingFunction,
  givenTo,
  isTarget,
  ownNodes,
  positionalArguments,
} from '../../semantic/statements.js';
import { plainString } from '../../semantic/strings.js';
import type { PyNode } from '../../syntax/node.js';
import { keepsGiven } from '../../values/value/names.js';
import { isMethodOfLibraries, isOfKnownPackage } from '../../values/value/plain.js';
import { runsInForward } from '../module/modules.js';
import { mayHaveGraph, type Store, storesOf } from './forward-stores.js';
import { isReadInProject } from './graph-reads.js';
import type { Owner } from './holds.js';

/** A function of another file that a forward hands something to, that decorates a part of it, or that may take its place. */
export interface Handed extends Owner {
  readonly name: string;
  readonly as: 'function' | 'object' | 'layer' | 'decorator' | 'method' | 'backward';
}

/** Where a function or method of the project of this name keeps what it is given, if somebody reads that. */
export function keptByNamed(module: PyModule, { name, as }: Handed): string | undefined {
  return module.memo(FINDERS[as], name);
}

/** `measure.backward(grad)` by hand, for what it gives: of an autograd function, it has a graph as others do. */
function findByHand(module: PyModule, name: string): string | undefined {
  return isAnywhere(module, name, takesResult) ? name : undefined;
}

function takesResult(alone: PyModule, name: string): boolean {
  return alone.words(name).some((node) => {
    const place = node.parent?.attribute === node ? node.parent : undefined;
    const isCalled = place?.parent?.type === 'call' && place.parent.function === place;
    return place !== undefined && !(isCalled && place.parent?.parent?.type === 'expression_statement');
  });
}

/** `Net.encode = other`: what runs there instead is not in the class. */
function findReplacing(module: PyModule, name: string): string | undefined {
  return isAnywhere(module, name, replacesMethod) ? name : findKept(module, name, doneByOverride);
}

/** By a method that may take the place of one of a class of another file. */
function doneByOverride(alone: PyModule, name: string): Done {
  const overrides = functionsByName(alone, name).filter((method) => {
    const classNode = enclosingClass(method);
    if (classNode === undefined || runsInForward(alone, method)) return false;
    return ancestryOf(alone, classNode).imported.some((path) => !isOfKnownPackage(path));
  });
  return doneBy(alone, overrides);
}

function replacesMethod(alone: PyModule, name: string): boolean {
  const isSet = alone.words(name).some((node) => {
    const target = node.parent?.attribute === node ? node.parent : undefined;
    const value = target?.parent?.left === target ? target?.parent?.right : undefined;
    return target && value && attributeOfSelf(target) === undefined && !PLAIN.test(value.type);
  });
  const setter = alone.words('setattr').map((node) => positionalArguments(node.parent ?? node)[1]);
  return isSet || setter.some((given) => given !== undefined && plainString(given) === name);
}

const PLAIN = /^(?:string|integer|float|true|false|none|list|dictionary|tuple|(?:comparison|not)_operator)$/;

function findKeeper(module: PyModule, name: string): string | undefined {
  return findKept(module, name, doneByFunction);
}

function findCalledKeeper(module: PyModule, name: string): string | undefined {
  return findKept(module, name, doneByCalling);
}

/** `self.update(x)` of `self.update = Gate()`: by a function, it could be the method of a container. */
function findLayer(module: PyModule, name: string): string | undefined {
  return isAnywhere(module, name, isNoClass) ? name : findCalledKeeper(module, name);
}

function isNoClass(alone: PyModule, name: string): boolean {
  if (functionsByName(alone, name).length > 0) return true;
  return alone.words(name).some((node) => {
    const { parent } = node;
    if (parent?.type === 'aliased_import') return true;
    if (parent?.type !== 'class_definition') return isTarget(node);
    return decoratorsOf(parent).length > 0 || /__new__|metaclass/.test(alone.codeOf(parent));
  });
}

/** Where something of a name keeps what it is given, or a function that it hands that to. */
function findKept(module: PyModule, name: string, look: typeof doneByFunction): string | undefined {
  const further = new Set<string>();
  const keptBy = (asked: string, by: typeof doneByFunction): string | undefined => {
    const files = summariesTogether(module, { word: asked, beside: [] }, by);
    if (files === undefined || further.size > MOST_HANDED) return name;
    const all = [...files, by(module.alone, asked)];
    for (const next of all.flatMap(({ hands }) => hands)) further.add(next);
    const kept = all.flatMap((each) => each.kept);
    return kept.find((each) => isReadInProject(module, each.name, each.isHeld))?.into;
  };
  let found = keptBy(name, look);
  for (const next of further) found ??= keptBy(next, doneByFunction);
  return found;
}

/** Functions of other files that are looked for by their name. */
const MOST_HANDED = 64;

/** What some functions of a file do with what they are given. */
interface Done {
  readonly kept: readonly { readonly into: string; readonly name: string; readonly isHeld: boolean }[];
  /** The functions of other files that get it. */
  readonly hands: readonly string[];
}

/** By calling an object of a class of this name. */
function doneByCalling(alone: PyModule, owner: string): Done {
  const methods = methodsByName(alone, '__call__');
  return doneBy(
    alone,
    methods.filter((each) => enclosingClass(each)?.name?.text === owner),
  );
}

function doneByFunction(alone: PyModule, name: string): Done {
  return doneBy(alone, functionsByName(alone, name));
}

function doneBy(alone: PyModule, functions: readonly PyNode[]): Done {
  const stores = functions.flatMap((each) => storesRunBy(alone, each));
  const code = functions.flatMap((each) => [each, ...reachedFrom(alone, each)]);
  const given = code.flatMap((each) => namesGiven(alone, each));
  return {
    kept: stores.map((store) => ({ ...store, into: store.into.text })),
    hands: given.filter((each) => each.as === 'function').map((each) => each.name),
  };
}

const FINDERS = {
  function: findKeeper,
  object: findCalledKeeper,
  layer: findLayer,
  decorator: findCache,
  method: findReplacing,
  backward: findByHand,
};

function findCache(module: PyModule, name: string): string | undefined {
  return foundAnywhere(module, name, keptByDecorator, name);
}

/** What the function that a decorator puts in the place of another keeps. */
function keptByDecorator(alone: PyModule, name: string): string | undefined {
  const decorators = functionsByName(alone, name);
  const inner = functionsOf(alone).filter((each) =>
    decorators.some((decorator) => decorator !== each && decorator.contains(each)),
  );
  return inner.flatMap((each) => [...storesOf(alone, each)])[0]?.into.text;
}

export function storesRunBy(module: PyModule, functionNode: PyNode): readonly Store[] {
  return [functionNode, ...reachedFrom(module, functionNode)].flatMap((each) => {
    const stores = [...storesOf(module, each)];
    return makesAnew(module, each) ? stores.filter(({ into }) => !isPartOfSelf(into)) : stores;
  });
}

/** What it sets is of a new object, which is looked at where that is kept: only making one runs it. */
function makesAnew(module: PyModule, functionNode: PyNode): boolean {
  if (functionNode.name?.text !== '__init__' || enclosingClass(functionNode) === undefined) return false;
  return module
    .words('__init__')
    .every((node) => node.parent?.attribute !== node || enclosingFunction(node)?.name?.text === '__init__');
}

/** `self`, `self.name`, `self.name[key]`: not what was given in. */
function isPartOfSelf(into: PyNode): boolean {
  const object = into.type === 'subscript' ? into.value : into;
  return (
    object !== undefined &&
    (attributeOfSelf(object) !== undefined || object.text === classAround(object)?.self)
  );
}

/** The functions and methods of other files that a forward hands what may have a graph. */
export function namesGiven(module: PyModule, method: PyNode): readonly Pick<Handed, 'name' | 'as'>[] {
  return [...ownNodes(method)].flatMap((call): readonly Pick<Handed, 'name' | 'as'>[] => {
    const callee = call.type === 'call' ? call.function : undefined;
    if (callee === undefined || calledDefinition(module, call) !== undefined) return [];
    const path = qualifiedName(module, callee);
    const name = nameOf(callee);
    const values = attributeValues(module, callee);
    const isKnown =
      path === undefined ? isMethodOfLibraries(name) && !isOfProject(module, callee) : isOfKnownPackage(path);
    if (path === undefined ? callee.type !== 'attribute' : isKnown) return [];
    if (path === undefined && callee.object?.type === 'call' && !isOfProject(module, callee)) return [];
    if (!givenTo(call).some((each) => mayHaveGraph(module, each))) return [];
    // `self.log(y)` of `self.log = Log()`
    const made = (values ?? []).flatMap(({ function: maker }) =>
      maker === undefined || isOfKnownPackage(qualifiedName(module, maker) ?? '') ? [] : [maker],
    );
    const as = keepsGiven(name) ? 'layer' : 'object';
    const objects = made.map((maker) => ({ name: nameOf(maker), as }) as const);
    return isKnown ? objects : [{ name, as: 'function' }, ...objects];
  });
}

/** `self.tracker.log(y)` of `self.tracker = Tracker()`, `super().log(y)`: a method of the project by the name of another. */
function isOfProject(module: PyModule, { object }: PyNode): boolean {
  if (object?.function?.text === 'super') return true;
  return ((object && attributeValues(module, object)) ?? []).some(({ function: maker }) => {
    const path = maker && qualifiedName(module, maker);
    return path !== undefined && !isOfKnownPackage(path);
  });
}
