import { builtin, givesModule, isPlain, isPlainMethod, packageOf, row } from '../../library/library.js';
import { FRAMEWORKS, PARTIAL, PLAIN_BASES, UNPICKLES } from '../../library/names.js';
import { isModelMaker, WRAPPERS } from '../../library/paths.js';
import { attributeValues, attributeValuesInProject } from '../../semantic/attributes.js';
import { classAround, definitionBehind } from '../../semantic/definitions.js';
import {
  boundElsewhere,
  definedElsewhere,
  type Elsewhere,
  lineageOf,
  mayBeOfProject,
} from '../../semantic/elsewhere.js';
import type { Definition } from '../../semantic/flow.js';
import { valuesGiven } from '../../semantic/function-uses.js';
import { qualifiedName } from '../../semantic/imports.js';
import { membersAsked } from '../../semantic/instance.js';
import type { PyModule } from '../../semantic/module.js';
import { roleOf } from '../../semantic/names.js';
import { returnsOf } from '../../semantic/returns.js';
import { definedAnywhere } from '../../semantic/star-imports.js';
import {
  argumentsOf,
  argumentValue,
  enclosingFunction,
  methodName,
  receiverOf,
  unparenthesized,
} from '../../semantic/statements.js';
import { isUnbound, readsOf, waysGiven } from '../../semantic/variables.js';
import type { PyNode } from '../../syntax/node.js';
import { moduleKind } from '../../torch/module/modules.js';
import { isPlainParameter } from '../value/parts.js';
import { isOfKnownPackage, isPlainAttribute } from '../value/plain.js';
import { valuesPutInto } from '../value/put-into.js';

/** Of a package that memfix knows nothing about: what it does with a network that it is given is its own business. */
export function isStranger(module: PyModule, path: string): boolean {
  if (mayBeOfProject(module, path) || definedElsewhere(module, path) !== undefined) return false;
  const known = packageOf(path);
  if (known !== undefined) return known.differentiates === true;
  return !isOfKnownPackage(path) && !FRAMEWORKS.test(path) && !WRAPPERS.test(path);
}

/** What a value is or has in it. `network`: one of torch. `unknown`: something that was not followed. */
export type Contents = 'network' | 'unknown' | 'none';

const MAX_HOPS = 7;

/** Functions that are looked through for one answer. */
const MOST_BODIES = 40;

/** Parts of these are parts of the value. */
const COMPOUND =
  /^(?:await|binary_operator|boolean_operator|conditional_expression|dictionary|dictionary_comprehension|dictionary_splat|expression_list|generator_expression|keyword_argument|list|list_comprehension|list_splat|named_expression|pair|set|set_comprehension|tuple|unary_operator|yield)$/;

const PLAIN =
  /^(?:comparison_operator|concatenated_string|ellipsis|false|float|integer|none|not_operator|string|true|for_in_clause|if_clause|slice)$/;

/** What only a network is asked for. */
const OF_NETWORKS = ['eval', 'load_state_dict', 'named_parameters', 'parameters', 'state_dict', 'zero_grad'];

/** What these hand out of a network runs nothing. */
const NOT_RUN = /^(?:(?:named_)?(?:buffers|parameters)|state_dict)$/;

/** Follows a value to all that made it, across the files of the project, and finds what it may run of strangers. */
export class Ingredients {
  /** Calls of strangers on the way that get a network, or something that was not followed. */
  readonly holders: { readonly module: PyModule; readonly call: PyNode; readonly given: Contents }[] = [];
  /** Calls of strangers on the way that get neither. */
  readonly strangers: Elsewhere[] = [];
  readonly #open = new Set<PyNode>();
  readonly #known = new Map<PyNode, Contents>();
  #circles = 0;
  readonly #bodies = new Set<PyNode>();

  of(module: PyModule, value: PyNode | undefined, hops = 0): Contents {
    const target = value && unparenthesized(argumentValue(value));
    if (target === undefined || hops > MAX_HOPS) return 'unknown';
    const known = this.#known.get(target);
    if (known !== undefined) return known;
    if (this.#open.has(target)) {
      this.#circles++;
      return 'none';
    }
    const circles = this.#circles;
    this.#open.add(target);
    const found = this.#find(module, target, hops);
    this.#open.delete(target);
    // What depends on itself is known only with all the rest of its circle.
    if (circles === this.#circles) this.#known.set(target, found);
    return found;
  }

  #find(module: PyModule, target: PyNode, hops: number): Contents {
    if (PLAIN.test(target.type)) return 'none';
    if (COMPOUND.test(target.type)) return this.#all(module, target.named, hops);
    switch (target.type) {
      case 'subscript':
        return this.of(module, target.value, hops + 1);
      case 'lambda':
        return this.#body({ module, node: target }, hops);
      case 'call':
        return this.#made(module, target, hops);
      case 'identifier':
      case 'attribute':
        return this.#named(module, target, hops);
      default:
        return 'unknown';
    }
  }

