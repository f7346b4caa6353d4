import { methodNamed } from '../../src/semantic/definitions.js';
import type { Elsewhere } from '../../src/semantic/elsewhere.js';
import type { PyModule } from '../../src/semantic/module.js';
import {
  decoratorsOf,
  enclosingClass,
  isAsync,
  ownNodes,
  receiverOf,
} from '../../src/semantic/statements.js';
import type { PyNode } from '../../src/syntax/node.js';
import { calledOf } from './owner.js';

/** The parameter of a function of the project, in whichever file, that gets an argument of a call; of a method where nobody overrides that. */
export function parameterGiven(module: PyModule, call: PyNode, argument: PyNode): Elsewhere | undefined {
  const found = calledOf(module, call);
  if (
    found?.node.type !== 'function_definition' ||
    decoratorsOf(found.node).length > 0 ||
    isAsync(found.node)
  )
    return undefined;
  if (ownNodes(found.node).some(({ type }) => type === 'yield')) return undefined;
  const isMethod = enclosingClass(found.node) !== undefined && receiverOf(call) !== undefined;
  const node = parameterNode(found.node, argument, isMethod ? 1 : 0);
  return node && { module: found.module, node };
}

/** The name of the parameter that gets an argument of a call, by position or by name. */
export function parameterNode(taker: PyNode, argument: PyNode, skipped: number): PyNode | undefined {
  const parameters = taker.parameters?.named ?? [];
  if (argument.type === 'keyword_argument') {
    const wanted = argument.name?.text;
    return parameters.map(nameIn).find((name) => name?.text === wanted);
  }
  const all = argument.parent?.named ?? [];
  const before = all.slice(0, all.indexOf(argument) + 1);
  if (before.some(({ type }) => type.endsWith('_splat') || type === 'keyword_argument')) return undefined;
  const parameter = parameters[before.length - 1 + skipped];
  return parameter && nameIn(parameter);
}

function nameIn(parameter: PyNode): PyNode | undefined {
  const name = parameter.type === 'identifier' ? parameter : (parameter.name ?? parameter.named[0]);
  return name?.type === 'identifier' ? name : undefined;
}

/** The `__init__` of a class, or the function itself, and how many of its parameters a call does not give. */
export function takerOf(definition: PyNode, module: PyModule): { node: PyNode; skipped: number } | undefined {
  if (definition.type !== 'class_definition') return { node: definition, skipped: 0 };
  const node = methodNamed(module, definition, '__init__');
  return node && { node, skipped: 1 };
}
