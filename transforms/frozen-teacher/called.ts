import { calledDefinition, methodNamed } from '../../src/semantic/definitions.js';
import { definedElsewhere, type Elsewhere } from '../../src/semantic/elsewhere.js';
import { qualifiedName } from '../../src/semantic/imports.js';
import type { PyModule } from '../../src/semantic/module.js';
import { argumentsByParameter } from '../../src/semantic/parameters.js';
import type { PyNode } from '../../src/syntax/node.js';
import { gradModeOf } from '../../src/torch/grad/gradient.js';

/** The function or the class of the project that a call runs. */
export function definitionCalled(module: PyModule, call: PyNode): Elsewhere | undefined {
  const own = calledDefinition(module, call);
  if (own !== undefined) return { module, node: own };
  const callee = call.field('function');
  const path = callee && qualifiedName(module, callee);
  return path === undefined ? undefined : definedElsewhere(module, path);
}

/** The parameter of what a call runs that gets one of its arguments. */
export function parameterGetting(
  found: Elsewhere,
  module: PyModule,
  value: PyNode | undefined,
  call: PyNode,
): PyNode | undefined {
  const { module: there, node } = found;
  const called = node.type === 'class_definition' ? methodNamed(there, node, '__init__') : node;
  if (called === undefined) return undefined;
  const passes = (each: PyNode): boolean =>
    each.text === 'staticmethod' || gradModeOf(there, each) !== undefined;
  const given = argumentsByParameter(module, called, call, passes);
  const name = given && [...given].find(([, each]) => each === value)?.[0];
  return name === undefined ? undefined : there.writes(there.scopeOf(called), name)[0];
}
