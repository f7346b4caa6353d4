import type { PyNode } from '../syntax/node.js';
import { attributeOfSelf, calledDefinition } from './definitions.js';
import { makerOf } from './elsewhere.js';
import { definitionOf, reachingDefinitions } from './flow.js';
import { qualifiedName } from './imports.js';
import type { PyModule } from './module.js';
import { importedPath, roleOf } from './names.js';
import { returnedBy } from './returns.js';
import { argumentsOf, argumentValue, methodName, receiverOf } from './statements.js';
import { isUnbound } from './variables.js';

/** `if args.train:`, `args.train is None`, `f"{args.train}"`: whether there is one, or how it is written. */
export function isOnlyAsked(value: PyNode): boolean {
  let place = value;
  while (/^(?:not_operator|boolean_operator|parenthesized_expression)$/.test(place.parent?.type ?? ''))
    place = place.parent ?? place;
  const user = place.parent;
  if (user?.type === 'comparison_operator' || user?.type === 'interpolation') return true;
  return user !== undefined && /^(?:if|elif|while)_/.test(user.type) && user.condition === place;
}

/** `args.run` of `args = parser.parse_args()`; a default that is a function has its own name where it is given. */
export function isParsed(module: PyModule, value: PyNode): boolean {
  return value.type === 'attribute' && value.object !== undefined && isOfParser(module, value.object, 0);
}

function isOfParser(module: PyModule, object: PyNode, hops: number): boolean {
  if (object.type === 'call') {
    const parser = receiverOf(object);
    // `parser.parse_args([], model)` gives the model back.
    if (parser !== undefined)
      return makerOf(module, parser) === 'argparse.ArgumentParser' && argumentsOf(object).length < 2;
    const maker = hops < 2 ? calledDefinition(module, object) : undefined;
    const given = maker?.type === 'function_definition' ? returnedBy(maker) : [];
    return given.length > 0 && given.every((each) => isOfParser(module, each, hops + 1));
  }
  const scope = object.type === 'identifier' ? module.resolve(object) : undefined;
  const values = scope === undefined ? [] : module.writes(scope, object.text).map(definitionOf);
  return (
    values.length > 0 &&
    values.every(
      (each) => each.kind === 'value' && each.value.type === 'call' && isOfParser(module, each.value, hops),
    )
  );
}

/** A variable or a parameter that only has the name: what it is given is used where it is given. */
export function isVariable(module: PyModule, name: PyNode): boolean {
  const scope = module.resolve(name);
  // `train, test = splits()`, and `def train()` further down.
  const reaching = scope && roleOf(name) === 'read' ? (reachingDefinitions(module, name) ?? []) : [];
  const all = scope === undefined ? [] : module.writes(scope, name.text);
  const writes = reaching.length > 0 ? reaching.map(({ node }) => node) : all;
  return writes.length > 0 && !writes.some((write) => /^(?:def|class|import)$/.test(roleOf(write)));
}

/** All that a name may be that is imported more than once. */
export function pathsOf(module: PyModule, callee: PyNode): readonly string[] {
  const path = qualifiedName(module, callee);
  if (path !== undefined) return [path];
  const scope = callee.type === 'identifier' ? module.resolve(callee) : undefined;
  return scope === undefined ? [] : module.writes(scope, callee.text).map((each) => importedPath(each) ?? '');
}

/** The call that a value is an argument of. */
export function callGiven(value: PyNode): PyNode | undefined {
  const holder = value.parent?.type === 'keyword_argument' ? value.parent : value;
  const call = holder.parent?.type === 'argument_list' ? holder.parent.parent : undefined;
  return call?.type === 'call' ? call : undefined;
}

/** `config.hook = f`, `Config(hook=f)`, `hook: Callable = f` in the body of a class. */
export function setsAttribute(alone: PyModule, name: string): boolean {
  return alone.words(name).some((node) => {
    const place = node.parent;
    if (place?.type === 'keyword_argument')
      return place.name === node && mayBeFunction(alone, place.value, false);
    const target = place?.type === 'attribute' && place.attribute === node ? place : node;
    const isTarget = target.parent?.type === 'assignment' && target.parent.left === target;
    if (!isTarget || (target === node && alone.resolve(node)?.kind !== 'class')) return false;
    return mayBeFunction(alone, target.parent?.right, true);
  });
}