  #all(module: PyModule, values: readonly PyNode[], hops: number): Contents {
    return worst(values.map((each) => this.of(module, each, hops + 1)));
  }

  #made(module: PyModule, call: PyNode, hops: number): Contents {
    const isPartial = qualifiedName(module, call.function ?? call) === PARTIAL;
    const callee = isPartial ? argumentsOf(call)[0] : call.function;
    if (callee === undefined) return 'unknown';
    const path = qualifiedName(module, callee);
    const given = () => this.#all(module, argumentsOf(call).slice(isPartial ? 1 : 0), hops);
    const definition = definedAnywhere(module, callee);
    if (definition !== undefined) {
      const contents = worst([given(), this.#built(definition, hops)]);
      if (isOfStranger(definition)) this.#note(module, call, contents);
      return contents;
    }
    if (path !== undefined) {
      if (UNPICKLES.has(path)) return 'unknown';
      if (isModelMaker(path) && row(path)?.is !== 'loss') return 'network';
      if (mayBeOfProject(module, path)) return 'unknown';
      const contents = given();
      if (isStranger(module, path)) this.#note(module, call, contents);
      return contents;
    }
    if (isUnbound(module, callee)) return isPlain(builtin(callee.text)) ? 'none' : given();
    const name = methodName(call) ?? '';
    if (NOT_RUN.test(name) || (isPlainMethod(name) && !givesModule(name))) return 'none';
    const receiver = receiverOf(call);
    if (receiver !== undefined) return worst([this.of(module, receiver, hops + 1), given()]);
    const called = new Ingredients();
    const contents = called.of(module, callee, hops + 1);
    // What a network computes is no network.
    if (contents === 'network') return 'none';
    const held = given();
    if (called.strangers.length > 0 || (contents === 'unknown' && held === 'network'))
      this.#note(module, call, held);
    return held;
  }

  #note(module: PyModule, call: PyNode, given: Contents): void {
    if (given === 'none') this.strangers.push({ module, node: call });
    else this.holders.push({ module, call, given });
  }

  /** A class of the project, with what its methods make, or what a function hands back. */
  #built(definition: Elsewhere, hops: number): Contents {
    const { module, node } = definition;
    if (node.type === 'class_definition') {
      if (isOfStranger(definition)) return this.#body(definition, hops);
      const isNetwork = moduleKind(module, node).isModule !== 'no';
      return worst([isNetwork ? 'network' : 'none', this.#body(definition, hops)]);
    }
    return worst(['none', ...returnsOf(node).map((each) => this.of(module, each, hops + 1))]);
  }

  /** What a function or class names that is not its own, and the strangers that it runs. */
  #body({ module, node }: Elsewhere, hops: number): Contents {
    if (this.#bodies.has(node)) return 'none';
    this.#bodies.add(node);
    if (this.#bodies.size > MOST_BODIES) return 'unknown';
    let found: Contents = 'none';
    for (const each of node.walk(({ type }) => type !== 'type')) {
      if (each.type === 'call') {
        const path = each.function && qualifiedName(module, each.function);
        if (path !== undefined && isModelMaker(path) && row(path)?.is !== 'loss') found = 'network';
        if (path !== undefined && isStranger(module, path))
          this.#note(module, each, this.#all(module, argumentsOf(each), hops));
      } else if (each.type === 'identifier' && roleOf(each) === 'read') {
        const scope = module.resolve(each);
        if (scope === undefined || scope.node === node || node.contains(scope.node)) continue;
        if (qualifiedName(module, each) !== undefined || definitionBehind(module, each) !== undefined)
          continue;
        found = worst([found, this.of(module, each, hops + 1)]);
      }
    }
    return found;
  }

  #named(module: PyModule, target: PyNode, hops: number): Contents {
    const path = qualifiedName(module, target);
    const definition = definedAnywhere(module, target);
    if (definition !== undefined) {
      const isClass = definition.node.type === 'class_definition';
      if (isClass)
        return moduleKind(definition.module, definition.node).isModule === 'no' ? 'none' : 'network';
      return this.#body(definition, hops);
    }
    if (path !== undefined) {
      const bound = boundElsewhere(module, path);
      if (bound?.node.type === 'assignment') return this.of(bound.module, bound.node.right, hops + 1);
      if (isStranger(module, path)) this.strangers.push({ module, node: target });
      return mayBeOfProject(module, path) ? 'unknown' : 'none';
    }
    if (isAskedAsNetwork(module, target)) return 'network';
    if (target.type === 'attribute') return this.#attribute(module, target, hops);
    const around = classAround(target);
    if (around !== undefined && target.text === around.self)
      return moduleKind(module, around.classNode).isModule === 'yes' ? 'network' : 'unknown';
    if (isUnbound(module, target)) return builtin(target.text) === undefined ? 'unknown' : 'none';
    const ways = waysGiven(module, target).map((way) => this.#given(module, way, hops));
    const put = worst(this.#put(module, target, hops));
    // `tool.bind(net)`
    if (put === 'network')
      for (const { module: home, node } of this.strangers)
        this.holders.push({ module: home, call: node, given: put });
    return worst(ways.length === 0 ? ['unknown'] : [...ways, put]);
  }

  /** What is put into a container or an object later on. */
  #put(module: PyModule, name: PyNode, hops: number): readonly Contents[] {
    return readsOf(module, name)
      .flatMap((read) => valuesPutInto(module, read))
      .map((each) => this.of(module, each, hops + 1));
  }

  #attribute(module: PyModule, attribute: PyNode, hops: number): Contents {
    const name = attribute.attribute?.text ?? '';
    if (isPlainAttribute(name)) return 'none';
    if (attribute.object?.text === classAround(attribute)?.self) {
      const own = attributeValues(module, attribute);
      const contents = own === undefined ? 'unknown' : this.#all(module, own, hops);
      // Who puts something else in the place of a layer gives the network another part.
      if (contents === 'network' || own === undefined) return contents;
      return attributeValuesInProject(module, attribute) === undefined ? 'unknown' : contents;
    }
    return this.of(module, attribute.object, hops + 1);
  }

  #given(module: PyModule, way: Definition, hops: number): Contents {
    switch (way.kind) {
      case 'loop':
        return this.of(module, way.iterable, hops + 1);
      case 'value':
      case 'part':
      case 'update':
      case 'with':
        return this.of(module, way.value, hops + 1);
      case 'parameter': {
        if (isPlainParameter(way.node)) return 'none';
        const owner = enclosingFunction(way.node);
        const given = owner && valuesGiven(module, owner, way.node);
        if (given === undefined || given.length === 0) return 'unknown';
        return worst(given.map((each) => this.of(each.module, each.node, hops + 1)));
      }
      default:
        return 'unknown';
    }
  }
}

