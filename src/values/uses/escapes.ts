import { SPECIAL_METHODS, WRITING } from '../../library/names.js';
import {
  ancestryOf,
  calledDefinition,
  methodNamed,
  methodsOf,
  selfName,
} from '../../semantic/definitions.js';
import { reachingDefinitions } from '../../semantic/flow.js';
import { shown } from '../../semantic/gate.js';
import { calledPath } from '../../semantic/imports.js';
import { partsOfLiteral } from '../../semantic/literals.js';
import type { PyModule } from '../../semantic/module.js';
import { ask, type Question } from '../../semantic/question.js';
import { methodElsewhere, methodsByName } from '../../semantic/reach.js';
import {
  argumentsOf,
  argumentValue,
  enclosingFunction,
  givenTo,
  ownNodes,
  receiverOf,
  rootOf,
} from '../../semantic/statements.js';
import { isUnbound, livesIn, readsOf, waysReaching, writesOf } from '../../semantic/variables.js';
import type { PyNode } from '../../syntax/node.js';
import { ONLY_READ } from '../../torch/questions.js';
import { keepsInReceiver } from '../value/names.js';
import { isPlainParameter } from '../value/parts.js';
import { GradTrace } from '../value/trace.js';
import { changedInPlace } from './in-place.js';
import { isMadeBy, isMadeIn } from './made.js';

/** A value that may leave a function with its graph. */
export interface Escape {
  readonly node: PyNode;
  readonly question: Question;
  /** Where others find it; undefined when the caller gets it. */
  readonly into: PyNode | undefined;
  /** It has a graph only where what the function was given has one. */
  readonly isDerived: boolean;
  /** Nothing shows that it was computed with the network: code elsewhere made it, or somebody else's values. */
  readonly isUnknown: boolean;
}

/**
 * The values that leave the function, from anywhere or from a part of it, and may carry a graph: returned, yielded, or stored
 * where others see them, by itself or by a function of the file that it runs.
 */
export function* escapesOf(
  module: PyModule,
  functionNode: PyNode,
  trace: GradTrace,
  part = functionNode.body ?? functionNode,
  running: readonly PyNode[] = [functionNode],
): Generator<Escape> {
  for (const node of part.walk()) {
    const own = enclosingFunction(node) === functionNode && node.closest('lambda') === undefined;
    const found =
      (own ? handedBack(node, trace) : undefined) ??
      stored(module, functionNode, node, trace) ??
      written(module, functionNode, node, trace) ??
      savedToDisk(module, node, trace) ??
      (node.type === 'call' ? keptByCalled(module, node, trace, running) : undefined) ??
      (node.type === 'call' ? keptUnseen(module, node, trace) : undefined);
    if (found !== undefined) yield found;
  }
}

/** Whether a function hands back something that it computed with a graph: all that most functions do with what they compute. */
export function handsBackGraph(functionNode: PyNode, trace: GradTrace): boolean {
  for (const node of ownNodes(functionNode)) {
    const { isDerived, isUnknown } = handedBack(node, trace) ?? { isDerived: true };
    if (!isDerived && !isUnknown) return true;
  }
  return false;
}

/** What a function of the file keeps of what it is given, or of what it computes. What a new object keeps of it, it is. */
function keptByCalled(
  module: PyModule,
  call: PyNode,
  trace: GradTrace,
  running: readonly PyNode[],
): Escape | undefined {
  const definition = calledDefinition(module, call);
  const isClass = definition?.type === 'class_definition';
  const called = isClass ? methodNamed(module, definition, '__init__') : definition;
  if (called?.type !== 'function_definition' || running.includes(called)) return undefined;
  const inside = trace.insideOf(called, call);
  const name = shown(call.function ?? call);
  const self = isClass ? selfName(called) : undefined;
  if (inside === undefined)
    return {
      ...{ node: call, into: call, isDerived: false, isUnknown: true },
      question: ask('kept-only-read')`Is all that \`${name}\` keeps ${ONLY_READ}?`,
    };
  for (const { node, into, isDerived, isUnknown } of escapesOf(module, called, inside, undefined, [
    ...running,
    called,
  ])) {
    if (into === undefined || (self !== undefined && into.text.startsWith(`${self}.`))) continue;
    const question = node.contains(into)
      ? ask('changed-only-read')`Is \`${shown(into)}\`, which \`${name}\` changes in place, ${ONLY_READ}?`
      : ask(
          'kept-only-read',
        )`Is \`${shown(node)}\`, which \`${name}\` keeps in \`${shown(into)}\`, ${ONLY_READ}?`;
    return { node: call, question, into, isDerived, isUnknown };
  }
  return undefined;
}

/** `with Timer(loss):`, of a class of the file one of whose methods that no name calls keeps what the object has. */
function keptUnseen(module: PyModule, call: PyNode, trace: GradTrace): Escape | undefined {
  const definition = calledDefinition(module, call);
  if (definition?.type !== 'class_definition') return undefined;
  const given = givenTo(call).find((each) => trace.mayCarryGraph(each));
  const method = given && unseenKeeper(module, definition);
  if (given === undefined || method === undefined) return undefined;
  return {
    ...{ node: given, into: call, isDerived: false, isUnknown: false },
    question: ask('kept-only-read')`Is \`${shown(given)}\`, which \`${method}\` may keep, ${ONLY_READ}?`,
  };
}

