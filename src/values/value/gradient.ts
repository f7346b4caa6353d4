import { changesTensor, ofTensor, row } from '../../library/library.js';
import { NUMPY, VARIABLE } from '../../library/names.js';
import { isTensorType } from '../../library/paths.js';
import { attributeUses, callsOf } from '../../semantic/attribute-uses.js';
import {
  attributeOfSelf,
  calledDefinition,
  classAround,
  definitionBehind,
} from '../../semantic/definitions.js';
import { definedElsewhere } from '../../semantic/elsewhere.js';
import { reachingDefinitions } from '../../semantic/flow.js';
import { calledPath, qualifiedName } from '../../semantic/imports.js';
import { isOwnMember } from '../../semantic/instance.js';
import { isFreshContainer } from '../../semantic/literals.js';
import type { PyModule } from '../../semantic/module.js';
import { givesReturned } from '../../semantic/returns.js';
import {
  argumentsOf,
  argumentValue,
  contextManagers,
  decoratorsOf,
  elementSet,
  enclosingFunction,
  enclosingWiths,
  givenTo,
  isAsync,
  keywordValue,
  methodName,
  receiverOf,
} from '../../semantic/statements.js';
import { isUnbound, readsOf } from '../../semantic/variables.js';
import type { PyNode } from '../../syntax/node.js';
import { registrationOf } from '../../torch/module/modules.js';
import { isOfKnownPackage, isPlainAttribute } from './plain.js';
import { kindOf } from './tensor.js';
import { GradTrace } from './trace.js';
import type { Trace } from './trace-kinds.js';

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

/**
 * Whether a value may hang on an autograd graph, or begin one; false only where the code shows that it does not. `besides` is
 * an attribute that is taken to have none, because the question is what else would bring one.
 */
export function mayCarryGradient(module: PyModule, expression: PyNode, besides?: string): boolean {
  const owner = enclosingFunction(expression) ?? module.root;
  const trace =
    besides === undefined ? module.memo(graphTrace, owner) : graphTrace(module, owner, new Set([besides]));
  return trace.of(expression) !== 'plain';
}

/** All that the function is given may have a graph. */
function graphTrace(module: PyModule, owner: PyNode, besides: ReadonlySet<string> = new Set()): GradTrace {
  return new GradTrace(module, owner, new Set(), 'graph', 0, {
    expression: (there, node) => {
      if (node.type === 'attribute') return attributeTrace(there, node, besides);
      // A variable of the module, which others set as well.
      if (node.type === 'identifier' && !reachingDefinitions(there, node)?.length) return 'graph';
      return node.type === 'call' ? callTrace(there, node) : undefined;
    },
    definition: (there, found) => {
      if (found.kind === 'parameter')
        return found.node.closest('function_definition') === owner ? 'graph' : undefined;
      if (recordsNoGraph(there, found.node)) return 'plain';
      const isOpen =
        found.kind === 'value' && isFreshContainer(there, found.value) && isHandedOut(there, found.node);
      return isOpen ? 'graph' : undefined;
    },
    isTensor,
  });
}

/** A buffer of the class, or what surely is a tensor. */
function isTensor(module: PyModule, value: PyNode): boolean {
  const own = attributeOfSelf(value);
  const isBuffer = own !== undefined && registrationOf(module, own.classNode, own.name) === 'buffer';
  return isBuffer || kindOf(module, value).endsWith('tensor');
}

/** Attributes are followed to what they are given, which may be attributes again, this far. */
const MAX_ATTRIBUTES = 6;

