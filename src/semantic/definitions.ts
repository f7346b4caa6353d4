import type { PyNode } from '../syntax/node.js';
import { definitionOf } from './flow.js';
import { qualifiedName } from './imports.js';
import type { PyModule } from './module.js';
import { roleOf } from './names.js';
import { remembered } from './remembered.js';
import { starImports } from './stars.js';
import { argumentsOf, enclosingClass, enclosingFunction, methodName, unparenthesized } from './statements.js';

/** The only definition a name has in the file, when it has exactly one and is a `def` or `class`. */
export function definitionNamed(module: PyModule, identifier: PyNode): PyNode | undefined {
  const scope = module.resolve(identifier);
  if (scope === undefined) return undefined;
  const writes = module.writes(scope, identifier.text);
  const [only] = writes;
  if (only === undefined || writes.length > 1) return undefined;
  const role = roleOf(only);
  return role === 'def' || role === 'class' ? only.parent : undefined;
}

/** The expressions a class inherits from, keywords such as `metaclass=` left out. */
export function basesOf(classNode: PyNode): readonly PyNode[] {
  const bases = classNode.superclasses?.named ?? [];
  return bases.filter((base) => base.type !== 'keyword_argument');
}

export interface Ancestry {
  /** Same-file classes, this one first, then its bases depth first. */
  readonly classes: readonly PyNode[];
  /** Dotted names of bases that come from imports. */
  readonly imported: readonly string[];
  /** A base that is neither in this file nor a plain import. */
  readonly unknown: boolean;
  /** Such bases. */
  readonly others: readonly PyNode[];
}

export function ancestryOf(module: PyModule, classNode: PyNode): Ancestry {
  return (starImports(module).length > 0 ? module : module.alone).memo(findAncestry, classNode);
}

function findAncestry(module: PyModule, classNode: PyNode): Ancestry {
  const classes: PyNode[] = [];
  const imported: string[] = [];
  const others: PyNode[] = [];
  const pending = [classNode];
  for (let at = pending.shift(); at !== undefined; at = pending.shift()) {
    if (classes.includes(at)) continue;
    classes.push(at);
    for (const written of basesOf(at)) {
      // `Generic[T]` and the like: what counts is the class before the brackets.
      const base = written.type === 'subscript' ? (written.value ?? written) : written;
      const path = qualifiedName(module, base);
      const local = base.type === 'identifier' ? definitionNamed(module, base) : undefined;
      if (local?.type === 'class_definition') pending.push(local);
      else if (path !== undefined) imported.push(path);
      else if (base.text !== 'object') others.push(base);
    }
  }
  return { classes, imported, unknown: others.length > 0, others };
}

/** The same-file classes that inherit this one, itself among them, in source order. */
export function heirsOf(module: PyModule, classNode: PyNode): readonly PyNode[] {
  return module.alone.memo(heirsByClass, module.alone).get(classNode) ?? [classNode];
}

function heirsByClass(module: PyModule): ReadonlyMap<PyNode, readonly PyNode[]> {
  const found = new Map<PyNode, PyNode[]>();
  for (const { parent } of module.words('class')) {
    if (parent?.type !== 'class_definition') continue;
    for (const base of ancestryOf(module, parent).classes) {
      const heirs = found.get(base);
      if (heirs === undefined) found.set(base, [parent]);
      else heirs.push(parent);
    }
  }
  return found;
}

/** The same-file classes that an instance of this one may be of as well: its bases, its heirs and their other bases. */
export function kinOf(module: PyModule, classNode: PyNode): readonly PyNode[] {
  return module.alone.memo(findKin, classNode);
}

function findKin(module: PyModule, classNode: PyNode): readonly PyNode[] {
  const heirs = heirsOf(module, classNode);
  return [...new Set(heirs.flatMap((heir) => ancestryOf(module, heir).classes))];
}

/** A method by name in the class or its same-file bases. Two `def`s of one name in one class are no answer. */
export function methodNamed(module: PyModule, classNode: PyNode, name: string): PyNode | undefined {
  for (const at of ancestryOf(module, classNode).classes) {
    const bindings = module.scopeOf(at).bindings(name);
    if (bindings.length === 0) continue;
    const [only] = bindings;
    return bindings.length === 1 && only?.parent?.type === 'function_definition' ? only.parent : undefined;
  }
  return undefined;
}

/** Whether a method of the class, or of a same-file base, has a parameter of this name. */
export function hasParameter(module: PyModule, classNode: PyNode, method: string, name: string): boolean {
  const parameters = methodNamed(module, classNode, method)?.parameters?.named ?? [];
  return parameters.some(
    (each) => each.text === name || each.name?.text === name || each.named[0]?.text === name,
  );
}

