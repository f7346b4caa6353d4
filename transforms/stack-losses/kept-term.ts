import { isMaker } from '../../src/library/library.js';
import { calledDefinition } from '../../src/semantic/definitions.js';
import type { Elsewhere } from '../../src/semantic/elsewhere.js';
import { reachingDefinitions, readsReached } from '../../src/semantic/flow.js';
import { qualifiedName } from '../../src/semantic/imports.js';
import type { PyModule } from '../../src/semantic/module.js';
import { binds, roleOf } from '../../src/semantic/names.js';
import { once } from '../../src/semantic/once.js';
import {
  argumentsOf,
  keywordArgument,
  keywordValue,
  methodName,
  ownNodes,
  receiverOf,
  statementOf,
  unparenthesized,
} from '../../src/semantic/statements.js';
import type { PyNode } from '../../src/syntax/node.js';
import { tensorRead } from '../../src/values/uses/tensor-read.js';
import { calledBy } from '../../src/values/value/called.js';

const MAX_DEPTH = 6;

/** Methods and functions whose result may share memory with what they are given. */
const SHARING: ReadonlySet<string> = new Set(
  `as_tensor asarray atleast_1d bfloat16 clone contiguous cpu cuda detach double dropout expand flatten float half
    positive real reshape squeeze to type type_as view view_as`.split(/\s+/),
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
  return sharedRoots(module, value)
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
    const alias = aliasOf(module, place);
    if (alias !== undefined && isChanged(module, alias, loop, used, seen)) return true;
  }
  return false;
}

/** `alias = place`, also by way of a method that shares its memory. */
function aliasOf(module: PyModule, place: PyNode): PyNode | undefined {
  const assignment = place.closest('assignment', 'block');
  const [left, right] = [assignment?.left, assignment?.right];
  const shares = right !== undefined && sharedRoots(module, right).includes(place);
  return shares && left?.type === 'identifier' ? left : undefined;
}

/** The attribute or element whose tensor would be kept: who else changes it is not seen. */
export function keptFromElsewhere(module: PyModule, value: PyNode, depth = 0): PyNode | undefined {
  for (const root of sharedRoots(module, value)) {
    if (root.type === 'attribute' || root.type === 'subscript') return root;
    if (root.type !== 'identifier' || depth > MAX_DEPTH) continue;
    for (const found of reachingDefinitions(module, root) ?? []) {
      const source = found.kind === 'value' ? keptFromElsewhere(module, found.value, depth + 1) : undefined;
      if (source !== undefined) return source;
    }
  }
  return undefined;
}

/**
 * The place where other code gets hold of the tensor that would be kept, and may change it in place before it is used:
 * `dist.all_reduce(loss.detach())`, `self.last = loss`; also in the function that made it, in whatever file.
 */
export function handedOn(module: PyModule, value: PyNode, used: PyNode): Elsewhere | undefined {
  return handedOnBefore(module, value, used.start, new Set());
}

