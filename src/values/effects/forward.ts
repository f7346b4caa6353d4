import { builtin, isPlain, isPlainMethod, onlyComputes } from '../../library/library.js';
import { HOOKS, IS_GRAD_ENABLED, MEMORY } from '../../library/names.js';
import { isDenied, placesTried } from '../../semantic/catching.js';
import { summariesTogether } from '../../semantic/companions.js';
import { definitionBehind, selfName } from '../../semantic/definitions.js';
import { makerOf } from '../../semantic/elsewhere.js';
import { callOf } from '../../semantic/function-uses.js';
import { placeOf, shown } from '../../semantic/gate.js';
import { qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { functionsOf, reachedFrom } from '../../semantic/reach.js';
import {
  argumentsOf,
  enclosingFunction,
  isCallee,
  isTarget,
  methodName,
  ownNodes,
  receiverOf,
  rootOf,
  wholeName,
} from '../../semantic/statements.js';
import { isUnbound, readsOf } from '../../semantic/variables.js';
import type { PyNode } from '../../syntax/node.js';
import { within } from '../../syntax/within.js';
import { isParameter } from '../../torch/module/graph-asked.js';
import { mayHaveForward, runsInForward } from '../../torch/module/modules.js';
import { changedInPlace } from '../uses/in-place.js';
import { mayCarryGradient } from '../value/gradient.js';
import { keepsGiven } from '../value/names.js';
import { isOfKnownPackage } from '../value/plain.js';
import type { GradTrace } from '../value/trace.js';

/** A forward hook that may keep what the forward computes, here or in another file. */
export function keepingHook(module: PyModule, functionNode: PyNode): string | undefined {
  const own = HOOKS.flatMap((name) => module.at(name)).find((node) => {
    const call = callOf(node);
    if (call === undefined || (!functionNode.contains(call) && isOfOwnNetwork(module, call))) return false;
    return isKeeping(module, call);
  });
  return own === undefined ? module.memo(keptByHook, module) : `the \`${own.text}\` of this file`;
}

function keptByHook(module: PyModule): string | undefined {
  for (const word of HOOKS) {
    const files = summariesTogether(module, { word, beside: [] }, firstKeeping);
    if (files === undefined)
      return `a \`${word}\` in one of many files (${module.around.unread ?? 'more than are looked into'})`;
    const found = files.find((place) => place !== undefined);
    if (found !== undefined) return `the \`${word}\` at ${found}`;
  }
  return undefined;
}

/** The first hook of a file that does more than to look at what it is given. */
function firstKeeping(alone: PyModule, word: string): string | undefined {
  const node = alone.words(word).find((name) => {
    const call = callOf(name);
    return call !== undefined && !isOfOwnNetwork(alone, call) && isKeeping(alone, call);
  });
  return node && placeOf(alone, node);
}

function isKeeping(module: PyModule, call: PyNode): boolean {
  const [given] = argumentsOf(call);
  if (given === undefined) return false;
  const hook = given.type === 'lambda' ? given : definitionBehind(module, given);
  return hook === undefined || keepsSomething(module, hook);
}

/** The network is a library's, made in the function, and nobody else gets it. */
function isOfOwnNetwork(module: PyModule, call: PyNode): boolean {
  const root = rootOf(receiverOf(call) ?? call);
  if (root.type !== 'identifier' || module.resolve(root)?.kind !== 'function') return false;
  const maker = makerOf(module, root);
  return (
    maker !== undefined &&
    isOfKnownPackage(maker) &&
    readsOf(module, root).every(({ parent }) => /^(?:attribute|subscript|call)$/.test(parent?.type ?? ''))
  );
}

/** Something with a graph that others see, or a call of anything but what only makes numbers and texts. */
function keepsSomething(module: PyModule, hook: PyNode): boolean {
  const hasGraph = (value: PyNode | undefined): boolean =>
    value === undefined || mayCarryGradient(module, value);
  return [...(hook.body ?? hook).walk()].some((node) => {
    if (/assignment$/.test(node.type)) return node.left?.type !== 'identifier' && hasGraph(node.right);
    if (/^(?:global_statement|nonlocal_statement|yield)$/.test(node.type)) return true;
    if (node.type !== 'call') return false;
    const callee = node.function;
    if (callee?.type === 'identifier') return !isPlain(builtin(callee.text));
    const method = methodName(node) ?? '';
    if (keepsGiven(method)) return argumentsOf(node).some((each) => hasGraph(givenValue(each)));
    return !isPlainMethod(method) && !onlyComputes(method);
  });
}

function givenValue(argument: PyNode): PyNode | undefined {
  return argument.type === 'keyword_argument' ? argument.value : argument;
}

/** What interatomic potentials hand back: derivatives of the energy, which their forward takes by autograd. */
const DERIVATIVES =
  /(?<!\.)\b(?:forces|virials?)\b|["'](?:forces?|stress(?:es)?|virials?)["']|\.(?:forces?|stress|virial)\b/;

/** The name in a function that says that the forward differentiates. */
export function derivativeNamed(functionNode: PyNode): string | undefined {
  return DERIVATIVES.exec(functionNode.body?.text ?? '')?.[0].replace(/\W/g, '');
}

/** Where the function asks whether a graph is recorded: the answer would change. `words` completes "because it …". */
export function asksForGraph(module: PyModule, functionNode: PyNode, trace: GradTrace): string | undefined {
  const inside = (node: PyNode): boolean => functionNode.contains(node);
  for (const node of module.at('is_grad_enabled').filter(inside)) {
    const target = wholeName(node);
    if (qualifiedName(module, target) === IS_GRAD_ENABLED) return `asks \`${shown(target)}()\``;
  }
  for (const word of ['requires_grad', 'is_leaf']) {
    for (const node of module.at(`.${word}`).filter(inside)) {
      const object = node.parent?.object;
      if (node.text === word && object !== undefined && trace.of(object) === 'graph')
        return `reads \`${shown(node.parent ?? node)}\``;
    }
  }
  const tried = triedWith(module, (value) => trace.of(value) === 'graph').find(inside);
  return tried && `tries \`${shown(tried)}\``;
}

/** What torch refuses where there is a graph, and somebody goes on without: `try: y.numpy()`. */
function triedWith(module: PyModule, hasGraph: (value: PyNode) => boolean): readonly PyNode[] {
  return REFUSED.flatMap((word) =>
    module.words(word).flatMap((node): readonly PyNode[] => {
      const target = wholeName(node);
      const call = target.parent;
      if (call?.type !== 'call' || call.function !== target) return [];
      const value = word === 'numpy' ? receiverOf(call) : argumentsOf(call)[0];
      const tried = value === undefined ? [] : placesTried(module, call);
      return value !== undefined && tried.length > 0 && hasGraph(value) ? tried : [];
    }),
  );
}

/** What torch does not do with a graph. */
export const REFUSED: readonly string[] = ['numpy', 'deepcopy', 'asarray', 'array'];

/** Who asks for the grad mode, or whether something has a graph. Plain data: it outlives the scan. */
export interface Asking {
  readonly owner: string;
  /** A function that no forward of its own file runs. */
  readonly name?: string;
}

/** Those of a file that ask other than beside `self.training`, which evaluation turns off anyway. */
export function askingForMode(module: PyModule): readonly Asking[] {
  return allAsking(module, (asked) => /\bor\b/.test(asked) || !/\.training\b/.test(asked));
}

/** What makes an object runs these, by the name of the class. */
const MAKES = /^__(?:init|new|post_init)__$/;
/** `__getitem__`: nobody says the name. */
const RUN_BY_PYTHON = /^__\w+__$/;

/** The same of networks that may be in training mode. */
export function askingInAnyMode(module: PyModule): readonly Asking[] {
  return allAsking(module, () => true);
}

function allAsking(module: PyModule, counts: (asked: string) => boolean): readonly Asking[] {
  return [...modeAsked(module), ...graphAsked(module)].flatMap((target): readonly Asking[] => {
    let asked = target;
    while (/^(?:boolean_operator|not_operator|parenthesized_expression)$/.test(asked.parent?.type ?? ''))
      asked = asked.parent ?? asked;
    const functionNode = enclosingFunction(target);
    const owner = target.closest('class_definition')?.name?.text;
    if (!counts(asked.text)) return [];
    const name = functionNode?.name?.text ?? '';
    const lambda = target.closest('lambda', 'function_definition');
    if (lambda?.type === 'lambda' && !isFilter(module, lambda))
      return [{ owner: owner ?? (name || 'lambda') }];
    if (functionNode === undefined) return [];
    // One that another makes is called by whoever gets it.
    const called = owner !== undefined && MAKES.test(name) ? owner : name;
    const isRun =
      RUN_BY_PYTHON.test(called) ||
      enclosingFunction(functionNode) !== undefined ||
      module.memo(runByForwards, module).has(functionNode);
    return [{ owner: owner ?? name, ...(!isRun && { name: called }) }];
  });
}

/** `filter(lambda p: p.requires_grad, …)`: part of the function around it. */
function isFilter(module: PyModule, lambda: PyNode): boolean {
  const callee = lambda.parent?.type === 'argument_list' ? lambda.parent.parent?.function : undefined;
  return callee?.text === 'filter' && isUnbound(module, callee);
}

function modeAsked(module: PyModule): readonly PyNode[] {
  return module.at('is_grad_enabled').flatMap((node) => {
    const target = wholeName(node);
    return qualifiedName(module, target) === IS_GRAD_ENABLED ? [target.parent ?? target] : [];
  });
}

/** `y.requires_grad`, `y.grad_fn` and `y.is_leaf` of what may be computed, `ctx.needs_input_grad`, and what is tried. */
function graphAsked(module: PyModule): readonly PyNode[] {
  const needed = module
    .words('needs_input_grad')
    .filter((node) => enclosingFunction(node)?.name?.text === 'forward');
  const taken = module
    .words('getattr')
    .flatMap(({ parent }) => (parent?.type === 'call' && GRAPH_TAKEN.test(parent.text) ? [parent] : []));
  const asked = ['.requires_grad', '.grad_fn', '.is_leaf'].flatMap((word) =>
    module.words(word).flatMap(({ parent: attribute }) => {
      const object = attribute?.object;
      if (attribute?.type !== 'attribute' || object === undefined) return [];
      if (isTarget(attribute, true) || isCallee(attribute) || isDenied(attribute)) return [];
      return isParameter(module, object) ? [] : [attribute];
    }),
  );
  const tried = triedWith(module, (value) => mayCarryGradient(module, value));
  return [...needed, ...taken, ...asked, ...tried, ...changesTried(module)];
}

/** `try: self.weight.clamp_(0, 1)`: torch changes no leaf in place that asks for a gradient, but where gradients are off. */
function changesTried(module: PyModule): readonly PyNode[] {
  if (!module.mentions(/\bexcept\b|\bsuppress\b/)) return [];
  return [...module.memo(runByForwards, module)].flatMap((functionNode) =>
    ownNodes(functionNode).flatMap((node) => {
      const target = changedInPlace(module, node)?.target;
      if (target === undefined || rootOf(target).text !== selfName(functionNode)) return [];
      return mayCarryGradient(module, target) ? placesTried(module, node) : [];
    }),
  );
}

const GRAPH_TAKEN = /,\s*["'](?:requires_grad|grad_fn|is_leaf)["']/;

/** The functions of a file that its forwards run. */
export function runByForwards(module: PyModule): ReadonlySet<PyNode> {
  if (!mayHaveForward(module.text)) return new Set();
  const methods = functionsOf(module).filter((each) => runsInForward(module, each));
  return new Set(methods.flatMap((each) => [each, ...reachedFrom(module, each)]));
}

/** Where the function measures memory, which is what this changes. */
export function measuredMemory(module: PyModule, functionNode: PyNode): string | undefined {
  const [read] = MEMORY.flatMap((name) => within(module.at(name), functionNode));
  return read?.text;
}