/** The classes that set an attribute of a name to what may be a function on their own objects; '' where it is set on another one. */
export function classesSetting(alone: PyModule, name: string): readonly string[] {
  return alone.words(name).flatMap((node) => {
    const target = node.parent?.attribute === node ? node.parent : undefined;
    const assignment = target?.parent;
    if (target === undefined || assignment?.type !== 'assignment' || assignment.left !== target) return [];
    if (!mayBeFunction(alone, assignment.right, true)) return [];
    return [attributeOfSelf(target)?.classNode.name?.text ?? ''];
  });
}

/** A function as written, by its name, or held by something; `isOpen`: also by a name that may be anything. */
function mayBeFunction(module: PyModule, value: PyNode | undefined, isOpen: boolean): boolean {
  if (value?.type === 'lambda') return true;
  // `MethodType(f, trainer)`, `f.__get__(trainer)`
  if (value?.type === 'call' && isOpen)
    return [...argumentsOf(value).map(argumentValue), value.function?.object].some((each) =>
      mayBeFunction(module, each, false),
    );
  if (value?.type !== 'identifier') return isOpen && /^(?:attribute|subscript)$/.test(value?.type ?? '');
  const scope = module.resolve(value);
  const roles = scope === undefined ? [] : module.writes(scope, value.text).map(roleOf);
  return roles.some((role) => role === 'def' || role === 'import' || (isOpen && role === 'parameter'));
}

/** `net.head = other` */
export function isGivenParts(module: PyModule, network: PyNode): boolean {
  const name = network.text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`(?<![\\w.])${name}(?:\\.\\w+)+\\s*\\+?=(?!=)|\\bsetattr\\(\\s*${name}\\b`).test(
    module.code,
  );
}

const READING: ReadonlySet<string> = new Set(
  'argument_list binary_operator comparison_operator expression_list interpolation keyword_argument list pair parenthesized_expression return_statement tuple unary_operator'.split(
    ' ',
  ),
);

/** `losses.update(…)` or a plain read of `losses.avg`: by no other name, and nothing is written on it. */
export function isAsked(read: PyNode): boolean {
  if (isFormatted(read)) return true;
  const attribute = read.parent?.object === read ? read.parent : undefined;
  const holder = attribute?.parent;
  if (holder === undefined) return false;
  return holder.type === 'call' ? holder.function === attribute : READING.has(holder.type);
}

/** `"{loss.avg:.3f}".format(loss=losses)` makes a text of what it asks. */
function isFormatted(read: PyNode): boolean {
  const given = read.parent?.type === 'keyword_argument' ? read.parent : read;
  const call = given.parent?.type === 'argument_list' ? given.parent.parent : undefined;
  return call !== undefined && methodName(call) === 'format' && /string$/.test(receiverOf(call)?.type ?? '');
}

/** `net.name = …` or `net.name[0] = …`: what is there may be any module. */
export function setsPart(alone: PyModule, name: string): boolean {
  return alone.words(name).some((node) => {
    let place = node.parent;
    if (place?.type !== 'attribute' || place.attribute !== node) return false;
    if (place.object?.text === 'self' && place.parent?.type !== 'subscript') return false;
    const part = place;
    while (place?.parent?.type === 'attribute' || place?.parent?.type === 'subscript') place = place.parent;
    if (!/^(?:augmented_)?assignment$/.test(place?.parent?.type ?? '') || place?.parent?.left !== place)
      return false;
    const value = place.parent.right;
    // `net.name.weight = None`, `net.name.weight = net.name.weight.detach()`
    return place === part || !(LITERALS.test(value?.type ?? '') || value?.text === `${place.text}.detach()`);
  });
}

const LITERALS = /^(?:none|true|false|integer|float|string)$/;

/** `filter(lambda p: …, weights)`: Python itself runs it, and nobody else gets it. */
export function isRunOnTheSpot(module: PyModule, lambda: PyNode): boolean {
  const callee = callGiven(lambda)?.function;
  return isUnbound(module, callee) && /^(?:map|filter|sorted|min|max)$/.test(callee?.text ?? '');
}
