import { attributeUses } from '../../src/semantic/attribute-uses.js';
import { attributeValues } from '../../src/semantic/attributes.js';
import { classAround, classBehind, methodNamed } from '../../src/semantic/definitions.js';
import { definedElsewhere, type Elsewhere, makerOf } from '../../src/semantic/elsewhere.js';
import { definitionOf, reachingDefinitions, readsReached } from '../../src/semantic/flow.js';
import { isFreshContainer } from '../../src/semantic/literals.js';
import type { PyModule } from '../../src/semantic/module.js';
import { binds, roleOf } from '../../src/semantic/names.js';
import { remembered } from '../../src/semantic/remembered.js';
import {
  argumentsOf,
  enclosingFunction,
  enclosingLoops,
  methodName,
  ownNodes,
  receiverOf,
  statementOf,
  unparenthesized,
} from '../../src/semantic/statements.js';
import type { Glimpse } from '../../src/syntax/glimpse.js';
import type { PyNode } from '../../src/syntax/node.js';
import { backwards } from '../../src/torch/grad/backward-calls.js';
import { moduleKind } from '../../src/torch/module/modules.js';
import { valueOf } from '../../src/values/index.js';
import { isMeter, keepsWhatItGets } from './meter.js';
import { startsAsNumber } from './total-start.js';

/** What a round of training puts into a dictionary, an attribute, a meter or a variable at one place. */
export interface LoggedTensor {
  readonly values: readonly PyNode[];
  /** What keeps it, as written: `history["loss"]`, `self.losses`, `meter`. */
  readonly store: PyNode;
  /** The name or attribute behind it. */
  readonly root: PyNode;
  /**
   * `added`: to a total that starts as a number. `meter`: by the `update` of an object. `carried`: to a variable that later
   * rounds read, such as the best loss so far.
   */
  readonly kind: 'set' | 'appended' | 'added' | 'meter' | 'carried';
}

