import { attributeUses } from '../../src/semantic/attribute-uses.js';
import {
  calledDefinition,
  classBehind,
  definitionBehind,
  methodNamed,
} from '../../src/semantic/definitions.js';
import { definedElsewhere, type Elsewhere, starredDefinition } from '../../src/semantic/elsewhere.js';
import { definitionOf } from '../../src/semantic/flow.js';
import { valuesGiven } from '../../src/semantic/function-uses.js';
import { qualifiedName } from '../../src/semantic/imports.js';
import type { PyModule } from '../../src/semantic/module.js';
import { argumentsByName } from '../../src/semantic/parameters.js';
import { enclosingFunction, unparenthesized } from '../../src/semantic/statements.js';
import type { PyNode } from '../../src/syntax/node.js';
import { gradModeOf } from '../../src/values/value/gradient.js';

/** The function or the class of the project that a call runs. */
export function definitionCalled(module: PyModule, call: PyNode, hops = 0): Elsewhere | undefined {
  const own = calledDefinition(module, call);
  if (own !== undefined) return { module, node: own };
  const callee = call.function;
  const path = callee && qualifiedName(module, callee);
  if (path !== undefined) return definedElsewhere(module, path);
  if (callee?.type === 'identifier' && module.resolve(callee) === undefined)
    return starredDefinition(module, callee.text);
  const object = callee?.type === 'attribute' ? callee.object : undefined;
  const made = object && classOf(module, object, hops);
  const method = made && methodNamed(made.module, made.node, callee?.attribute?.text ?? '');
  return made === undefined || method === undefined ? undefined : { module: made.module, node: method };
}

const MAX_HOPS = 4;

/** The one class of the project that made an object, wherever it was made. */
export function classOf(module: PyModule, object: PyNode | undefined, hops = 0): Elsewhere | undefined {
  const node = object && unparenthesized(object);
  if (node === undefined || hops > MAX_HOPS) return undefined;
  if (node.type === 'call') {
    const found = definitionCalled(module, node, hops + 1);
    return found?.node.type === 'class_definition' ? found : undefined;
  }
  const [only, ...others] = originsOf(module, node).map((each) => classOf(each.module, each.node, hops + 1));
  return others.every((each) => each?.node === only?.node) ? only : undefined;
}

/** What a variable, a parameter or an attribute of the file's own objects is given; none where that does not show. */
function originsOf(module: PyModule, node: PyNode): readonly Elsewhere[] {
  if (node.type === 'attribute') {
    const owner = classBehind(module, node.object ?? node);
    const writes =
      owner === undefined
        ? []
        : attributeUses(module, owner, node.attribute?.text ?? '').filter(({ kind }) => kind !== 'read');
    return writes.map(({ node: write }) => ({ module, node: write.parent?.right ?? write }));
  }
  const scope = node.type === 'identifier' ? module.resolve(node) : undefined;
  const [only, ...others] = scope === undefined ? [] : module.writes(scope, node.text);
  if (only === undefined || others.length > 0) return [];
  const definition = definitionOf(only);
  if (definition.kind === 'value') return [{ module, node: definition.value }];
  const owner = definition.kind === 'parameter' ? enclosingFunction(only) : undefined;
  return (owner && valuesGiven(module, owner, only)) ?? [];
}

/** What the callers of the project give for a parameter that is called, as in `maker()`: functions, classes and lambdas, as written there. */
export function valuesCalled(module: PyModule, callee: PyNode): readonly Elsewhere[] {
  if (callee.type !== 'identifier') return [];
  return originsOf(module, callee).filter(({ node }) => node.type !== 'none');
}

/** The function or the class of the project that an expression names. */
export function definitionOfValue(module: PyModule, value: PyNode): Elsewhere | undefined {
  const own = definitionBehind(module, value);
  if (own !== undefined) return { module, node: own };
  const path = qualifiedName(module, value);
  return path === undefined ? undefined : definedElsewhere(module, path);
}

/** The functions that the callers of the project give for a parameter that is called; none where something else may be given. */
export function functionsGiven(module: PyModule, callee: PyNode): readonly Elsewhere[] {
  const given = valuesCalled(module, callee).map((each) => definitionOfValue(each.module, each.node));
  return given.every((each) => each?.node.type === 'function_definition')
    ? given.flatMap((each) => each ?? [])
    : [];
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
  const given = argumentsByName(module, called, call, passes);
  const name = given && [...given].find(([, each]) => each === value)?.[0];
  return name === undefined ? undefined : there.writes(there.scopeOf(called), name)[0];
}

/** `return net`, as a function hands back what it is given. */
export function isReturned(module: PyModule, functionNode: PyNode, parameter: PyNode): boolean {
  return module
    .reads(module.scopeOf(functionNode), parameter.text)
    .some(({ parent }) => parent?.type === 'return_statement');
}
