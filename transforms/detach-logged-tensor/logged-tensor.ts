import { classBehind, methodNamed } from '../../src/semantic/definitions.js';
import { definitionOf } from '../../src/semantic/flow.js';
import type { PyModule } from '../../src/semantic/module.js';
import { binds, roleOf } from '../../src/semantic/names.js';
import {
  argumentsOf,
  enclosingLoops,
  methodName,
  receiverOf,
  statementOf,
  unparenthesized,
} from '../../src/semantic/statements.js';
import type { PyNode } from '../../src/syntax/node.js';
import { backwards } from '../../src/torch/grad/backward-calls.js';
import { isFreshContainer } from '../../src/torch/grad/record-fate.js';

/** What a training loop puts into a dictionary, an attribute or a meter at one place. */
export interface LoggedTensor {
  readonly values: readonly PyNode[];
  /** What keeps it, as written: `history["loss"]`, `self.losses`, `meter`. */
  readonly store: PyNode;
  /** The name or attribute behind it. */
  readonly root: PyNode;
  /** `meter`: an object that the file does not show, or whose class adds the value up. */
  readonly kind: 'set' | 'appended' | 'meter';
}

const METER = /meter|avg|average|tracker|smooth|running/i;
const METER_CLASS = /^(?:\w+\.)*\w*(?:Meter|Average|Tracker|SmoothedValue)\w*\(/;
/** A class that takes the number out of what it is given. */
const SCALARIZES = /\.item\(|\bfloat\(|\.detach\(|no_grad|\.tolist\(/;

/** Those of the innermost loops that differentiate. */
export function loggedTensors(module: PyModule): readonly LoggedTensor[] {
  return module.memo(findLogged, module);
}

function findLogged(module: PyModule): readonly LoggedTensor[] {
  const loops = new Set(backwards(module).flatMap(({ call }) => enclosingLoops(call).slice(0, 1)));
  return [...loops].flatMap((loop) =>
    [...(loop.field('body')?.walk() ?? [])].flatMap((node) => {
      if (enclosingLoops(node)[0] !== loop) return [];
      return node.type === 'assignment' ? setItem(module, node, loop) : taken(module, node, loop);
    }),
  );
}

/** `logs["loss"] = value` */
function setItem(module: PyModule, assignment: PyNode, loop: PyNode): readonly LoggedTensor[] {
  const store = assignment.field('left');
  const value = assignment.field('right');
  if (store?.type !== 'subscript' || value === undefined || statementOf(assignment).named[0] !== assignment)
    return [];
  const root = rootOf(store);
  if (root === undefined || !outlives(module, root, loop)) return [];
  // What is set by a number may be a row of a tensor.
  const named = store.named.slice(1).every(({ type }) => type === 'string');
  return named || isOwnContainer(module, root) ? [{ values: [value], store, root, kind: 'set' }] : [];
}

/** `self.losses.append(value)`, `history[k].append(value)`, `rows.append((step, value))`, `meter.update(value, n)` */
function taken(module: PyModule, call: PyNode, loop: PyNode): readonly LoggedTensor[] {
  const store = call.type === 'call' ? receiverOf(call) : undefined;
  const [first] = call.type === 'call' ? argumentsOf(call) : [];
  const root = store && rootOf(store);
  if (store === undefined || first === undefined || root === undefined) return [];
  if (call.parent?.type !== 'expression_statement' || !outlives(module, root, loop)) return [];
  if (methodName(call) === 'append') {
    const values = partsOf(first);
    // A bare value in a variable is the business of `detach-appended-loss`.
    return store.type === 'identifier' && values.includes(first)
      ? []
      : [{ values, store, root, kind: 'appended' }];
  }
  const meter = methodName(call) === 'update' && isMeter(module, store) && first.type !== 'keyword_argument';
  return meter && keepsWhatItGets(module, store) ? [{ values: [first], store, root, kind: 'meter' }] : [];
}

/** The values of a tuple, list or dictionary that is written out; else the value itself. */
function partsOf(value: PyNode): readonly PyNode[] {
  const node = unparenthesized(value);
  if (node.type === 'tuple' || node.type === 'list') return node.named;
  if (node.type !== 'dictionary') return [value];
  return node.named.flatMap((pair) => pair.field('value') ?? []);
}

/** By its name, or by the class that made it. */
function isMeter(module: PyModule, store: PyNode): boolean {
  if (METER.test(store.text)) return true;
  const scope = store.type === 'identifier' ? module.resolve(store) : undefined;
  const made = scope === undefined ? [] : module.writes(scope, store.text).map(definitionOf);
  return made.some((found) => found.kind === 'value' && METER_CLASS.test(found.value.text));
}

function keepsWhatItGets(module: PyModule, store: PyNode): boolean {
  const classNode = classBehind(module, store);
  const update = classNode && methodNamed(module, classNode, 'update');
  return update === undefined || !SCALARIZES.test(update.text);
}

/** `history` of `history["loss"][0]`, `self.history` of `self.history["loss"]`. */
function rootOf(store: PyNode): PyNode | undefined {
  let node = store;
  while (node.type === 'subscript') node = node.field('value') ?? node.children[0] ?? node;
  return node.type === 'identifier' || node.type === 'attribute' ? node : undefined;
}

/** It is not made anew in each round. */
function outlives(module: PyModule, root: PyNode, loop: PyNode): boolean {
  if (root.type === 'attribute') return root.field('object')?.type === 'identifier';
  const scope = module.resolve(root);
  if (scope === undefined) return false;
  const made = module.writes(scope, root.text);
  return made.length > 0 && made.every((place) => !loop.contains(place));
}

/** A variable that only ever holds dictionaries and lists made in this function. */
function isOwnContainer(module: PyModule, root: PyNode): boolean {
  const scope = root.type === 'identifier' ? module.resolve(root) : undefined;
  if (scope === undefined) return false;
  return module.writes(scope, root.text).every((place) => {
    const definition = binds(roleOf(place)) ? definitionOf(place) : undefined;
    return definition?.kind === 'value' && isFreshContainer(definition.value);
  });
}
