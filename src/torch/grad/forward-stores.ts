import { changesTensor, fillsTensor } from '../../library/library.js';
import { AUTOGRAD_FUNCTIONS, PARAMETER } from '../../library/names.js';
import { isModuleClass } from '../../library/paths.js';
import { stringValue } from '../../semantic/attribute-uses.js';
import { attributeValues } from '../../semantic/attributes.js';
import {
  ancestryOf,
  attributeOfSelf,
  calledDefinition,
  classAround,
  definitionBehind,
  selfName,
} from '../../semantic/definitions.js';
import { makerOf } from '../../semantic/elsewhere.js';
import type { Definition } from '../../semantic/flow.js';
import { calledPath, qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { argumentsByName } from '../../semantic/parameters.js';
import { rememberedFrom } from '../../semantic/remembered.js';
import {
  argumentValue,
  contextManagers,
  enclosingClass,
  enclosingFunction,
  enclosingWiths,
  givenTo,
  isTarget,
  methodName,
  ownNodes,
  receiverOf,
  rootOf,
  unparenthesized,
  valuesAssigned,
} from '../../semantic/statements.js';
import { isUnbound, readsOf, waysReaching } from '../../semantic/variables.js';
import type { PyNode } from '../../syntax/node.js';
import { valueOf } from '../../values/index.js';
import { recordsNoGraph } from '../../values/value/gradient.js';
import { isFunction, keepsGiven } from '../../values/value/names.js';
import { isOfKnownPackage } from '../../values/value/plain.js';
import { changedBy, outlivingNames, parametersBehind } from './outliving.js';
import { isOnlyInTraining } from './training-only.js';

/** A value that may have a graph, put where it outlives the call: on `self`, in a global, in what those hold. */
export interface Store {
  readonly into: PyNode;
  /** The attribute or the variable that others find it by; empty where it is computed. */
  readonly name: string;
  /** It is put into what is there, and does not take its place: `self.kept[key] = value`. */
  readonly isHeld: boolean;
  /** A method of tensors that makes it without a graph, unless the project has one of that name. */
  readonly unless?: string | undefined;
  /** Only where the network that runs it is in training mode. */
  readonly inTraining: boolean;
}

/** What a function, the ones inside it included, leaves behind. Of what it was given, its caller has what it put there. */
export function* storesOf(module: PyModule, functionNode: PyNode): Generator<Store> {
  for (const node of (functionNode.body ?? functionNode).walk()) {
    // `type(self).last = value` reads like one to the parser.
    if (node.type === 'type_alias_statement') yield { into: node, name: '', isHeld: true, inTraining: false };
    for (const { target, values, name, isBatch } of putBy(module, node)) {
      if (recordsNoGraph(module, node) || !values.some((value) => mayHaveGraph(module, value))) continue;
      const isSet = !/^(?:attribute|augmented_assignment|binary_operator|call)$/.test(node.type);
      const found = outlivingNames(module, functionNode, target, isSet);
      const given =
        found.length === 0 && !isBatch ? givenName(module, functionNode, node, target) : undefined;
      const own = node.type === 'assignment' ? attributeOfSelf(target)?.classNode : undefined;
      const unless = values.every((value) => isEmpty(value)) ? 'new' : undefined;
      const inTraining = isOnlyInTraining(node);
      for (const each of given === undefined ? found : [given])
        yield { into: target, name: name ?? each, isHeld: own === undefined, unless, inTraining };
    }
  }
}

/** `x.new()`, which is of the form of `x` and has nothing in it, also as `x.new().type_as(y)`. */
function isEmpty(value: PyNode): boolean {
  const receiver = value.type === 'call' ? receiverOf(value) : undefined;
  if (receiver === undefined) return false;
  return methodName(value) === 'new'
    ? givenTo(value).length === 0
    : methodName(value) === 'type_as' && isEmpty(receiver);
}

export function mayHaveGraph(module: PyModule, given: PyNode): boolean {
  const value = argumentValue(given);
  const known = valueOf(module, value);
  return known.kind !== 'number' && !isParameter(module, value) && known.mayHaveGraph();
}

/** `nn.Parameter(x)` is a leaf that asks for gradients, with them and without. */
function isParameter(module: PyModule, value: PyNode): boolean {
  if (value.type === 'call') return calledPath(module, value) === PARAMETER;
  const ways = value.type === 'identifier' ? waysReaching(module, value) : [];
  const isMade = (way: Definition) =>
    way.kind === 'value' && way.value.type === 'call' && isParameter(module, way.value);
  const isChanged = (read: PyNode) => {
    const call = read.parent?.type === 'argument_list' ? read.parent.parent : undefined;
    if (read.start === value.start || (call && methodName(call) === 'register_parameter')) return false;
    return calledPath(module, call ?? read)?.startsWith('torch.nn.init.') !== true;
  };
  return ways.length > 0 && ways.every(isMade) && !readsOf(module, value).some(isChanged);
}

interface Put {
  /** What is assigned to, or what holds it afterwards. */
  readonly target: PyNode;
  readonly values: readonly PyNode[];
  /** The attribute, where it is not in the target. */
  readonly name?: string;
  /** It changes a tensor: of a batch, which is gone afterwards. */
  readonly isBatch?: boolean;
}

function putBy(module: PyModule, node: PyNode): readonly Put[] {
  if (/^(?:augmented_)?assignment$|^for_/.test(node.type)) return valuesAssigned(node);
  const [value, alias] = node.named;
  // `with held(value) as self.last`
  if (node.type === 'as_pattern')
    return valuesAssigned({ type: node.type, left: alias?.named[0], right: value });
  // `self.log << value`
  if (node.type === 'binary_operator' && node.parent?.type === 'expression_statement')
    return valuesAssigned(node);
  // `map(self.kept.append, values)`
  if (node.type === 'attribute' && isHandedKeeper(node))
    return [{ target: node.object ?? node, values: [node] }];
  if (node.type !== 'call') return [];
  const given = givenTo(node);
  const method = methodName(node);
  if (node.function?.text === 'setattr' || method === '__setattr__') {
    const [object, key, value] = given.length === 3 ? given : [receiverOf(node), ...given];
    if (object === undefined || value === undefined) return [];
    return [{ target: object, values: [value], name: stringValue(key) ?? '' }];
  }
  const path = node.function && qualifiedName(module, node.function);
  // `heapq.heappush(heap, value)`
  if (path !== undefined && (changesTensor(path) || /^(?:heapq|bisect|operator)\./.test(path)))
    return given[0] === undefined ? [] : [{ target: given[0], values: given.slice(1) }];
  const called = calledDefinition(module, node);
  if (called?.type === 'function_definition') return putByCalled(module, called, node);
  const receiver = receiverOf(node);
  if (receiver === undefined || method === undefined || isFunction(module, node)) return [];
  // `list.append(self.kept, value)`
  if (isUnbound(module, receiver) && keepsGiven(method))
    return given[0] === undefined ? [] : [{ target: given[0], values: given.slice(1) }];
  // `self.total.mul_(decay).add_(value)`
  if (changesTensor(method)) {
    // `self.pad_(x)`: a method of the file, whose code is looked at.
    const isOwn =
      classAround(node)?.self === receiver.text &&
      calledDefinition(module, node) !== undefined &&
      !module.wordsSet(`.${method}`).some(({ parent }) => parent && isTarget(parent));
    return isOwn || fillsTensor(method) ? [] : [{ target: changedBy(module, receiver), values: given }];
  }
  // `self.update(x)` of `self.update = nn.Linear(4, 4)`
  if (isLayer(module, node.function)) return [];
  const isEffect = node.parent?.type === 'expression_statement';
  return keepsGiven(method) ||
    /^__(?:i\w+|setitem)__$/.test(method) ||
    (isEffect && isKeeper(module, receiver))
    ? [{ target: receiver, values: given }]
    : [];
}

/** `note(self.kept, y)` of `def note(kept, y): kept.append(y)`. */
function putByCalled(module: PyModule, called: PyNode, call: PyNode): readonly Put[] {
  const given = argumentsByName(module, called, call);
  return changesOf(module.alone, called).flatMap(({ parameter, ...how }) => {
    const target = given?.get(parameter);
    return target === undefined ? [] : [{ target, values: givenTo(call), ...how }];
  });
}

interface Change extends Pick<Put, 'name' | 'isBatch'> {
  readonly parameter: string;
}

/** What a function puts into its parameters. */
export const changesOf = rememberedFrom([], (module, functionNode): readonly Change[] => {
  const bound = new Set(['assignment', 'for_statement', 'for_in_clause']);
  return ownNodes(functionNode).flatMap((node) =>
    putBy(module, node).flatMap(({ target, name, isBatch }) => {
      if (bound.has(node.type) && target.type === 'identifier') return [];
      const isSet = target.type === 'attribute' && node.type === 'assignment';
      const held = isSet ? (target.object ?? target) : target;
      const how = isSet ? { name: target.attribute?.text ?? '' } : name === undefined ? {} : { name };
      return parametersBehind(module, functionNode, held).map((parameter) => ({
        ...{ parameter, ...how },
        isBatch:
          isBatch === true || (!isSet && (node.type !== 'call' || changesTensor(methodName(node) ?? ''))),
      }));
    }),
  );
});

/** An attribute of the class that gets layers, and objects of classes whose `__call__` is looked at. */
function isLayer(module: PyModule, callee: PyNode | undefined): boolean {
  const values = (callee && attributeValues(module, callee)) ?? [];
  const isMade = ({ function: maker }: PyNode) => {
    const path = maker && qualifiedName(module, maker);
    if (path !== undefined) return isModuleClass(path) || !isOfKnownPackage(path);
    return maker !== undefined && definitionBehind(module, maker)?.type === 'class_definition';
  };
  return values.length > 0 && values.every(isMade);
}

function isHandedKeeper(attribute: PyNode): boolean {
  const { parent } = attribute;
  if (!keepsGiven(attribute.attribute?.text ?? '') || attributeOfSelf(attribute) !== undefined) return false;
  return parent?.type === 'argument_list' || (parent?.type === 'assignment' && parent.right === attribute);
}

/**
 * `batch["features"] = value`, `data.x = value` and `seen.append(value)` of what a forward was given, or of a default that
 * all calls share: whoever has that finds it there; by the name of the attribute, or by some other.
 */
function givenName(module: PyModule, functionNode: PyNode, put: PyNode, target: PyNode): string | undefined {
  // `x += y` of a tensor changes a batch, which is gone afterwards.
  const isBatch =
    target.type === 'identifier' && (put.type !== 'call' || changesTensor(methodName(put) ?? ''));
  const isNumbered =
    target.type === 'subscript' && target.named.slice(1).some((key) => isNumber(module, key));
  const root = rootOf(target);
  if (isBatch || isNumbered) return undefined;
  const isOwn = root.type === 'identifier' && module.resolve(root)?.node === functionNode;
  const [parameter] = isOwn ? waysReaching(module, root).filter(({ kind }) => kind === 'parameter') : [];
  // `options.get("log", []).append(value)`
  if (parameter === undefined)
    return functionNode.name?.text === 'forward' && parametersBehind(module, functionNode, target).length > 0
      ? ''
      : undefined;
  if (root.text === selfName(functionNode)) return undefined;
  if (isContext(module, functionNode, root)) return undefined;
  const value = parameter.node.parent?.value;
  const isShared =
    value !== undefined && !/^(?:none|true|false|integer|float|string|tuple)$/.test(value.type);
  // `def inner(net, x): net.last = fn(net, x)`, which a decorator has put in place of a forward.
  const isInner = target.type === 'attribute' && enclosingFunction(functionNode) !== undefined;
  if (!isShared && !isInner && functionNode.name?.text !== 'forward') return undefined;
  // `with graph.local_scope():` puts back what was there.
  const isLocal = enclosingWiths(target).some((each) =>
    contextManagers(each).some(({ text }) => text === `${root.text}.local_scope()`),
  );
  if (isLocal) return undefined;
  return target.type === 'attribute' ? target.attribute?.text : '';
}

/** `ctx` of a `torch.autograd.Function`: only its `backward` sees it, which does not run where no graph is recorded. */
function isContext(module: PyModule, functionNode: PyNode, name: PyNode): boolean {
  const classNode = enclosingClass(functionNode);
  if (classNode === undefined || functionNode.parameters?.named[0]?.text !== name.text) return false;
  return ancestryOf(module, classNode).imported.some((path) => AUTOGRAD_FUNCTIONS.has(path));
}

/** No key of a dictionary, but what a tensor has there: a number, or `rows` of `rows = mask.nonzero().tolist()`. */
function isNumber(module: PyModule, key: PyNode): boolean {
  if (key.type !== 'identifier') return !/^(?:string|attribute|call)$/.test(key.type);
  const ways = waysReaching(module, key);
  const isListed = (way: Definition) => {
    const value = way.kind === 'value' ? unparenthesized(way.value) : undefined;
    const tensor = value && methodName(value) === 'tolist' ? receiverOf(value) : undefined;
    return tensor !== undefined && (valueOf(module, tensor).shape?.dimensions.length ?? 0) > 0;
  };
  return ways.length > 0 && ways.every(isListed);
}

/** A variable of the file, made by something that is neither a layer nor a log: whatever its methods are called. */
function isKeeper(module: PyModule, receiver: PyNode): boolean {
  if (receiver.type !== 'identifier' || module.resolve(receiver) !== module.scope) return false;
  const maker = makerOf(module, receiver);
  return maker !== undefined && !isModuleClass(maker) && !/^(?:logging|loguru|torch)\b/.test(maker);
}
