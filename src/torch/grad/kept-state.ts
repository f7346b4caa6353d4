import { isOfModule } from '../../library/library.js';
import { AUTOGRAD_FUNCTIONS } from '../../library/names.js';
import { UNSEEN_METHODS } from '../../library/python.js';
import { isAnywhere } from '../../semantic/anywhere.js';
import { attributeUses } from '../../semantic/attribute-uses.js';
import { summariesTogether } from '../../semantic/companions.js';
import { ancestryOf, attributeOfSelf, calledDefinition, methodNamed } from '../../semantic/definitions.js';
import { isMissing, makerOf } from '../../semantic/elsewhere.js';
import { shown } from '../../semantic/gate.js';
import type { PyModule } from '../../semantic/module.js';
import { isMethodOfProject } from '../../semantic/project-names.js';
import { ask, type Question } from '../../semantic/question.js';
import { functionsOf, methodsByName, reachedFrom } from '../../semantic/reach.js';
import {
  enclosingClass,
  enclosingFunction,
  methodName,
  ownNodes,
  receiverOf,
} from '../../semantic/statements.js';
import type { PyNode } from '../../syntax/node.js';
import { isBaseBesideOthers } from '../../values/effects/inherited.js';
import { isProperty, mayHaveForward, moduleKind, runsInForward } from '../module/modules.js';
import { ONLY_READ } from '../questions.js';
import { cachesByCall, cachesGraph, keysOfDecorators, keysOfDressers } from './caching.js';
import { keysGiven, namesRun } from './given-keys.js';
import { giverOf, isReadForGraph, isReadInProject, readsGraphIn, readsGraphOf } from './graph-reads.js';
import { type KeptState, mayHold, type Owner, UNREAD } from './holds.js';
import { type Handed, keptByNamed, storesRunBy } from './named-keepers.js';
import { ownKeeper, ownKeepers } from './own-keepers.js';
import { recomputedWeight } from './recomputed-weights.js';
import { isSetBefore } from './set-before.js';

export interface LeftState extends Pick<KeptState, 'owner' | 'file' | 'attribute'> {
  /** What leaves it, where that is no forward. */
  readonly method?: string;
}

/** What the forwards of one file keep, and what they hand to code of other files, which may. */
interface ForwardKeeps {
  readonly states: readonly KeptState[];
  readonly calls: readonly Handed[];
}

/**
 * A forward stores a tensor with its graph where it outlives the call, and somebody reads it later: a recurrent state, a cache,
 * a second loss. What an evaluation leaves there, training may differentiate. In this file, or in any other
 * of the project, of a class that the network may have a part of. `code`: what runs it, maybe by other methods. `isEvaluated`: the
 * network is of this class, and in evaluation mode.
 */
export function stateOfForward(
  module: PyModule,
  network: PyNode,
  code: PyNode = network,
  isEvaluated = (_owner: Owner): boolean => false,
): LeftState | undefined {
  // Who knows what the forward of a class does that is not there.
  const maker = makerOf(module, network) ?? '';
  if (isMissing(module, maker)) return { ...UNREAD, owner: maker.slice(maker.lastIndexOf('.') + 1) };
  const recomputed = module.memo(recomputedWeight, module);
  for (const name of ['forward', '__call__', ...methodsRun(code, network.text)]) {
    const files = module.memo(keptAnywhere, name);
    if (files === undefined) return UNREAD;
    if (recomputed !== undefined) return recomputed;
    const state = stateIn(module, network, files, isEvaluated);
    if (state !== undefined) return isForward(name) ? state : { ...state, method: name };
  }
  return leftUnseen(module, network);
}

function stateIn(
  module: PyModule,
  network: PyNode,
  files: readonly ForwardKeeps[],
  isEvaluated: (owner: Owner) => boolean,
): LeftState | undefined {
  const may = (owner: Owner): boolean => mayHold(module, network, owner);
  for (const { states, calls } of files) {
    const state = states.find(
      (each) =>
        may(each) &&
        !(each.inTraining && isEvaluated(each)) &&
        (each.unless === undefined || isMethodOfProject(module, each.unless)) &&
        (each.unread === undefined || isReadInProject(module, each.unread, each.isHeld)),
    );
    if (state !== undefined) return state;
    for (const call of calls) {
      const into = may(call) ? keptBy(module, call.key) : undefined;
      if (into !== undefined) return { owner: call.owner, file: call.file, attribute: into };
    }
  }
  return undefined;
}

function keptBy(module: PyModule, key: string): string | undefined {
  const [as, own = '', below] = key.split(' ');
  if (as !== 'own') return keptByNamed(module, key);
  if (below !== undefined && !isAnywhere(module, below, isBaseBesideOthers)) return undefined;
  return ownKeeper(module, own) === undefined ? undefined : own;
}

/**
 * What parts of a network may keep of what they compute with their own parameters, where Python runs a method of theirs
 * that no call names: by `part[key]`, `with part:`, `len(part)`.
 */
function leftUnseen(module: PyModule, network: PyNode): LeftState | undefined {
  for (const name of UNSEEN_METHODS) {
    const { keepers, unread } = ownKeepers(module, name);
    if (unread !== undefined) return UNREAD;
    for (const { home, node } of keepers) {
      const owner = enclosingClass(node)?.name?.text;
      const file = home.path;
      if (owner === undefined || mayHold(module, network, { owner, file }))
        return { owner: owner ?? file, file, attribute: 'self', method: name };
    }
  }
  return undefined;
}

/** The methods of a network that some code runs: `encode` of `model.encode(x)`. */
function methodsRun(code: PyNode, network: string): readonly string[] {
  const calls = [...code.walk()].filter((node) => node.type === 'call' && receiverOf(node)?.text === network);
  const names = calls.map((call) => methodName(call) ?? '');
  return [...new Set(names)].filter((name) => name !== 'forward' && !isOfModule(name));
}

