import type { PyNode } from '../syntax/node.js';
import { controlFlowOf } from './cfg.js';
import { Events } from './cfg-search.js';
import type { PyModule } from './module.js';
import { roleOf } from './names.js';
import type { Scope } from './scope.js';
import { enclosingFunction, runsAtOnce } from './statements.js';

/** One way a variable can get its value. */
export type Definition =
  | { readonly kind: 'value'; readonly node: PyNode; readonly value: PyNode }
  /** `x += value`; the old value flows in as well. */
  | { readonly kind: 'update'; readonly node: PyNode; readonly operator: string; readonly value: PyNode }
  /** One target of an unpacking whose value is not taken apart. */
  | { readonly kind: 'part'; readonly node: PyNode; readonly value: PyNode }
  | { readonly kind: 'loop'; readonly node: PyNode; readonly iterable: PyNode }
  | { readonly kind: 'with'; readonly node: PyNode; readonly value: PyNode }
  | { readonly kind: 'parameter' | 'other'; readonly node: PyNode };

/** How a binding identifier gets its value. Tuples on both sides are matched element by element. */
export function definitionOf(binding: PyNode): Definition {
  const role = roleOf(binding);
  const { parent } = binding;
  if (role === 'parameter') return { kind: 'parameter', node: binding };
  if (role === 'loop') {
    const iterable = binding.closest('for_statement', 'for_in_clause')?.right;
    return iterable === undefined
      ? { kind: 'other', node: binding }
      : { kind: 'loop', node: binding, iterable };
  }
  if (role === 'update') {
    const statement = binding.closest('augmented_assignment');
    const value = statement?.right;
    const operator = statement?.operator?.text;
    if (value !== undefined && operator !== undefined)
      return { kind: 'update', node: binding, operator, value };
  }
  if (role !== 'write' || parent === undefined) return { kind: 'other', node: binding };
  if (parent.type === 'named_expression') {
    const value = parent.value;
    return value === undefined ? { kind: 'other', node: binding } : { kind: 'value', node: binding, value };
  }
  if (parent.type === 'as_pattern_target') {
    const value = parent.parent?.named[0];
    if (value !== undefined && binding.closest('with_item', 'except_clause')?.type === 'with_item') {
      return { kind: 'with', node: binding, value };
    }
    return { kind: 'other', node: binding };
  }
  const assignment = binding.closest('assignment');
  const value = assignment && finalValue(assignment);
  if (assignment === undefined || value === undefined) return { kind: 'other', node: binding };
  if (assignment.left === binding) return { kind: 'value', node: binding, value };
  const targets = parent.named;
  if (parent.parent === assignment && isSequence(value) && value.named.length === targets.length) {
    const plain = [...targets, ...value.named].every((item) => !item.type.includes('splat'));
    const element = value.named[targets.indexOf(binding)];
    if (plain && element !== undefined) return { kind: 'value', node: binding, value: element };
  }
  return { kind: 'part', node: binding, value };
}

/** The value of `a = b = value`. */
function finalValue(assignment: PyNode): PyNode | undefined {
  let value = assignment.right;
  while (value?.type === 'assignment') value = value.right;
  return value;
}

function isSequence(node: PyNode): boolean {
  return node.type === 'expression_list' || node.type === 'tuple' || node.type === 'list';
}

/**
 * The definitions that may give a read its value, the last in the file first; undefined when the variable lives outside the
 * function, is written elsewhere, or is read at another time than its statement runs. Code that is never reached is taken
 * to see all of them.
 */
export function reachingDefinitions(module: PyModule, read: PyNode): readonly Definition[] | undefined {
  return module.alone.memo(definitionsReaching, read);
}

function definitionsReaching(module: PyModule, read: PyNode): readonly Definition[] | undefined {
  const scope = module.resolve(read);
  if (scope === undefined || !isAtOnce(module, read, scope)) return undefined;
  if (scope.kind === 'comprehension') return definitionsInComprehension(scope, read);
  const { isElsewhere, bindings, parameters, only } = writtenBy(
    module,
    scope,
    module.writes(scope, read.text),
  );
  if (isElsewhere) return undefined;
  // Whoever reads it before gets an error.
  if (only !== undefined && only !== read) return [definitionOf(only)];
  const { events, fromEntry } = bindings().before(read);
  const isReached = fromEntry || events.size > 0;
  const found = isReached ? [...events] : [...bindings().nodes];
  return [...found.sort((a, b) => b.start - a.start), ...(fromEntry || !isReached ? parameters : [])].map(
    definitionOf,
  );
}

/** Whether a node is evaluated while the code of a scope around it runs, and not later. */
export function isAtOnce(module: PyModule, node: PyNode, scope: Scope): boolean {
  for (let at: Scope | undefined = module.scopeAt(node); at !== scope; at = at.parent)
    if (at === undefined || !runsAtOnce(at.node)) return false;
  return true;
}

/** Of a variable of a comprehension: the last of the `for` clauses before the read that binds it. */
function definitionsInComprehension(scope: Scope, read: PyNode): readonly Definition[] {
  const isInBody = scope.node.body?.contains(read);
  const earlier = scope
    .bindings(read.text)
    .filter((binding) => isInBody || (binding.closest('for_in_clause')?.end ?? Infinity) <= read.start);
  return earlier.slice(-1).map(definitionOf);
}

