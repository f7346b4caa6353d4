import { TENSOR_TYPES } from '../../library/names.js';
import { DIFFERENTIATING_OWNERS, isModuleClass } from '../../library/paths.js';
import { attributeValues } from '../../semantic/attributes.js';
import { ancestryOf, classAround } from '../../semantic/definitions.js';
import { qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import {
  argumentValue,
  enclosingFunction,
  givenTo,
  isCallee,
  receiverOf,
  unparenthesized,
  wholeName,
} from '../../semantic/statements.js';
import { plainString } from '../../semantic/strings.js';
import { isUnbound, readsOf, waysGiven } from '../../semantic/variables.js';
import type { PyNode } from '../../syntax/node.js';
import { isPlainParameter } from '../value/parts.js';
import { isOfKnownPackage, isOfPython, resultOf } from '../value/plain.js';
import type { GradTrace } from '../value/trace.js';
import type { GradUse } from './grad.js';

/** Takes something by a text, which it is given first, or after the object that it takes it from. */
const BY_TEXT: ReadonlySet<string> = new Set([
  ...['getattr', '__getattribute__', '__getattr__'],
  ...['operator.methodcaller', 'operator.attrgetter', 'eval', 'exec'],
]);

/** Words of places that take a method by a text. */
export const TAKING_WORDS: readonly string[] = [
  ...['getattr', '__getattribute__', 'methodcaller', 'attrgetter', '__dict__', 'vars'],
];

/** `getattr` itself, by whichever path. */
function takerBehind(module: PyModule, value: PyNode): string | undefined {
  const path = (qualifiedName(module, value) ?? value.text).replace(/^builtins\.|^.*\.(?=__)/, '');
  return BY_TEXT.has(path) ? path : undefined;
}

/** What takes something by a text, where it stands as a value, to be called by another name. */
export function isTaker(module: PyModule, value: PyNode): boolean {
  const isNamed = value.type === 'identifier' || value.type === 'attribute';
  return isNamed && takerBehind(module, value) !== undefined;
}

/** `getattr(loss, name)`, `methodcaller(name)`, `map(getattr, losses, names)`, where nothing says which method that is. */
export function mayTakeBackward(module: PyModule, call: PyNode, trace: GradTrace): boolean {
  const given = givenTo(call).map((each) => unparenthesized(argumentValue(each)));
  if (given.some((each) => isTaker(module, each)))
    return [...given, call.function ?? call].some((each) => trace.of(each) === 'graph');
  const { callee, object, name } = takenByText(module, call) ?? {};
  if (callee === undefined || (object !== undefined && trace.of(object) !== 'graph')) return false;
  return mayBeBackward(name);
}

function mayBeBackward(name: PyNode | undefined): boolean {
  const taken = name && plainString(name);
  return taken === undefined || /\bbackward\b/.test(taken);
}

/** `object` of `getattr(object, "step_" + name)`: some method of it, unless it is of a package. */
export function takesAnyOf(module: PyModule, value: PyNode): PyNode | undefined {
  const { object, name } = (value.type === 'call' && takenByText(module, value)) || {};
  if (object === undefined || (name && plainString(name)) !== undefined) return undefined;
  return isOfKnownPackage(qualifiedName(module, object) ?? '') ? undefined : object;
}

export interface TakenByText {
  readonly callee: PyNode;
  readonly object?: PyNode;
  readonly name: PyNode | undefined;
}

export function takenByText(module: PyModule, call: PyNode): TakenByText | undefined {
  const callee = call.function;
  const path = callee && takerBehind(module, callee);
  if (callee === undefined || path === undefined) return undefined;
  // `loss.__getattribute__(name)`, `object.__getattribute__(loss, name)`
  const all = givenTo(call).map((each) => unparenthesized(argumentValue(each)));
  const receiver = path.startsWith('__') && all.length === 1 ? receiverOf(call) : undefined;
  const given = receiver === undefined ? all : [receiver, ...all];
  const [object] = given;
  if (!/attr|__/.test(path) || path.startsWith('operator.') || object === undefined)
    return { callee, name: object };
  return { callee, object, name: given[1] };
}

/** Where a file runs what it takes by a text that is computed, of what may be a tensor: that may be `backward`. */
export function runsTaken(alone: PyModule): readonly GradUse[] {
  return TAKING_WORDS.flatMap((word) =>
    alone.words(word).flatMap((node) => {
      if (node.type !== 'identifier') return [];
      const alias = node.closest('aliased_import')?.alias;
      const places = alias === undefined ? [wholeName(node)] : readsOf(alone, alias);
      return places.flatMap((place) =>
        mayRunBackward(alone, place) ? { node: place, words: `runs what \`${place.text}\` gives` } : [],
      );
    }),
  );
}

function mayRunBackward(module: PyModule, place: PyNode): boolean {
  if (/import|dotted_name|_definition$|parameter/.test(place.parent?.type ?? '')) return false;
  if (place.attribute?.text === '__dict__')
    return place.object !== undefined && mayHaveMethods(module, place.object) && isRun(module, place);
  const call = isCallee(place) ? place.parent : undefined;
  if (place.text === 'vars') {
    const [object] = call === undefined ? [] : givenTo(call);
    return (
      call !== undefined && object !== undefined && mayHaveMethods(module, object) && isRun(module, call)
    );
  }
  if (!isTaker(module, place)) return false;
  if (call === undefined) {
    const around = place.parent?.type === 'argument_list' ? place.parent.parent : undefined;
    // `functools.reduce(getattr, path, net)` gives one of them.
    return around?.type !== 'call' || around.function?.attribute?.text !== 'reduce' || isRun(module, around);
  }
  const { object, name } = takenByText(module, call) ?? {};
  if (!mayBeBackward(name) || (object === undefined && name === undefined)) return false;
  return (object === undefined || mayBeTensor(module, object)) && isRun(module, call);
}

/** A class or a module, whose names are functions; the dictionary of an object has its values. */
function mayHaveMethods(module: PyModule, object: PyNode): boolean {
  const value = unparenthesized(object);
  const path = qualifiedName(module, value);
  if (path !== undefined) return DIFFERENTIATING_OWNERS.has(path);
  return value.type === 'call' || value.attribute?.text === '__class__';
}

/** Whether a value may be a tensor that was computed where code of the file runs, or a class or module that has its methods. */
function mayBeTensor(module: PyModule, object: PyNode, seen: readonly PyNode[] = []): boolean {
  const value = unparenthesized(object);
  if (seen.includes(value)) return false;
  const mayBe = (each: PyNode | undefined) =>
    each === undefined || mayBeTensor(module, each, [...seen, value]);
  const path = qualifiedName(module, value.function ?? value);
  if (value.type === 'call' && path !== undefined) return !isModuleClass(path) && resultOf(path) !== 'plain';
  // What a file has when it is imported was computed before.
  if (path !== undefined) return DIFFERENTIATING_OWNERS.has(path);
  switch (value.type) {
    case 'call':
      return !(
        isUnbound(module, value.function) &&
        isOfPython(value.function?.text ?? '') &&
        !/^(?:getattr|next|type|vars)$/.test(value.function?.text ?? '')
      );
    case 'identifier': {
      const around = classAround(value);
      if (around !== undefined && around.self === value.text)
        return ancestryOf(module, around.classNode).imported.some((each) => TENSOR_TYPES.has(each));
      return waysGiven(module, value).some((way) => {
        if (way.kind === 'parameter') return !isPlainParameter(way.node);
        if (way.kind === 'loop') return mayBe(way.iterable);
        if (!('value' in way)) return !/^(?:function|class)_definition$/.test(way.node.parent?.type ?? '');
        return mayBe(way.value);
      });
    }
    case 'attribute':
      return (attributeValues(module, value) ?? [undefined]).some(mayBe);
    default:
      return !/string$|^(?:integer|float|none|true|false)$/.test(value.type);
  }
}

/** Whether somebody may call a value: it is called here, or handed on to where that does not show. */
function isRun(module: PyModule, value: PyNode, seen: readonly PyNode[] = []): boolean {
  const user = value.parent;
  if (seen.includes(value)) return false;
  switch (user?.type) {
    case 'call':
      return user.function === value;
    case 'expression_statement':
    case 'comparison_operator':
    case 'binary_operator':
    case 'not_operator':
    case 'if_statement':
    case 'interpolation':
      return false;
    case 'attribute':
      return /^__/.test(user.attribute?.text ?? '');
    case 'return_statement':
      // Python runs these for `proxy.name`.
      return !/^__getattr(?:ibute)?__$/.test(enclosingFunction(value)?.name?.text ?? '');
    case 'argument_list': {
      const callee = user.parent?.function;
      return !isUnbound(module, callee) || !isOfPython(callee?.text ?? '') || callee?.text === 'setattr';
    }
    case 'assignment':
      if (user.left?.type !== 'identifier' || module.resolve(user.left)?.kind !== 'function') return true;
      return readsOf(module, user.left).some((read) => isRun(module, read, [...seen, value]));
    case 'parenthesized_expression':
    case 'conditional_expression':
    case 'boolean_operator':
    case 'subscript':
    case 'keyword_argument':
    case 'pair':
    case 'dictionary':
    case 'dictionary_comprehension':
    case 'list':
    case 'tuple':
    case 'list_comprehension':
      return isRun(module, user, [...seen, value]);
    default:
      return true;
  }
}