function isForward(name: string): boolean {
  return name === 'forward' || name === '__call__';
}

function keptAnywhere(module: PyModule, word: string): readonly ForwardKeeps[] | undefined {
  const others = summariesTogether(module, { word, beside: [] }, keptIn);
  return others && [module.alone.memo(keptIn, word), ...others];
}

/** What runs by a name: a forward with all that it runs, or another method of a network. */
function keptIn(module: PyModule, name: string): ForwardKeeps {
  const isRun = isForward(name);
  if (isRun && !mayHaveForward(module.text)) return { states: [], calls: [] };
  const states = new Map<string, KeptState>();
  const calls = new Map<string, Handed>();
  for (const method of isRun ? functionsOf(module) : methodsByName(module, name)) {
    const classNode = enclosingClass(method);
    const owner = classNode?.name?.text;
    if (classNode === undefined || owner === undefined) continue;
    if (isRun && !mayRunInForward(module, classNode, method)) continue;
    if (moduleKind(module, classNode).isModule === 'no' && !isLikeNetwork(module, classNode)) continue;
    // What other methods of the file leave by themselves is asked where they are called.
    const stored = isRun ? statesLeft(module, classNode, method, owner) : [];
    const left = [...stored, ...statesCached(module, method, owner)];
    for (const state of left) {
      const key = `${owner} ${state.unread} ${state.isHeld} ${state.unless} ${state.inTraining}`;
      if (!states.has(key)) states.set(key, state);
    }
    const add = (key: string) => calls.set(`${owner} ${key}`, { owner, file: module.path, key });
    for (const code of [method, ...reachedFrom(module, method)]) {
      for (const key of [...keysGiven(module, code), ...keysOfDecorators(module, code)]) add(key);
      for (const run of isRun ? namesRun(module, code) : []) add(`own ${run}`);
    }
    const { imported, classes } = ancestryOf(module, classNode);
    for (const key of classes.flatMap((each) => keysOfDressers(module, each))) add(key);
    if (left.length > 0 && imported.some((path) => AUTOGRAD_FUNCTIONS.has(path))) add('backward backward');
    // An object has no place for something else by the name of a property.
    const own = isProperty(method) ? '' : (method.name?.text ?? '');
    if (own !== '') add(`method ${own}`);
  }
  return { states: [...states.values()], calls: [...calls.values()] };
}

/** An object that is called and asked as a network is, and may be around one. */
function isLikeNetwork(module: PyModule, classNode: PyNode): boolean {
  const has = (name: string): boolean => methodNamed(module, classNode, name) !== undefined;
  return has('__call__') && (has('eval') || has('__getattr__'));
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
  for (const { into, name, isHeld, unless, inTraining } of storesRunBy(module, method)) {
    const own = attributeOfSelf(into)?.classNode;
    const reads = isHeld ? readsGraphIn : readsGraphOf;
    const isRead = own ? isReadByFamily(module, classNode, name, isHeld) : reads(module, name) === 'all';
    // `self` of a helper is another object than the network.
    const isHelper = own !== undefined && !ancestryOf(module, classNode).classes.includes(own);
    const attribute = isHelper ? `${own.name?.text}.${name}` : into.text;
    const unread = isRead ? undefined : name;
    const isOwn = inTraining && !isHelper && enclosingFunction(into) === method;
    yield { owner, file: module.path, attribute, unread, isHeld, unless, inTraining: isOwn };
  }
}

function* statesCached(module: PyModule, method: PyNode, owner: string): Generator<KeptState> {
  const known = { owner, file: module.path, unread: undefined, isHeld: true };
  // `@cached_property`: what it computed once is there for all who ask later.
  if (cachesGraph(module, method)) yield { ...known, attribute: `self.${method.name?.text}` };
  const [cache] = module.memo(cachesMade, module);
  if (cache !== undefined) yield { ...known, attribute: shown(cache) };
  for (const call of ownNodes(method)) {
    const called = call.type === 'call' ? calledDefinition(module, call) : undefined;
    if (called?.type !== 'function_definition' || enclosingClass(called) !== undefined) continue;
    if (cachesGraph(module, called)) yield { ...known, attribute: called.name?.text ?? '' };
  }
}

function cachesMade(module: PyModule): readonly PyNode[] {
  const words = ['cache', 'lru_cache', 'defaultdict'];
  const calls = words.flatMap((word) => module.words(word).flatMap(callsAround));
  return calls.filter((call) => cachesByCall(module, call));
}

/** `lru_cache(None)` and `lru_cache(None)(make)` */
function callsAround(name: PyNode): readonly PyNode[] {
  const call = name.closest('call');
  return call === undefined ? [] : [call, call.parent?.type === 'call' ? call.parent : call];
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

export function stateOnlyRead({ around, path }: PyModule, state: LeftState): Question {
  // Words stand for what was too much to look into.
  if (state.owner.includes(' '))
    return ask(
      'kept-only-read',
    )`Is all that ${'the networks of this project'} keep of a forward ${ONLY_READ} (${around.unread ?? 'there are more than were looked into'})?`;
  const where = ['', path].includes(state.file) ? '' : ` (\`${state.file}\`)`;
  if (state.method !== undefined)
    return ask(
      'kept-only-read',
    )`Is what \`${`${state.owner}.${state.method}`}\`${where} leaves in \`${state.attribute}\` ${ONLY_READ}?`;
  return ask(
    'kept-only-read',
  )`Is what the forward of \`${state.owner}\`${where} leaves in \`${state.attribute}\` ${ONLY_READ}?`;
}
