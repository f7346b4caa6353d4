import { builtin, cutsGraph, ofTensor, row } from '../../library/library.js';
import { NUMPY, TORCH, VARIABLE } from '../../library/names.js';
import { attributeUses, callsOf } from '../../semantic/attribute-uses.js';
import { calledDefinition, classAround } from '../../semantic/definitions.js';
import { type Definition, reachingDefinitions } from '../../semantic/flow.js';
import { calledPath, qualifiedName } from '../../semantic/imports.js';
import { isOwnMember } from '../../semantic/instance.js';
import { isFreshContainer } from '../../semantic/literals.js';
import type { PyModule } from '../../semantic/module.js';
import { givesReturned, returnsOf } from '../../semantic/returns.js';
import {
  argumentsOf,
  contextManagers,
  decoratorsOf,
  enclosingFunction,
  enclosingWiths,
  isAsync,
  keywordValue,
  methodName,
  receiverOf,
  unparenthesized,
} from '../../semantic/statements.js';
import { isUnbound, readsOf } from '../../semantic/variables.js';
import type { PyNode } from '../../syntax/node.js';
import { registrationOf } from '../../torch/module/modules.js';
import { isOfKnownPackage } from './plain.js';
import { putIntoMade } from './put-into.js';
import { isFloating, kindOf } from './tensor.js';

/**
 * What is computed at this place surely records no graph: the nearest `with` of torch around it that speaks of grad mode, or
 * a decorator of its function, says so. A proof, unlike `isGradOff`, which is for staying away.
 */
export function recordsNoGraph(module: PyModule, node: PyNode): boolean {
  for (const around of enclosingWiths(node)) {
    // Of several in one `with`, the last is entered last.
    for (const manager of contextManagers(around).toReversed()) {
      const mode = gradModeOf(module, manager);
      if (mode !== undefined) return mode === 'off';
      // Somebody's own way of switching it.
      if (/grad/i.test(manager.text)) return false;
    }
  }
  const owner = enclosingFunction(node);
  return owner !== undefined && isDecoratedGradOff(module, owner);
}

/** By a decorator of torch; around a coroutine it has no effect. */
function isDecoratedGradOff(module: PyModule, functionNode: PyNode): boolean {
  if (isAsync(functionNode)) return false;
  return decoratorsOf(functionNode).some((decorator) => gradModeOf(module, decorator) === 'off');
}

/** What a decorator or context manager of torch does to grad mode; a flag that is not written out may be either, and counts as on. */
export function gradModeOf(module: PyModule, manager: PyNode): 'off' | 'on' | undefined {
  const callee = manager.type === 'call' ? manager.function : manager;
  const path = callee && qualifiedName(module, callee);
  const mode = path === undefined ? undefined : row(path)?.gradMode;
  if (mode !== 'flag') return mode;
  const [first] = argumentsOf(manager);
  return (first?.value ?? first)?.type === 'false' ? 'off' : 'on';
}

const MAX_DEPTH = 20;

/** Every call of the function that the file shows is made without gradients, and there is one. */
export function runsWithoutGrad(module: PyModule, functionNode: PyNode, depth = 0): boolean {
  if (isDecoratedGradOff(module, functionNode)) return true;
  const calls = callsOf(module, functionNode);
  if (calls.length === 0 || depth > MAX_DEPTH || functionNode.name?.text === 'forward') return false;
  return calls.every((call) => {
    if (recordsNoGraph(module, call)) return true;
    const caller = enclosingFunction(call);
    return caller !== undefined && caller !== functionNode && runsWithoutGrad(module, caller, depth + 1);
  });
}

/** Methods that take only the form of their argument. */
const LIKENING = /^to$|_as$/;

/**
 * Whether a value may hang on an autograd graph; false only where the code shows that it does not. `besides` is an attribute
 * that is taken to have none, because the question is what else would bring one.
 */
export function mayCarryGradient(
  module: PyModule,
  expression: PyNode,
  besides = '',
  depth = 0,
  seen = new Set<PyNode>(),
): boolean {
  const node = unparenthesized(expression);
  if (depth > MAX_DEPTH) return true;
  if (kindOf(module, node) === 'number' || isFloating(module, node) === 'no') return false;
  const may = (inner: PyNode | undefined): boolean =>
    inner === undefined || mayCarryGradient(module, inner, besides, depth + 1, seen);
  switch (node.type) {
    case 'string':
    case 'none':
    case 'true':
    case 'false':
    case 'comparison_operator':
      return false;
    case 'unary_operator':
      return may(node.argument);
    case 'binary_operator':
      return may(node.left) || may(node.right);
    case 'conditional_expression':
      return may(node.named[0]) || may(node.named[2]);
    case 'tuple':
    case 'list':
      return node.named.some(may);
    case 'dictionary':
      return node.named.some((pair) => pair.type !== 'pair' || may(pair.key) || may(pair.value));
    case 'list_comprehension':
      return may(node.body);
    case 'keyword_argument':
    case 'subscript':
      return may(node.value);
    case 'attribute':
      return node.text !== besides && attributeMayCarry(module, node, may, depth);
    case 'identifier':
      return variableMayCarry(module, node, may, seen);
    case 'call':
      return callMayCarry(module, node, may, depth);
    default:
      return true;
  }
}

