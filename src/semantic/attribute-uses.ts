import type { PyNode } from '../syntax/node.js';
import { ancestryOf, attributeOfSelf, classAround, classBehind } from './definitions.js';
import { type Gate, gate } from './gate.js';
import { qualifiedName } from './imports.js';
import type { PyModule } from './module.js';
import { roleOf } from './names.js';
import { ask } from './question.js';
import { argumentsOf, assignedValue, enclosingFunction, isCallee, unparenthesized } from './statements.js';
import { writesOf } from './variables.js';

export interface AttributeUse {
  /** The whole `self.name`. */
  readonly node: PyNode;
  /** False where the object is not provably an instance of this class: `model.name`. */
  readonly certain: boolean;
  readonly kind: 'write' | 'update' | 'delete' | 'read';
}

/** Every `.name` in the file that may be this class's attribute, in source order. */
export function attributeUses(module: PyModule, classNode: PyNode, name: string): readonly AttributeUse[] {
  const { byOwner, byFamily } = usesNamed(module, name);
  const family = familyOf(module, classNode);
  const known = byFamily.get(family);
  if (known !== undefined) return known;
  const lists = [undefined, ...family].flatMap((owner) => {
    const uses = byOwner.get(owner);
    return uses === undefined ? [] : [uses];
  });
  const [only = [], ...others] = lists;
  const uses = others.length === 0 ? only : lists.flat().sort((a, b) => a.node.end - b.node.end);
  byFamily.set(family, uses);
  return uses;
}

/**
 * The same-file classes that an instance's attributes may be shared with: all that lines of inheritance join. Siblings are
 * among them, since a class elsewhere may inherit two of them.
 */
export function familyOf(module: PyModule, classNode: PyNode): readonly PyNode[] {
  return module.alone.memo(familiesByMember, module.alone).get(classNode) ?? [classNode];
}

/** In source order; all members of a family share one list. */
function familiesByMember(module: PyModule): ReadonlyMap<PyNode, readonly PyNode[]> {
  const joined = new Map<PyNode, Set<PyNode>>();
  for (const { parent } of module.at('class ')) {
    if (parent?.type !== 'class_definition') continue;
    const line = ancestryOf(module, parent).classes;
    const [largest = new Set<PyNode>(), ...others] = [
      ...new Set(line.flatMap((each) => joined.get(each) ?? [])),
    ].sort((a, b) => b.size - a.size);
    for (const each of [...line, ...others.flatMap((other) => [...other])]) {
      largest.add(each);
      joined.set(each, largest);
    }
  }
  const listed = new Map(
    [...new Set(joined.values())].map((family) => [family, [...family].sort((a, b) => a.start - b.start)]),
  );
  return new Map([...joined].map(([each, family]) => [each, listed.get(family) ?? []]));
}

/** The uses of one name. */
interface NamedUses {
  readonly byOwner: ReadonlyMap<PyNode | undefined, readonly AttributeUse[]>;
  /** Those that were asked for. */
  readonly byFamily: Map<readonly PyNode[], readonly AttributeUse[]>;
}

/** The uses of a name on any object, looked up once for all classes; by the class where it is certain. */
function usesNamed(module: PyModule, name: string): NamedUses {
  return module.alone.memo(findUses, name);
}

function findUses(module: PyModule, name: string): NamedUses {
  const found = new Map<PyNode | undefined, AttributeUse[]>();
  for (const identifier of module.words(`.${name}`)) {
    const node = identifier.parent;
    if (identifier.text !== name || node?.attribute !== identifier) continue;
    const object = node.object;
    if (object === undefined || qualifiedName(module, object) !== undefined) continue;
    const owner = classBehind(module, object);
    const certain = owner !== undefined;
    // Somebody else's method of that name.
    if (!certain && isCallee(node)) continue;
    const use = { node, certain, kind: useKind(node) };
    const others = found.get(owner);
    if (others === undefined) found.set(owner, [use]);
    else others.push(use);
  }
  return { byOwner: found, byFamily: new Map() };
}

function useKind(attribute: PyNode): AttributeUse['kind'] {
  let child = attribute;
  let parent = attribute.parent;
  while (
    parent !== undefined &&
    /^(?:pattern_list|tuple_pattern|list_pattern|list_splat_pattern|expression_list|tuple|list|parenthesized_expression)$/.test(
      parent.type,
    )
  ) {
    child = parent;
    parent = parent.parent;
  }
  switch (parent?.type) {
    case 'assignment':
      return parent.left === child ? 'write' : 'read';
    case 'augmented_assignment':
      return parent.left === child ? 'update' : 'read';
    case 'for_statement':
    case 'for_in_clause':
      return parent.left === child ? 'write' : 'read';
    case 'as_pattern_target':
      return 'write';
    case 'delete_statement':
      return 'delete';
    default:
      return 'read';
  }
}

/** The value of a plain string literal. */
export function stringValue(node: PyNode | undefined): string | undefined {
  if (node?.type === 'keyword_argument') return stringValue(node.value);
  if (node?.type !== 'string' || node.named.some(({ type }) => type === 'interpolation')) return undefined;
  return node.childOfType('string_content')?.text ?? '';
}

