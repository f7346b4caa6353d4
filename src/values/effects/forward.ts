import { builtin, isPlain, isPlainMethod } from '../../library/library.js';
import { HOOKS, IS_GRAD_ENABLED, MEMORY } from '../../library/names.js';
import { definitionBehind } from '../../semantic/definitions.js';
import { makerOf } from '../../semantic/elsewhere.js';
import { callOf } from '../../semantic/function-uses.js';
import { placeOf, shown } from '../../semantic/gate.js';
import { qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { roleOf } from '../../semantic/names.js';
import {
  argumentsOf,
  enclosingFunction,
  isTarget,
  methodName,
  receiverOf,
  rootOf,
  wholeName,
} from '../../semantic/statements.js';
import { livesIn, readsOf, writesOf } from '../../semantic/variables.js';
import type { PyNode } from '../../syntax/node.js';
import { within } from '../../syntax/within.js';
import { mayHaveForward, runsInForward } from '../../torch/module/modules.js';
import { isOfKnownPackage } from '../value/plain.js';
import type { GradTrace } from '../value/trace.js';

/** A forward hook whose code is not inside the function, here or in another file: it may keep what the forward computes. */
export function hookElsewhere(module: PyModule, functionNode: PyNode): string | undefined {
  const own = HOOKS.flatMap((name) => module.at(name)).find((node) => {
    const call = callOf(node);
    if (call === undefined) return false;
    const [hook] = argumentsOf(call);
    if (!functionNode.contains(call)) return true;
    if (hook?.type === 'lambda') return false;
    return hook?.type !== 'identifier' || !livesIn(module, hook, functionNode);
  });
  return own === undefined ? module.memo(keptByHook, module) : `the \`${own.text}\` of this file`;
}

function keptByHook(module: PyModule): string | undefined {
  for (const word of HOOKS) {
    const files = module.around.summaries({ word, beside: [] }, keepingHook);
    if (files === undefined) return `a \`${word}\` in one of many files`;
    const found = files.find((place) => place !== undefined);
    if (found !== undefined) return `the \`${word}\` at ${found}`;
  }
  return undefined;
}

/** The first hook of a file that does more than to look at what it is given. */
function keepingHook(alone: PyModule, word: string): string | undefined {
  const node = alone.words(word).find((name) => {
    const call = callOf(name);
    const [given] = call === undefined ? [] : argumentsOf(call);
    if (given === undefined || (call !== undefined && isOfOwnNetwork(alone, call))) return false;
    const hook = given.type === 'lambda' ? given : definitionBehind(alone, given);
    return hook === undefined || keepsSomething(hook);
  });
  return node && placeOf(alone, node);
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

/** An assignment that others see, or a call of anything but what only makes numbers and texts. */
function keepsSomething(hook: PyNode): boolean {
  return [...(hook.body ?? hook).walk()].some((node) => {
    if (/assignment$/.test(node.type)) return node.left?.type !== 'identifier';
    if (/^(?:global_statement|nonlocal_statement|yield)$/.test(node.type)) return true;
    if (node.type !== 'call') return false;
    const callee = node.function;
    return callee?.type === 'identifier'
      ? !isPlain(builtin(callee.text))
      : !isPlainMethod(methodName(node) ?? '');
  });
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
  return undefined;
}

/**
 * The class of the file whose forward asks for the grad mode, or whether what it has computed has a graph, other than beside
 * `self.training`, which evaluation turns off anyway.
 */
export function classAskingForMode(module: PyModule): string | undefined {
  return firstAsking(module, (asked) => /\bor\b/.test(asked) || !/\.training\b/.test(asked));
}

/** The same of a network that may be in training mode. */
export function classAskingInAnyMode(module: PyModule): string | undefined {
  return firstAsking(module, () => true);
}

function firstAsking(module: PyModule, counts: (asked: string) => boolean): string | undefined {
  for (const node of [...module.at('is_grad_enabled'), ...graphAsked(module)]) {
    const target = wholeName(node);
    if (node.text === 'is_grad_enabled' && qualifiedName(module, target) !== IS_GRAD_ENABLED) continue;
    let asked = node.text === 'is_grad_enabled' ? (target.parent ?? target) : target;
    while (/^(?:boolean_operator|not_operator|parenthesized_expression)$/.test(asked.parent?.type ?? ''))
      asked = asked.parent ?? asked;
    const owner = node.closest('class_definition')?.name?.text;
    if (owner !== undefined && counts(asked.text)) return owner;
  }
  return undefined;
}

/**
 * `y.requires_grad`, `y.grad_fn` and `y.is_leaf` of what a forward has computed, and `ctx.needs_input_grad`; what `self` or a loop
 * hands out keeps its flag.
 */
function graphAsked(module: PyModule): readonly PyNode[] {
  if (!mayHaveForward(module.text)) return [];
  const needed = module
    .words('needs_input_grad')
    .filter((node) => enclosingFunction(node)?.name?.text === 'forward');
  const asked = ['.requires_grad', '.grad_fn', '.is_leaf'].flatMap((word) =>
    module.words(word).filter((node) => {
      const attribute = node.parent;
      const object = attribute?.object;
      const method = enclosingFunction(node);
      if (attribute?.type !== 'attribute' || object?.type !== 'identifier' || method === undefined)
        return false;
      if (isTarget(attribute, true)) return false;
      const isComputed = writesOf(module, object).some((write) => /^(?:write|update)$/.test(roleOf(write)));
      return isComputed && runsInForward(module, method);
    }),
  );
  return [...needed, ...asked];
}

/** Where the function measures memory, which is what this changes. */
export function measuredMemory(module: PyModule, functionNode: PyNode): string | undefined {
  const [read] = MEMORY.flatMap((name) => within(module.at(name), functionNode));
  return read?.text;
}
