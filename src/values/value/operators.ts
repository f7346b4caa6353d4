import { builtin, ofTensor } from '../../library/library.js';
import { OPERATORS } from '../../library/python.js';
import { attributeValues } from '../../semantic/attributes.js';
import { ancestryOf, classAround } from '../../semantic/definitions.js';
import { qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import {
  argumentValue,
  givenTo,
  isTarget,
  methodName,
  receiverOf,
  unparenthesized,
} from '../../semantic/statements.js';
import { isUnbound, waysReaching } from '../../semantic/variables.js';
import type { PyNode } from '../../syntax/node.js';
import { isMethodOfLibraries, isOfKnownPackage } from './plain.js';

/** `kept.__rshift__(y)`, as `kept >> y` runs it. */
export interface OperatorCall {
  readonly name: string;
  /** Whose method it is; undefined where that is somewhere else. */
  readonly object: PyNode | undefined;
  readonly given: PyNode;
}

/** The methods of classes of the project that an operator may run. */
export function operatorCalls(module: PyModule, node: PyNode): readonly OperatorCall[] {
  return methodsRun(module, node).filter(
    ({ object }) =>
      object === undefined || object.text === classAround(object)?.self || mayBeProjectObject(module, object),
  );
}

function methodsRun(module: PyModule, node: PyNode): readonly OperatorCall[] {
  switch (node.type) {
    case 'binary_operator':
    case 'augmented_assignment': {
      const { left, right } = node;
      const sign = node.field('operator')?.text ?? '';
      if (left === undefined || right === undefined) return [];
      const found = between(sign.replace(/=$/, ''), left, right);
      const inPlace = found.slice(0, 1).map((each) => ({ ...each, name: each.name.replace('__', '__i') }));
      return node.type === 'augmented_assignment' ? [...inPlace, ...found] : found;
    }
    case 'comparison_operator':
      return node.named.slice(1).flatMap((right, at) => {
        const left = node.named[at] ?? right;
        return between(module.text.slice(left.end, right.start), left, right);
      });
    case 'subscript': {
      const [object, ...keys] = node.named;
      if (object === undefined) return [];
      const name = isTarget(node)
        ? '__setitem__'
        : node.closest('delete_statement') === undefined
          ? '__getitem__'
          : '__delitem__';
      return keys.flatMap(partsOfKey).map((given) => ({ name, object, given }));
    }
    case 'call':
      return byFunction(module, node);
    default:
      return [];
  }
}

/** `a` and `b` of `kept[a:b]`. */
function partsOfKey(key: PyNode): readonly PyNode[] {
  return key.type === 'slice' ? key.named : [key];
}

function between(sign: string, left: PyNode, right: PyNode): readonly OperatorCall[] {
  const isIn = /\bin\b/.test(sign);
  const [ofLeft, ofRight] = OPERATORS.get(isIn ? '==' : sign.replace(/[\s()\\]|#.*/g, '')) ?? [];
  if (ofLeft === undefined || ofRight === undefined) return [];
  return [
    ...(isIn ? [{ name: '__contains__', object: right, given: left }] : []),
    { name: ofLeft, object: left, given: right },
    { name: ofRight, object: right, given: left },
  ];
}

/**
 * `operator.rshift(kept, y)`, `map(operator.rshift, all, ys)`; `kept.__rshift__(y)`; `sum(values, kept)`, which adds them up;
 * `operator.itemgetter(y)`, of whatever that is given.
 */
function byFunction(module: PyModule, call: PyNode): readonly OperatorCall[] {
  const callee = call.function;
  if (callee === undefined) return [];
  const given = givenTo(call).map(argumentValue);
  const { object: receiver, attribute } = callee;
  const own = attribute?.text ?? '';
  if (receiver !== undefined && /^__(?!init__|call__)\w+__$/.test(own))
    return given.map((each) => ({ name: own, object: receiver, given: each }));
  if (qualifiedName(module, callee) === ITEM_GETTER)
    return given.map((each) => ({ name: '__getitem__', object: undefined, given: each }));
  const known = isUnbound(module, callee) ? builtin(callee.text)?.operators : undefined;
  const names = known ?? [callee, ...given].flatMap((each) => ofOperatorModule(module, each));
  return names.flatMap((name) =>
    given.flatMap((object) => given.map((other) => ({ name, object, given: other }))),
  );
}

const ITEM_GETTER = 'operator.itemgetter';

function ofOperatorModule(module: PyModule, value: PyNode): readonly string[] {
  const [, own] = /^operator\._*(\w+?)_*$/.exec(qualifiedName(module, value) ?? '') ?? [];
  return own === undefined ? [] : [`__${own}__`, `__r${own}__`];
}

/** `self.tracker.log(y)`, `current().log(y)`, `super().log(y)`: a method of the project by the name of another. */
export function mayBeProjectObject(module: PyModule, receiver: PyNode, seen = new Set<PyNode>()): boolean {
  const object = unparenthesized(receiver);
  if (seen.has(object)) return false;
  seen.add(object);
  const mayBe = (value: PyNode | undefined) => value !== undefined && mayBeProjectObject(module, value, seen);
  const path = qualifiedName(module, object.function ?? object);
  if (path !== undefined) return !isOfKnownPackage(path);
  switch (object.type) {
    case 'call': {
      const method = methodName(object);
      if (method === undefined)
        return !isUnbound(module, object.function) || object.function?.text === 'super';
      if (isMethodOfLibraries(method) || ofTensor(method) !== undefined) return mayBe(receiverOf(object));
      return (attributeValues(module, object.function ?? object) ?? []).length === 0;
    }
    case 'identifier': {
      const around = classAround(object);
      if (around !== undefined && around.self === object.text)
        return ancestryOf(module, around.classNode).imported.some((each) => !isOfKnownPackage(each));
      const ways = waysReaching(module, object);
      if (ways.length === 0) return builtin(object.text) === undefined;
      return ways.some((way) => {
        if (way.kind === 'loop') return mayBe(way.iterable);
        return !('value' in way) || mayBe(way.value);
      });
    }
    case 'attribute':
      return (attributeValues(module, object) ?? [undefined]).some(
        (value) => value === undefined || mayBe(value),
      );
    case 'subscript':
    case 'named_expression':
      return mayBe(object.value);
    case 'list_comprehension':
    case 'generator_expression':
      return mayBe(object.body);
    case 'await':
    case 'binary_operator':
    case 'conditional_expression':
    case 'boolean_operator':
    case 'list':
    case 'tuple':
      return object.named.some(mayBe);
    default:
      return false;
  }
}
