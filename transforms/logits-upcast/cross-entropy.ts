import { canonical, ofTensor } from '../../src/library/library.js';
import { CROSS_ENTROPY } from '../../src/library/names.js';
import { initialValue } from '../../src/semantic/attribute-uses.js';
import { classAround } from '../../src/semantic/definitions.js';
import { reachingDefinitions } from '../../src/semantic/flow.js';
import { qualifiedName } from '../../src/semantic/imports.js';
import type { PyModule } from '../../src/semantic/module.js';
import { argumentsOf, methodName, receiverOf } from '../../src/semantic/statements.js';
import type { PyNode } from '../../src/syntax/node.js';

const HOPS = 5;

/** Where a value ends up, and how it was written on the way there. */
export interface Entropy {
  readonly call: PyNode;
  readonly way: readonly PyNode[];
}

/** The cross entropy that a value is the first argument of, directly or through reshaping, slicing and local names. */
export function entropyFrom(module: PyModule, value: PyNode, hops = 0): Entropy | undefined {
  const end = outermost(value);
  const { parent } = end;
  const list = parent?.type === 'keyword_argument' ? parent.parent : parent;
  const call = list?.type === 'argument_list' ? list.parent : undefined;
  if (call !== undefined) {
    const first = argumentsOf(call)[0];
    const isInput = first === end || (parent !== list && parent?.name?.text === 'input');
    return isInput && isCrossEntropy(module, call) ? { call, way: [end] } : undefined;
  }
  const target = parent?.type === 'assignment' && parent.right === end ? parent.left : undefined;
  if (target?.type !== 'identifier' || hops > HOPS) return undefined;
  const scope = module.scopeAt(target);
  for (const read of module.reads(scope, target.text)) {
    const definitions = read.start > target.start ? (reachingDefinitions(module, read) ?? []) : [];
    if (!definitions.some(({ node }) => node === target)) continue;
    const found = entropyFrom(module, read, hops + 1);
    if (found !== undefined) return { ...found, way: [end, ...found.way] };
  }
  return undefined;
}

/** `x` in `x[..., :-1, :].contiguous().view(-1, n)` is all of that. */
function outermost(value: PyNode): PyNode {
  let at = value;
  for (;;) {
    const { parent } = at;
    if (parent?.type === 'parenthesized_expression') at = parent;
    else if (parent?.type === 'subscript' && parent.value === at) at = parent;
    else if (parent?.type === 'attribute' && parent.object === at) {
      const call = parent.parent;
      const isReshape =
        call?.type === 'call' && ofTensor(methodName(call) ?? '')?.rearranges && receiverOf(call) === at;
      if (call === undefined || !isReshape) return at;
      at = call;
    } else return at;
  }
}

function isCrossEntropy(module: PyModule, call: PyNode): boolean {
  const callee = call.function;
  if (callee === undefined) return false;
  const path = qualifiedName(module, callee);
  if (path !== undefined) return CROSS_ENTROPY.includes(canonical(path));
  const made = callee.type === 'call' ? callee : makerOf(module, callee);
  const maker = made?.type === 'call' ? made.function : undefined;
  return maker !== undefined && CROSS_ENTROPY.includes(canonical(qualifiedName(module, maker) ?? ''));
}

/** What a local name or an attribute of `self` was made as. */
function makerOf(module: PyModule, callee: PyNode): PyNode | undefined {
  if (callee.type === 'identifier') {
    const definitions = reachingDefinitions(module, callee) ?? [];
    const [only] = definitions;
    return definitions.length === 1 && only?.kind === 'value' ? only.value : undefined;
  }
  const name = callee.type === 'attribute' ? callee.attribute?.text : undefined;
  return name !== undefined && callee.object?.text === classAround(callee)?.self
    ? initialValue(module, callee, name)
    : undefined;
}