/** All functions defined directly in a class body. */
export function methodsOf(classNode: PyNode): readonly PyNode[] {
  const body = classNode.body;
  return (body?.named ?? []).flatMap((statement) => {
    const definition = statement.type === 'decorated_definition' ? statement.definition : statement;
    return definition?.type === 'function_definition' ? [definition] : [];
  });
}

/** The methods of subclasses that `self.method(…)` may run instead; undefined where the method is replaced by assignment. */
export function overridesOf(module: PyModule, call: PyNode, method: PyNode): readonly PyNode[] | undefined {
  const name = methodName(call);
  const owner = enclosingClass(method);
  if (name === undefined || owner === undefined) return [];
  const replaced = module.wordsSet(`.${name}`).some(({ text, parent }) => {
    const assignment = parent?.parent;
    return text === name && assignment?.type === 'assignment' && assignment.left === parent;
  });
  // What a subclass inherits besides may come first.
  const family = heirsOf(module, owner).flatMap((heir) => ancestryOf(module, heir).classes);
  const others = [...new Set(family)].filter((each) => each !== owner);
  const bindings = others.flatMap((each) => module.scopeOf(each).bindings(name));
  if (replaced || bindings.some(({ parent }) => parent?.type !== 'function_definition')) return undefined;
  return bindings.flatMap(({ parent }) => parent ?? []);
}

/** The name of the first parameter of a method (`self`); undefined for plain functions and static methods. */
export function selfName(functionNode: PyNode): string | undefined {
  if (enclosingClass(functionNode) === undefined) return undefined;
  const holder = functionNode.parent;
  if (holder?.type === 'decorated_definition') {
    for (const decorator of holder.childrenOfType('decorator')) {
      if (decorator.named[0]?.text === 'staticmethod') return undefined;
    }
  }
  const first = functionNode.parameters?.named[0];
  const name =
    first?.type === 'identifier' ? first : first?.type === 'typed_parameter' ? first.children[0] : undefined;
  return name?.text;
}

/** The class whose instance (or itself) `self` is at this node, looking through nested functions. */
export function classAround(node: PyNode): { readonly classNode: PyNode; readonly self: string } | undefined {
  for (let at = enclosingFunction(node); at !== undefined; at = enclosingFunction(at)) {
    const classNode = enclosingClass(at);
    const self = selfName(at);
    if (classNode !== undefined && self !== undefined) return { classNode, self };
  }
  return undefined;
}

/** `name` of `self.name`, and the class that the object is of. */
export function attributeOfSelf(
  node: PyNode,
): { readonly classNode: PyNode; readonly name: string } | undefined {
  const name = node.type === 'attribute' ? node.attribute?.text : undefined;
  const around = name === undefined ? undefined : classAround(node);
  return name === undefined || around === undefined || node.object?.text !== around.self
    ? undefined
    : { classNode: around.classNode, name };
}

/**
 * The same-file function or class a call runs, where the file proves it: a plain name, `self.method`, `Class.method`,
 * or a method of a local instance.
 */
export function calledDefinition(module: PyModule, call: PyNode): PyNode | undefined {
  const callee = call.function;
  return callee && definitionBehind(module, callee);
}

/** What a name or attribute refers to, when passed or called. */
export const definitionBehind = remembered((module: PyModule, expression: PyNode): PyNode | undefined => {
  const target = unparenthesized(expression);
  if (target.type === 'identifier') return definitionNamed(module, target);
  if (target.type !== 'attribute') return undefined;
  const object = target.object;
  const name = target.attribute?.text;
  if (object === undefined || name === undefined) return undefined;
  const classNode = classBehind(module, object);
  return classNode && methodNamed(module, classNode, name);
});

/** The same-file class that an expression is, or is an instance of. */
export function classBehind(module: PyModule, expression: PyNode): PyNode | undefined {
  const target = unparenthesized(expression);
  if (target.type === 'call') {
    const made = calledDefinition(module, target);
    if (made?.type === 'class_definition') return made;
    const isSuper = target.function?.text === 'super' && argumentsOf(target).length === 0;
    return isSuper ? classAround(target)?.classNode : undefined;
  }
  if (target.type !== 'identifier') return undefined;
  const around = classAround(target);
  if (around !== undefined && around.self === target.text) return around.classNode;
  const named = definitionNamed(module, target);
  if (named !== undefined) return named.type === 'class_definition' ? named : undefined;
  const scope = module.resolve(target);
  const writes = scope === undefined ? [] : module.writes(scope, target.text);
  const [only] = writes;
  if (only === undefined || writes.length !== 1) return undefined;
  const definition = definitionOf(only);
  return definition.kind === 'value' && definition.value.type === 'call'
    ? classBehind(module, definition.value)
    : undefined;
}
