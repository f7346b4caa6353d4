import type { PyNode } from '../syntax/node.js';
import { definitionBehind, selfName } from './definitions.js';
import type { PyModule } from './module.js';
import { importedPath } from './names.js';
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
  let depth = 0;
  while (root.type === 'attribute' || root.type === 'subscript') {
    if (root.type === 'attribute') {
      name = root.attribute?.text;
      depth++;
    }
    const inner = root.field(root.type === 'attribute' ? 'object' : 'value');
    if (inner === undefined) return undefined;
    root = inner;
  }
  // `type(self).last = value`
  if (root.type === 'call') return root.function?.text === 'type' ? name : undefined;
  if (root.type !== 'identifier') return undefined;
  const method = enclosingFunction(root);
  if (root.text === selfNameAround(method)) return name === '__dict__' ? '' : (name ?? '');
  // `state.kept`, `cache.KEPT` of a module, by whatever name they go here. Deeper, either may be the one that others say.
  const imported = importedName(module, root);
  if (imported !== undefined) return depth > 1 ? '' : (name ?? imported);
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

/** `KEPT` of `from cache import KEPT as kept`. */
function importedName(module: PyModule, name: PyNode): string | undefined {
  const scope = module.resolve(name);
  const paths =
    scope === undefined ? [] : module.writes(scope, name.text).flatMap((each) => importedPath(each) ?? []);
  return paths[0]?.split('.').at(-1);
}

function selfNameAround(functionNode: PyNode | undefined): string | undefined {
  for (let at = functionNode; at !== undefined; at = enclosingFunction(at)) {
    const self = selfName(at);
    if (self !== undefined) return self;
  }
  return undefined;
}
