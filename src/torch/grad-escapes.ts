import { definitionOf } from '../semantic/flow.js';
import type { PyModule } from '../semantic/module.js';
import { enclosingFunction, methodName, receiverOf, unparenthesized } from '../semantic/statements.js';
import type { PyNode } from '../syntax/node.js';
import { KEEPS, METER } from './grad-names.js';
import { givenTo } from './grad-parts.js';
import { type GradTrace, mayCarryGraph } from './grad-trace.js';

/** A value that may leave a function with its graph. `words` completes "not proven: …". */
export interface Escape {
  readonly node: PyNode;
  readonly words: string;
  /** The caller gets it. */
  readonly returned: boolean;
}

/** The first value that leaves the function and may carry a graph: returned, yielded, or stored where others see it. */
export function escapeOf(module: PyModule, functionNode: PyNode, trace: GradTrace): Escape | undefined {
  for (const node of (functionNode.field('body') ?? functionNode).walk()) {
    const own = enclosingFunction(node) === functionNode && node.closest('lambda') === undefined;
    const found = own
      ? (handedBack(node, trace) ?? stored(module, functionNode, node, trace))
      : stored(module, functionNode, node, trace);
    if (found !== undefined) return found;
  }
  return undefined;
}

function handedBack(node: PyNode, trace: GradTrace): Escape | undefined {
  if (node.type !== 'return_statement' && node.type !== 'yield') return undefined;
  for (const value of node.named.flatMap(parts)) {
    if (!mayCarryGraph(trace.of(value))) continue;
    const verb = node.type === 'yield' ? 'yields' : 'returns';
    return {
      node: value,
      words: `that nobody differentiates \`${shown(value)}\`, which it ${verb}`,
      returned: true,
    };
  }
  return undefined;
}

/** The elements of a literal, so that the words can name the one that counts. */
function parts(value: PyNode): readonly PyNode[] {
  const node = unparenthesized(value);
  if (/^(?:expression_list|tuple|list)$/.test(node.type)) return node.named.flatMap(parts);
  return node.type === 'dictionary' ? node.named.flatMap((pair) => pair.field('value') ?? pair) : [node];
}

function stored(module: PyModule, functionNode: PyNode, node: PyNode, trace: GradTrace): Escape | undefined {
  const kept = (value: PyNode, into: PyNode): Escape => ({
    node: value,
    words: `that nobody differentiates \`${shown(value)}\`, which is kept in \`${shown(into)}\``,
    returned: false,
  });
  if (node.type === 'assignment' || node.type === 'augmented_assignment') {
    const target = node.field('left');
    const value = node.field('right');
    if (target === undefined || value === undefined || node.closest('lambda') !== undefined) return undefined;
    const targets = /pattern|tuple|list/.test(target.type) ? target.named : [target];
    const outward = targets.find((each) => leadsOutside(module, functionNode, each));
    return outward !== undefined && mayCarryGraph(trace.of(value)) ? kept(value, outward) : undefined;
  }
  if (node.type === 'call' && node.field('function')?.text === 'setattr') {
    const [object, , value] = givenTo(node);
    const leaves = object !== undefined && value !== undefined && mayCarryGraph(trace.of(value));
    return leaves ? kept(value, object) : undefined;
  }
  if (node.type !== 'call' || !KEEPS.has(methodName(node) ?? '')) return undefined;
  const receiver = receiverOf(node);
  if (receiver === undefined || isReport(node, receiver) || !isHeldOutside(module, functionNode, receiver))
    return undefined;
  const value = givenTo(node).find((given) => mayCarryGraph(trace.of(given)));
  return value === undefined ? undefined : kept(value, receiver);
}

/** Meters and metrics turn what they get into numbers for a report; lists do not, whatever their name. */
function isReport(call: PyNode, receiver: PyNode): boolean {
  return /^(?:update|add)$/.test(methodName(call) ?? '') && METER.test(receiver.text);
}

/** An assignment target that others see: `self.x`, `param[k]`, a `global`. A new name of the function is not. */
function leadsOutside(module: PyModule, functionNode: PyNode, target: PyNode): boolean {
  if (target.type === 'identifier') {
    const scope = module.resolve(target);
    return scope !== undefined && !functionNode.contains(scope.node);
  }
  const object = target.type === 'attribute' ? target.field('object') : target.field('value');
  if (object === undefined) return false;
  return isHeldOutside(module, functionNode, object);
}

/** The object is not one that this function made. */
function isHeldOutside(module: PyModule, functionNode: PyNode, object: PyNode): boolean {
  let root = unparenthesized(object);
  while (root.type === 'attribute' || root.type === 'subscript') {
    const inner = root.field(root.type === 'attribute' ? 'object' : 'value');
    if (inner === undefined) return true;
    root = inner;
  }
  if (root.type !== 'identifier') return true;
  const scope = module.resolve(root);
  if (scope === undefined || !functionNode.contains(scope.node)) return true;
  return !module.writes(scope, root.text).every((write) => {
    const definition = definitionOf(write);
    if (definition.kind === 'update') return true;
    return definition.kind === 'value' && !/^(?:identifier|attribute|subscript)$/.test(definition.value.type);
  });
}

export function shown(node: PyNode): string {
  const text = node.text.replace(/\s+/g, ' ');
  return text.length <= 40 ? text : `${text.slice(0, 37)}…`;
}