/**
 * Whether attributes of the family are only set and read as written: no `setattr`, no `__dict__`, no hook of Python's
 * attribute protocol. `no` names what it is.
 */
export function plainAttributes(module: PyModule, classNode: PyNode, name: string): Gate {
  const reached = (by: string): Gate => ({
    answer: 'unknown',
    otherwise: ask('unreached-attribute')`Is \`self.${name}\` out of reach of \`${by}\`?`,
  });
  const family = familyOf(module, classNode);
  for (const each of [classNode, ...family]) {
    const scope = module.scopeOf(each);
    const hook = ['__setattr__', '__getattr__', '__getattribute__', '__slots__'].find((it) => scope.has(it));
    if (hook !== undefined) return gate(false, `the class defines \`${hook}\``);
    if (scope.bindings(name).some((binding) => roleOf(binding) !== 'declare'))
      return gate(false, `\`${name}\` is also a name of the class itself`);
  }
  for (const builtin of ['setattr', 'delattr', 'getattr']) {
    for (const hit of module.at(builtin)) {
      const call = hit.parent;
      if (call?.type !== 'call' || call.function !== hit || hit.text !== builtin) continue;
      const given = stringValue(argumentsOf(call)[1]);
      const inside = family.some((each) => each.contains(call));
      if (given === name || (given === undefined && inside && builtin !== 'getattr')) return reached(builtin);
    }
  }
  const viewed = module.at('vars(').find(({ text, parent }) => {
    const asked = parent?.parent?.type === 'subscript' ? parent.parent.subscript : undefined;
    return (
      text === 'vars' && (stringValue(asked) === name || family.some((each) => each.contains(parent ?? each)))
    );
  });
  if (viewed !== undefined) return reached('vars()');
  const raw = module.at('__dict__').find((hit) => family.some((each) => each.contains(hit)));
  return raw === undefined ? gate(true, '') : reached('__dict__');
}

/** The calls `….method(…)` in the file that may run a method. */
export function callsOf(module: PyModule, functionNode: PyNode): readonly PyNode[] {
  const name = functionNode.name?.text;
  return name === undefined ? [] : module.alone.memo(findCalls, name);
}

function findCalls(module: PyModule, name: string): readonly PyNode[] {
  const calls = module.words(`.${name}`).flatMap((hit) => {
    const callee = hit.parent;
    const call = callee?.parent;
    const isCall = hit.text === name && callee?.attribute === hit && call?.function === callee;
    return isCall && call !== undefined ? [call] : [];
  });
  return calls.sort((a, b) => a.start - b.start);
}

/** What the family gives to an attribute, or adds to it; undefined for what is no assignment to it alone. */
export function valuesWritten(
  module: PyModule,
  classNode: PyNode,
  name: string,
): readonly (PyNode | undefined)[] {
  return attributeUses(module, classNode, name)
    .filter(({ kind }) => kind !== 'read')
    .map(({ node: { parent }, node }) =>
      /assignment$/.test(parent?.type ?? '') && parent?.left === node ? parent.right : undefined,
    );
}

/** The value given to `self.name` where the family writes it exactly once, in an `__init__`. */
export function initialValue(module: PyModule, at: PyNode, name: string): PyNode | undefined {
  const around = classAround(at);
  if (around === undefined) return undefined;
  const writes = attributeUses(module, around.classNode, name).filter(({ kind }) => kind !== 'read');
  const [only] = writes;
  if (only === undefined || writes.length !== 1 || !only.certain) return undefined;
  const assignment = only.node.parent;
  const inside = enclosingFunction(only.node)?.name?.text === '__init__';
  return inside && assignment?.type === 'assignment' && assignment.left === only.node
    ? assignment.right
    : undefined;
}

/** How far names are followed. */
const MAX_DEPTH = 20;

/** The name under which a number can be compared across methods: a numeral, or a parameter of `__init__` that is kept. */
export function lastingName(module: PyModule, expression: PyNode, depth = 0): string | undefined {
  const node = unparenthesized(expression);
  if (depth > MAX_DEPTH) return undefined;
  if (node.type === 'integer') return node.text;
  if (node.type === 'identifier') {
    const [only, ...others] = writesOf(module, node);
    if (only === undefined || others.length > 0) return undefined;
    if (roleOf(only) === 'parameter') {
      const owner = module.resolve(node)?.node;
      return owner?.name?.text === '__init__' ? `${node.text}@${owner.start}` : undefined;
    }
    const value = assignedValue(only);
    return value && lastingName(module, value, depth + 1);
  }
  const name = node.type === 'attribute' ? node.attribute?.text : undefined;
  if (name === undefined || node.object === undefined) return undefined;
  if (attributeOfSelf(node) !== undefined) {
    const value = initialValue(module, node, name);
    return value && lastingName(module, value, depth + 1);
  }
  const base = lastingName(module, node.object, depth + 1);
  return base === undefined ? undefined : `${base}.${name}`;
}
