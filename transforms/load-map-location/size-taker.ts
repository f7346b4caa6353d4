import { row } from '../../src/library/library.js';
import { definitionNamed, methodNamed } from '../../src/semantic/definitions.js';
import { definedElsewhere } from '../../src/semantic/elsewhere.js';
import { qualifiedName } from '../../src/semantic/imports.js';
import type { PyModule } from '../../src/semantic/module.js';
import type { PyNode } from '../../src/syntax/node.js';
import { parameterNode } from './parameter-given.js';

/**
 * Whether a class or function of the project takes an argument for nothing but sizes: of torch's layers and of ranges, perhaps
 * computed from it. A tensor of one number does as well there, wherever it is.
 */
export function takesSize(module: PyModule, call: PyNode, argument: PyNode): boolean {
  const callee = call.function;
  if (callee === undefined) return false;
  const path = qualifiedName(module, callee);
  const own = path === undefined ? definitionNamed(module, callee) : undefined;
  const found = path === undefined ? own && { module, node: own } : definedElsewhere(module, path);
  if (found === undefined) return false;
  const isClass = found.node.type === 'class_definition';
  const taker = isClass ? methodNamed(found.module, found.node, '__init__') : found.node;
  const name = taker && parameterNode(taker, argument, isClass ? 1 : 0)?.text;
  if (taker === undefined || name === undefined) return false;
  const scope = found.module.scopeOf(taker);
  const reads = found.module.reads(scope, name);
  const isOnly = found.module.writes(scope, name).length === 1;
  return isOnly && reads.length > 0 && reads.every((read) => isSize(found.module, read));
}

/** An argument of a layer of torch, or of `range`; also a part of a sum or product there. */
function isSize(module: PyModule, read: PyNode): boolean {
  let value = read;
  while (value.parent?.type === 'binary_operator' || value.parent?.type === 'parenthesized_expression')
    value = value.parent;
  if (value.parent?.type === 'keyword_argument') value = value.parent;
  const callee = value.parent?.type === 'argument_list' ? value.parent.parent?.function : undefined;
  if (callee === undefined) return false;
  if (callee.text === 'range') return module.resolve(callee) === undefined;
  // A loss takes weights, and an embedding its table, by this name.
  if (value.name?.text.startsWith('_')) return false;
  const is = row(qualifiedName(module, callee) ?? '')?.is;
  return is === 'map' || is === 'layer';
}