/** By what the class gives it; what other objects have may have a graph. */
function attributeTrace(module: PyModule, node: PyNode, besides: ReadonlySet<string>): Trace | undefined {
  if (besides.has(node.text)) return 'plain';
  const name = node.attribute?.text ?? '';
  if (name === 'grad') return module.memo(leavesPlainGradients, module) ? 'plain' : 'graph';
  if (name === 'values' || isPlainAttribute(name) || ofTensor(name)?.attribute) return undefined;
  const around = classAround(node);
  if (around === undefined || node.object?.text !== around.self)
    return isOfKnownPackage(qualifiedName(module, node) ?? '') ? undefined : 'graph';
  const uses = attributeUses(module, around.classNode, name);
  const writes = uses.filter(({ kind }) => kind !== 'read');
  const within = new Set([...besides, node.text]);
  if (writes.length === 0) {
    const isBuffer = registrationOf(module, around.classNode, name) === 'buffer';
    return isBuffer && !uses.some((use) => takesGraph(module, use.node, within)) ? 'plain' : 'graph';
  }
  const mayBring = writes.some((write) => {
    const assignment = write.node.parent;
    const value = assignment?.left === write.node ? assignment.right : undefined;
    // What it was before, the other values tell.
    if (value === undefined || !/^(?:augmented_)?assignment$/.test(assignment?.type ?? '')) return true;
    if (recordsNoGraph(module, write.node)) return false;
    const owner = enclosingFunction(value) ?? module.root;
    return within.size > MAX_ATTRIBUTES || graphTrace(module, owner, within).of(value) !== 'plain';
  });
  return mayBring ? 'graph' : 'plain';
}

/** `self.total.add_(loss)`, `self.rows[at] = y`: what a buffer gets in place may bring a graph. */
function takesGraph(module: PyModule, buffer: PyNode, within: ReadonlySet<string>): boolean {
  const { parent } = buffer;
  const call = parent?.type === 'attribute' && parent.object === buffer ? parent.parent : undefined;
  const isChanged = call?.type === 'call' && changesTensor(parent?.attribute?.text ?? '');
  const put = isChanged ? givenTo(call) : [elementSet(buffer)?.parent?.right];
  return put.some((given) => {
    const value = given && argumentValue(given);
    if (value === undefined || recordsNoGraph(module, value)) return false;
    const owner = enclosingFunction(value) ?? module.root;
    return within.size > MAX_ATTRIBUTES || graphTrace(module, owner, within).of(value) !== 'plain';
  });
}

/** The file differentiates by a plain `backward()`, and nothing else that it says makes a `.grad`. */
function leavesPlainGradients(module: PyModule): boolean {
  return (
    module.mentions(/\.backward\(\s*\)/) &&
    !module.mentions(/create_graph|\.backward\(\s*[^)\s]|\.grad\s*=(?!=|\s*None\b)/)
  );
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

/** What begins a graph, or may be an object that has one; undefined for what computes something from what it is given. */
function callTrace(module: PyModule, call: PyNode): Trace | undefined {
  const own = calledDefinition(module, call);
  // `Positions.waves(rows)`: by its class, it is of no other below that.
  const isStatic = (decorator: PyNode) =>
    decorator.text === 'staticmethod' && isUnbound(module, decorator) && isOfClass(module, call);
  if (own?.type === 'function_definition' && givesReturned(own, isStatic)) return undefined;
  if (own !== undefined) return isDecoratedGradOff(module, own) ? 'plain' : 'graph';
  const path = calledPath(module, call);
  if (path === undefined) {
    const name = methodName(call) ?? call.function?.text ?? '';
    const receiver = receiverOf(call);
    const isOfSelf = receiver !== undefined && receiver.text === classAround(call)?.self;
    // A layer may be called `data`.
    return isOfSelf || /^[A-Z]/.test(name) || isOwnMember(module, receiver, name) ? 'graph' : undefined;
  }
  if (definedElsewhere(module, path)?.node.type === 'function_definition') return undefined;
  if (path.startsWith(NUMPY)) return 'plain';
  if (VARIABLE.has(path)) return mayAskForGradient(call) ? 'graph' : 'plain';
  const asked = keywordValue(call, 'requires_grad');
  // `nn.Parameter(…)`, and modules, which have some.
  const isObject = /\.[A-Z]\w*$/.test(path) && !isTensorType(path) && row(path)?.gives !== 'arguments';
  const begins = (asked !== undefined && asked.type !== 'false') || isObject;
  return begins || !isOfKnownPackage(path) ? 'graph' : undefined;
}

function isOfClass(module: PyModule, call: PyNode): boolean {
  const owner = receiverOf(call);
  return owner?.type === 'identifier' && definitionBehind(module, owner)?.type === 'class_definition';
}

/** `Variable(x)` is a leaf of its own, whatever `x` was computed from. */
function mayAskForGradient(call: PyNode): boolean {
  const asked = keywordValue(call, 'requires_grad');
  const [, second] = argumentsOf(call);
  return asked === undefined
    ? second !== undefined && second.type !== 'keyword_argument'
    : asked.type !== 'false';
}
