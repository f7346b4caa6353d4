import { ofTensor, row } from '../../library/library.js';
import { isSameValue, sourcesOf } from '../../semantic/attributes.js';
import { methodCallsAt } from '../../semantic/called-name.js';
import { calledDefinition, classAround } from '../../semantic/definitions.js';
import { reachingDefinitions } from '../../semantic/flow.js';
import { calledPath, qualifiedName } from '../../semantic/imports.js';
import { membersAsked } from '../../semantic/instance.js';
import type { PyModule } from '../../semantic/module.js';
import { isAlwaysAfter, isAlwaysFollowed } from '../../semantic/paths.js';
import { remembered } from '../../semantic/remembered.js';
import { returnsOf } from '../../semantic/returns.js';
import {
  argumentsOf,
  enclosingFunction,
  enclosingLoops,
  methodName,
  receiverOf,
  unparenthesized,
} from '../../semantic/statements.js';
import type { PyNode } from '../../syntax/node.js';
import { within } from '../../syntax/within.js';
import { isLoss, runsChain, runsLayers } from '../module/layers.js';
import { isModel } from '../module/model-value.js';
import { mayHaveWeights, networksOf, traceGraph } from '../module/networks.js';
import { steppedOptimizer } from '../training/training-loop.js';
import { type Backward, backwards, backwardsIn } from './backward-calls.js';

const MAX_DEPTH = 8;

/** The backward that differentiates the value in the same round, certainly: its graph is used up, nobody can do it again. */
export function spendingBackward(module: PyModule, value: PyNode): Backward | undefined {
  const parts = partsOf(module, value);
  return certainBackward(
    module,
    value,
    [...parts, ...sourcesOf(module, value)],
    (each) =>
      !each.retains && (isSameValue(module, each.value, value) || includes(module, each.value, parts)),
  );
}

/** The backward of the same round that has used up the pass of the network which the value was computed from. */
export function passSpendingBackward(module: PyModule, value: PyNode): Backward | undefined {
  const passes = new Set<PyNode>();
  const mayRun = (call: PyNode): boolean => mayHaveWeights(module, call);
  const run = callsBehind(module, value).filter(mayRun);
  traceGraph(module, value, {
    binding: ({ node, value: given }) => {
      if (networksOf(module, given).size === 0) return;
      // Where nothing else ran since, there is no graph but its own.
      const before = new Set(callsBehind(module, given).filter(mayRun));
      if (isPass(module, given) || run.every((call) => before.has(call))) passes.add(node);
    },
  });
  return certainBackward(
    module,
    value,
    passes,
    (each) => !each.retains && includes(module, each.value, passes),
  );
}

/** The calls that the graph of a value may come from. */
function callsBehind(module: PyModule, value: PyNode): readonly PyNode[] {
  const found: PyNode[] = [];
  traceGraph(module, value, { call: (call) => found.push(call) });
  return found;
}

/** A network certainly ran: what is called was made by a class of modules, or is asked for its parameters or its mode. */
function isPass(module: PyModule, value: PyNode): boolean {
  return callsBehind(module, value).some((call) =>
    [call.function, receiverOf(call)].some((each) => each !== undefined && isNetwork(module, each)),
  );
}

function isNetwork(module: PyModule, value: PyNode): boolean {
  if (isModel(module, value) === 'yes') return true;
  const asked = membersAsked(module, value);
  return ['parameters', 'named_parameters', 'eval', 'zero_grad'].some((name) => asked.has(name));
}

/** The graph certainly holds more than sums and views: what those alone make can be differentiated again and again. */
export function holdsActivations(module: PyModule, value: PyNode, depth = 0): boolean {
  let found = false;
  traceGraph(module, value, {
    call: (node) => {
      found ||= savesForBackward(module, node, depth);
    },
    operation: (node) => {
      found ||= /^(?:\*\*|@)$/.test(node.operator?.text ?? '');
    },
  });
  return found;
}

