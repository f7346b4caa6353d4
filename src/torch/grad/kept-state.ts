import { AUTOGRAD_FUNCTIONS, CACHING } from '../../library/names.js';

import { foundAnywhere, isAnywhere } from '../../semantic/anywhere.js';
import { attributeUses } from '../../semantic/attribute-uses.js';
import { attributeValues } from '../../semantic/attributes.js';
import { nameOf } from '../../semantic/called-name.js';
import { ancestryOf, attributeOfSelf, calledDefinition, classAround } from '../../semantic/definitions.js';
import { qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { functionsByName, functionsOf, methodsByName, reachedFrom } from '../../semantic/reach.js';
import { returnsOf } from '../../semantic/returns.js';
import {
  calleeOf,
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
import { isProperty, mayHaveForward, moduleKind, runsInForward } from '../module/modules.js';
import { mayHaveGraph, type Store, storesOf } from './forward-stores.js';
import { giverOf, isReadForGraph, isReadInProject, readsGraphIn, readsGraphOf } from './graph-reads.js';
import { type KeptState, mayHold, type Owner, UNREAD } from './holds.js';
import { recomputedWeight } from './recomputed-weights.js';
import { isSetBefore } from './set-before.js';

/** What the forwards of one file keep, and what they hand to code of other files, which may. */
interface ForwardKeeps {
  readonly states: readonly KeptState[];
  readonly calls: readonly Handed[];
}

/** A function of another file that a forward hands something to, that decorates a part of it, or that may take its place. */
interface Handed extends Owner {
  readonly name: string;
  readonly as: 'function' | 'object' | 'layer' | 'decorator' | 'method' | 'backward';
}

/**
 * A forward stores a tensor with its graph where it outlives the call, and somebody reads it later: a recurrent state, a cache,
 * a second loss. What an evaluation leaves there, training may differentiate. In this file, or in any other
 * of the project, of a class that the network may have a part of.
 */
export function stateOfForward(
  module: PyModule,
  network: PyNode,
): Pick<KeptState, 'owner' | 'file' | 'attribute'> | undefined {
  const files = module.memo(keptAnywhere, module);
  if (files === undefined) return UNREAD;
  const recomputed = module.memo(recomputedWeight, module);
  if (recomputed !== undefined) return recomputed;
  const may = (owner: Owner): boolean => mayHold(module, network, owner);
  for (const { states, calls } of files) {
    const state = states.find(
      (each) => may(each) && (each.unread === undefined || isReadInProject(module, each.unread, each.isHeld)),
    );
    if (state !== undefined) return state;
    for (const call of calls) {
      const into = may(call) ? keptByNamed(module, call) : undefined;
      if (into !== undefined) return { owner: call.owner, file: call.file, attribute: into };
    }
  }
  return undefined;
}

function keptAnywhere(module: PyModule): readonly ForwardKeeps[] | undefined {
  const own = module.alone.memo(keptIn, module.alone);
  const others = module.around.summaries({ word: 'forward', beside: [] }, keptIn);
  return others && [own, ...others];
}

/** Where a function or method of the project of this name keeps what it is given, if somebody reads that. */
function keptByNamed(module: PyModule, { name, as }: Handed): string | undefined {
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
  return isAnywhere(module, name, replacesMethod) ? name : findKept(module, name, keptByOverride);
}

/** What a method keeps that may take the place of one of a class of another file. */
function keptByOverride(alone: PyModule, name: string): ReturnType<typeof keptByFunction> {
  const overrides = functionsByName(alone, name).filter((method) => {
    const classNode = enclosingClass(method);
    if (classNode === undefined || runsInForward(alone, method)) return false;
    return ancestryOf(alone, classNode).imported.some((path) => !isOfKnownPackage(path));
  });
  return overrides.flatMap((each) => keptBy(alone, each));
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
  return findKept(module, name, keptByFunction);
}

function findCalledKeeper(module: PyModule, name: string): string | undefined {
  return findKept(module, name, keptByCalling);
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

function findKept(module: PyModule, name: string, look: typeof keptByFunction): string | undefined {
  const files = module.around.summaries({ word: name, beside: [] }, look);
  if (files === undefined) return name;
  const kept = [...files, look(module.alone, name)].flat();
  return kept.find((each) => isReadInProject(module, each.name, each.isHeld))?.into;
}

/** What an object of a class of this name keeps when it is called. */
function keptByCalling(alone: PyModule, owner: string): ReturnType<typeof keptByFunction> {
  const methods = methodsByName(alone, '__call__').filter(
    (each) => enclosingClass(each)?.name?.text === owner,
  );
  return methods.flatMap((each) => keptBy(alone, each));
}

function keptByFunction(
  alone: PyModule,
  name: string,
): readonly { into: string; name: string; isHeld: boolean }[] {
  return functionsByName(alone, name).flatMap((definition) => keptBy(alone, definition));
}

function keptBy(alone: PyModule, definition: PyNode): ReturnType<typeof keptByFunction> {
  return storesRunBy(alone, definition).map((store) => ({ ...store, into: store.into.text }));
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

function storesRunBy(module: PyModule, functionNode: PyNode): readonly Store[] {
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

function keptIn(module: PyModule): ForwardKeeps {
  if (!mayHaveForward(module.text)) return { states: [], calls: [] };
  const states = new Map<string, KeptState>();
  const calls = new Map<string, Handed>();
  for (const method of functionsOf(module)) {
    const classNode = enclosingClass(method);
    const owner = classNode?.name?.text;
    if (classNode === undefined || owner === undefined || !mayRunInForward(module, classNode, method))
      continue;
    if (moduleKind(module, classNode).isModule === 'no') continue;
    const left = [...statesLeft(module, classNode, method, owner)];
    for (const state of left) {
      const key = `${owner} ${state.unread} ${state.isHeld}`;
      if (!states.has(key)) states.set(key, state);
    }
    for (const each of namesGiven(module, method))
      calls.set(`${owner} ${each.as} ${each.name}`, { owner, file: module.path, ...each });
    for (const name of decoratorNames(module, method))
      calls.set(`${owner} @${name}`, { owner, file: module.path, name, as: 'decorator' });
    const { imported } = ancestryOf(module, classNode);
    if (left.length > 0 && imported.some((path) => AUTOGRAD_FUNCTIONS.has(path)))
      calls.set(`${owner}.backward`, { owner, file: module.path, name: 'backward', as: 'backward' });
    // An object has no place for something else by the name of a property.
    const own = isProperty(method) ? '' : (method.name?.text ?? '');
    if (own !== '') calls.set(`${owner}.${own}`, { owner, file: module.path, name: own, as: 'method' });
  }
  return { states: [...states.values()], calls: [...calls.values()] };
}

/** A property runs where it is read. */
function mayRunInForward(module: PyModule, classNode: PyNode, method: PyNode): boolean {
  if (!isProperty(method) || runsInForward(module, method)) return runsInForward(module, method);
  const name = method.name?.text ?? '';
  return module.words(name).some((node) => node.parent?.attribute === node && classNode.contains(node));
}

function* statesLeft(
  module: PyModule,
  classNode: PyNode,
  method: PyNode,
  owner: string,
): Generator<KeptState> {
  for (const { into, name, isHeld } of storesRunBy(module, method)) {
    const own = attributeOfSelf(into)?.classNode;
    const reads = isHeld ? readsGraphIn : readsGraphOf;
    const isRead = own ? isReadByFamily(module, classNode, name, isHeld) : reads(module, name) === 'all';
    // `self` of a helper is another object than the network.
    const isHelper = own !== undefined && !ancestryOf(module, classNode).classes.includes(own);
    const attribute = isHelper ? `${own.name?.text}.${name}` : into.text;
    const unread = isRead ? undefined : name;
    yield { owner, file: module.path, attribute, unread, isHeld };
  }
  const known = { owner, file: module.path, unread: undefined, isHeld: true };
  // `@cached_property`: what it computed once is there for all who ask later.
  const caching = decoratorsOf(method).some((each) => caches(module, each));
  if (caching && returnsGraph(module, method)) yield { ...known, attribute: `self.${method.name?.text}` };
  for (const call of ownNodes(method)) {
    const called = call.type === 'call' ? calledDefinition(module, call) : undefined;
    if (called?.type !== 'function_definition' || enclosingClass(called) !== undefined) continue;
    if (decoratorsOf(called).some((each) => caches(module, each)) && returnsGraph(module, called))
      yield { ...known, attribute: called.name?.text ?? '' };
  }
}

function isReadByFamily(module: PyModule, classNode: PyNode, name: string, isHeld: boolean): boolean {
  return attributeUses(module, classNode, name).some(
    ({ kind, node }) =>
      kind === 'read' &&
      isReadForGraph(module, node) &&
      giverOf(module, node) === undefined &&
      !isSetBefore(module, node, isHeld),
  );
}

/** A decorator of Python that keeps what the function gave. */
function caches(module: PyModule, decorator: PyNode): boolean {
  const path = qualifiedName(module, calleeOf(decorator));
  return path !== undefined && CACHING.has(path);
}

function returnsGraph(module: PyModule, functionNode: PyNode): boolean {
  return returnsOf(functionNode).some((value) => value !== undefined && mayHaveGraph(module, value));
}

/** The decorators that are functions of the project, by their names. */
function decoratorNames(module: PyModule, method: PyNode): readonly string[] {
  return decoratorsOf(method).flatMap((decorator) => {
    const callee = calleeOf(decorator);
    const path = qualifiedName(module, callee);
    if (path !== undefined && isOfKnownPackage(path)) return [];
    const isNamed = callee.type === 'identifier' ? module.resolve(callee) !== undefined : path !== undefined;
    return isNamed ? [nameOf(callee)] : [];
  });
}

/** The functions and methods of other files that a forward hands what may have a graph. */
function namesGiven(module: PyModule, method: PyNode): readonly Pick<Handed, 'name' | 'as'>[] {
  return [...ownNodes(method)].flatMap((call): readonly Pick<Handed, 'name' | 'as'>[] => {
    const callee = call.type === 'call' ? call.function : undefined;
    if (callee === undefined || calledDefinition(module, call) !== undefined) return [];
    const path = qualifiedName(module, callee);
    const name = nameOf(callee);
    const values = attributeValues(module, callee);
    const isKnown = path === undefined ? isMethodOfLibraries(name) : isOfKnownPackage(path);
    if (path === undefined ? callee.type !== 'attribute' : isKnown) return [];
    if (path === undefined && callee.object?.type === 'call') return [];
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