function handedOnBefore(
  module: PyModule,
  value: PyNode,
  end: number,
  seen: Set<PyNode>,
): Elsewhere | undefined {
  for (const root of sharedRoots(module, value)) {
    const found =
      root.type === 'identifier'
        ? variableHandedOn(module, root, end, seen)
        : root.type === 'call'
          ? resultHandedOn(module, root, seen)
          : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

function variableHandedOn(
  module: PyModule,
  root: PyNode,
  end: number,
  seen: Set<PyNode>,
): Elsewhere | undefined {
  const scope = module.resolve(root);
  if (scope === undefined || seen.has(root)) return undefined;
  seen.add(root);
  // Who reads a global, or a variable of the function around, is not seen from here.
  if (binds(roleOf(root)) && scope !== module.scopeAt(root)) return { module, node: statementOf(root) };
  const given = reachingDefinitions(module, root) ?? [];
  const bindings = given.map(({ node }) => node);
  for (const place of readsReached(module, scope, root.text, bindings)) {
    if (place === root || place.start > end) continue;
    const alias = aliasOf(module, place);
    if (isHandedOn(module, place, alias !== undefined)) return { module, node: statementOf(place) };
    const found = alias && variableHandedOn(module, alias, end, seen);
    if (found !== undefined) return found;
  }
  return given
    .map((each) => (each.kind === 'value' ? handedOnBefore(module, each.value, end, seen) : undefined))
    .find((place) => place !== undefined);
}

/** What the functions behind a call do with the tensor before they return it. */
function resultHandedOn(module: PyModule, call: PyNode, seen: Set<PyNode>): Elsewhere | undefined {
  for (const run of calledBy(module, call)?.functions ?? []) {
    if (seen.has(run.node)) continue;
    seen.add(run.node);
    for (const { type, named } of ownNodes(run.node)) {
      const returned = type === 'return_statement' ? named[0] : undefined;
      const found = returned && returnedHandedOn(run, returned, seen);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

function returnedHandedOn(run: Elsewhere, returned: PyNode, seen: Set<PyNode>): Elsewhere | undefined {
  const node = keptFromElsewhere(run.module, returned);
  return node === undefined
    ? handedOnBefore(run.module, returned, run.node.end, seen)
    : { module: run.module, node };
}

function isHandedOn(module: PyModule, place: PyNode, hasAlias: boolean): boolean {
  const { use, logged } = tensorRead(module, place);
  if (use === 'changed' || use === 'reset') return true;
  return !hasAlias && (use === 'kept' || (use === 'passed' && !logged));
}

/** The names, attributes and calls whose very tensor the value may be. */
function sharedRoots(module: PyModule, value: PyNode): readonly PyNode[] {
  const node = unparenthesized(value);
  const of = (...parts: readonly (PyNode | undefined)[]): readonly PyNode[] =>
    parts.flatMap((part) => (part === undefined ? [] : sharedRoots(module, part)));
  switch (node.type) {
    case 'conditional_expression':
      return of(node.named[0], node.named[2]);
    case 'boolean_operator':
      return of(node.left, node.right);
    case 'unary_operator':
      return node.operator?.text === '+' ? of(node.argument) : [node];
    case 'named_expression':
      return [...of(node.name), ...of(node.value)];
    case 'attribute':
      return node.attribute?.text === 'data' ? of(node.object) : [node];
    case 'call': {
      const input = sharedInput(module, node);
      return input === undefined ? [node] : of(input);
    }
    default:
      return [node];
  }
}

/** What `x.detach()`, `torch.squeeze(x)`, `x.mul_(2)` and `F.relu(x, inplace=True)` may give back. */
function sharedInput(module: PyModule, call: PyNode): PyNode | undefined {
  const callee = call.function;
  const name = methodName(call) ?? callee?.text ?? '';
  const out = keywordValue(call, 'out');
  const writes = name.endsWith('_') || keywordArgument(call, 'inplace') !== undefined;
  const mayWrite = argumentsOf(call).some(({ type }) => type === 'true');
  if (out !== undefined) return out;
  const ofTorch = callee !== undefined && qualifiedName(module, callee) !== undefined;
  if (!SHARING.has(name) && !writes && !(ofTorch && mayWrite)) return undefined;
  return ofTorch ? argumentsOf(call)[0] : receiverOf(call);
}

/** `x.mul_(…)`, `x.data.mul_(…)`, `x[…] = …`, `x.data = …` */
function isChangedAt(place: PyNode): boolean {
  let holder = place.parent;
  if (holder?.type !== 'attribute' && holder?.type !== 'subscript') return false;
  if (holder.attribute?.text === 'data' && holder.parent?.type === 'attribute') holder = holder.parent;
  const statement = holder.parent;
  if (statement?.type === 'assignment' || statement?.type === 'augmented_assignment') {
    return statement.left === holder;
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
  const sources = values.flatMap((value) => sourcesOf(module, value));
  const made = sources.filter((source) => isMadeOnDefaultDevice(module, source));
  return made.length < sources.length ? made[0] : undefined;
}

/** The expressions that may give the value, through choices, variables and functions of the file. */
const sourcesOf = once(findSources);

function findSources(module: PyModule, value: PyNode, depth: number): readonly PyNode[] {
  const node = unparenthesized(value);
  if (depth > MAX_DEPTH) return [node];
  const of = (inner: PyNode | undefined): readonly PyNode[] =>
    inner === undefined ? [] : sourcesOf(module, inner, depth + 1);
  if (node.type === 'conditional_expression') return [...of(node.named[0]), ...of(node.named[2])];
  if (node.type === 'identifier') {
    const found = (reachingDefinitions(module, node) ?? []).flatMap((definition) =>
      definition.kind === 'value' ? of(definition.value) : [],
    );
    return found.length > 0 ? [...new Set(found)] : [node];
  }
  const definition = node.type === 'call' ? calledDefinition(module, node) : undefined;
  if (definition?.type !== 'function_definition') return [node];
  const returned = ownNodes(definition).flatMap((inner) =>
    inner.type === 'return_statement' ? of(inner.named[0]) : [],
  );
  return returned.length > 0 ? [...new Set(returned)] : [node];
}

function isMadeOnDefaultDevice(module: PyModule, node: PyNode): boolean {
  const callee = node.type === 'call' ? node.function : undefined;
  const path = callee && qualifiedName(module, callee);
  return path !== undefined && isMaker(path) && keywordArgument(node, 'device') === undefined;
}
