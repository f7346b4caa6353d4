import { builtin, cutsGraph, isOfModule, isPlain, row } from '../../library/library.js';
import { PARAMETER, VARIABLE } from '../../library/names.js';
import { isAnywhere } from '../../semantic/anywhere.js';
import { attributeValues } from '../../semantic/attributes.js';
import { ancestryOf } from '../../semantic/definitions.js';
import { valuesGiven } from '../../semantic/function-uses.js';
import { calledPath, qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { returnedBy } from '../../semantic/returns.js';
import { definedAnywhere } from '../../semantic/star-imports.js';
import {
  argumentsOf,
  argumentValue,
  enclosingFunction,
  keywordValue,
  methodName,
  receiverOf,
  unparenthesized,
} from '../../semantic/statements.js';
import { isUnbound, readsOf, waysGiven } from '../../semantic/variables.js';
import type { PyNode } from '../../syntax/node.js';
import { recordsNoGraph } from '../value/gradient.js';
import { isPlainAttribute } from '../value/plain.js';
import { valuesPutInto } from '../value/put-into.js';
import { type Contents, Ingredients } from './strangers.js';

const MAX_HOPS = 8;

/** Whether a value is, or holds, a tensor that asks for gradients or was computed by a network, as far as what made it shows. */
export function isLive(module: PyModule, value: PyNode): boolean {
  return new LiveTrace().of(module, value, 0);
}

class LiveTrace {
  readonly #seen = new Set<PyNode>();

  of(module: PyModule, value: PyNode | undefined, hops: number): boolean {
    const target = value && unparenthesized(argumentValue(value));
    if (target === undefined || hops > MAX_HOPS || this.#seen.has(target)) return false;
    this.#seen.add(target);
    switch (target.type) {
      case 'identifier':
        return this.#name(module, target, hops);
      case 'attribute':
        return this.#attribute(module, target, hops);
      case 'call':
        return this.#call(module, target, hops);
      case 'subscript':
        return this.of(module, target.value, hops + 1);
      case 'lambda':
      case 'comparison_operator':
        return false;
      default:
        return target.named.some((each) => this.of(module, each, hops + 1));
    }
  }

  #name(module: PyModule, name: PyNode, hops: number): boolean {
    const reads = readsOf(module, name);
    if (reads.some(isAskedForGradient)) return true;
    const put = reads.flatMap((read) => valuesPutInto(module, read));
    if (put.some((each) => !recordsNoGraph(module, each) && this.of(module, each, hops + 1))) return true;
    if (module.resolve(name) === module.scope && isAnywhere(module, name.text, fillsPart)) return true;
    return waysGiven(module, name).some((way) => {
      if (recordsNoGraph(module, way.node)) return false;
      if (way.kind === 'loop') return this.of(module, way.iterable, hops + 1);
      if (way.kind !== 'parameter') return 'value' in way && this.of(module, way.value, hops + 1);
      const owner = enclosingFunction(way.node);
      const given = owner && valuesGiven(module, owner, way.node);
      return given?.some((each) => this.of(each.module, each.node, hops + 1)) === true;
    });
  }

  #attribute(module: PyModule, attribute: PyNode, hops: number): boolean {
    const name = attribute.attribute?.text ?? '';
    if (isPlainAttribute(name)) return false;
    const isAsked = module
      .words(`.${name}`)
      .some(({ parent }) => parent?.text === attribute.text && isAskedForGradient(parent));
    if (isAsked) return true;
    const values = attributeValues(module, attribute);
    if (values !== undefined)
      return values.some((each) => !recordsNoGraph(module, each) && this.of(module, each, hops + 1));
    // `net.weight`
    return contentsOf(module, attribute.object) === 'network' || this.of(module, attribute.object, hops + 1);
  }

  #call(module: PyModule, call: PyNode, hops: number): boolean {
    const callee = call.function;
    if (callee === undefined || recordsNoGraph(module, call)) return false;
    const given = (): boolean => argumentsOf(call).some((each) => this.of(module, each, hops + 1));
    const path = calledPath(module, call);
    const asked = keywordValue(call, 'requires_grad');
    if (asked !== undefined) return asked.type !== 'false';
    if (path === PARAMETER || VARIABLE.has(path ?? '')) return path === PARAMETER;
    const definition = definedAnywhere(module, callee);
    if (definition?.node.type === 'function_definition')
      return returnedBy(definition.node).some((each) => this.of(definition.module, each, hops + 1));
    if (definition !== undefined) return definition.module.memo(makesParameters, definition.node) || given();
    if (path !== undefined) return row(path)?.graph !== 'cut' && given();
    if (isUnbound(module, callee)) {
      const fact = builtin(callee.text);
      // `map(net, data)`
      const runs = fact?.runs === true && contentsOf(module, argumentsOf(call)[0]) === 'network';
      return runs || (!isPlain(fact) && given());
    }
    const name = methodName(call) ?? '';
    if (name === 'requires_grad_') return argumentsOf(call)[0]?.type !== 'false';
    if (cutsGraph(name)) return false;
    return runsNetwork(module, call) || this.of(module, receiverOf(call), hops + 1) || given();
  }
}

/** `lazy.weights.append(x)`, of a variable of another file. */
function fillsPart(alone: PyModule, name: string): boolean {
  return alone.words(name).some(({ parent, start }) => {
    const isPart = parent?.type === 'attribute' && parent.attribute?.start === start;
    return isPart && qualifiedName(alone, parent) !== undefined && valuesPutInto(alone, parent).length > 0;
  });
}

/** The objects of a class have parameters of their own. */
function makesParameters(module: PyModule, classNode: PyNode): boolean {
  return ancestryOf(module, classNode).classes.some((each) =>
    [...each.walk()].some((node) => node.type === 'call' && calledPath(module, node) === PARAMETER),
  );
}

/** Whether a call runs a network: `self.encoder(x)`, `net.encode(x)`. */
function runsNetwork(module: PyModule, call: PyNode): boolean {
  const name = methodName(call) ?? '';
  if (call.function === undefined || (isOfModule(name) && name !== 'forward')) return false;
  return contentsOf(module, call.function) === 'network';
}

export function contentsOf(module: PyModule, value: PyNode | undefined): Contents {
  return new Ingredients().of(module, value);
}

/** `x.requires_grad_()`, `x.requires_grad = True` */
function isAskedForGradient(place: PyNode): boolean {
  const attribute =
    place.parent?.type === 'attribute' && place.parent.object === place ? place.parent : undefined;
  const user = attribute?.parent;
  switch (attribute?.attribute?.text) {
    case 'requires_grad_':
      return user?.type === 'call' && argumentsOf(user)[0]?.type !== 'false';
    case 'requires_grad':
      return user?.type === 'assignment' && user.left === attribute && user.right?.type !== 'false';
    default:
      return false;
  }
}
