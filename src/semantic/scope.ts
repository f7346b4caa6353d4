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

/** What a scope says about one name. */
interface Held {
  readonly bindings: readonly PyNode[];
  readonly isGlobal: boolean;
  readonly isNonlocal: boolean;
}

/** The places of a name in the scope's text, in source order; not in functions that stand in it. */
type Find = (name: string) => Iterable<PyNode>;

/** The names of a module, class, function, lambda or comprehension, each looked up when it is asked for. */
export class Scope {
  readonly #held = new Map<string, Held>();

  constructor(
    readonly kind: ScopeKind,
    readonly node: PyNode,
    readonly parent: Scope | undefined,
    private readonly find: Find,
  ) {}

  /** The identifiers that bind `name` in this very scope, in source order. Writes through `global` are not among them. */
  bindings(name: string): readonly PyNode[] {
    return this.#hold(name).bindings;
  }

  has(name: string): boolean {
    return this.bindings(name).length > 0;
  }

  declaresGlobal(name: string): boolean {
    return this.#hold(name).isGlobal;
  }

  declaresNonlocal(name: string): boolean {
    return this.#hold(name).isNonlocal;
  }

  #hold(name: string): Held {
    const known = this.#held.get(name);
    if (known !== undefined) return known;
    const found: PyNode[] = [];
    let isGlobal = false;
    let isNonlocal = false;
    for (const identifier of this.find(name)) {
      if (identifier.type !== 'identifier' || !this.#owns(identifier)) continue;
      const role = roleOf(identifier);
      if (role === 'global') isGlobal = true;
      else if (role === 'nonlocal') isNonlocal = true;
      else if (binds(role)) found.push(identifier);
    }
    const held = { bindings: isGlobal || isNonlocal ? [] : found, isGlobal, isNonlocal };
    this.#held.set(name, held);
    return held;
  }

  /** Whether what an identifier binds, if anything, belongs to this scope. */
  #owns(identifier: PyNode): boolean {
    if ((this.kind === 'comprehension') !== isComprehensionTarget(identifier)) return false;
    let child = identifier;
    for (let above = identifier.parent; above !== undefined; above = above.parent) {
      if (above === this.node) {
        if (this.kind === 'module' || this.kind === 'comprehension') return true;
        return above.body === child || above.parameters === child;
      }
      if (!lets(above, child, identifier)) return false;
      child = above;
    }
    return false;
  }
}

/** Whether a name goes past the scope that a node opens, to the one around it: definitions' own names, and a walrus. */
function lets(node: PyNode, child: PyNode, identifier: PyNode): boolean {
  const kind = scopeKind(node);
  if (kind === undefined) return true;
  if (kind === 'comprehension')
    return identifier.parent?.type === 'named_expression' && identifier.parent.name === identifier;
  return isDefinition(node) && child === identifier && node.name === identifier;
}

function isDefinition({ type }: PyNode): boolean {
  return type === 'function_definition' || type === 'class_definition';
}

/** In a comprehension only the `for` targets are its own; a walrus belongs to the scope around it. */
function isComprehensionTarget(identifier: PyNode): boolean {
  return (
    roleOf(identifier) === 'loop' &&
    identifier.closest('for_in_clause', 'for_statement')?.type === 'for_in_clause'
  );
}

/** Whether a child of what opens a scope, and a node in it, are evaluated in that scope. */
export function belongsInside(owner: PyNode, child: PyNode, node: PyNode): boolean {
  switch (scopeKind(owner)) {
    case 'module':
      return true;
    case 'class':
      return owner.body === child;
    case 'function':
    case 'lambda':
      if (owner.body === child) return true;
      return owner.parameters === child && node.type === 'identifier' && roleOf(node) === 'parameter';
    case 'comprehension': {
      const first = owner.childOfType('for_in_clause');
      return first !== child || !(first.right?.contains(node) ?? false);
    }
    default:
      return false;
  }
}
