import { isHarmlessBuiltin, ofTensor, type Row, row } from '../../src/library/library.js';
import { LAYER_CONTAINERS, MULTIHEAD_ATTENTION, NN_MODULE } from '../../src/library/names.js';
import { initialValue } from '../../src/semantic/attribute-uses.js';
import {
  ancestryOf,
  calledDefinition,
  classAround,
  definitionBehind,
  methodsOf,
} from '../../src/semantic/definitions.js';
import { qualifiedName } from '../../src/semantic/imports.js';
import type { PyModule } from '../../src/semantic/module.js';
import {
  allNodes,
  argumentsOf,
  decoratorsOf,
  hasSplat,
  isCallee,
  keywordArgument,
  methodName,
  receiverOf,
  unparenthesized,
} from '../../src/semantic/statements.js';
import { waysGiven } from '../../src/semantic/variables.js';
import type { PyNode } from '../../src/syntax/node.js';

const MAX_DEPTH = 6;

/**
 * Whether the file proves that a callable draws no random numbers: a class of the file, or a function, in which every call
 * is known. What comes from elsewhere is never proven.
 */
export function isFreeOfRandomness(module: PyModule, callable: PyNode): boolean {
  return !module.mentions(REPLACES) && isSteady(module, callable, 0);
}

/** Hooks and methods put in the place of others; and models of libraries whose layers are given adapters, which have dropout. */
const REPLACES =
  /register_\w*hook|\.(?:forward|__call__)\s*=(?!=)|\bsetattr\(|\.apply\(|\b(?:peft|transformers|diffusers)\b|PreTrainedModel\b|ModelMixin\b|lora/i;

function isSteady(module: PyModule, callable: PyNode, depth: number): boolean {
  if (depth > MAX_DEPTH) return false;
  const target = unparenthesized(callable);
  const definition = definitionBehind(module, target);
  if (definition?.type === 'function_definition') return isSteadyBody(module, definition, depth);
  const made = makersOf(module, target);
  return made.length > 0 && made.every((call) => isSteadyInstance(module, call, depth));
}

/** The constructor calls that an attribute, a name, an item or a loop variable stands for; empty where one is not seen. */
function makersOf(module: PyModule, expression: PyNode): readonly PyNode[] {
  const target = unparenthesized(expression);
  if (target.type === 'call') return [target];
  if (target.type === 'subscript') {
    const value = target.value;
    return value === undefined ? [] : itemsMade(module, value);
  }
  if (target.type === 'attribute') {
    const name = target.attribute?.text;
    if (name === undefined || !isOfSelf(target)) return [];
    const value = initialValue(module, target, name);
    return value?.type === 'call' ? [value] : [];
  }
  if (target.type !== 'identifier') return [];
  const [only, ...others] = waysGiven(module, target);
  if (only === undefined || others.length > 0) return [];
  if (only.kind === 'value') return only.value.type === 'call' ? [only.value] : [];
  return only.kind === 'loop' ? itemsMade(module, iterated(only.iterable)) : [];
}

/** `for i, block in enumerate(self.blocks)` goes over `self.blocks`; the counter is never called. */
function iterated(iterable: PyNode): PyNode {
  const [first] = argumentsOf(iterable);
  return iterable.function?.text === 'enumerate' && first !== undefined ? first : iterable;
}

/** The constructor calls of the items of `nn.ModuleList([A(), A()])` or `nn.ModuleList([A() for _ in …])`. */
function itemsMade(module: PyModule, container: PyNode): readonly PyNode[] {
  const [made, ...others] = makersOf(module, container);
  const path = made?.function && qualifiedName(module, made.function ?? made);
  if (made === undefined || others.length > 0 || path === undefined || !LAYER_CONTAINERS.has(path)) return [];
  const bare = made.arguments;
  const items = bare?.type === 'generator_expression' ? bare : argumentsOf(made)[0];
  if (items?.type === 'list_comprehension' || items?.type === 'generator_expression') {
    const body = items.body;
    return body?.type === 'call' ? [body] : [];
  }
  const given = items?.type === 'list' || items?.type === 'tuple' ? items.named : argumentsOf(made);
  return given.every(({ type }) => type === 'call') ? given : [];
}

function isSteadyInstance(module: PyModule, made: PyNode, depth: number): boolean {
  const callee = made.function;
  if (callee === undefined) return false;
  const path = qualifiedName(module, callee);
  if (path === MULTIHEAD_ATTENTION)
    return !hasSplat(made) && keywordArgument(made, 'dropout') === undefined && argumentsOf(made).length < 3;
  if (path !== undefined && LAYER_CONTAINERS.has(path)) {
    const items = argumentsOf(made);
    return items.every((item) => item.type === 'call' && isSteadyInstance(module, item, depth + 1));
  }
  if (path !== undefined) return isSteadyLayer(path);
  const own = definitionBehind(module, callee);
  if (own?.type !== 'class_definition' || depth > MAX_DEPTH) return false;
  const { classes, imported, unknown } = ancestryOf(module, own);
  if (unknown || decoratorsOf(own).length > 0 || imported.some((base) => base !== NN_MODULE)) return false;
  // Properties and hooks run too, so every method has to be known; building the parts draws, but only once.
  return classes
    .flatMap(methodsOf)
    .filter((method) => method.name?.text !== '__init__')
    .every((method) => isSteadyBody(module, method, depth + 1));
}

/** A layer of torch that draws no random numbers when it runs. */
function isSteadyLayer(path: string): boolean {
  const known = row(path);
  return (known?.is === 'map' || known?.is === 'layer') && !known.random;
}

function isSteadyBody(module: PyModule, functionNode: PyNode, depth: number): boolean {
  if (decoratorsOf(functionNode).some(({ text }) => text !== 'property' && text !== 'staticmethod'))
    return false;
  for (const node of allNodes(functionNode)) {
    if (node.type === 'call' && !isSteadyCall(module, node, functionNode, depth)) return false;
    if (node.type === 'await' || node.type === 'yield') return false;
    if (node.type === 'attribute' && isUnsteadyProperty(module, node, depth)) return false;
  }
  return true;
}

/** `self.name` of the class around. */
function isOfSelf(attribute: PyNode): boolean {
  return attribute.object?.text === classAround(attribute)?.self;
}

function isUnsteadyProperty(module: PyModule, attribute: PyNode, depth: number): boolean {
  if (isCallee(attribute)) return false;
  const read = isOfSelf(attribute) ? definitionBehind(module, attribute) : undefined;
  return read !== undefined && (depth > MAX_DEPTH || !isSteadyBody(module, read, depth + 1));
}

function isSteadyCall(module: PyModule, call: PyNode, inside: PyNode, depth: number): boolean {
  const callee = call.function;
  if (callee === undefined) return false;
  const path = qualifiedName(module, callee);
  if (path !== undefined) {
    if (path.endsWith('.scaled_dot_product_attention'))
      return (
        !hasSplat(call) && keywordArgument(call, 'dropout_p') === undefined && argumentsOf(call).length < 5
      );
    return drawsNothing(row(path));
  }
  if (callee.type === 'identifier' && module.resolve(callee) === undefined)
    return isHarmlessBuiltin(callee.text);
  if (calledDefinition(module, call) === inside) return true;
  const receiver = receiverOf(call);
  const name = methodName(call) ?? '';
  if (receiver !== undefined && !isOfSelf(callee) && drawsNothing(ofTensor(name)) && !isPartOfSelf(receiver))
    return true;
  return isSteady(module, callee, depth + 1);
}

/** `self.part`, which may be a module with methods of its own. */
function isPartOfSelf(receiver: PyNode): boolean {
  return receiver.type === 'attribute' && isOfSelf(receiver);
}

/** Runs without drawing random numbers. */
function drawsNothing(known: Row | undefined): boolean {
  const computes = known?.gives !== undefined && known.gives !== 'nothing' && known.is === undefined;
  return computes && !known.random && !known.runs;
}
