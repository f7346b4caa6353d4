import type { PyNode } from '../syntax/node.js';
import { ancestryOf, classBehind, definitionNamed, heirsOf, methodNamed } from './definitions.js';
import { placeOf } from './gate.js';
import { heldBy, heldFunctions, namesHolding } from './held-functions.js';
import { qualifiedName } from './imports.js';
import { mayBeInstance } from './instance.js';
import type { PyModule } from './module.js';
import { roleOf } from './names.js';
import { arityOf } from './project-names.js';
import { argumentsOf, decoratorsOf, enclosingClass, hasSplat } from './statements.js';
import { isUnbound } from './variables.js';

/** What a function or a lambda may run in its own file: everything its body refers to by name, and what that refers to, nearest first. */
export function* reachedFrom(module: PyModule, functionNode: PyNode): Generator<PyNode> {
  const reached = new Set([functionNode]);
  for (const at of reached) {
    for (const next of module.alone.memo(referencesIn, at)) {
      if (reached.has(next)) continue;
      reached.add(next);
      yield next;
    }
  }
}

/** The functions that reach one of some functions, and these: found from their names, so that no others are looked into. */
export function reaching(module: PyModule, functions: Iterable<PyNode>): ReadonlySet<PyNode> {
  const found = new Set(functions);
  for (const at of found) for (const next of module.alone.memo(referrersOf, at)) found.add(next);
  return found;
}

/** Same-file functions that a function names. A method of an object whose class is unknown may be any method of that name. */
function referencesIn(module: PyModule, functionNode: PyNode): readonly PyNode[] {
  const found = new Set<PyNode>();
  const defined = module.memo(definedNames, module);
  for (const code of [functionNode, ...decoratorsOf(functionNode)])
    for (const node of module.identifiersIn(code, defined)) {
      if (!runs(functionNode, node)) continue;
      for (const target of referred(module, node)) if (target !== functionNode) found.add(target);
    }
  return [...found];
}

/** Whether a place is part of the code of a function, of what its parameters are by default, or of what takes its place. */
function runs(functionNode: PyNode, node: PyNode): boolean {
  if (functionNode.body?.contains(node) !== false || !functionNode.contains(node)) return true;
  const { parameters } = functionNode;
  const annotation = node.closest('type');
  return (
    parameters?.contains(node) === true && !(annotation !== undefined && parameters.contains(annotation))
  );
}

const FUNCTIONS: ReadonlySet<string> = new Set(['function_definition', 'lambda']);

/** The functions in which it is one of these. */
function referrersOf(module: PyModule, functionNode: PyNode): readonly PyNode[] {
  const found = new Set<PyNode>();
  for (const node of namesOf(module, functionNode).flatMap((name) => module.words(name))) {
    if (node.type !== 'identifier' || !referred(module, node).includes(functionNode)) continue;
    for (const at of functionsAround(node)) if (at !== functionNode && runs(at, node)) found.add(at);
  }
  return [...found];
}

/** By which a function can be referred to: its own, and for what making or calling an object runs, those of its classes. */
function namesOf(module: PyModule, functionNode: PyNode): readonly string[] {
  const name = functionNode.name?.text ?? '';
  const owner = functionNode.parent?.closest('class_definition', 'function_definition');
  const isOfObjects = owner?.type === 'class_definition' && OF_OBJECTS.includes(name);
  const classes = isOfObjects ? heirsOf(module, owner) : [];
  const held = namesHolding(module, functionNode);
  return [...new Set([name, ...held, ...classes.map((each) => each.name?.text ?? '')])].filter(Boolean);
}

/** What naming a class may run. */
const OF_OBJECTS: readonly string[] = [
  ...['__init__', '__new__', '__post_init__', '__call__', 'forward', '__enter__', '__exit__'],
];

/** What stands behind `def` and `class`, going by the text, and what holds a function: no other name can run code of the file. */
function definedNames(module: PyModule): ReadonlySet<string> {
  const defined = module.text.matchAll(/\b(?:def|class)[\s\\]+([\w\u0080-\uffff]+)/g);
  return new Set([...Array.from(defined, ([, name = '']) => name), ...heldFunctions(module).keys()]);
}

function referred(module: PyModule, identifier: PyNode): readonly PyNode[] {
  const defined = definitionsReferred(module, identifier);
  const held = heldBy(module, identifier);
  return held.length === 0 ? defined : [...defined, ...held];
}

