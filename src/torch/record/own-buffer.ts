import { isOperation, ofTensor, row } from '../../library/library.js';
import { type Definition, reachingDefinitions } from '../../semantic/flow.js';
import { calledPath } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { isRedefined } from '../../semantic/project-names.js';
import { isOnlyTarget, methodName, receiverOf, unparenthesized } from '../../semantic/statements.js';
import type { PyNode } from '../../syntax/node.js';
import { plainBuffer } from '../../values/value/plain-buffer.js';
import { networkRunBy } from '../grad/numeric-runs.js';

/** `values` of `values[i] = …`: a tensor that was made or computed here, so that all who see what is put into it go by the name. */
export function isOwnBuffer(module: PyModule, target: PyNode): boolean {
  const name = target.type === 'subscript' ? target.value : undefined;
  return name !== undefined && (isOwnTensor(module, name) || plainBuffer(module, target) !== undefined);
}

/** Every value that it may have is a tensor which was computed here: nobody else holds it. */
function isOwnTensor(module: PyModule, name: PyNode): boolean {
  const definitions = reachingDefinitions(module, name) ?? [];
  const isHere = (each: Definition): boolean =>
    each.kind === 'update' ||
    (each.kind === 'value' && isOnlyTarget(each.node) && isComputed(module, each.value));
  return definitions.length > 0 && definitions.every(isHere);
}

/** `net(x)`, `torch.min(a, b)`, `net(x).squeeze(1)`, `a * b`. */
function isComputed(module: PyModule, value: PyNode): boolean {
  const node = unparenthesized(value);
  if (node.type === 'binary_operator') return true;
  if (node.type !== 'call') return false;
  if (networkRunBy(module, node) !== undefined) return true;
  const path = calledPath(module, node);
  if (path !== undefined) return isOperation(row(path)) && row(path)?.storage === 'new';
  const receiver = receiverOf(node);
  return receiver !== undefined && isPure(module, methodName(node) ?? '') && isComputed(module, receiver);
}

/** A method of a tensor that neither changes it nor asks for its gradient. */
export function isPure(module: PyModule, name: string): boolean {
  const known = ofTensor(name);
  return known !== undefined && known.gives === 'tensor' && !name.endsWith('_') && !isRedefined(module, name);
}