function savesForBackward(module: PyModule, call: PyNode, depth: number): boolean {
  const path = calledPath(module, call);
  const name = methodName(call) ?? '';
  if (path !== undefined && row(path)?.loss !== undefined) return true;
  if ((path === undefined ? ofTensor(name) : row(path))?.saves)
    return path !== undefined || !runsHelper(module, call);
  const helper = calledDefinition(module, call);
  if (helper?.type !== 'function_definition') return runsLayers(module, call);
  const returned = returnsOf(helper);
  return (
    depth < MAX_DEPTH &&
    returned.length > 0 &&
    returned.every((given) => given !== undefined && holdsActivations(module, given, depth + 1))
  );
}

/** A method of the file that goes by the name of one of a tensor. */
function runsHelper(module: PyModule, call: PyNode): boolean {
  return calledDefinition(module, call) !== undefined || receiverOf(call)?.text === classAround(call)?.self;
}

/** The value was computed by layers in a chain: to differentiate it takes weights as they were. */
export function needsWeights(module: PyModule, value: PyNode): boolean {
  return callsBehind(module, value).some((call) => runsChain(module, call));
}

/**
 * A backward that runs whenever the value is computed, and passes a test, and whose own value may come from one of some
 * bindings; the last of them where several do so together, as one in each branch.
 */
export function certainBackward(
  module: PyModule,
  value: PyNode,
  bindings: Iterable<PyNode>,
  isWanted: (each: Backward) => boolean,
): Backward | undefined {
  const around = module.memo(backwardsByRound, module).get(roundOf(value));
  const places = new Set([...bindings].flatMap((binding) => around?.get(binding) ?? []));
  const found = [...places]
    .sort((a, b) => a - b)
    .flatMap((at) => backwards(module)[at] ?? [])
    .filter(isWanted);
  const together = found.length > 1 && runBeside(module, found, value) ? found.at(-1) : undefined;
  return found.find((each) => runBeside(module, [each], value)) ?? together;
}

/** The loop of the function that a node stands in, or the function. */
function roundOf(node: PyNode): PyNode | undefined {
  return enclosingLoops(node)[0] ?? enclosingFunction(node);
}

/** By binding, which of all backwards may differentiate what it gives. */
type ByBinding = Map<PyNode, number[]>;

/** Files have many loops, and a loop may differentiate many losses: each asks only for its own. */
function backwardsByRound(module: PyModule): ReadonlyMap<PyNode | undefined, ByBinding> {
  const found = new Map<PyNode | undefined, ByBinding>();
  backwards(module).forEach(({ call, value }, at) => {
    const around = roundOf(call);
    const round: ByBinding = found.get(around) ?? new Map();
    found.set(around, round);
    for (const binding of bindingsBehind(module, value)) {
      const known = round.get(binding);
      if (known === undefined) round.set(binding, [at]);
      else known.push(at);
    }
  });
  return found;
}

/** What `isSameValue` and `includes` could come to on their way from an expression: at least that. */
function bindingsBehind(module: PyModule, expression: PyNode): ReadonlySet<PyNode> {
  const found = new Set<PyNode>();
  const seen = new Set<PyNode>();
  let nodes = [unparenthesized(expression)];
  for (let depth = 0; depth <= MAX_DEPTH + 1 && nodes.length > 0; depth++) {
    const inner: PyNode[] = [];
    for (const node of nodes) {
      if (seen.has(node)) continue;
      seen.add(node);
      for (const binding of sourcesOf(module, node)) found.add(binding);
      const given = node.type === 'identifier' ? (reachingDefinitions(module, node) ?? []) : [];
      for (const each of given) if ('value' in each) inner.push(each.value);
      for (const each of [...operandsOf(node), judgedBy(module, node)])
        if (each !== undefined) inner.push(each);
    }
    nodes = inner.map(unparenthesized);
  }
  return found;
}

/** Whenever the value is computed, one of them runs in the same round. */
function runBeside(module: PyModule, calls: readonly Backward[], value: PyNode): boolean {
  const [loop] = enclosingLoops(value);
  const nodes = calls.map(({ call }) => call);
  return isAlwaysFollowed(module, value, nodes, loop) || isAlwaysAfter(module, value, nodes, loop);
}