function unseenKeeper(module: PyModule, classNode: PyNode): string | undefined {
  const known = module.memo(nobodyYet, module);
  if (!known.has(classNode)) {
    // One that makes others of its class on the way adds nothing.
    known.set(classNode, undefined);
    known.set(classNode, findUnseenKeeper(module, classNode));
  }
  return known.get(classNode);
}

function nobodyYet(): Map<PyNode, string | undefined> {
  return new Map();
}

function findUnseenKeeper(module: PyModule, classNode: PyNode): string | undefined {
  const methods = ancestryOf(module, classNode).classes.flatMap(methodsOf);
  const keeper = methods.find((method) => {
    const name = method.name?.text ?? '';
    if (!SPECIAL_METHODS.test(name) || /^__(?:init|call)__$/.test(name)) return false;
    const self = `${selfName(method)}.`;
    // As what the call above runs: its object has what that was given.
    const trace = new GradTrace(module, method, new Set(), 'graph', 1);
    return [...escapesOf(module, method, trace)].some(
      ({ into, isDerived }) => into !== undefined && !isDerived && !into.text.startsWith(self),
    );
  });
  return keeper && `${classNode.name?.text}.${keeper.name?.text}`;
}

function handedBack(node: PyNode, trace: GradTrace): Escape | undefined {
  if (!/^(?:return_statement|yield|raise_statement)$/.test(node.type)) return undefined;
  const parts = node.named.flatMap(partsOfLiteral);
  // What is computed with the network first: what only has the graph that came in would hide it.
  const computed = parts.find((each) => !trace.isDerived(each) && trace.mayCarryGraph(each));
  for (const value of computed === undefined ? parts : [computed]) {
    const isDerived = trace.isDerived(value);
    if (!isDerived && !trace.mayCarryGraph(value)) continue;
    const verb = node.type === 'yield' ? 'yields' : node.type === 'raise_statement' ? 'raises' : 'returns';
    const name = enclosingFunction(node)?.name?.text;
    return {
      node: value,
      question: ask(
        'returned-only-read',
      )`Is \`${shown(value)}\`, which ${name === undefined ? 'it' : `\`${name}\``} ${verb}, ${ONLY_READ}?`,
      // Whoever catches it is not the one that asked for it.
      into: node.type === 'raise_statement' ? node : undefined,
      isDerived,
      isUnknown: trace.of(value) === 'unknown',
    };
  }
  return undefined;
}

function savedToDisk(module: PyModule, node: PyNode, trace: GradTrace): Escape | undefined {
  const [given] = node.type === 'call' ? argumentsOf(node) : [];
  if (given === undefined || !WRITING.has(calledPath(module, node) ?? '')) return undefined;
  const value = partsOfLiteral(argumentValue(given)).find((each) => trace.mayCarryGraph(each));
  if (value === undefined) return undefined;
  const name = shown(node.function ?? node);
  return {
    ...{ node: value, into: node, isDerived: false, isUnknown: trace.of(value) === 'unknown' },
    question: ask('kept-only-read')`Is \`${shown(value)}\`, which \`${name}\` writes, ${ONLY_READ}?`,
  };
}

function stored(module: PyModule, functionNode: PyNode, node: PyNode, trace: GradTrace): Escape | undefined {
  const kept = (value: PyNode, into: PyNode): Escape => ({
    node: value,
    question: ask(
      'kept-only-read',
    )`Is \`${shown(value)}\`, which is kept in \`${shown(into)}\`, ${ONLY_READ}?`,
    into,
    isDerived: !trace.mayCarryGraph(value),
    isUnknown: trace.of(value) === 'unknown',
  });
  const leaves = (value: PyNode): boolean => trace.mayCarryGraph(value) || trace.isDerived(value);
  if (node.type === 'assignment' || node.type === 'augmented_assignment') {
    const target = node.left;
    const value = node.right;
    if (target === undefined || value === undefined || node.closest('lambda') !== undefined) return undefined;
    const targets = /pattern|tuple|list/.test(target.type) ? target.named : [target];
    const updates = node.type === 'augmented_assignment';
    const outward = targets.find(
      (each) =>
        leadsOutside(module, functionNode, each, trace) ||
        (updates && each.type === 'identifier' && changesInPlace(module, functionNode, each)),
    );
    return outward !== undefined && leaves(value) ? kept(value, outward) : undefined;
  }
  if (node.type === 'call' && node.function?.text === 'setattr') {
    const [object, , value] = givenTo(node);
    return object !== undefined && value !== undefined && leaves(value) ? kept(value, object) : undefined;
  }
  if (node.type !== 'call' || !keepsInReceiver(module, node)) return undefined;
  const receiver = receiverOf(node);
  if (receiver === undefined || !isSeenByOthers(module, functionNode, receiver, trace)) return undefined;
  const value = givenTo(node).find(leaves);
  return value === undefined ? undefined : kept(value, receiver);
}