/** The reads of a variable that some bindings of it may reach, in source order; those that the flow does not tell about are among them. */
export function readsReached(
  module: PyModule,
  scope: Scope,
  name: string,
  bindings: readonly PyNode[],
): readonly PyNode[] {
  const { traced, untraced } = reachOf(module.alone, module.reads(scope, name));
  const [first = NO_NODES, ...others] = bindings.flatMap((binding) => [traced.get(binding) ?? []]);
  if (untraced.length === 0 && others.length === 0) return first;
  const all = new Set([...first, ...others.flat(), ...untraced]);
  return [...all].sort((a, b) => a.start - b.start);
}

const NO_NODES: readonly PyNode[] = [];

/** Of the reads of one variable, by binding, those that it reaches. */
interface Reach {
  readonly traced: ReadonlyMap<PyNode, readonly PyNode[]>;
  readonly untraced: readonly PyNode[];
}

function reachOf(module: PyModule, reads: readonly PyNode[]): Reach {
  const all = module.memo(nothingReached, module);
  const known = all.get(reads);
  if (known !== undefined) return known;
  const traced = new Map<PyNode, PyNode[]>();
  const untraced: PyNode[] = [];
  for (const read of reads) {
    const definitions = reachingDefinitions(module, read);
    if (definitions === undefined) untraced.push(read);
    for (const { node } of definitions ?? []) {
      const reached = traced.get(node);
      if (reached === undefined) traced.set(node, [read]);
      else reached.push(read);
    }
  }
  const reach = { traced, untraced };
  all.set(reads, reach);
  return reach;
}

function nothingReached(): Map<readonly PyNode[], Reach> {
  return new Map();
}

/** Whether a variable is also written from another scope. */
export function isWrittenElsewhere(module: PyModule, scope: Scope, name: string): boolean {
  return writtenBy(module.alone, scope, module.writes(scope, name)).isElsewhere;
}

/** How a variable is written, whoever reads it. */
interface Written {
  /** Also from another scope, or at another time. */
  readonly isElsewhere: boolean;
  /** Other than by a parameter. */
  readonly bindings: () => Events;
  readonly parameters: readonly PyNode[];
  /** The only binding of a variable of a function. */
  readonly only: PyNode | undefined;
}

function writtenBy(module: PyModule, scope: Scope, writes: readonly PyNode[]): Written {
  const all = module.memo(nothingWritten, module);
  const known = all.get(writes);
  if (known !== undefined) return known;
  const parameters = writes.filter((write) => roleOf(write) === 'parameter');
  // A bare annotation gives no value.
  const others = writes.filter((write) => !['parameter', 'declare'].includes(roleOf(write)));
  const isElsewhere = others.some((write) => !isAtOnce(module, write, scope));
  const isOnly = writes.length === 1 && (scope.kind === 'function' || scope.kind === 'lambda');
  let bindings: Events | undefined;
  const written = {
    isElsewhere,
    bindings: () => {
      bindings ??= new Events(controlFlowOf(module, scope.node), others, replaces);
      return bindings;
    },
    parameters,
    only: isOnly ? (others[0] ?? parameters[0]) : undefined,
  };
  all.set(writes, written);
  return written;
}

/** Whether nothing of the old value is left, as there is after `x += 1`. */
export function replaces(binding: PyNode): boolean {
  return roleOf(binding) !== 'update';
}

function nothingWritten(): Map<readonly PyNode[], Written> {
  return new Map();
}

/** A function, a class, a module, or once a number, a text, `True` or `None`, as written. */
export function isDefinedOrConstant(writes: readonly PyNode[]): boolean {
  const [only, ...others] = writes;
  if (only === undefined) return false;
  if (writes.every((write) => /^(?:def|class|import)$/.test(roleOf(write)))) return true;
  const definition = definitionOf(only);
  return (
    others.length === 0 &&
    definition.kind === 'value' &&
    /^(?:integer|float|string|true|false|none|unary_operator)$/.test(definition.value.type)
  );
}

/** How a variable gets its value here, or where it is written once, in an outer scope. */
export function definitionsOf(module: PyModule, identifier: PyNode): readonly Definition[] | undefined {
  const definitions = reachingDefinitions(module, identifier);
  if (definitions !== undefined) return definitions;
  const scope = module.resolve(identifier);
  const writes = scope === undefined ? [] : module.writes(scope, identifier.text);
  return writes.length === 1 ? writes.map(definitionOf) : undefined;
}

/** The one place that gives a variable its value, above in the same function. */
export function onlyBinding(module: PyModule, read: PyNode): PyNode | undefined {
  const [only, ...others] = reachingDefinitions(module, read) ?? [];
  const isGiven = only?.kind === 'value' || only?.kind === 'part' || only?.kind === 'loop';
  if (!isGiven || others.length > 0 || only.node.start > read.start) return undefined;
  return enclosingFunction(only.node) === enclosingFunction(read) ? only.node : undefined;
}
