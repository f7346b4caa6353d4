import { givesModule } from '../../library/library.js';
import { INITIALIZERS } from '../../library/names.js';
import { calledPath } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { givenTo, keywordArgument, methodName, receiverOf } from '../../semantic/statements.js';
import type { PyNode } from '../../syntax/node.js';
import { recordsNoGraph } from '../value/gradient.js';

/** What is changed in place, and what it is changed by. */
export interface InPlace {
  readonly target: PyNode;
  readonly values: readonly PyNode[];
}

const NAMED_IN_PLACE = /[a-z\d]_$/;

/** `p.mul_(q)`, `p += q`, `flat[i] = p`, `torch.add(p, q, out=flat)`, with gradients on. */
export function changedInPlace(module: PyModule, node: PyNode): InPlace | undefined {
  const change = node.type === 'call' ? byCall(module, node) : byAssignment(node);
  return change !== undefined && !recordsNoGraph(module, node) ? change : undefined;
}

function byCall(module: PyModule, call: PyNode): InPlace | undefined {
  const given = givenTo(call);
  const out = keywordArgument(call, 'out');
  const into = out?.value;
  if (into !== undefined) return { target: into, values: given.filter((each) => each !== out) };
  const path = calledPath(module, call);
  if (path === undefined) {
    const name = methodName(call) ?? '';
    const target = receiverOf(call);
    const changes = NAMED_IN_PLACE.test(name) && !givesModule(name);
    return changes && target !== undefined ? { target, values: given } : undefined;
  }
  const [target, ...values] = given;
  const changes = NAMED_IN_PLACE.test(path) && !path.startsWith(INITIALIZERS);
  return changes && target !== undefined ? { target, values } : undefined;
}

function byAssignment(node: PyNode): InPlace | undefined {
  const left = node.left;
  const right = node.right;
  if (left === undefined || right === undefined) return undefined;
  if (node.type === 'augmented_assignment') return { target: left, values: [right] };
  const target = node.type === 'assignment' && left.type === 'subscript' ? left.value : undefined;
  return target === undefined ? undefined : { target, values: [right] };
}
