import { changesTensor, mayShare, ofTensor, row } from '../../library/library.js';
import { definitionBehind, selfName } from '../../semantic/definitions.js';
import { calledPath } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { importedPath } from '../../semantic/names.js';
import {
  enclosingFunction,
  givenTo,
  methodName,
  receiverOf,
  unparenthesized,
} from '../../semantic/statements.js';
import { isUnbound, livesIn, waysGiven } from '../../semantic/variables.js';
import type { PyNode } from '../../syntax/node.js';

/** The name that others find a target by, where it is not one of the function's own. `isChanged`: it is not bound anew. */
export function outlivingName(
  module: PyModule,
  functionNode: PyNode,
  target: PyNode,
  isChanged: boolean,
  seen = new Set<PyNode>(),
): string | undefined {
  let root = unparenthesized(target);
  if (CHOICES.has(root.type)) {
    const found = root.named.map((each) => outlivingName(module, functionNode, each, isChanged, seen));
    return found.find((each) => each !== undefined);
  }
  let name: string | undefined;
  let depth = 0;
  while (/^(?:attribute|subscript|call)$/.test(root.type)) {
    if (root.type === 'attribute') {
      name = root.attribute?.text;
      depth++;
    }
    // `type(self).last = value`, `vars(self)["last"] = value`
    const callee = root.function?.text ?? '';
    if (callee === 'type') return name;
    if (/^(?:globals|locals|vars)$/.test(callee)) return '';
    const inner =
      root.type === 'call'
        ? (sharedBy(module, root) ?? holderOf(module, root))
        : root.field(root.type === 'attribute' ? 'object' : 'value');
    if (inner === undefined) return undefined;
    root = inner;
  }
  if (root.type !== 'identifier') return undefined;
  const method = enclosingFunction(root);
  if (root.text === selfNameAround(method)) return name === '__dict__' ? '' : (name ?? '');
  // `state.kept`, `cache.KEPT` of a module, by whatever name they go here. Deeper, either may be the one that others say.
  const imported = importedName(module, root);
  if (imported !== undefined) return depth > 1 ? '' : (name ?? imported);
  if (!livesIn(module, root, functionNode))
    return definitionBehind(module, root)?.type === 'class_definition' ? (name ?? root.text) : root.text;
  if (target === root && !isChanged) return undefined;
  // `cache = self.cache`, and then `cache[key] = value`; `for row in self.rows`, and then `row += value`.
  for (const way of waysGiven(module, root)) {
    const given =
      way.kind === 'loop'
        ? way.iterable
        : way.kind === 'value' || way.kind === 'part'
          ? way.value
          : undefined;
    for (const value of given === undefined ? [] : sourcesOf(module, given, way.kind === 'loop')) {
      // `a = b[0]` and `b = a[0]`, in turn.
      if (value.text === root.text || seen.has(value)) continue;
      const found = outlivingName(module, functionNode, value, true, seen.add(value));
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

/** `self.a if x else self.b`, `self.a or self.b`: one of several. */
const CHOICES: ReadonlySet<string> = new Set(['boolean_operator', 'conditional_expression']);

/** What a value may be, or, where it is gone through, what its elements may be of: `zip(self.rows, parts)`. */
function sourcesOf(module: PyModule, given: PyNode, isIterated: boolean): readonly PyNode[] {
  const value = unparenthesized(given);
  if (CHOICES.has(value.type)) return value.named.flatMap((each) => sourcesOf(module, each, isIterated));
  const callee = value.function;
  if (isIterated && callee !== undefined && /^(?:enumerate|iter|list|reversed|tuple|zip)$/.test(callee.text))
    return isUnbound(module, callee)
      ? givenTo(value).flatMap((each) => sourcesOf(module, each, isIterated))
      : [];
  return /^(?:identifier|attribute|subscript|call)$/.test(value.type) ? [value] : [];
}

/** The dictionary or the list that a call gives a part of: `self.kept.setdefault(key, [])`. */
function holderOf(module: PyModule, call: PyNode): PyNode | undefined {
  const name = methodName(call) ?? '';
  const isGetter = ['dict', 'list'].some((type) => row(`${type}.${name}`)?.gives === 'arguments');
  return isGetter && calledPath(module, call) === undefined ? receiverOf(call) : undefined;
}

/** `self.total` of `self.total.mul_(decay)`. */
export function changedBy(module: PyModule, receiver: PyNode): PyNode {
  const inner = receiver.type === 'call' ? sharedBy(module, receiver) : undefined;
  return inner === undefined ? receiver : changedBy(module, inner);
}

/** What `rows.narrow(0, 0, 1)` and `total.mul_(decay)` are parts of. */
function sharedBy(module: PyModule, call: PyNode): PyNode | undefined {
  const name = methodName(call) ?? '';
  if (!changesTensor(name) && !mayShare(ofTensor(name))) return undefined;
  // `torch.log_(x)` changes what it is given.
  return calledPath(module, call) === undefined ? receiverOf(call) : givenTo(call)[0];
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
