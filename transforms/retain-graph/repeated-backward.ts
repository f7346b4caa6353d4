import { builtin, cutsGraph } from '../../src/library/library.js';
import { ancestryOf, classAround, classBehind, methodsOf } from '../../src/semantic/definitions.js';
import { reachingDefinitions } from '../../src/semantic/flow.js';
import type { PyModule } from '../../src/semantic/module.js';
import { excludeOneAnother } from '../../src/semantic/paths.js';
import {
  argumentsOf,
  enclosingFunction,
  enclosingLoops,
  methodName,
  receiverOf,
  unparenthesized,
} from '../../src/semantic/statements.js';
import type { PyNode } from '../../src/syntax/node.js';
import type { Backward } from '../../src/torch/grad/backward-calls.js';
import { gradUsesIn } from '../../src/values/effects/grad.js';
import { valueOf } from '../../src/values/index.js';

/** Settings, sizes and data: they have no graph. */
const SETTING =
  /arg|cfg|conf|param|opt|device|weight|alpha|beta|gamma|lambda|coef|temperature|scale|size|dim|num|steps|len|mask|label|target|load|data|batch/i;
/** Arguments that sound as if a network had made them. */
const COMPUTED = /hidden|state|mem|feat|latent|fake|gen|emb|code|out|pred|logit|loss|prev|cache|^[hcz]\d?$/i;

/**
 * Nothing to be seen differentiates the graph again: no other backward in the function, no part of the graph that an earlier
 * round or the code before the loop has made, none that a later round or the caller gets.
 */
export function isOnlyBackward(module: PyModule, { call, value }: Backward): boolean {
  const around = enclosingFunction(call);
  if (around === undefined || enclosingFunction(around) !== undefined) return false;
  const [loop] = enclosingLoops(call);
  const others = gradUsesIn(module, around).some(
    ({ node, words }) =>
      !call.contains(node) &&
      /backward|\bgrad\b|func\.|hook|jac|hess/.test(words) &&
      !excludeOneAnother(module, call, node, loop),
  );
  if (others) return false;
  const names = graphNames(module, value, loop);
  return names !== undefined && !isHandedOn(around, names);
}

/** The variables that the graph is made of; undefined where a part of it comes from outside the round. */
function graphNames(
  module: PyModule,
  value: PyNode,
  loop: PyNode | undefined,
): ReadonlySet<string> | undefined {
  const names = new Set<string>();
  const seen = new Set<PyNode>();
  const pending = [value];
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    const node = unparenthesized(at);
    if (seen.has(node) || valueOf(module, node).kind === 'number') continue;
    seen.add(node);
    if (node.type === 'identifier') {
      if (SETTING.test(node.text)) continue;
      const definitions = reachingDefinitions(module, node) ?? [];
      if (definitions.length === 0) return undefined;
      names.add(node.text);
      for (const found of definitions) {
        // Made before the loop, or by an earlier round: the graph outlives this one.
        const own = loop === undefined || loop.contains(found.node);
        if (found.kind === 'loop') continue;
        if (found.kind === 'parameter' && !COMPUTED.test(node.text)) continue;
        if (!own || found.node.start > node.start || !('value' in found)) return undefined;
        pending.push(found.value);
      }
    } else if (node.type === 'call') {
      if (cutsGraph(methodName(node) ?? '')) continue;
      if (keepsState(module, node)) return undefined;
      const receiver = receiverOf(node);
      // `x.mean()` has the graph of `x`; `model.loss(x)` is called, not given.
      const computed = receiver !== undefined && isComputed(module, receiver);
      pending.push(...argumentsOf(node), ...(computed ? [receiver] : []));
    } else if (node.type === 'attribute') {
      const object = node.object;
      if (object === undefined || SETTING.test(node.text)) continue;
      // What an object keeps for itself may come from an earlier round.
      if (object.text === classAround(node)?.self) return undefined;
      pending.push(object);
    } else if (node.type === 'keyword_argument') pending.push(...node.named.slice(1));
    else pending.push(...node.named);
  }
  return names;
}

function isComputed(module: PyModule, receiver: PyNode): boolean {
  const node = unparenthesized(receiver);
  if (node.type !== 'identifier') return node.type !== 'attribute';
  return (reachingDefinitions(module, node) ?? []).some(
    ({ kind }) => kind !== 'parameter' && kind !== 'other',
  );
}

/** A network of the file that stores something on itself in its forward may carry a graph from call to call. */
function keepsState(module: PyModule, call: PyNode): boolean {
  const callee = call.function;
  const object = callee?.type === 'attribute' ? callee.object : callee;
  const classNode = object && classBehind(module, object);
  if (classNode === undefined) return false;
  return ancestryOf(module, classNode)
    .classes.flatMap(methodsOf)
    .some(
      (method) =>
        method.name?.text !== '__init__' &&
        /(?:^|,)[ \t]*self\.\w+[^=\n]*=(?!=)/m.test(method.body?.text ?? ''),
    );
}

/** Returned, yielded or stored with its graph. */
function isHandedOn(around: PyNode, names: ReadonlySet<string>): boolean {
  for (const node of (around.body ?? around).walk()) {
    const stores = node.type === 'assignment' && /^(?:attribute|subscript)$/.test(node.left?.type ?? '');
    const adds = node.type === 'call' && /^(?:append|add|update|put|extend)$/.test(methodName(node) ?? '');
    if (!stores && !adds && !/^(?:return_statement|yield)$/.test(node.type)) continue;
    const given = stores ? node.right : adds ? node.arguments : node;
    for (const inner of given?.walk() ?? []) {
      if (inner.type !== 'identifier' || !names.has(inner.text)) continue;
      const next = inner.parent?.type === 'attribute' ? (inner.parent.attribute?.text ?? '') : '';
      const number =
        inner.parent?.parent?.type === 'call' &&
        builtin(inner.parent.parent.function?.text ?? '')?.gives === 'number';
      if (!cutsGraph(next) && !number) return true;
    }
  }
  return false;
}
