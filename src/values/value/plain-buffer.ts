import { builtin, ofTensor, row } from '../../library/library.js';
import { VARIABLE } from '../../library/names.js';
import { reachingDefinitions } from '../../semantic/flow.js';
import { calledPath } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { mayLead } from '../../semantic/paths.js';
import { isRedefined, mayBeReadElsewhere } from '../../semantic/project-names.js';
import {
  argumentsOf,
  isOnlyTarget,
  isTarget,
  keywordValue,
  methodName,
  receiverOf,
  unparenthesized,
} from '../../semantic/statements.js';
import { isUnbound } from '../../semantic/variables.js';
import type { PyNode } from '../../syntax/node.js';

/**
 * `values` of `values[mask] = …`: a tensor that was made here without a graph, and of which nobody holds a view when that runs, so
 * that nothing but what is put into it by this name gives it one. Where that has none, it is the same with gradients on and off.
 */
export function plainBuffer(module: PyModule, target: PyNode): PyNode | undefined {
  const buffer = target.type === 'subscript' ? target.value : undefined;
  const scope = buffer?.type === 'identifier' ? module.resolve(buffer) : undefined;
  if (buffer === undefined || scope === undefined) return undefined;
  if (scope.kind !== 'function' && mayBeReadElsewhere(module, buffer.text)) return undefined;
  const made = reachingDefinitions(module, buffer) ?? [];
  const isMade = made.every(
    (each) => each.kind === 'value' && isOnlyTarget(each.node) && makesTensor(module, each.value),
  );
  if (made.length === 0 || !isMade) return undefined;
  const writes = made.map(({ node }) => node);
  const isFree = (use: PyNode): boolean =>
    use === buffer ||
    writes.includes(use) ||
    !mayLead(module, use, buffer, writes) ||
    isWrittenOrLeft(module, use);
  return module.occurrences(scope, buffer.text).every(isFree) ? buffer : undefined;
}

/** `torch.zeros(n)`, `x.new_zeros(n).to(device)`, `Variable(torch.zeros(n))`: memory that nobody else has, without a gradient. */
function makesTensor(module: PyModule, value: PyNode): boolean {
  const call = unparenthesized(value);
  if (call.type !== 'call') return false;
  const asked = keywordValue(call, 'requires_grad');
  if (asked !== undefined && asked.type !== 'false') return false;
  const path = calledPath(module, call);
  const [first, ...others] = argumentsOf(call);
  if (path !== undefined && VARIABLE.has(path))
    return (
      first !== undefined && others.every((each) => each === asked?.parent) && makesTensor(module, first)
    );
  if (path !== undefined) return isMaker(row(path));
  const name = methodName(call) ?? '';
  const receiver = receiverOf(call);
  const known = receiver === undefined || isRedefined(module, name) ? undefined : ofTensor(name);
  if (known === undefined || receiver === undefined) return false;
  // Moved or cast, it is the same tensor or another that nobody else has.
  return isMaker(known) || (known.gives === 'tensor' && !known.asksGraph && makesTensor(module, receiver));
}

function isMaker(known: ReturnType<typeof row>): boolean {
  return known?.makes !== undefined && known.graph === 'cut' && known.storage === 'new';
}

/** `values[i] = y`, `values.zero_()`, `values * 2`, `values.shape`: nobody holds the tensor, or a view of it, behind that. */
function isWrittenOrLeft(module: PyModule, use: PyNode): boolean {
  let at = use;
  while (at.parent?.type === 'subscript' && at.parent.value === at) at = at.parent;
  const { parent } = at;
  if (at !== use && isTarget(at, true)) return true;
  if (/^(?:binary|comparison|unary)_operator$/.test(parent?.type ?? '')) return true;
  if (parent?.type === 'attribute' && parent.object === at) {
    const name = parent.attribute?.text ?? '';
    const known = isRedefined(module, name) ? undefined : ofTensor(name);
    if (known === undefined || known.asksGraph) return false;
    if (known.storage === 'new' || /^(?:number|plain|array)$/.test(known.gives ?? '')) return true;
    return name.endsWith('_') && parent.parent?.parent?.type === 'expression_statement';
  }
  const call = parent?.type === 'argument_list' ? parent.parent : undefined;
  if (call === undefined) return false;
  const callee = call.function;
  if (callee?.type !== 'identifier' || !isUnbound(module, callee)) return false;
  return callee.text === 'print' || /^(?:number|plain)$/.test(builtin(callee.text)?.gives ?? '');
}
