import { calledDefinition, methodNamed } from '../../src/semantic/definitions.js';
import { definedElsewhere, type Elsewhere } from '../../src/semantic/elsewhere.js';
import { calledPath } from '../../src/semantic/imports.js';
import type { PyModule } from '../../src/semantic/module.js';
import { starredDefinition } from '../../src/semantic/star-imports.js';
import { decoratorsOf, isAsync, ownNodes } from '../../src/semantic/statements.js';
import { isUnbound } from '../../src/semantic/variables.js';
import type { PyNode } from '../../src/syntax/node.js';

/** The parameter of a function of the project, in whichever file, that gets an argument of a call. Not of a method, which others may override. */
export function parameterGiven(module: PyModule, call: PyNode, argument: PyNode): Elsewhere | undefined {
  const path = calledPath(module, call);
  const found = path === undefined ? ownFunction(module, call) : definedElsewhere(module, path);
  if (
    found?.node.type !== 'function_definition' ||
    decoratorsOf(found.node).length > 0 ||
    isAsync(found.node)
  )
    return undefined;
  if ([...ownNodes(found.node)].some(({ type }) => type === 'yield')) return undefined;
  const node = parameterNode(found.node, argument, 0);
  return node && { module: found.module, node };
}

function ownFunction(module: PyModule, call: PyNode): Elsewhere | undefined {
  const callee = call.function;
  if (callee?.type !== 'identifier') return undefined;
  if (isUnbound(module, callee)) return starredDefinition(module, callee.text);
  const node = calledDefinition(module, call);
  return node && { module, node };
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