type May = (node: PyNode | undefined) => boolean;

function attributeMayCarry(module: PyModule, node: PyNode, may: May, depth: number): boolean {
  const name = node.attribute?.text ?? '';
  const known = ofTensor(name);
  if (name === 'training' || (known?.attribute && cutsGraph(name))) return false;
  if (name === 'values' || (known?.attribute && !known.asksGraph)) return may(node.object);
  if (name === 'grad') return !module.memo(leavesPlainGradients, module);
  const around = classAround(node);
  if (around === undefined || node.object?.text !== around.self) return true;
  const writes = attributeUses(module, around.classNode, name).filter(({ kind }) => kind !== 'read');
  if (writes.length === 0) return registrationOf(module, around.classNode, name) !== 'buffer';
  return writes.some((write) => {
    const assignment = write.node.parent;
    const value = assignment?.left === write.node ? assignment.right : undefined;
    // What it was before, the other values tell.
    if (value === undefined || !/^(?:augmented_)?assignment$/.test(assignment?.type ?? '')) return true;
    return !recordsNoGraph(module, write.node) && mayCarryGradient(module, value, node.text, depth + 1);
  });
}

/** The file differentiates by a plain `backward()`, and nothing else that it says makes a `.grad`. */
function leavesPlainGradients(module: PyModule): boolean {
  return (
    module.mentions(/\.backward\(\s*\)/) &&
    !module.mentions(/create_graph|\.backward\(\s*[^)\s]|\.grad\s*=(?!=|\s*None\b)/)
  );
}

function variableMayCarry(module: PyModule, identifier: PyNode, may: May, seen: Set<PyNode>): boolean {
  const reaching = reachingDefinitions(module, identifier);
  if (reaching === undefined || reaching.length === 0) return true;
  // One that was looked at has brought none so far.
  const definitions = reaching.filter(({ node }) => !seen.has(node) && seen.add(node));
  const isMade = definitions.some((found: Definition) => {
    if (recordsNoGraph(module, found.node)) return found.kind === 'parameter';
    if (found.kind === 'value' && isFreshContainer(module, found.value) && isHandedOut(module, identifier))
      return true;
    return found.kind === 'value' || found.kind === 'update' ? may(found.value) : true;
  });
  return isMade || putIntoMade(module, identifier, definitions).some(may);
}

/** `found = {}; fill(found)`: something may be put into it by code that is not looked into. */
function isHandedOut(module: PyModule, container: PyNode): boolean {
  return readsOf(module, container).some((read) => {
    const user = read.parent;
    const call = user?.parent;
    if (user?.type !== 'argument_list' || call?.function === undefined)
      return user?.type === 'keyword_argument';
    const path = calledPath(module, call);
    return path === undefined ? !isUnbound(module, call.function) : !isOfKnownPackage(path);
  });
}

function callMayCarry(module: PyModule, call: PyNode, may: May, depth: number): boolean {
  const path = calledPath(module, call);
  if (path !== undefined) {
    if (path.startsWith(NUMPY)) return false;
    if (VARIABLE.has(path)) return mayAskForGradient(call);
    if (!path.startsWith(TORCH) || /\.[A-Z]\w*$/.test(path)) return true;
    const asked = keywordValue(call, 'requires_grad');
    if (asked !== undefined && asked.type !== 'false') return true;
    return row(path)?.graph !== 'cut' && argumentsOf(call).some(may);
  }
  const name = methodName(call);
  const receiver = receiverOf(call);
  if (name === undefined || receiver === undefined) {
    const own = call.function?.type === 'identifier' ? module.resolve(call.function) : call;
    const fact = own === undefined ? builtin(call.function?.text ?? '') : undefined;
    if (fact?.graph === 'cut') return false;
    if (fact?.dtype === 'promoted' || fact?.gives === 'arguments') return argumentsOf(call).some(may);
    const made = calledDefinition(module, call);
    return made === undefined || mayReturnGraph(module, made, depth);
  }
  // A layer may be called `data`.
  if (cutsGraph(name) && !isOwnMember(module, receiver, name)) return false;
  const made = calledDefinition(module, call);
  if (made !== undefined) return mayReturnGraph(module, made, depth);
  return may(receiver) || (!LIKENING.test(name) && argumentsOf(call).some(may));
}

/** `Variable(x)` is a leaf of its own, whatever `x` was computed from. */
function mayAskForGradient(call: PyNode): boolean {
  const asked = keywordValue(call, 'requires_grad');
  const [, second] = argumentsOf(call);
  return asked === undefined
    ? second !== undefined && second.type !== 'keyword_argument'
    : asked.type !== 'false';
}

/** From here on, functions that are called are not looked into. */
const HALF_DEPTH = MAX_DEPTH / 2;

/** Whether a function of the file may give back what hangs on a graph: what it is given may. */
function mayReturnGraph(module: PyModule, definition: PyNode, depth: number): boolean {
  if (definition.type !== 'function_definition' || isAsync(definition)) return true;
  if (isDecoratedGradOff(module, definition)) return false;
  if (depth >= HALF_DEPTH || !givesReturned(definition)) return true;
  const inner = Math.max(depth + 1, HALF_DEPTH);
  return returnsOf(definition).some(
    (value) => value !== undefined && mayCarryGradient(module, value, '', inner),
  );
}
