import { CUDA_AVAILABLE, DEVICE, PARTIAL } from '../../src/library/names.js';
import { NAMES_DEVICE } from '../../src/library/paths.js';
import { attributeValues, attributeValuesInProject } from '../../src/semantic/attributes.js';
import { busyProperty } from '../../src/semantic/busy-property.js';
import { definitionBehind } from '../../src/semantic/definitions.js';
import type { Elsewhere } from '../../src/semantic/elsewhere.js';
import type { Definition } from '../../src/semantic/flow.js';
import { allGiven } from '../../src/semantic/function-uses.js';
import { calledPath } from '../../src/semantic/imports.js';
import type { PyModule } from '../../src/semantic/module.js';
import {
  argumentsOf,
  keywordValue,
  methodName,
  receiverOf,
  unparenthesized,
} from '../../src/semantic/statements.js';
import { isUnbound, waysReaching } from '../../src/semantic/variables.js';
import type { PyNode } from '../../src/syntax/node.js';
import { isCpu } from '../../src/values/value/device-value.js';

/** `device` of `torch.load(path, map_location=device)` and of `torch.load(path, device)`. */
export function placeGiven(call: PyNode): PyNode | undefined {
  const second = argumentsOf(call)[1];
  const isPositional = second !== undefined && !/^keyword_argument$|_splat$/.test(second.type);
  return keywordValue(call, 'map_location') ?? (isPositional ? second : undefined);
}

/** Whether all that is loaded goes to the CPU, by what the place is. */
export function isPlacedOnCpu(module: PyModule, place: PyNode): boolean {
  const value = unparenthesized(place);
  switch (value.type) {
    case 'conditional_expression':
      return [value.named[0], value.named[2]].every((arm) => arm && isPlacedOnCpu(module, arm));
    case 'dictionary':
      return value.named.every(({ value: to }) => to && isPlacedOnCpu(module, to));
    case 'lambda':
      return value.body?.text === storageOf(value)?.text;
    case 'attribute': {
      const values = attributeValues(module, value) ?? [];
      return values.length > 0 && values.every((each) => isCpu(module, each));
    }
    default:
      return isCpu(module, value);
  }
}

/** How far a place is followed to what gives it. */
const MAX_HOPS = 5;

/** Whether a place is a GPU only where there is one, whatever leads to it: then no load fails for the lack of one. */
export function isPresent(module: PyModule, place: PyNode, hops = 0): boolean {
  const value = unparenthesized(place);
  const isEach = (values: readonly Elsewhere[] | undefined): boolean =>
    values !== undefined &&
    values.length > 0 &&
    hops < MAX_HOPS &&
    values.every((each) => isPresent(each.module, each.node, hops + 1));
  const here = (nodes: readonly (PyNode | undefined)[]): readonly Elsewhere[] | undefined =>
    nodes.includes(undefined) ? undefined : nodes.flatMap((node) => (node ? { module, node } : []));
  if (isCpu(module, value)) return true;
  switch (value.type) {
    case 'conditional_expression': {
      const [, condition, otherwise] = value.named;
      const asked = condition?.type === 'call' ? calledPath(module, condition) : undefined;
      return asked === CUDA_AVAILABLE && isEach(here([otherwise]));
    }
    case 'call':
      return calledPath(module, value) === DEVICE && isEach(here([argumentsOf(value)[0]]));
    case 'attribute':
      return isEach(here(attributeValuesInProject(module, value) ?? [undefined]));
    case 'identifier': {
      const ways = waysReaching(module, value);
      return ways.length > 0 && ways.every((way) => isEach(givenBy(module, way)));
    }
    default:
      return false;
  }
}

/** What a variable is given, also as a parameter by all calls. */
function givenBy(module: PyModule, way: Definition): readonly Elsewhere[] | undefined {
  if (way.kind === 'value') return [{ module, node: way.value }];
  return way.kind === 'parameter' ? allGiven(module, way.node) : undefined;
}

/** `s` of `lambda s, location: s` */
function storageOf(lambda: PyNode): PyNode | undefined {
  return lambda.parameters?.named[0];
}

/** Paths, texts and numbers, and calls that only look. */
export function onlyNames(module: PyModule, place: PyNode): boolean {
  const node = unparenthesized(place);
  const all = (nodes: readonly (PyNode | undefined)[]): boolean =>
    nodes.every((each) => each !== undefined && onlyNames(module, each));
  switch (node.type) {
    case 'identifier':
      return !mayRunCode(module, node);
    // What is loaded there has no values: somebody wants only the sizes.
    case 'string_content':
      return !node.text.startsWith('meta');
    case 'string_start':
    case 'string_end':
    case 'integer':
    case 'true':
    case 'false':
    case 'none':
      return true;
    case 'attribute':
      return busyProperty(module, node) === undefined && !mayRunCode(module, node) && all([node.object]);
    case 'keyword_argument':
    case 'pair':
      return all([node.value]);
    case 'subscript':
    case 'string':
    case 'interpolation':
    case 'conditional_expression':
    case 'boolean_operator':
    case 'not_operator':
    case 'comparison_operator':
    case 'tuple':
    case 'dictionary':
      return all(node.named);
    case 'binary_operator':
      return node.left?.type === 'string' && all([node.left, node.right]);
    case 'call':
      return onlyLooks(module, node) && all(argumentsOf(node));
    case 'lambda':
      return movesStorage(node);
    default:
      return false;
  }
}

/** A function, which torch calls for each storage: other than a lambda that only moves it, it may do anything. */
function mayRunCode(module: PyModule, name: PyNode): boolean {
  if (definitionBehind(module, name)?.type === 'function_definition') return true;
  const values =
    name.type === 'attribute'
      ? (attributeValues(module, name) ?? [])
      : waysReaching(module, name).flatMap((way) => (way.kind === 'value' ? [way.value] : []));
  return values.some(
    (value) =>
      (value.type === 'lambda' && !movesStorage(value)) ||
      definitionBehind(module, value)?.type === 'function_definition' ||
      (value.type === 'call' && calledPath(module, value) === PARTIAL),
  );
}

/** `torch.device(…)`, `str(…)`, `"cuda:{}".format(…)`, `next(net.parameters())`. */
function onlyLooks(module: PyModule, call: PyNode): boolean {
  const callee = call.function;
  if (NAMES_DEVICE.has(calledPath(module, call))) return true;
  if (isUnbound(module, callee)) {
    const [given, ...others] = argumentsOf(call);
    if (callee?.text !== 'next') return callee?.text === 'str' || callee?.text === 'int';
    return given?.type === 'call' && others.length === 0 && onlyLooks(module, given);
  }
  const receiver = receiverOf(call);
  const name = methodName(call);
  if (name === 'format') return receiver?.type === 'string';
  return (
    name === 'parameters' &&
    receiver !== undefined &&
    argumentsOf(call).length === 0 &&
    onlyNames(module, receiver)
  );
}

/** `lambda storage, location: storage.cuda(rank)` */
function movesStorage(lambda: PyNode): boolean {
  const { body } = lambda;
  if (body?.text === storageOf(lambda)?.text) return true;
  return (
    body?.type === 'call' &&
    methodName(body) === 'cuda' &&
    receiverOf(body)?.text === storageOf(lambda)?.text &&
    argumentsOf(body).every((each) => each.type !== 'call' && (each.value ?? each).type !== 'call')
  );
}
