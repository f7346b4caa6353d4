import { MATRIX_PRODUCTS, PARAMETER } from '../../library/names.js';
import type { Answer } from '../../semantic/answer.js';
import { initialValue } from '../../semantic/attribute-uses.js';
import { attributeOfSelf } from '../../semantic/definitions.js';
import { calledPath, qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { argumentsOf, methodName, receiverOf, unparenthesized } from '../../semantic/statements.js';
import { onlyValue } from '../../semantic/variables.js';
import type { PyNode } from '../../syntax/node.js';
import { type Dimension, shapeOf } from './shape.js';

/** `left @ right`, or the same by a function of torch. */
export interface MatrixProduct {
  readonly left: PyNode;
  readonly right: PyNode;
  /** The function's name as written; undefined for the operator. */
  readonly callee: string | undefined;
}

export function matrixProduct(module: PyModule, expression: PyNode): MatrixProduct | undefined {
  if (expression.type === 'binary_operator' && expression.operator?.text === '@') {
    const left = expression.left;
    const right = expression.right;
    return left && right && { left, right, callee: undefined };
  }
  const callee = expression.type === 'call' ? expression.function : undefined;
  if (callee === undefined || !MATRIX_PRODUCTS.has(qualifiedName(module, callee) ?? '')) return undefined;
  const [left, right, third] = argumentsOf(expression);
  const isPlain = (node: PyNode | undefined) =>
    node !== undefined && node.type !== 'keyword_argument' && !node.type.includes('splat');
  if (left === undefined || right === undefined || third !== undefined) return undefined;
  return isPlain(left) && isPlain(right) ? { left, right, callee: callee.text } : undefined;
}

/** What the code says about two factors of a low-rank matrix, the first one tall and the second one wide. */
export interface LowRank {
  /** Both have two dimensions. */
  readonly matrices: Answer;
  /** The dimension that they share is so small that going through it is cheaper. */
  readonly low: Answer;
}

export const NAMED = /lora|low_?rank/i;
const RANK = /rank|bottleneck|lora|^r(?:@\d+)?$|\.r$/i;
const DEPTH = 4;

/** Undefined where nothing says that they are such factors. */
export function lowRank(module: PyModule, first: PyNode, second: PyNode): LowRank | undefined {
  const tall = sizesOf(module, first);
  const wide = sizesOf(module, second);
  const [rows, inner] = tall ?? [];
  const [shared, columns] = wide ?? [];
  if (tall === undefined || wide === undefined) {
    const isSaid = isNamed(module, first) && isNamed(module, second);
    return isSaid ? { matrices: 'unknown', low: 'unknown' } : undefined;
  }
  if (inner === undefined || inner !== shared) return undefined;
  const isSaid = RANK.test(inner) || (isNamed(module, first) && isNamed(module, second));
  const [height = 0, rank = 0, width = 0] = [rows, inner, columns].map(Number);
  if (height * rank * width > 0) {
    const low = rank * (height + width) < height * width;
    return low || isSaid ? { matrices: 'yes', low: low ? 'yes' : 'no' } : undefined;
  }
  return isSaid ? { matrices: 'yes', low: 'unknown' } : undefined;
}

type Sizes = readonly [Dimension, Dimension];

/** The two dimensions of a parameter of the module, looked up through names, transposes and `__init__`. */
export function sizesOf(module: PyModule, expression: PyNode, depth = 0): Sizes | undefined {
  const node = unparenthesized(expression);
  if (depth > DEPTH) return undefined;
  const turned = transposed(node);
  if (turned !== undefined) {
    const sizes = sizesOf(module, turned, depth + 1);
    return sizes && [sizes[1], sizes[0]];
  }
  if (node.type === 'identifier') {
    const value = onlyValue(module, node);
    return value && sizesOf(module, value, depth + 1);
  }
  const name = attributeOfSelf(node)?.name;
  const made = name === undefined ? undefined : initialValue(module, node, name);
  const tensor = made && argumentsOf(made)[0];
  if (made === undefined || tensor === undefined || calledPath(module, made) !== PARAMETER) return undefined;
  const shape = shapeOf(module, tensor);
  const [rows, columns] = shape?.dimensions ?? [];
  return shape?.open === false && shape.dimensions.length === 2 ? [rows, columns] : undefined;
}

/** What `x.T` and `x.t()` turn around. */
function transposed(node: PyNode): PyNode | undefined {
  if (node.type === 'attribute' && /^(?:T|mT)$/.test(node.attribute?.text ?? '')) return node.object;
  return node.type === 'call' && methodName(node) === 't' && argumentsOf(node).length === 0
    ? receiverOf(node)
    : undefined;
}

/** The factor, or what it was made from, is called one. */
function isNamed(module: PyModule, expression: PyNode): boolean {
  const node = unparenthesized(expression);
  if (NAMED.test(node.text)) return true;
  const value = onlyValue(module, node);
  return value !== undefined && NAMED.test(value.text);
}
