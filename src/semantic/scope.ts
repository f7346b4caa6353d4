import type { PyNode } from '../syntax/node.js';
import { binds, roleOf } from './names.js';

export type ScopeKind = 'module' | 'class' | 'function' | 'lambda' | 'comprehension';

const SCOPE_KINDS: ReadonlyMap<string, ScopeKind> = new Map([
  ['module', 'module'],
  ['class_definition', 'class'],
  ['function_definition', 'function'],
  ['lambda', 'lambda'],
  ['list_comprehension', 'comprehension'],
  ['set_comprehension', 'comprehension'],
  ['dictionary_comprehension', 'comprehension'],
  ['generator_expression', 'comprehension'],
]);

export function scopeKind(node: PyNode): ScopeKind | undefined {
  return SCOPE_KINDS.get(node.type);
}

export class Scope {
  #bindings: ReadonlyMap<string, readonly PyNode[]> | undefined;
  #globals: ReadonlySet<string> | undefined;
  #nonlocals: ReadonlySet<string> | undefined;

  constructor(
    readonly kind: ScopeKind,
    readonly node: PyNode,
    readonly parent: Scope | undefined,
  ) {}

  /** The identifiers that bind `name` in this very scope, in source order. Writes through `global` are not among them. */
  bindings(name: string): readonly PyNode[] {
    this.#collect();
    return this.#bindings?.get(name) ?? [];
  }

  has(name: string): boolean {
    return this.bindings(name).length > 0;
  }

  get names(): Iterable<string> {
    this.#collect();
    return this.#bindings?.keys() ?? [];
  }

  declaresGlobal(name: string): boolean {
    this.#collect();
    return this.#globals?.has(name) ?? false;
  }

  declaresNonlocal(name: string): boolean {
    this.#collect();
    return this.#nonlocals?.has(name) ?? false;
  }

  #collect(): void {
    if (this.#bindings !== undefined) return;
    const found = new Map<string, PyNode[]>();
    const globals = new Set<string>();
    const nonlocals = new Set<string>();
    for (const identifier of ownIdentifiers(this)) {
      const role = roleOf(identifier);
      const name = identifier.text;
      if (role === 'global') globals.add(name);
      else if (role === 'nonlocal') nonlocals.add(name);
      else if (binds(role)) {
        const list = found.get(name);
        if (list === undefined) found.set(name, [identifier]);
        else list.push(identifier);
      }
    }
    for (const name of [...globals, ...nonlocals]) found.delete(name);
    this.#bindings = found;
    this.#globals = globals;
    this.#nonlocals = nonlocals;
  }
}

/** Identifiers whose binding, if any, belongs to this scope. */
function* ownIdentifiers(scope: Scope): Generator<PyNode> {
  const comprehension = scope.kind === 'comprehension';
  for (const part of ownParts(scope)) {
    for (const node of part.walk((inner) => entersWithin(inner))) {
      if (node.type === 'identifier') {
        if (comprehension === isComprehensionTarget(node)) yield node;
      } else if (node !== part || part !== scope.node) {
        if (node.type === 'function_definition' || node.type === 'class_definition') {
          const name = node.field('name');
          if (name !== undefined && node !== scope.node) yield name;
        } else if (scopeKind(node) === 'comprehension' && !comprehension) {
          yield* walrusTargets(node);
        }
      }
    }
  }
}

function ownParts(scope: Scope): readonly PyNode[] {
  const { node } = scope;
  if (scope.kind === 'module' || scope.kind === 'comprehension') return [node];
  return [node.field('parameters'), node.field('body')].filter((part) => part !== undefined);
}

/** Definitions are looked into only for what belongs outside them, which their callers handle by name. */
function entersWithin(node: PyNode): boolean {
  return scopeKind(node) === undefined;
}

/** In a comprehension only the `for` targets are its own; a walrus belongs to the scope around it. */
function isComprehensionTarget(identifier: PyNode): boolean {
  return (
    roleOf(identifier) === 'loop' &&
    identifier.closest('for_in_clause', 'for_statement')?.type === 'for_in_clause'
  );
}

function* walrusTargets(comprehension: PyNode): Generator<PyNode> {
  for (const node of comprehension.walk((inner) => inner.type !== 'lambda')) {
    if (node.type !== 'named_expression') continue;
    const name = node.field('name');
    if (name !== undefined) yield name;
  }
}
