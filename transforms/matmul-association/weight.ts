import type { PyModule } from '../../src/semantic/module.js';
import { unparenthesized } from '../../src/semantic/statements.js';
import type { PyNode } from '../../src/syntax/node.js';
import { NAMED, sizesOf } from '../../src/values/value/low-rank.js';

/** Weights of a module: a product with one in front merges matrices and sees no activation. */
export function isWeight(module: PyModule, expression: PyNode): boolean {
  const node = unparenthesized(expression);
  if (sizesOf(module, node) !== undefined || node.text.endsWith('.weight')) return true;
  return /^(?:identifier|attribute|subscript)$/.test(node.type) && NAMED.test(node.text);
}
