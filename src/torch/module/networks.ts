import { cutsGraph, row } from '../../library/library.js';
import { makersOf } from '../../semantic/attributes.js';
import { calledDefinition, classAround } from '../../semantic/definitions.js';
import { reachingDefinitions } from '../../semantic/flow.js';
import { qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { argumentsOf, methodName, receiverOf, unparenthesized } from '../../semantic/statements.js';
import type { PyNode } from '../../syntax/node.js';

/** Criteria have no weights, nor has what prepares the data. */
const WEIGHTLESS =
  /crit|loss|token|transform|preproc|augment|collate|sampler|loader|dataset|replay|buffer|queue|_fn$|func/i;

/** The networks, as written, whose weights the value was computed with. */
export function networksOf(module: PyModule, value: PyNode): ReadonlySet<string> {
  const found = new Set<string>();
  traceGraph(module, value, {
    call: (node) => {
      for (const name of calledNetworks(module, node)) found.add(name);
    },
  });
  return found;
}

interface GraphVisitor {
  readonly call?: (call: PyNode) => void;
  readonly operation?: (operation: PyNode) => void;
  /** A variable that holds a part of the graph, where it can only have got it there. */
  readonly binding?: (binding: { readonly node: PyNode; readonly value: PyNode }) => void;
}

/** Goes from a value through what it was computed from, as far as its graph may reach. */
export function traceGraph(module: PyModule, value: PyNode, visitor: GraphVisitor): void {
  const pending = [value];
  const seen = new Set<PyNode>();
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    const node = unparenthesized(at);
    if (seen.has(node)) continue;
    seen.add(node);
    if (node.type === 'identifier') {
      const definitions = reachingDefinitions(module, node) ?? [];
      for (const each of definitions) {
        if (!('value' in each)) continue;
        if (definitions.length === 1 && each.kind !== 'update') visitor.binding?.(each);
        pending.push(each.value);
      }
    } else if (node.type === 'attribute') {
      const object = node.object;
      if (object !== undefined && node.attribute?.text !== 'data') pending.push(object);
    } else if (node.type === 'call') {
      if (cutsGraph(methodName(node) ?? '')) continue;
      visitor.call?.(node);
      const receiver = receiverOf(node);
      pending.push(...argumentsOf(node), ...(receiver === undefined ? [] : [receiver]));
    } else if (node.type === 'keyword_argument') pending.push(...node.named.slice(1));
    else if (node.type !== 'lambda') {
      if (node.type === 'binary_operator') visitor.operation?.(node);
      pending.push(...node.named);
    }
  }
}

/** `model` of `model(x)` and `model.encode(x)`; functions, imported or of the file, and methods of values are none. */
function calledNetworks(module: PyModule, call: PyNode): readonly string[] {
  const callee = call.function;
  if (callee === undefined || qualifiedName(module, callee) !== undefined) return [];
  if (calledDefinition(module, call)?.type === 'function_definition') return [];
  const object = callee.type === 'attribute' ? callee.object : undefined;
  if (object === undefined)
    return module.resolve(callee) === undefined || WEIGHTLESS.test(callee.text) ? [] : [callee.text];
  if (object.type === 'identifier' && object.text === classAround(call)?.self)
    return WEIGHTLESS.test(callee.text) ? [] : [callee.text];
  if (WEIGHTLESS.test(object.text) || isComputed(module, object)) return [];
  return [callee.text, object.text];
}

/** The same, whatever its name says. */
export function mayHaveWeights(module: PyModule, call: PyNode): boolean {
  const callee = call.function;
  if (callee === undefined || qualifiedName(module, callee) !== undefined) return false;
  // A loss of torch, as far as the file shows.
  if (makersOf(module, callee).every((path) => row(path ?? '')?.is === 'loss')) return false;
  if (callee.type === 'identifier') return module.resolve(callee) !== undefined;
  const object = callee.type === 'attribute' ? callee.object : undefined;
  return object === undefined || !isComputed(module, object);
}

/** A value that was computed here: its methods are no networks. */
function isComputed(module: PyModule, object: PyNode): boolean {
  const node = unparenthesized(object);
  if (node.type === 'attribute') return false;
  const definitions = node.type === 'identifier' ? (reachingDefinitions(module, node) ?? []) : undefined;
  return definitions === undefined || definitions.some(({ kind }) => kind !== 'parameter');
}
