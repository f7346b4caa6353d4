import { isOperation, ofTensor, row } from '../../library/library.js';
import { classAround } from '../../semantic/definitions.js';
import { reachingDefinitions } from '../../semantic/flow.js';
import { qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { once } from '../../semantic/once.js';
import {
  argumentsOf,
  enclosingFunction,
  methodName,
  receiverOf,
  unparenthesized,
} from '../../semantic/statements.js';
import type { PyNode } from '../../syntax/node.js';
import { TENSOR_FUNCTIONS } from '../catalog.js';
import { initialValue } from '../module/modules.js';
import { kindOf } from './tensor.js';

const MAX_DEPTH = 12;

/** More than `kindOf`: an argument counts as a tensor when the function uses it as nothing else can be used. */
export const isProvenTensor = once(provenTensor);

function provenTensor(module: PyModule, expression: PyNode, depth: number): boolean {
  const node = unparenthesized(expression);
  const kind = kindOf(module, node);
  if (kind !== 'unknown') return kind !== 'number';
  if (depth > MAX_DEPTH) return false;
  const proven = (inner: PyNode | undefined): boolean =>
    inner !== undefined && isProvenTensor(module, inner, depth + 1);
  switch (node.type) {
    case 'unary_operator':
      return proven(node.field('argument'));
    case 'binary_operator':
      return proven(node.field('left')) || proven(node.field('right'));
    case 'comparison_operator':
      return node.named.some(proven);
    case 'subscript': {
      const value = node.field('value');
      return value?.type === 'call' && isPaired(value) ? proven(receiverOf(value)) : proven(value);
    }
    case 'attribute': {
      const object = node.field('object');
      const isValues =
        node.field('attribute')?.text === 'values' && object?.type === 'call' && isPaired(object);
      return isValues && proven(receiverOf(object));
    }
    case 'call': {
      const name = methodName(node) ?? '';
      return (
        isOperation(ofTensor(name)) &&
        !(isPaired(node) && argumentsOf(node).length > 0) &&
        proven(receiverOf(node))
      );
    }
    case 'identifier': {
      const definitions = reachingDefinitions(module, node) ?? [];
      return (
        definitions.length > 0 &&
        definitions.every((found) =>
          found.kind === 'value'
            ? proven(found.value)
            : found.kind === 'parameter' && isUsedAsTensor(module, node),
        )
      );
    }
    default:
      return false;
  }
}

function isPaired(call: PyNode): boolean {
  return ofTensor(methodName(call) ?? '')?.paired === true;
}

/** Somewhere in the function the parameter is given to torch or to a layer, or shows a method that only tensors have. */
function isUsedAsTensor(module: PyModule, parameter: PyNode): boolean {
  const owner = enclosingFunction(parameter);
  const scope = module.resolve(parameter);
  if (owner === undefined || scope === undefined) return false;
  return module.reads(scope, parameter.text).some((read) => {
    const place = read.parent;
    if (place?.type === 'attribute') {
      const call = place.parent;
      const name = place.field('attribute')?.text ?? '';
      if (call?.type !== 'call' || call.field('function') !== place) return false;
      // `block.norm(x)` runs a layer of that name.
      if (ofTensor(name)?.only) return argumentsOf(call).every(isPlain);
      return name === 'size' && argumentsOf(call)[0]?.type === 'integer';
    }
    if (place?.type !== 'argument_list' || place.named[0] !== read) return false;
    const call = place.parent;
    const callee = call?.field('function');
    const path = callee && qualifiedName(module, callee);
    if (path !== undefined) return isTensorFunction(path);
    return call !== undefined && isLayer(module, call);
  });
}

/** Numbers and settings as written. */
function isPlain(argument: PyNode): boolean {
  if (argument.type === 'keyword_argument') return argument.field('name')?.text !== 'input';
  return /^(?:integer|float|true|false|none|string|tuple|list|unary_operator)$/.test(argument.type);
}

/** `self.layer(…)`, made by torch: it takes tensors only. */
export function isLayer(module: PyModule, call: PyNode): boolean {
  const callee = call.field('function');
  const name = callee?.field('attribute')?.text;
  if (
    callee === undefined ||
    name === undefined ||
    callee.field('object')?.text !== classAround(callee)?.self
  )
    return false;
  const maker = initialValue(module, callee, name)?.field('function');
  const path = maker && qualifiedName(module, maker);
  return path !== undefined && row(path)?.is === 'map';
}

/** Its first argument is a tensor: a method of tensors as well, or a function that only layers call. */
function isTensorFunction(path: string): boolean {
  const known = row(path);
  const isMethod = isOperation(known) && ofTensor(path.split('.').at(-1) ?? '') !== undefined;
  return (isMethod && !known.numberFirst) || path.startsWith(TENSOR_FUNCTIONS);
}
