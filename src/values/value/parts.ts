import { isPlainMethod, ofTensor } from '../../library/library.js';
import { givenTo, methodName } from '../../semantic/statements.js';
import type { PyNode } from '../../syntax/node.js';
import { keepsGiven } from './names.js';

/** The target takes the indices of `values, indices = x.topk(k)`. */
export function givesIndices(target: PyNode, value: PyNode): boolean {
  const name = value.type === 'call' ? methodName(value) : undefined;
  return (
    name !== undefined && ofTensor(name)?.paired === true && (target.parent?.named.indexOf(target) ?? 0) > 0
  );
}

const PLAIN_TYPES =
  /^(?:int|float|str|bool|bytes|(?:Optional\[)?(?:int|float|str|bool)\]?|(?:\w+\.)?(?:DataLoader|Path|device|Namespace))\b/;

/** Its annotation or default says that it is no tensor. */
export function isPlainParameter(parameter: PyNode): boolean {
  const holder = parameter.parent;
  if (holder === undefined || !/default|typed/.test(holder.type)) return false;
  const type = holder.field('type')?.text;
  if (type !== undefined && PLAIN_TYPES.test(type)) return true;
  return ['integer', 'float', 'string', 'true', 'false'].includes(holder.value?.type ?? '');
}

/** `use.method(value)`, `use[key] = value`, `use.attribute = value`, and deeper: the values that end up in the object. */
export function valuesPutInto(use: PyNode): readonly PyNode[] {
  let at: PyNode = use;
  while (at.parent !== undefined) {
    const { parent } = at;
    if (
      (parent.type === 'attribute' && parent.object === at) ||
      (parent.type === 'subscript' && parent.value === at)
    ) {
      at = parent;
    } else if (parent.type === 'call' && parent.function === at && at.type === 'attribute') {
      const name = at.attribute?.text ?? '';
      if (isPlainMethod(name)) return [];
      // A method whose result is used computes it from what it is given; one that is called for its effect keeps it.
      const effect = keepsGiven(name) || parent.parent?.type === 'expression_statement';
      return effect ? givenTo(parent) : [];
    } else if (/^(?:augmented_)?assignment$/.test(parent.type) && parent.left === at && at !== use) {
      const value = parent.right;
      return value === undefined ? [] : [value];
    } else return [];
  }
  return [];
}