/** Whether the text has a loop that differentiates, or a step of training in a class that keeps something. */
export function mayLog(glimpse: Glimpse): boolean {
  return (
    glimpse.repeatingWith('backward(').length > 0 ||
    glimpse
      .stretchesWith('backward(', 'training_step')
      .some((text) => /\.append\(|\+=|\.update\(|\]\s*=/.test(text))
  );
}

/** Those of the innermost loops that differentiate, and of functions that do so outside a loop: they run once a step. */
export const loggedTensors = remembered((module: PyModule): readonly LoggedTensor[] => {
  const rounds = new Set([
    ...backwards(module).flatMap(({ call }) => enclosingLoops(call)[0] ?? enclosingFunction(call) ?? []),
    ...module.at('training_step').flatMap(({ parent }) => (isLightningStep(module, parent) ? parent : [])),
  ]);
  const logged = [...rounds].flatMap((round) =>
    nodesOf(round).flatMap((node) =>
      node.type === 'assignment'
        ? setItem(module, node, round)
        : node.type === 'augmented_assignment'
          ? added(module, node, round)
          : taken(module, node, round),
    ),
  );
  // An epoch differentiates, too: the best loss so far is mostly found behind its batches.
  const loops = new Set(backwards(module).flatMap(({ call }) => enclosingLoops(call)));
  return [
    ...logged,
    ...[...loops].flatMap((loop) => nodesOf(loop).flatMap((node) => carried(module, node, loop))),
  ];
});

/** `best = loss`, `self.best = loss`, of what starts as a number and is read in later rounds. */
function carried(module: PyModule, assignment: PyNode, loop: PyNode): readonly LoggedTensor[] {
  const store = assignment.type === 'assignment' ? assignment.left : undefined;
  const value = assignment.right;
  if (store === undefined || value === undefined || statementOf(assignment).named[0] !== assignment)
    return [];
  if (unparenthesized(value).type !== 'identifier' || assignment.parent?.type === 'assignment') return [];
  const isCarried = store.type === 'attribute' ? isCarriedByObject : isCarriedByLoop;
  return isCarried(module, store, loop) ? [{ values: [value], store, root: store, kind: 'carried' }] : [];
}

/** A variable that is a number before the loop, and that the rounds which follow read. */
function isCarriedByLoop(module: PyModule, store: PyNode, loop: PyNode): boolean {
  const scope = store.type === 'identifier' ? module.resolve(store) : undefined;
  const writes = scope === undefined ? [] : module.writes(scope, store.text);
  const isStart = (write: PyNode): boolean => !loop.contains(write) && isNumberGiven(module, write);
  // Changed in place, the loss would be changed with it.
  const isPlain = writes.every((write) => definitionOf(write).kind === 'value');
  if (scope === undefined || !isPlain || !writes.some(isStart)) return false;
  // Nothing but the next round leads back.
  return readsReached(module, scope, store.text, [store]).some(
    (read) => loop.contains(read) && read.start < store.start,
  );
}

/** `self.best`, which is a number elsewhere, is only ever set whole, and is compared. */
function isCarriedByObject(module: PyModule, store: PyNode): boolean {
  const around = classAround(store);
  if (around === undefined || store.object?.text !== around.self) return false;
  const uses = attributeUses(module, around.classNode, store.attribute?.text ?? '');
  const writes = uses.filter(({ kind }) => kind !== 'read').map(({ node }) => node);
  const isPlain = ({ parent }: PyNode): boolean => parent?.type === 'assignment';
  const isStart = (write: PyNode): boolean =>
    write.parent?.left === write &&
    write.parent.right !== undefined &&
    valueOf(module, write.parent.right).isNumber === 'yes';
  const isCompared = uses.some(
    ({ kind, node }) => kind === 'read' && node.parent?.type === 'comparison_operator',
  );
  return isCompared && writes.every(isPlain) && writes.some(isStart);
}

function isNumberGiven(module: PyModule, write: PyNode): boolean {
  const definition = definitionOf(write);
  return definition.kind === 'value' && valueOf(module, definition.value).isNumber === 'yes';
}

function nodesOf(round: PyNode): readonly PyNode[] {
  const own = round.type === 'function_definition' ? [...ownNodes(round)] : [...(round.body?.walk() ?? [])];
  const loop = round.type === 'function_definition' ? undefined : round;
  return own.filter((node) => enclosingLoops(node)[0] === loop);
}

/** A `training_step` whose loss Lightning differentiates. */
function isLightningStep(module: PyModule, node: PyNode | undefined): node is PyNode {
  if (node?.type !== 'function_definition' || node.name?.text !== 'training_step') return false;
  const classNode = classAround(node.name ?? node)?.classNode ?? node.closest('class_definition');
  return (
    classNode !== undefined &&
    moduleKind(module, classNode).isLightning &&
    !/automatic_optimization|def\s+(?:backward|optimizer_step)\b/.test(classNode.text)
  );
}

/** `logs["loss"] = value` */
function setItem(module: PyModule, assignment: PyNode, round: PyNode): readonly LoggedTensor[] {
  const store = assignment.left;
  const value = assignment.right;
  if (store?.type !== 'subscript' || value === undefined || statementOf(assignment).named[0] !== assignment)
    return [];
  const root = rootOf(store);
  if (root === undefined || !outlives(module, root, round)) return [];
  // What is set by a number may be a row of a tensor.
  const named = store.named.slice(1).every(({ type }) => type === 'string');
  return named || isOwnContainer(module, root) ? [{ values: [value], store, root, kind: 'set' }] : [];
}

/** `totals["loss"] += value`, `self.total += value` */
function added(module: PyModule, assignment: PyNode, round: PyNode): readonly LoggedTensor[] {
  const store = assignment.left;
  const value = assignment.right;
  const root = store && rootOf(store);
  if (store === undefined || value === undefined || root === undefined || store.type === 'identifier')
    return [];
  if (assignment.operator?.text !== '+=' || !outlives(module, root, round)) return [];
  // Added to a tensor of somebody else, it would change that one in place.
  return startsAsNumber(module, store, root) ? [{ values: [value], store, root, kind: 'added' }] : [];
}

/** `self.losses.append(value)`, `history[k].append(value)`, `rows.append((step, value))`, `meter.update(value, n)` */
function taken(module: PyModule, call: PyNode, round: PyNode): readonly LoggedTensor[] {
  const store = call.type === 'call' ? receiverOf(call) : undefined;
  const [first] = call.type === 'call' ? argumentsOf(call) : [];
  const root = store && rootOf(store);
  if (store === undefined || first === undefined || root === undefined) return [];
  if (call.parent?.type !== 'expression_statement' || !outlives(module, root, round)) return [];
  if (methodName(call) === 'append') {
    const values = partsOf(first);
    // A bare value in a variable is the business of `detach-appended-loss`.
    return store.type === 'identifier' && values.includes(first)
      ? []
      : [{ values, store, root, kind: 'appended' }];
  }
  const meter = methodName(call) === 'update' && isMeter(module, store) && first.type !== 'keyword_argument';
  return meter && keepsWhatItGets(module, store) !== 'no'
    ? [{ values: [first], store, root, kind: 'meter' }]
    : [];
}

/** The values of a tuple, list or dictionary that is written out; else the value itself. */
function partsOf(value: PyNode): readonly PyNode[] {
  const node = unparenthesized(value);
  if (node.type === 'tuple' || node.type === 'list') return node.named;
  if (node.type !== 'dictionary') return [value];
  return node.named.flatMap((pair) => pair.value ?? []);
}

/** `history` of `history["loss"][0]`, `self.history` of `self.history["loss"]`. */
function rootOf(store: PyNode): PyNode | undefined {
  let node = store;
  while (node.type === 'subscript') node = node.value ?? node.children[0] ?? node;
  return node.type === 'identifier' || node.type === 'attribute' ? node : undefined;
}

/** It is not made anew in each round. */
function outlives(module: PyModule, root: PyNode, round: PyNode): boolean {
  if (root.type === 'attribute')
    return root.object?.type === 'identifier' && !nodesOf(round).some((node) => resets(module, node, root));
  const scope = module.resolve(root);
  if (scope === undefined || round.type === 'function_definition') return false;
  const made = module.writes(scope, root.text);
  return made.length > 0 && made.every((place) => !round.contains(place));
}

/** What a step of Lightning returns is differentiated, and nothing else of it could be. */
export function isReturnedLoss(module: PyModule, value: PyNode): boolean {
  const step = enclosingFunction(value);
  const node = unparenthesized(value);
  if (!isLightningStep(module, step) || node.type !== 'identifier') return false;
  const sources = sourcesOf(module, node);
  const returned = ownNodes(step).filter(({ type }) => type === 'return_statement');
  return (
    returned.length > 0 &&
    returned.every(({ named: [given] }) => {
      const entry =
        given?.type === 'dictionary'
          ? given.named.find((pair) => /^["']loss["']$/.test(pair.key?.text ?? ''))?.value
          : given;
      return entry?.type === 'identifier' && entry.text === node.text && sourcesOf(module, entry) === sources;
    })
  );
}

/** Where a variable got its value, as a text to compare. */
function sourcesOf(module: PyModule, read: PyNode): string {
  return (reachingDefinitions(module, read) ?? []).map(({ node }) => node.start).join();
}

/** `self.losses = []`, `self.losses.clear()`, or a method of the class that does so. */
function resets(module: PyModule, node: PyNode, root: PyNode, depth = 0): boolean {
  if (node.type === 'assignment') return node.left?.text === root.text;
  if (node.type !== 'call') return false;
  const receiver = receiverOf(node)?.text;
  if (receiver === root.text) return methodName(node) === 'clear';
  const around = classAround(root);
  const name = receiver === around?.self ? methodName(node) : undefined;
  const method =
    around && name !== undefined && depth < MAX_DEPTH && methodNamed(module, around.classNode, name);
  return method ? ownNodes(method).some((inner) => resets(module, inner, root, depth + 1)) : false;
}

const MAX_DEPTH = 3;

/** What runs where something is stored, if the class of the store has its own. */
const STORING = ['__setitem__', '__iadd__', '__setattr__', 'setdefault'];

/** The method of a class of the project that runs where a value is put into the store, and may look at its graph. */
export function ownStoring(module: PyModule, root: PyNode): string | undefined {
  const holder = root.type === 'attribute' ? classAround(root) : undefined;
  if (holder !== undefined && root.object?.text === holder.self) {
    const setter = methodNamed(module, holder.classNode, '__setattr__');
    if (setter !== undefined) return `${holder.classNode.name?.text}.__setattr__`;
  }
  const found = classOfStore(module, root);
  const method = found && STORING.find((name) => methodNamed(found.module, found.node, name) !== undefined);
  return method && `${found?.node.name?.text}.${method}`;
}

function classOfStore(module: PyModule, root: PyNode): Elsewhere | undefined {
  const around = root.type === 'attribute' ? classAround(root) : undefined;
  const values =
    around === undefined || root.object?.text !== around.self ? undefined : attributeValues(module, root);
  for (const value of values ?? [root]) {
    const own = classBehind(module, value);
    if (own !== undefined) return { module, node: own };
    const path = makerOf(module, value);
    const made = path === undefined ? undefined : definedElsewhere(module, path);
    if (made?.node.type === 'class_definition') return made;
  }
  return undefined;
}

/** A variable that only ever holds dictionaries and lists made in this function. */
export function isOwnContainer(module: PyModule, root: PyNode): boolean {
  const scope = root.type === 'identifier' ? module.resolve(root) : undefined;
  if (scope === undefined) return false;
  return module.writes(scope, root.text).every((place) => {
    const definition = binds(roleOf(place)) ? definitionOf(place) : undefined;
    return definition?.kind === 'value' && isFreshContainer(module, definition.value);
  });
}
