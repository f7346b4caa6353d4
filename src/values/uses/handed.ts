import { instancesBehind } from '../../semantic/attributes.js';
import { methodNamed, overridesOf } from '../../semantic/definitions.js';
import { type Elsewhere, namedElsewhere } from '../../semantic/elsewhere.js';
import { readsReached } from '../../semantic/flow.js';
import { readerOfVariables } from '../../semantic/liveness.js';
import type { PyModule } from '../../semantic/module.js';
import { isOverriddenElsewhere } from '../../semantic/overridden.js';
import { argumentsByParameter } from '../../semantic/parameters.js';
import { replacedByName } from '../../semantic/replaced.js';
import { decoratorsOf, isAsync, methodName, receiverOf } from '../../semantic/statements.js';
import type { PyNode } from '../../syntax/node.js';
import { calledBy } from '../value/called.js';
import { kindOf } from '../value/tensor.js';

/**
 * The parameters that get an argument of a call, of all functions of the project that the call may run. Undefined where it may
 * run others, or where what they do with their variables does not show.
 */
export function parametersGetting(
  module: PyModule,
  call: PyNode,
  argument: PyNode,
): readonly Elsewhere[] | undefined {
  const run = calledBy(module, call);
  const functions =
    run === undefined ? methodsRun(module, call) : run.makers.length === 0 ? run.functions : [];
  const found = functions.map((each) => parameterOf(module, each, call, argument));
  return found.length === 0 || found.includes(undefined) ? undefined : found.flatMap((each) => each ?? []);
}

/** `writer.log_loss(loss)`, where a class of another file made the object. */
function methodsRun(module: PyModule, call: PyNode): readonly Elsewhere[] {
  const name = methodName(call);
  const receiver = receiverOf(call);
  if (name === undefined || receiver === undefined) return [];
  const made = instancesBehind(module, receiver).map(
    (each) => each.function && namedElsewhere(module, each.function),
  );
  const methods = made.map((owner): Elsewhere | undefined => {
    if (owner?.node.type !== 'class_definition') return undefined;
    const node = methodNamed(owner.module, owner.node, name);
    if (node === undefined || isOverriddenElsewhere(owner.module, node)) return undefined;
    return overridesOf(owner.module, call, node)?.length === 0 ? { module: owner.module, node } : undefined;
  });
  return methods.includes(undefined) ? [] : methods.flatMap((each) => each ?? []);
}

function parameterOf(
  module: PyModule,
  { module: there, node }: Elsewhere,
  call: PyNode,
  argument: PyNode,
): Elsewhere | undefined {
  const name = node.name?.text ?? '';
  // What a module runs may have hooks.
  if (node.type !== 'function_definition' || /^(?:forward|__call__)$/.test(name)) return undefined;
  if (isAsync(node) || decoratorsOf(node).some(({ text }) => text !== 'staticmethod')) return undefined;
  if (replacedByName(there, name) !== undefined || readerOfVariables(there, node) !== undefined)
    return undefined;
  const value = argument.type === 'keyword_argument' ? argument.value : argument;
  const given = argumentsByParameter(module, node, call);
  const parameter = given && [...given].find(([, each]) => each === value)?.[0];
  const scope = there.scopeOf(node);
  const binding = parameter === undefined ? undefined : there.writes(scope, parameter)[0];
  if (parameter === undefined || binding === undefined) return undefined;
  // `loss: float = 0.0` gets a tensor all the same.
  const isTakenForNumber = readsReached(there, scope, parameter, [binding]).some(
    (read) => kindOf(there, read) === 'number',
  );
  return isTakenForNumber ? undefined : { module: there, node: binding };
}