/** An object of Python, torch or a package that memfix knows, whatever it has in it: its methods are known as well. */
export function isOrdinaryObject(module: PyModule, value: PyNode | undefined, hops = 0): boolean {
  const target = value && unparenthesized(value);
  if (target === undefined || hops > MAX_HOPS) return false;
  if (PLAIN.test(target.type) || (COMPOUND.test(target.type) && target.type !== 'conditional_expression'))
    return true;
  switch (target.type) {
    case 'subscript':
      return isOrdinaryObject(module, target.value, hops + 1);
    case 'attribute':
      return (
        target.object?.text !== classAround(target)?.self && isOrdinaryObject(module, target.object, hops + 1)
      );
    case 'call': {
      const callee = target.function;
      const path = callee && qualifiedName(module, callee);
      if (path !== undefined) return isOfKnownPackage(path) && !UNPICKLES.has(path);
      if (callee === undefined || definedAnywhere(module, callee) !== undefined) return false;
      if (isUnbound(module, callee)) return builtin(callee.text) !== undefined && callee.text !== 'getattr';
      return isOrdinaryObject(module, receiverOf(target), hops + 1);
    }
    case 'identifier': {
      const ways = waysGiven(module, target);
      return (
        ways.length > 0 &&
        ways.every(
          (way) => 'value' in way && (way.kind === 'update' || isOrdinaryObject(module, way.value, hops + 1)),
        )
      );
    }
    default:
      return false;
  }
}

/** An object that is asked for what networks have. */
export function isAskedAsNetwork(module: PyModule, object: PyNode): boolean {
  const asked = membersAsked(module, object);
  return OF_NETWORKS.some((name) => asked.has(name));
}

/** A class that inherits from one of a stranger. */
function isOfStranger({ module, node }: Elsewhere): boolean {
  if (node.type !== 'class_definition') return false;
  return lineageOf(module, node).imported.some((path) => !PLAIN_BASES.has(path) && isStranger(module, path));
}

function worst(all: readonly Contents[]): Contents {
  return all.includes('network') ? 'network' : all.includes('unknown') ? 'unknown' : 'none';
}
