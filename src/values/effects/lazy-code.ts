import { builtin, isPlain } from '../../library/library.js';
import { summariesTogether } from '../../semantic/companions.js';
import { calledDefinition, classAround } from '../../semantic/definitions.js';
import { definedElsewhere } from '../../semantic/elsewhere.js';
import type { Definition } from '../../semantic/flow.js';
import { placeOf } from '../../semantic/gate.js';
import { calledPath, qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { roleOf } from '../../semantic/names.js';
import { isMethodOfProject } from '../../semantic/project-names.js';
import { functionsOf, reachedFrom } from '../../semantic/reach.js';
import { remembered } from '../../semantic/remembered.js';
import { isGenerator, returnedBy } from '../../semantic/returns.js';
import { definedAnywhere } from '../../semantic/star-imports.js';
import { argumentsOf, enclosingClass, isCallee, isTarget, methodName } from '../../semantic/statements.js';
import { isUnbound, livesIn, readsOf, waysGiven } from '../../semantic/variables.js';
import type { PyNode } from '../../syntax/node.js';
import { keeps } from '../uses/escapes.js';
import { recordsNoGraph, runsWithoutGrad } from '../value/gradient.js';
import { isOfKnownPackage } from '../value/plain.js';
import { valuesPutInto } from '../value/put-into.js';
import { GradTrace } from '../value/trace.js';
import type { Suspect } from './differentiators.js';
import { ITERATED } from './forward-index.js';
import { runsWhenGoneThrough } from './handed-on.js';
import { contentsOf, isLive } from './live-value.js';

/** Code that runs where somebody goes through an object, and may compute with a graph there. Plain data: it outlives the scan. */
export interface LazyCode {
  readonly suspect: Suspect;
  readonly file: string;
  readonly start: number;
  /** It stores what it computes, or goes on with it. */
  readonly isKept: boolean;
  /** It gives more than numbers. */
  readonly isGiven: boolean;
}

/** Words of the files that have some. */
const WORDS = [...ITERATED, 'yield', 'collate_fn'];

interface Found {
  readonly code: readonly LazyCode[];
  /** Stands for files that were too many to look into. */
  readonly unread: Suspect | undefined;
}

/** Of this file and of the others of the project. */
export const lazyCode = remembered((module: PyModule): Found => {
  const code = new Map([[module.path, module.memo(lazyIn, module)]]);
  let unread: string | undefined;
  for (const word of WORDS) {
    const files = summariesTogether(module, { word, beside: [] }, lazyAlone);
    if (files === undefined) unread ??= module.around.unread ?? `many files name \`${word}\``;
    const others = new Map(
      files?.flatMap((each) => (each && !code.has(each.file) ? [[each.file, each]] : [])),
    );
    if (others.size === 0) continue;
    const { modules } = module.around.naming({ word, beside: [] }, (_text, path) => others.has(path));
    const seen = new Map(modules.map((there) => [there.path, there]));
    for (const { file, open } of others.values()) {
      const there = seen.get(file);
      code.set(file, there === undefined ? open : there.memo(lazyIn, there));
    }
  }
  return { code: [...code.values()].flat(), unread: unread === undefined ? undefined : unreadFiles(unread) };
});

function unreadFiles(clause: string): Suspect {
  return { name: '', place: '', clause, isUnread: true };
}

/** What a file says by itself: whether it has such code, and of which nobody knows what it runs without looking around. */
interface Alone {
  readonly file: string;
  readonly open: readonly LazyCode[];
}

function lazyAlone(alone: PyModule): Alone | undefined {
  const functions = functionsOf(alone).filter((each) => isLazy(alone, each));
  const given = [...valuesRunLater(alone)];
  if (functions.length + given.length === 0) return undefined;
  const open = functions.filter((each) => mayRunOthers(alone, each));
  return { file: alone.path, open: [...open, ...given].map((node) => lazy(alone, node)) };
}

/** Whether a function has calls of what other files may have put there. */
export function mayRunOthers(alone: PyModule, functionNode: PyNode): boolean {
  return [...functionNode.walk()].some((node) => runsOther(alone, node));
}

/** A call of what the file does not have, and no method of some data. */
function runsOther(alone: PyModule, call: PyNode): boolean {
  const callee = call.type === 'call' ? call.function : undefined;
  if (callee === undefined || recordsNoGraph(alone, call)) return false;
  const path = calledPath(alone, call);
  if (path !== undefined) return !isOfKnownPackage(path);
  return calledDefinition(alone, call) === undefined && !isUnbound(alone, callee) && isHeld(callee);
}

function lazyIn(module: PyModule): readonly LazyCode[] {
  const named = functionsOf(module).filter((each) => isLazy(module, each) && computes(module, each));
  const others = [...bodiesGoneThrough(module)].filter((each) => computesIn(module, each, new Set()));
  const given = [...valuesRunLater(module)].filter((each) => mayComputeWhenCalled(module, each, new Set()));
  return [...named, ...others, ...given].map((node) => lazy(module, node));
}

function lazy(module: PyModule, node: PyNode): LazyCode {
  const effect =
    node.type === 'function_definition'
      ? effectOf(module, node)
      : { isKept: REPLAYERS.some((word) => module.words(word).length > 0), isGiven: true };
  return { suspect: suspectFor(module, node), file: module.path, start: node.start, ...effect };
}

/** Functions of `itertools` that give again what they were given once. */
const REPLAYERS = ['tee', 'cycle'];

function effectOf(module: PyModule, functionNode: PyNode) {
  const trace = new GradTrace(module, functionNode, new Set(), 'graph');
  const isKept =
    keeps(module, functionNode) || (isGenerator(module, functionNode) && carriesOn(functionNode));
  return { isKept, isGiven: returnedBy(functionNode).some((each) => trace.of(each) !== 'plain') };
}

/** What a generator has computed before is there when it goes on. */
function carriesOn(generator: PyNode): boolean {
  return [...(generator.body ?? generator).walk()].some(({ type }) => /assignment$/.test(type));
}

function isLazy(module: PyModule, functionNode: PyNode): boolean {
  const isMethod = enclosingClass(functionNode) !== undefined;
  return (isMethod && ITERATED.has(functionNode.name?.text ?? '')) || isGenerator(module, functionNode);
}

/** `(net(x) for x in data)` */
function* bodiesGoneThrough(module: PyModule): Generator<PyNode> {
  for (const { parent } of module.words('for')) {
    const generator = parent?.type === 'for_in_clause' ? parent.parent : undefined;
    const body = generator?.type === 'generator_expression' ? generator.body : undefined;
    if (body !== undefined && runsWhenGoneThrough(module, body)) yield body;
  }
}

/** `f` of `map(f, data)` and of `DataLoader(data, collate_fn=f)` */
function* valuesRunLater(module: PyModule): Generator<PyNode> {
  for (const { parent: call } of module.words('map')) {
    const [first] = call?.type === 'call' ? argumentsOf(call) : [];
    if (first !== undefined && runsWhenGoneThrough(module, first)) yield first;
  }
  for (const { parent } of module.words('collate_fn'))
    if (parent?.type === 'keyword_argument' && parent.value !== undefined) yield parent.value;
}

function suspectFor(module: PyModule, node: PyNode): Suspect {
  const isFunction = node.type === 'function_definition';
  const owner = isFunction ? enclosingClass(node)?.name?.text : undefined;
  const name = isFunction ? (node.name?.text ?? '') : node.text;
  const computing = 'computes with a network or with parameters';
  return owner === undefined
    ? { name, place: placeOf(module, node), clause: `which ${computing}` }
    : { name: owner, place: placeOf(module, node), clause: `whose ${name} ${computing}` };
}

/** Functions that are looked into for one answer. */
const MOST_FUNCTIONS = 60;

/** Whether a function, or one that it runs, computes something with a graph. */
export function computes(module: PyModule, functionNode: PyNode, seen = new Set<PyNode>()): boolean {
  if (seen.has(functionNode)) return false;
  seen.add(functionNode);
  if (seen.size > MOST_FUNCTIONS) return true;
  return [functionNode, ...reachedFrom(module, functionNode)].some(
    (each) => !runsWithoutGrad(module, each) && computesIn(module, each.body ?? each, seen),
  );
}

/** Whether some code computes with a graph, itself or by what gave its variables their values; parameters are the caller's. */
export function mayGiveGraph(module: PyModule, code: PyNode, seen = new Set<PyNode>()): boolean {
  if (seen.has(code)) return false;
  seen.add(code);
  if (seen.size > MOST_FUNCTIONS || computesIn(module, code, new Set())) return true;
  return [...code.walk()].some((node) => {
    if (node.type === 'call') {
      const called = node.function && definedAnywhere(module, node.function);
      return (
        called !== undefined &&
        (called.node.type !== 'function_definition' || computes(called.module, called.node))
      );
    }
    if (node.type !== 'identifier' || roleOf(node) !== 'read' || isUnbound(module, node)) return false;
    // What a package gives was looked at with its call.
    if (calledPath(module, node.closest('call') ?? node)?.startsWith(`${qualifiedName(module, node)}.`))
      return false;
    const given = waysGiven(module, node).flatMap((way) => (way.kind === 'parameter' ? [] : sourceOf(way)));
    const put = readsOf(module, node).flatMap((read) => valuesPutInto(module, read));
    return [...given, ...put].some((each) => each === undefined || mayGiveGraph(module, each, seen));
  });
}

function sourceOf(way: Definition): PyNode | undefined {
  return way.kind === 'loop' ? way.iterable : 'value' in way ? way.value : undefined;
}

function computesIn(module: PyModule, code: PyNode, seen: Set<PyNode>): boolean {
  return [...code.walk()].some((node) =>
    node.type === 'call' ? mayCompute(module, node, seen) : isRead(module, node) && isLiveHere(module, node),
  );
}

/** What stands for a value here, and not for what is called or asked for a part. */
function isRead(module: PyModule, node: PyNode): boolean {
  if (isCallee(node) || node.parent?.object === node) return false;
  if (node.type === 'attribute') return !isTarget(node);
  if (node.type !== 'identifier' || roleOf(node) !== 'read') return false;
  const owner = node.closest('function_definition', 'lambda');
  return owner === undefined || !livesIn(module, node, owner);
}

function isLiveHere(module: PyModule, node: PyNode): boolean {
  return !recordsNoGraph(module, node) && isLive(module, node);
}

function mayCompute(module: PyModule, call: PyNode, seen: Set<PyNode>): boolean {
  const callee = call.function;
  if (callee === undefined || recordsNoGraph(module, call)) return false;
  const getsNetwork = (): boolean => argumentsOf(call).some((each) => contentsOf(module, each) === 'network');
  const path = calledPath(module, call);
  if (path !== undefined) {
    const found = definedElsewhere(module, path);
    if (found?.node.type === 'function_definition') return computes(found.module, found.node, seen);
    return found === undefined && getsNetwork();
  }
  // What the file has was looked at with what runs it.
  if (calledDefinition(module, call) !== undefined) return false;
  if (isUnbound(module, callee)) return !isPlain(builtin(callee.text)) && getsNetwork();
  const mayRun = isHeld(callee) || isMethodOfProject(module, methodName(call) ?? '');
  return isLive(module, call) || (mayRun && contentsOf(module, callee) === 'unknown');
}

/** A value that is called, and no method of some data: `self.transform(x)`, `f(x)`. */
function isHeld(callee: PyNode): boolean {
  if (callee.type !== 'attribute') return true;
  return callee.object?.text === classAround(callee)?.self;
}

function mayComputeWhenCalled(module: PyModule, value: PyNode, seen: Set<PyNode>): boolean {
  const definition = definedAnywhere(module, value);
  if (definition?.node.type === 'function_definition')
    return computes(definition.module, definition.node, seen);
  if (value.type === 'lambda') return computes(module, value, seen);
  return definition === undefined && contentsOf(module, value) !== 'none';
}
