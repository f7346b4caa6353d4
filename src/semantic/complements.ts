import type { PyNode } from '../syntax/node.js';
import { unparenthesized } from './statements.js';

/** Both operands, either way round. */
export function swapped(operation: PyNode): readonly (readonly [PyNode, PyNode])[] {
  const left = operation.left;
  const right = operation.right;
  return left === undefined || right === undefined
    ? []
    : [
        [left, right],
        [right, left],
      ];
}

export function isOperation(node: PyNode, operator: string): boolean {
  return node.type === 'binary_operator' && node.operator?.text === operator;
}

export function isNumeral(node: PyNode): boolean {
  const inner = unparenthesized(node);
  return inner.type === 'integer' || inner.type === 'float';
}

/** `0.9` and `0.1`, or `m` and `1 - m` either way round. */
export function areComplements(a: PyNode, b: PyNode): boolean {
  if (isNumeral(a) && isNumeral(b)) return Math.abs(numeral(a) + numeral(b) - 1) < 1e-9;
  return isOneMinus(a, b) || isOneMinus(b, a);
}

function isOneMinus(whole: PyNode, part: PyNode): boolean {
  const difference = unparenthesized(whole);
  const left = difference.left;
  const right = difference.right;
  if (!isOperation(difference, '-') || left === undefined || right === undefined) return false;
  return isNumeral(left) && numeral(left) === 1 && words(right) === words(part);
}

function numeral(node: PyNode): number {
  return Number(unparenthesized(node).text.replaceAll('_', ''));
}

function words(node: PyNode): string {
  return unparenthesized(node).text.replace(/\s+/g, '');
}

/** The value itself, or either side of `a if … else b` with the other one. */
export function choices(value: PyNode): readonly (readonly [PyNode, PyNode?])[] {
  const node = unparenthesized(value);
  const [one, , other] = node.named;
  if (node.type !== 'conditional_expression' || one === undefined || other === undefined) return [[node]];
  return [
    [one, other],
    [other, one],
  ];
}

/** `fresh` of `(fresh - old) * gain`, or of `(old - fresh) * gain` where that is taken away. */
export function stepped(old: string, product: PyNode, falls: boolean): PyNode | undefined {
  if (!isOperation(product, '*')) return undefined;
  for (const [difference] of swapped(product)) {
    const inner = unparenthesized(difference);
    const [left, right] = [inner.left, inner.right];
    const [fresh, gone] = falls ? [right, left] : [left, right];
    if (isOperation(inner, '-') && gone?.text === old && fresh !== undefined) return fresh;
  }
  return undefined;
}
