import type { PyNode } from '../syntax/node.js';
import { definitionBehind, selfName } from './definitions.js';
import type { PyModule } from './module.js';
import { enclosingFunction, unparenthesized } from './statements.js';
import { livesIn, waysGiven } from './variables.js';

/** The name that others find a target by, where it is not one of the function's own. */
export function outlivingName(
  module: PyModule,
  functionNode: PyNode,
  target: PyNode,
  seen = new Set<PyNode>(),
): string | undefined {
  let root = unparenthesized(target);
  let name: string | undefined;
  while (root.type === 'attribute' || root.type === 'subscript') {
    if (root.type === 'attribute') name = root.attribute?.text;
    const inner = root.field(root.type === 'attribute' ? 'object' : 'value');
    if (inner === undefined) return undefined;
    root = inner;
  }
  // `type(self).last = value`
  if (root.type === 'call') return root.function?.text === 'type' ? name : undefined;
  if (root.type !== 'identifier') return undefined;
  const method = enclosingFunction(root);
  if (root.text === selfNameAround(method)) return name === '__dict__' ? '' : (name ?? '');
  if (!livesIn(module, root, functionNode))
    return definitionBehind(module, root)?.type === 'class_definition' ? (name ?? root.text) : root.text;
  if (target === root) return undefined;
  // `cache = self.cache`, and then `cache[key] = value`.
  for (const way of waysGiven(module, root)) {
    const value = way.kind === 'value' ? unparenthesized(way.value) : undefined;
    if (value === undefined || !/^(?:identifier|attribute|subscript)$/.test(value.type)) continue;
    // `a = b[0]` and `b = a[0]`, in turn.
    if (value.text === root.text || seen.has(value)) continue;
    const found = outlivingName(module, functionNode, value, seen.add(value));
    if (found !== undefined) return found;
  }
  return undefined;
}

function selfNameAround(functionNode: PyNode | undefined): string | undefined {
  for (let at = functionNode; at !== undefined; at = enclosingFunction(at)) {
    const self = selfName(at);
    if (self !== undefined) return self;
  }
  return undefined;
}
