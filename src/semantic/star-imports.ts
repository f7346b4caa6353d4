import type { PyNode } from '../syntax/node.js';
import { definitionBehind, methodNamed } from './definitions.js';
import { definedElsewhere, type Elsewhere, makerOf, starredDefinition } from './elsewhere.js';
import { qualifiedName } from './imports.js';
import type { PyModule } from './module.js';
import { isUnbound } from './variables.js';

/** The function or the class of the project that an expression names, in whichever file. */
export function definedAnywhere(module: PyModule, expression: PyNode): Elsewhere | undefined {
  const own = definitionBehind(module, expression);
  if (own !== undefined) return { module, node: own };
  const path = qualifiedName(module, expression);
  if (path !== undefined) return definedElsewhere(module, path);
  return isUnbound(module, expression) ? starredDefinition(module, expression.text) : undefined;
}

/** `helpers.f`, an imported `f`, or a method of an object made of an imported class. */
export function functionElsewhere(module: PyModule, callee: PyNode): Elsewhere | undefined {
  const path = qualifiedName(module, callee);
  if (path !== undefined) {
    const found = definedElsewhere(module, path);
    return found?.node.type === 'function_definition' ? found : undefined;
  }
  const object = callee.type === 'attribute' ? callee.object : undefined;
  const classPath = object?.type === 'identifier' ? makerOf(module, object) : undefined;
  const owner = classPath === undefined ? undefined : definedElsewhere(module, classPath);
  if (owner?.node.type !== 'class_definition') return undefined;
  const method = methodNamed(owner.module, owner.node, callee.attribute?.text ?? '');
  return method && { module: owner.module, node: method };
}

/** `f` of `from helpers import *`. */
export function starredFunction(module: PyModule, callee: PyNode): Elsewhere | undefined {
  if (callee.type !== 'identifier' || module.resolve(callee) !== undefined) return undefined;
  const found = starredDefinition(module, callee.text);
  return found?.node.type === 'function_definition' ? found : undefined;
}

/** What a call of this runs, of the same file or of another one of the project. */
export function definitionRun(module: PyModule, callee: PyNode): Elsewhere | undefined {
  const own = definitionBehind(module, callee);
  return own === undefined
    ? (functionElsewhere(module, callee) ?? starredFunction(module, callee))
    : { module, node: own };
}
