import { calledDefinition } from '../../semantic/definitions.js';
import { reachingDefinitions } from '../../semantic/flow.js';
import { qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { binds, roleOf } from '../../semantic/names.js';
import {
  keywordArgument,
  methodName,
  ownNodes,
  receiverOf,
  unparenthesized,
} from '../../semantic/statements.js';
import type { PyNode } from '../../syntax/node.js';
import { MADE_ON_CPU } from '../catalog.js';

const MAX_DEPTH = 6;

/** Methods whose result may share memory with their receiver. */
const SHARING: ReadonlySet<string> = new Set(
  'clone contiguous cpu cuda detach double float half requires_grad_ squeeze to'.split(' '),
);

/**
 * The variable whose tensor would be kept by keeping the value, and which is changed in place between the loop's start and
 * the place where the kept terms are used: `total += loss` copied its value, `terms.append(loss)` does not.
 */
export function changedInPlace(
  module: PyModule,
  value: PyNode,
  loop: PyNode,
  used: PyNode,
): string | undefined {
  return sharedRoots(value)
    .filter(({ type }) => type === 'identifier')
    .find((root) => isChanged(module, root, loop, used, new Set()))?.text;
}

function isChanged(module: PyModule, root: PyNode, loop: PyNode, used: PyNode, seen: Set<string>): boolean {
  const scope = module.resolve(root);
  if (scope === undefined || seen.has(root.text)) return false;
  seen.add(root.text);
  let fresh = false;
  for (const place of module.occurrences(scope, root.text)) {
    if (place.start < loop.start || place.start > used.start) continue;
    const changes = roleOf(place) === 'update' || isChangedAt(place);
    if (changes && (!fresh || place.start > root.start)) return true;
    fresh ||= binds(roleOf(place)) && !changes;
    const alias = aliasOf(place);
    if (alias !== undefined && isChanged(module, alias, loop, used, seen)) return true;
  }
  return false;
}

/** `alias = place`, also by way of a method that shares its memory. */
function aliasOf(place: PyNode): PyNode | undefined {
  const assignment = place.closest('assignment', 'block');
  const [left, right] = [assignment?.field('left'), assignment?.field('right')];
  const shares = right !== undefined && sharedRoots(right).includes(place);
  return shares && left?.type === 'identifier' ? left : undefined;
}

/** The attribute or element whose tensor would be kept: who else changes it is not seen. */
export function keptFromElsewhere(module: PyModule, value: PyNode, depth = 0): PyNode | undefined {
  for (const root of sharedRoots(value)) {
    if (root.type === 'attribute' || root.type === 'subscript') return root;
    if (root.type !== 'identifier' || depth > MAX_DEPTH) continue;
    for (const found of reachingDefinitions(module, root) ?? []) {
      const source = found.kind === 'value' ? keptFromElsewhere(module, found.value, depth + 1) : undefined;
      if (source !== undefined) return source;
    }
  }
  return undefined;
}

/** The names, attributes and calls whose very tensor the value may be. */
function sharedRoots(value: PyNode): readonly PyNode[] {
  const node = unparenthesized(value);
  if (node.type === 'conditional_expression')
    return [node.named[0], node.named[2]].flatMap((side) => (side === undefined ? [] : sharedRoots(side)));
  if (node.type === 'attribute' && node.field('attribute')?.text === 'data') {
    const object = node.field('object');
    return object === undefined ? [] : sharedRoots(object);
  }
  const receiver = node.type === 'call' ? receiverOf(node) : undefined;
  return receiver !== undefined && SHARING.has(methodName(node) ?? '') ? sharedRoots(receiver) : [node];
}

/** `x.mul_(…)`, `x.data.mul_(…)`, `x[…] = …`, `x.data = …` */
function isChangedAt(place: PyNode): boolean {
  let holder = place.parent;
  if (holder?.type !== 'attribute' && holder?.type !== 'subscript') return false;
  if (holder.field('attribute')?.text === 'data' && holder.parent?.type === 'attribute')
    holder = holder.parent;
  const statement = holder.parent;
  if (statement?.type === 'assignment' || statement?.type === 'augmented_assignment') {
    return statement.field('left') === holder;
  }
  return (
    statement?.type === 'call' &&
    /[^_]_$/.test(methodName(statement) ?? '') &&
    methodName(statement) !== 'requires_grad_'
  );
}

/**
 * A term that is made on the default device while others come from the data: `+=` takes a CPU number among CUDA ones,
 * `torch.stack` does not.
 */
export function strayDevice(module: PyModule, values: readonly PyNode[]): PyNode | undefined {
  const sources = values.flatMap((value) => sourcesOf(module, value, 0));
  const made = sources.filter((source) => isMadeOnDefaultDevice(module, source));
  return made.length < sources.length ? made[0] : undefined;
}

/** The expressions that may give the value, through choices, variables and functions of the file. */
function sourcesOf(module: PyModule, value: PyNode, depth: number): readonly PyNode[] {
  const node = unparenthesized(value);
  if (depth > MAX_DEPTH) return [node];
  const of = (inner: PyNode | undefined): readonly PyNode[] =>
    inner === undefined ? [] : sourcesOf(module, inner, depth + 1);
  if (node.type === 'conditional_expression') return [...of(node.named[0]), ...of(node.named[2])];
  if (node.type === 'identifier') {
    const found = (reachingDefinitions(module, node) ?? []).flatMap((definition) =>
      definition.kind === 'value' ? of(definition.value) : [],
    );
    return found.length > 0 ? found : [node];
  }
  const definition = node.type === 'call' ? calledDefinition(module, node) : undefined;
  if (definition?.type !== 'function_definition') return [node];
  const returned = [...ownNodes(definition)].flatMap((inner) =>
    inner.type === 'return_statement' ? of(inner.named[0]) : [],
  );
  return returned.length > 0 ? returned : [node];
}

function isMadeOnDefaultDevice(module: PyModule, node: PyNode): boolean {
  const callee = node.type === 'call' ? node.field('function') : undefined;
  const path = callee && qualifiedName(module, callee);
  return path !== undefined && MADE_ON_CPU.has(path) && keywordArgument(node, 'device') === undefined;
}
