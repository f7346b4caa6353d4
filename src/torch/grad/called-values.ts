import { givesHeld } from '../../library/library.js';
import { CONTAINERS, PARTIAL } from '../../library/names.js';
import { isModuleClass } from '../../library/paths.js';
import { attributeValues } from '../../semantic/attributes.js';
import { nameOf } from '../../semantic/called-name.js';
import { definitionBehind, selfName } from '../../semantic/definitions.js';
import { qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { importedPath } from '../../semantic/names.js';
import {
  argumentsOf,
  argumentValue,
  enclosingClass,
  enclosingFunction,
  isCallee,
  receiverOf,
  unparenthesized,
  valuesAssigned,
  wholeName,
} from '../../semantic/statements.js';
import { isUnbound, waysGiven } from '../../semantic/variables.js';
import type { PyNode } from '../../syntax/node.js';
import { keepsGiven } from '../../values/value/names.js';
import { isOfKnownPackage } from '../../values/value/plain.js';

/** What calling a value may run. */
export interface Called {
  /** Functions and lambdas of the file. */
  readonly functions: readonly PyNode[];
  /** `kept` of `kept.append`. */
  readonly containers: readonly PyNode[];
  /** What is looked for in all files: a function, a class whose objects are called, what is put under a name, … */
  readonly keys: readonly string[];
}

/** The name that what an expression names has in its own file. */
export function nameBehind(module: PyModule, expression: PyNode): string {
  return qualifiedName(module, expression)?.split('.').at(-1) ?? nameOf(expression);
}

export function calledBehind(alone: PyModule, value: PyNode): Called {
  const found: Found = { functions: [], containers: [], keys: [] };
  collect(alone, value, found, new Set());
  return found;
}

interface Found extends Called {
  readonly functions: PyNode[];
  readonly containers: PyNode[];
  readonly keys: string[];
}

function collect(alone: PyModule, expression: PyNode | undefined, found: Found, seen: Set<PyNode>): void {
  const value = expression && unparenthesized(argumentValue(expression));
  if (value === undefined || seen.has(value)) return;
  seen.add(value);
  const path = qualifiedName(alone, value.function ?? value);
  if (value.type === 'lambda') found.functions.push(value);
  else if (/^(?:list|tuple|set|dictionary|conditional_expression|boolean_operator)$/.test(value.type))
    for (const each of value.named) collect(alone, each.value ?? each, found, seen);
  else if (value.type === 'named_expression' || value.type === 'subscript')
    collect(alone, value.value, found, seen);
  // `__lt__ = __gt__ = keep`
  else if (value.type === 'assignment') collect(alone, value.right, found, seen);
  // `partial(keep, by)`
  else if (path === PARTIAL) collectPartial(alone, argumentsOf(value), found, seen);
  else if (path !== undefined && isOfKnownPackage(path)) return;
  else if (value.type === 'call') collectMade(alone, value, found, seen);
  else if (path !== undefined)
    found.keys.push(...['function', 'object', 'value'].map((as) => `${as} ${nameBehind(alone, value)}`));
  else if (value.type === 'attribute') collectAttribute(alone, value, found, seen);
  else if (value.type === 'identifier') collectVariable(alone, value, found, seen);
}

/** `partial(note, kept)` may put what it is given into what it has. */
function collectPartial(alone: PyModule, given: readonly PyNode[], found: Found, seen: Set<PyNode>): void {
  const [run, ...bound] = given;
  collect(alone, run, found, seen);
  const isKnown = run !== undefined && isOfKnownPackage(qualifiedName(alone, run) ?? '');
  const held = bound.map(argumentValue).filter(({ type }) => type === 'identifier' || type === 'attribute');
  if (!isKnown) found.containers.push(...held);
}

function collectMade(alone: PyModule, call: PyNode, found: Found, seen: Set<PyNode>): void {
  const callee = call.function;
  if (callee === undefined) return;
  if (isUnbound(alone, callee)) {
    if (callee.text === 'getattr')
      found.keys.push(`value ${argumentsOf(call)[1]?.text.replace(/\W/g, '') ?? ''}`);
    else for (const each of argumentsOf(call)) collect(alone, each, found, seen);
    return;
  }
  found.keys.push(...['made', 'object'].map((as) => `${as} ${nameBehind(alone, callee)}`));
  // `CALLBACKS.get(name)`, `self.listeners.values()`
  if (callee.type === 'attribute' && givesHeld(callee.attribute?.text ?? ''))
    collect(alone, receiverOf(call), found, seen);
}

function collectAttribute(alone: PyModule, attribute: PyNode, found: Found, seen: Set<PyNode>): void {
  const name = attribute.attribute?.text ?? '';
  const { object } = attribute;
  const definition = definitionBehind(alone, attribute);
  if (definition?.type === 'function_definition') found.functions.push(definition);
  if (definition !== undefined || object === undefined) return;
  if (keepsGiven(name)) found.containers.push(object);
  else if (!isLayers(alone, attribute)) {
    const values = attributeValues(alone, attribute);
    const isMade = values?.every(({ type }) => type === 'call') === true;
    for (const value of isMade ? values : []) collect(alone, value, found, seen);
    found.keys.push(`function ${name}`, `${isMade ? 'set' : 'value'} ${name}`);
  }
}

/** Torch lets nothing but modules take their place. */
function isLayers(alone: PyModule, attribute: PyNode): boolean {
  const values = attributeValues(alone, attribute) ?? [];
  const isLayer = ({ function: maker }: PyNode) => {
    const path = maker && qualifiedName(alone, maker);
    return path !== undefined && (CONTAINERS.has(path) || isModuleClass(path));
  };
  return values.length > 0 && values.every(isLayer);
}

function collectVariable(alone: PyModule, name: PyNode, found: Found, seen: Set<PyNode>): void {
  const definition = definitionBehind(alone, name);
  if (definition?.type === 'function_definition') found.functions.push(definition);
  else if (definition !== undefined) found.keys.push(`object ${name.text}`);
  else if (alone.resolve(name) === alone.scope) found.keys.push(`value ${name.text}`);
  else
    for (const way of waysGiven(alone, name)) {
      if (way.kind === 'loop') collect(alone, way.iterable, found, seen);
      else if (way.kind === 'parameter') {
        found.keys.push(...givenAs(way.node));
        collect(alone, way.node.parent?.value, found, seen);
      } else if ('value' in way) collect(alone, way.value, found, seen);
    }
}

/** The parameter of a function or of the constructor of a class: what that is called with. */
function givenAs(parameter: PyNode): readonly string[] {
  const owner = enclosingFunction(parameter);
  const all = owner?.parameters?.named ?? [];
  const at = all.findIndex((each) => each === parameter || each.contains(parameter));
  const classNode = owner && enclosingClass(owner);
  const name = owner?.name?.text === '__init__' ? classNode?.name?.text : owner?.name?.text;
  if (name === undefined || parameter.text === selfName(owner ?? parameter)) return [];
  return [`given ${name} ${at - (classNode === undefined ? 0 : 1)} ${parameter.text}`];
}

/** What a file puts where a variable or an attribute of this name is: by assigning it, by a keyword, into what it holds. */
export function putUnder(alone: PyModule, name: string): readonly PyNode[] {
  return alone.words(name).flatMap((node): readonly PyNode[] => {
    const place = wholeName(node);
    const { parent } = place;
    if (node.type !== 'identifier' || parent === undefined || importedPath(node) !== undefined) return [];
    // A variable of a function is another one.
    if (place === node && parent.name !== node && alone.resolve(node)?.kind === 'function') return [];
    if (parent.type === 'keyword_argument' && parent.name === node) return parent.value ? [parent.value] : [];
    const whole = parent.type === 'subscript' && parent.value === place ? parent : place;
    const pattern = /^(?:pattern_list|tuple_pattern)$/.test(whole.parent?.type ?? '') ? whole.parent : whole;
    const assignment = pattern?.parent;
    if (assignment?.type === 'assignment' && assignment.left === pattern)
      return valuesAssigned(assignment).flatMap(({ target, values }) => (target === whole ? values : []));
    // `LISTENERS.append(keep)`, `LISTENERS["end"].append(keep)`
    const method =
      whole.parent?.type === 'attribute' && whole.parent.object === whole ? whole.parent : undefined;
    const isKept = method !== undefined && isCallee(method) && keepsGiven(method.attribute?.text ?? '');
    return isKept ? argumentsOf(method.parent ?? method) : [];
  });
}

/** One argument of a call. */
export interface Given {
  /** Counted from the left; -1 where it may be any. */
  readonly at: number;
  readonly keyword: string | undefined;
  readonly value: PyNode;
}

/** What calls of a function or a class of this name give, also those by the constructors of the classes below it. */
export function givenByCalls(alone: PyModule, name: string): readonly Given[] {
  const places = alone.words(name).map(wholeName);
  const calls = places.filter(isCallee).flatMap(({ parent }) => parent ?? []);
  const supers = heirsNamed(alone, name).flatMap((each) => [...each.walk()].filter(isSuperInit));
  return [...calls, ...supers].flatMap((call) => {
    const given = argumentsOf(call);
    // `Net(*args)`
    const isSpread = given.some(({ type }) => /splat/.test(type));
    return given.map((value, at) => ({ at: isSpread ? -1 : at, keyword: value.name?.text, value }));
  });
}

/** The classes that name a class of this name as their base. */
export function heirsNamed(alone: PyModule, name: string): readonly PyNode[] {
  return alone.words(name).flatMap((node) => {
    const bases = wholeName(node).parent;
    return bases?.parent?.type === 'class_definition' && bases.parent.superclasses === bases
      ? [bases.parent]
      : [];
  });
}

function isSuperInit(node: PyNode): boolean {
  return node.type === 'call' && /^super\([^()]*\)\.__init__$/.test(node.function?.text ?? '');
}