function definitionsReferred(module: PyModule, identifier: PyNode): readonly PyNode[] {
  const place = identifier.parent;
  if (place?.type === 'attribute' && place.attribute === identifier) {
    const object = place.object;
    const classNode = object && classBehind(module, object);
    if (classNode !== undefined) {
      const method = methodNamed(module, classNode, identifier.text);
      const overrides = methodsByName(module, identifier.text).filter((each) => {
        const owner = enclosingClass(each);
        return owner !== undefined && ancestryOf(module, owner).classes.includes(classNode);
      });
      return method === undefined ? overrides : [method, ...overrides];
    }
    return methodsByName(module, identifier.text).filter((method) => {
      const owner = enclosingClass(method);
      if (!mayTakeCall(method, place)) return false;
      return object === undefined || owner === undefined || mayBeInstance(module, object, owner);
    });
  }
  if (roleOf(identifier) !== 'read') return [];
  const definition = definitionNamed(module, identifier);
  if (definition?.type === 'function_definition') return [definition];
  if (definition?.type !== 'class_definition') return [];
  if (isOnlyLookedUp(module, identifier) || isAskedForMethod(module, identifier, definition)) return [];
  return OF_OBJECTS.flatMap((name) => methodNamed(module, definition, name) ?? []);
}

/** `super(Net, self)`, `isinstance(x, Net)`: it names a class and makes no object of it. */
function isOnlyLookedUp(module: PyModule, identifier: PyNode): boolean {
  const call = identifier.parent?.type === 'argument_list' ? identifier.parent.parent : undefined;
  const callee = call?.type === 'call' ? call.function : undefined;
  return (
    callee?.type === 'identifier' &&
    ['super', 'isinstance', 'issubclass'].includes(callee.text) &&
    isUnbound(module, callee)
  );
}

/** `Net.norm(x)`, of a static method, which is named, too, and calls nothing that may be the class. */
function isAskedForMethod(module: PyModule, identifier: PyNode, classNode: PyNode): boolean {
  const name = identifier.parent?.object === identifier ? identifier.parent.attribute?.text : undefined;
  const method = name === undefined ? undefined : methodNamed(module, classNode, name);
  if (
    method === undefined ||
    decoratorsOf(method)
      .map(({ text }) => text)
      .join() !== 'staticmethod'
  )
    return false;
  return [...method.walk()].every(
    ({ type, function: callee }) =>
      type !== 'lambda' && (type !== 'call' || (callee && qualifiedName(module, callee) !== undefined)),
  );
}

/** Where an attribute is called: with as many arguments as a method takes. */
function mayTakeCall(method: PyNode, attribute: PyNode): boolean {
  const call = attribute.parent;
  if (call?.type !== 'call' || call.function !== attribute || hasSplat(call)) return true;
  const given = argumentsOf(call);
  const [least, most] = arityOf(method);
  const positional = given.filter(({ type }) => type !== 'keyword_argument').length;
  // A static method has no `self`, and one more.
  return positional <= most + 1 && given.length >= least;
}

/** Every `def` of the file. */
export function functionsOf(module: PyModule): readonly PyNode[] {
  return module.alone.memo(findFunctions, module.alone);
}

function findFunctions(module: PyModule): readonly PyNode[] {
  return module.at('def').flatMap((node) => {
    const definition = node.type === 'def' ? node.parent : undefined;
    return definition?.type === 'function_definition' ? [definition] : [];
  });
}

/** The methods of a name, of whichever class. */
export function methodsByName(module: PyModule, name: string): readonly PyNode[] {
  return module.alone.memo(findMethods, name);
}

function findMethods(module: PyModule, name: string): readonly PyNode[] {
  return module.words(name).flatMap((node) => {
    const definition = node.parent;
    const isOne = definition?.type === 'function_definition' && definition.name === node;
    return isOne && enclosingClass(definition) !== undefined ? [definition] : [];
  });
}

/** The functions and lambdas that a place is in, in their headers and decorators too, innermost first. */
export function* functionsAround(node: PyNode): Generator<PyNode> {
  for (const ancestor of node.ancestors()) {
    if (FUNCTIONS.has(ancestor.type)) yield ancestor;
    // A place in a decorator is in no definition.
    const decorated = ancestor.type === 'decorated_definition' ? ancestor.definition : undefined;
    if (decorated?.type === 'function_definition' && !decorated.contains(node)) yield decorated;
  }
}

/** Where another file of the project has a method of this name of which something is true; also files that were not looked into. */
export function methodElsewhere(
  module: PyModule,
  name: string,
  is: (there: PyModule, method: PyNode) => boolean,
): string | undefined {
  const { modules, unread } = module.around.naming({ word: name, beside: ['class'] }, (text) =>
    new RegExp(`\\bdef[\\s\\\\]+${name}\\b`).test(text),
  );
  for (const there of modules) {
    const found = methodsByName(there, name).find((method) => is(there, method));
    if (found !== undefined) return placeOf(there, found);
  }
  return unread;
}

/** The classes that a place is in, without those around a function that it is in. */
export function classesAround(node: PyNode): readonly PyNode[] {
  const found: PyNode[] = [];
  for (const ancestor of node.ancestors()) {
    if (ancestor.type === 'function_definition') break;
    if (ancestor.type === 'class_definition') found.push(ancestor);
  }
  return found;
}

/** The functions of a name, methods or not. */
export function functionsByName(module: PyModule, name: string): readonly PyNode[] {
  return functionsOf(module).filter((each) => each.name?.text === name);
}