/** A parameter has no graph; a tensor that it changes in place gets one, and so does one that is changed itself. */
function written(module: PyModule, functionNode: PyNode, node: PyNode, trace: GradTrace): Escape | undefined {
  const change = changedInPlace(module, node);
  if (change === undefined) return undefined;
  const { target, values } = change;
  const isOwn = target.type === 'identifier' || node.type === 'call';
  const changesNetwork = isOwn && node.type !== 'assignment' && isOfNetwork(module, target, trace);
  // By a method, whatever it is given: the change is part of the graph that the tensor may have.
  const isRecorded =
    (node.type === 'call' && trace.of(target) !== 'plain') ||
    values.some((value) => /^(?:network|graph)$/.test(trace.of(value)));
  if (!changesNetwork && !(isRecorded && isHeldOutside(module, functionNode, target))) return undefined;
  return {
    node,
    question: ask(
      'changed-only-read',
    )`Is \`${shown(target)}\`, which \`${shown(node)}\` changes in place, ${ONLY_READ}?`,
    into: target,
    ...{ isDerived: false, isUnknown: false },
  };
}

/** The network's own, whatever has become of it since. */
function isOfNetwork(module: PyModule, target: PyNode, trace: GradTrace): boolean {
  const definitions = target.type === 'identifier' ? (reachingDefinitions(module, target) ?? []) : [];
  const walked = definitions.flatMap((found) => (found.kind === 'loop' ? found.iterable : []));
  return [target, ...walked].some((each) => trace.of(each) === 'network');
}

/** `x += value` on something that was handed in changes a tensor or a list of the caller. */
function changesInPlace(module: PyModule, functionNode: PyNode, target: PyNode): boolean {
  return isHeldOutside(module, functionNode, target) && !writesOf(module, target).some(isPlainParameter);
}

/** An assignment target that others see: `self.x`, `param[k]`, a `global`. A new name of the function is not. */
function leadsOutside(module: PyModule, functionNode: PyNode, target: PyNode, trace: GradTrace): boolean {
  if (target.type === 'identifier')
    return !isUnbound(module, target) && !livesIn(module, target, functionNode);
  const object = target.type === 'attribute' ? target.object : target.value;
  return object !== undefined && isSeenByOthers(module, functionNode, object, trace);
}

/** What a network is given is not followed with it, wherever that was made. */
function isSeenByOthers(module: PyModule, functionNode: PyNode, object: PyNode, trace: GradTrace): boolean {
  return isHeldOutside(module, functionNode, object) || trace.of(rootOf(object)) === 'network';
}

/** The object is not one that this function made. */
function isHeldOutside(module: PyModule, functionNode: PyNode, object: PyNode): boolean {
  const root = rootOf(object);
  if (root.type !== 'identifier' || !livesIn(module, root, functionNode)) return true;
  return !waysReaching(module, root).every(
    (way) =>
      way.kind === 'update' ||
      (way.kind === 'value' && (isMadeBy(module, way.value) || isRenamed(module, functionNode, way.value))),
  );
}

/** `total = term`, of a `term` that was made here, and that nothing else reads than `total += term`. */
function isRenamed(module: PyModule, functionNode: PyNode, term: PyNode): boolean {
  if (term.type !== 'identifier' || !isMadeIn(module, functionNode, term, 0)) return false;
  const name = term.parent?.left?.text;
  return readsOf(module, term).every(
    ({ parent }) => /assignment$/.test(parent?.type ?? '') && parent?.left?.text === name,
  );
}

/**
 * The method of this name that leaves something with a graph where others find it: where, in brackets, unless in this file.
 * `isGiven`: so may what it is given.
 */
export function keepingMethod(module: PyModule, name: string, isGiven: boolean): string | undefined {
  const is = (there: PyModule, method: PyNode): boolean =>
    keepsOwn(there, method) || (isGiven && keeps(there, method));
  if (methodsByName(module, name).some((method) => is(module, method))) return '';
  const place = methodElsewhere(module, name, is);
  return place && ` (${place})`;
}

/** Of what a method computes with its object, a network or what has one. */
export function keepsOwn(module: PyModule, method: PyNode): boolean {
  return ownEscapes(module, method).length > 0;
}

/** Where it keeps that. */
export function ownEscapes(module: PyModule, method: PyNode): readonly Escape[] {
  const trace = new GradTrace(module, method, new Set([selfName(method) ?? 'self']));
  return [...escapesOf(module, method, trace)].filter(isKept);
}

/** All that it is given may have a graph, unless a trace says otherwise. */
export function keeps(
  module: PyModule,
  functionNode: PyNode,
  trace = new GradTrace(module, functionNode, new Set(), 'graph'),
): boolean {
  return [...escapesOf(module, functionNode, trace)].some(isKept);
}

function isKept({ into, isDerived }: Escape): boolean {
  return into !== undefined && !isDerived;
}