/** The operands of a sum, a product or a scaled loss. */
export function operandsOf(expression: PyNode): readonly (PyNode | undefined)[] {
  const node = unparenthesized(expression);
  if (node.type === 'binary_operator' && /^[-+*/]$/.test(node.operator?.text ?? ''))
    return [node.left, node.right];
  if (node.type === 'unary_operator') return [node.argument];
  const name = node.type === 'call' ? (methodName(node) ?? '') : '';
  if (name === 'scale' || name === 'scale_loss') return argumentsOf(node).slice(0, 1);
  return /^(?:mean|sum|to|float|cpu|cuda|squeeze)$/.test(name) ? [receiverOf(node)] : [];
}

/** What a loss function of torch is given first: the gradient goes on there. */
function judgedBy(module: PyModule, node: PyNode): PyNode | undefined {
  const callee = node.type === 'call' ? node.function : undefined;
  const path = callee && qualifiedName(module, callee);
  const judges =
    path === undefined ? callee !== undefined && isLoss(module, callee) : row(path)?.loss !== undefined;
  return judges ? argumentsOf(node)[0] : undefined;
}

/** The bindings whose tensors a value is made of. */
function partsOf(module: PyModule, value: PyNode, depth = 0): ReadonlySet<PyNode> {
  const node = unparenthesized(value);
  const found = new Set<PyNode>();
  const definitions = node.type === 'identifier' ? (reachingDefinitions(module, node) ?? []) : [];
  const [only, ...others] = definitions;
  const inner = only?.kind === 'value' && others.length === 0 ? [only.value] : operandsOf(node);
  for (const { node: binding } of definitions) found.add(binding);
  for (const each of depth > MAX_DEPTH ? [] : inner)
    if (each !== undefined) for (const part of partsOf(module, each, depth + 1)) found.add(part);
  return found;
}

/** Whichever way the expression got its value, one of these bindings is in it. */
function includes(module: PyModule, expression: PyNode, parts: ReadonlySet<PyNode>, depth = 0): boolean {
  const node = unparenthesized(expression);
  if (depth > MAX_DEPTH) return false;
  const inside = (inner: PyNode | undefined): boolean =>
    inner !== undefined && includes(module, inner, parts, depth + 1);
  if (node.type !== 'identifier') return [...operandsOf(node), judgedBy(module, node)].some(inside);
  // What is added to a loss, or divides it, leaves it in the sum.
  const given = (reachingDefinitions(module, node) ?? []).filter(({ kind }) => kind !== 'update');
  return (
    given.length > 0 &&
    given.every(
      (found) =>
        parts.has(found.node) || ((found.kind === 'value' || found.kind === 'with') && inside(found.value)),
    )
  );
}

/**
 * The outermost loop around the value that differentiates and steps an optimizer in each round, all with the one network that
 * the value was computed with: the weights have changed in place, so autograd refuses to differentiate the value after it.
 * Where a graph is retained there, somebody means to use one again.
 */
export function stalingLoop(module: PyModule, value: PyNode): PyNode | undefined {
  const owners = ownersOf(module, value);
  return enclosingLoops(value).findLast(
    (loop) =>
      !backwardsIn(module, loop).some(({ retains }) => retains) &&
      // What is computed after the step of the last round is whole when the loop ends.
      isAlwaysFollowed(module, value, within(optimizerSteps(module), loop), loop) &&
      backwardsIn(module, loop).some((each) => {
        const [only, ...others] = ownersOf(module, each.value);
        return only !== undefined && others.length === 0 && owners.has(only);
      }),
  );
}

/** `model` for `model.encode`, `self.net` for `self.net.head`. */
function ownersOf(module: PyModule, value: PyNode): ReadonlySet<string> {
  return new Set([...networksOf(module, value)].map((name) => /^(?:self\.)?[^.]+/.exec(name)?.[0] ?? name));
}

const optimizerSteps = remembered((module: PyModule): readonly PyNode[] => {
  // A step of `higher` and its like makes new weights and keeps the graph.
  return methodCallsAt(module, '.step(').filter(
    (call) => !/diff/i.test(receiverOf(call)?.text ?? '') && steppedOptimizer(module, call) !== undefined,
  );
});
