import { isDtype } from '../../library/dtypes.js';
import { builtin, changesTensor, mayShare, ofTensor, row } from '../../library/library.js';
import { TYPING } from '../../library/names.js';
import { calledDefinition, classAround } from '../../semantic/definitions.js';
import { calledPath, qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { importedPath } from '../../semantic/names.js';
import { argumentsByName } from '../../semantic/parameters.js';
import { returnsOf } from '../../semantic/returns.js';
import {
  argumentValue,
  givenTo,
  methodName,
  receiverOf,
  unparenthesized,
} from '../../semantic/statements.js';
import { plainString } from '../../semantic/strings.js';
import { isUnbound, livesIn, waysReaching } from '../../semantic/variables.js';
import type { PyNode } from '../../syntax/node.js';
import { isLoss } from '../../values/uses/made.js';
import { isOfKnownPackage } from '../../values/value/plain.js';
import { nameBehind } from './called-values.js';

/**
 * The names that others find an object by, where the function did not make it. Empty where that is computed; `current()`: it is
 * what a function of this name gives, unless that makes it. `isSet`: it gets its name here, which all who read it have to say.
 */
export function outlivingNames(
  module: PyModule,
  functionNode: PyNode,
  object: PyNode,
  isSet = false,
): readonly string[] {
  if (isSet && object.type === 'identifier' && livesIn(module, object, functionNode)) return [];
  const names = [...new Set(new Outliving(module, functionNode).of(object, false))].filter(isNoParameter);
  return isSet && object.type === 'attribute' ? names.slice(0, 1) : names;
}

/** The parameters of the function that an object may be, or be a part of. */
export function parametersBehind(module: PyModule, functionNode: PyNode, object: PyNode): readonly string[] {
  const names = new Outliving(module, functionNode).of(object, false);
  return names.flatMap((name) => (isNoParameter(name) ? [] : [name.slice(1)]));
}

function isNoParameter(name: string): boolean {
  return !name.startsWith('@');
}

const COMPUTED = [''];

class Outliving {
  constructor(
    private readonly module: PyModule,
    private readonly functionNode: PyNode,
    readonly known: readonly [Map<PyNode, readonly string[]>, Map<PyNode, readonly string[]>] = [
      new Map(),
      new Map(),
    ],
  ) {}

  /** `isPart`: something inside it is meant. */
  of(expression: PyNode | undefined, isPart: boolean): readonly string[] {
    const value = expression && unparenthesized(expression);
    if (value === undefined) return [];
    const known = this.known[isPart ? 1 : 0];
    const names = known.get(value);
    if (names !== undefined) return names;
    // `a = b[0]` and `b = a[0]`, in turn.
    known.set(value, []);
    const found = this.#find(value, isPart);
    known.set(value, found);
    return found;
  }

  #find(value: PyNode, isPart: boolean): readonly string[] {
    switch (value.type) {
      case 'identifier':
        return this.#variable(value, isPart);
      case 'attribute':
        return this.#attribute(value);
      case 'subscript':
        return this.of(value.value, true);
      case 'call':
        return this.#given(value, isPart);
      case 'named_expression':
        return this.of(value.value, isPart);
      case 'boolean_operator':
      case 'conditional_expression':
        return value.named.flatMap((each) => this.of(each, isPart));
      case 'list':
      case 'tuple':
      case 'expression_list':
      case 'dictionary':
        return isPart ? value.named.flatMap((each) => this.of(each.value ?? each, true)) : [];
      case 'list_comprehension':
      case 'generator_expression':
        return isPart ? this.of(value.body, true) : [];
      default:
        return [];
    }
  }

  #attribute(attribute: PyNode): readonly string[] {
    const name = attribute.attribute?.text ?? '';
    const { object } = attribute;
    if (name === '__dict__') return COMPUTED;
    // `self.rows.data` is a part of `self.rows`.
    if (ofTensor(name)?.attribute) return this.of(object, true);
    const path = qualifiedName(this.module, attribute);
    if (path !== undefined) return isDtype(path) ? [] : [name];
    const names = this.of(object, true).filter(isNoParameter);
    if (names.length === 0) return [];
    return object?.type === 'identifier' ? [name] : [name, ...names];
  }

  #variable(name: PyNode, isPart: boolean): readonly string[] {
    const { module, functionNode } = this;
    if (name.text === classAround(name)?.self) return COMPUTED;
    // `KEPT` of `from cache import KEPT as kept`.
    const scope = module.resolve(name);
    if (scope === undefined) return [];
    const [path] = module.writes(scope, name.text).flatMap((each) => importedPath(each) ?? []);
    if (path !== undefined && TYPING.test(path)) return [];
    if (path !== undefined) return [path.slice(path.lastIndexOf('.') + 1)];
    // A variable of the function around it is there for what else that made.
    if (!livesIn(module, name, functionNode)) return scope.kind === 'function' ? COMPUTED : [name.text];
    return waysReaching(module, name).flatMap((way) => {
      if (way.kind === 'loop') return this.of(way.iterable, true);
      if (way.kind === 'value' || way.kind === 'part')
        return this.of(way.value, isPart || way.kind === 'part');
      if (way.kind === 'parameter') return [`@${name.text}`];
      // `rows += more` may leave the object that it is.
      if (way.kind === 'update') return way.node === name ? [] : this.of(way.node, isPart);
      if (way.kind === 'with') return isOfLibrary(module, way.value) ? [] : COMPUTED;
      return way.node.parent?.name === way.node ? [] : COMPUTED;
    });
  }

  /** What a call gives: what it makes, what it is given, or a part of what it is a method of. */
  #given(call: PyNode, isPart: boolean): readonly string[] {
    const { module } = this;
    const callee = call.function;
    if (callee === undefined) return COMPUTED;
    const given = givenTo(call).map(argumentValue);
    if (isUnbound(module, callee)) return this.#builtin(callee.text, given, isPart);
    const shared = sharedBy(module, call);
    if (shared !== undefined) return this.of(shared, isPart);
    const path = qualifiedName(module, callee);
    const definition = calledDefinition(module, call);
    if (definition?.type === 'class_definition') return [];
    if (definition !== undefined) {
      const inside = new Outliving(module, definition, this.known);
      const byName = argumentsByName(module, definition, call);
      return returnsOf(definition)
        .flatMap((each) => inside.of(each, isPart))
        .flatMap((name) => (isNoParameter(name) ? [name] : this.of(byName?.get(name.slice(1)), isPart)));
    }
    if (path !== undefined && isOfKnownPackage(path))
      return row(path)?.gives === 'arguments' ? this.#all(given, isPart) : [];
    if (isLoss({ module, node: callee })) return [];
    const name = nameBehind(module, callee);
    if (name === '') return COMPUTED;
    if (path !== undefined) return [`${name}()`, ...this.#all(given, isPart)];
    // `self.kept.setdefault(key, [])`
    const isGetter = ['dict', 'list'].some((type) => row(`${type}.${name}`)?.gives === 'arguments');
    if (isGetter && callee.type === 'attribute') return this.of(receiverOf(call), true);
    // A layer may give back what it is given.
    return ofTensor(name) === undefined ? [`${name}()`, ...this.#all(given, isPart)] : [];
  }

  #builtin(name: string, given: readonly PyNode[], isPart: boolean): readonly string[] {
    const [, key] = given;
    if (name === 'getattr') return [(key && plainString(key)) ?? ''];
    // `type(self).last = value`, `vars(self)["last"] = value`
    if (/^(?:globals|locals|type|vars)$/.test(name)) return COMPUTED;
    // `list(rows)` is new, what is in it is not.
    const isOne = /^(?:max|min|next)$/.test(name);
    return (isPart || isOne) && builtin(name)?.gives === 'arguments' ? this.#all(given, true) : [];
  }

  #all(values: readonly PyNode[], isPart: boolean): readonly string[] {
    return values.flatMap((each) => this.of(each, isPart));
  }
}

/** `with torch.autocast("cuda") as casting`: of no object of the project. */
function isOfLibrary(module: PyModule, value: PyNode): boolean {
  return isOfKnownPackage(qualifiedName(module, value.function ?? value) ?? '');
}

/** `self.total` of `self.total.mul_(decay)`. */
export function changedBy(module: PyModule, receiver: PyNode): PyNode {
  const inner = receiver.type === 'call' ? sharedBy(module, receiver) : undefined;
  return inner === undefined ? receiver : changedBy(module, inner);
}

/** What `rows.narrow(0, 0, 1)` and `total.mul_(decay)` are parts of. */
function sharedBy(module: PyModule, call: PyNode): PyNode | undefined {
  const name = methodName(call) ?? '';
  if (!changesTensor(name) && !mayShare(ofTensor(name))) return undefined;
  // `torch.log_(x)` changes what it is given.
  return calledPath(module, call) === undefined ? receiverOf(call) : givenTo(call)[0];
}
