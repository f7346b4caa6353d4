import { builtin, ofTensor, row } from '../../library/library.js';
import { VARIABLE } from '../../library/names.js';
import type { Elsewhere } from '../../semantic/elsewhere.js';
import { type Definition, reachingDefinitions } from '../../semantic/flow.js';
import { calledPath } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { argumentsByParameter } from '../../semantic/parameters.js';
import { mayLead } from '../../semantic/paths.js';
import { isRedefined, mayBeReadElsewhere } from '../../semantic/project-names.js';
import { alwaysReturns, givesReturned, returnsOf } from '../../semantic/returns.js';
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
import { calledBy } from './called.js';

/**
 * `values` of `values[mask] = …`: a tensor that was made here without a graph, and of which nobody holds a view when that runs, so
 * that nothing but what is put into it by this name gives it one. Where that has none, it is the same with gradients on and off.
 */
export function plainBuffer(module: PyModule, target: PyNode): PyNode | undefined {
  const buffer = target.type === 'subscript' ? target.value : undefined;
  return buffer?.type === 'identifier' && isOwnTensor(module, buffer) ? buffer : undefined;
}

/** A tensor that was made without a graph by this expression, or here and given to this variable, of which nobody holds a view. */
export function isMadeWithoutGraph(module: PyModule, expression: PyNode | undefined): boolean {
  const value = expression && unparenthesized(expression);
  if (value === undefined) return false;
  return value.type === 'identifier' ? isOwnTensor(module, value) : makesTensor(module, value);
}

function isOwnTensor(module: PyModule, read: PyNode): boolean {
  const scope = module.resolve(read);
  if (scope === undefined) return false;
  if (scope.kind !== 'function' && mayBeReadElsewhere(module, read.text)) return false;
  const made: Made = { origins: [], passed: [] };
  if (!isMadeHere(module, read, made, new Set(), isFresh)) return false;
  const isFree = (use: PyNode): boolean =>
    use === read ||
    made.origins.includes(use) ||
    made.passed.includes(use) ||
    !mayLead(module, use, read, made.origins) ||
    isWrittenOrLeft(module, use);
  return module.occurrences(scope, read.text).every(isFree);
}

/** Where a variable got its memory, and the places that only hand that on to the same variable. */
interface Made {
  readonly origins: PyNode[];
  readonly passed: PyNode[];
}

/** Every definition that a read may see makes the tensor, or moves what the variable has: `values = values.to(device)`. */
function isMadeHere(
  module: PyModule,
  read: PyNode,
  made: Made,
  seen: Set<PyNode>,
  isOrigin: (module: PyModule, definition: Definition) => boolean,
): boolean {
  const definitions = reachingDefinitions(module, read) ?? [];
  return (
    definitions.length > 0 &&
    definitions.every((each) => {
      if (seen.has(each.node)) return true;
      seen.add(each.node);
      if (isOrigin(module, each)) return made.origins.push(each.node) > 0;
      if (each.kind !== 'value' || !isOnlyTarget(each.node)) return false;
      const passed = passedOn(module, each.value, read.text);
      made.passed.push(each.node, ...(passed ?? []));
      return passed?.every((at) => isMadeHere(module, at, made, seen, isOrigin)) === true;
    })
  );
}

function isFresh(module: PyModule, definition: Definition): boolean {
  return (
    definition.kind === 'value' && isOnlyTarget(definition.node) && makesTensor(module, definition.value)
  );
}

/** `values` of `values.to(device)`, `values.cuda() if on_gpu else values` and `moved(values)`; undefined where it gives something else. */
function passedOn(module: PyModule, value: PyNode, name: string): readonly PyNode[] | undefined {
  const node = unparenthesized(value);
  if (node.type === 'identifier') return node.text === name ? [node] : undefined;
  if (node.type === 'conditional_expression') {
    const [one, , other] = node.named.map((each) => passedOn(module, each, name));
    return one && other && [...one, ...other];
  }
  if (node.type !== 'call') return undefined;
  const receiver = receiverOf(node);
  const method = methodName(node) ?? '';
  const known = receiver === undefined || isRedefined(module, method) ? undefined : ofTensor(method);
  if (receiver !== undefined && known?.gives === 'tensor' && !known.asksGraph)
    return passedOn(module, receiver, name);
  const given = handedBack(module, node);
  return given === undefined ? undefined : passedOn(module, given, name);
}

/** What a function of the project is given, and hands back, moved at most: `to_gpu(values)`. */
function handedBack(module: PyModule, call: PyNode): PyNode | undefined {
  const [found, ...others] = calledBy(module, call)?.functions ?? [];
  if (found === undefined || others.length > 0 || !givesReturned(found.node)) return undefined;
  const given = [...(argumentsByParameter(found.module, found.node, call) ?? [])];
  const returned = returnsOf(found.node);
  if (!alwaysReturns(found.node.body ?? found.node)) return undefined;
  return given.find(([parameter]) =>
    returned.every((each) => each && isHandedOn(found, each, parameter)),
  )?.[1];
}

function isHandedOn({ module, node }: Elsewhere, returned: PyNode, parameter: string): boolean {
  const made: Made = { origins: [], passed: [...(passedOn(module, returned, parameter) ?? [])] };
  const scope = module.scopeOf(node);
  const isGiven = (_module: PyModule, { kind }: Definition): boolean => kind === 'parameter';
  const isSame = made.passed.every((at) => isMadeHere(module, at, made, new Set(), isGiven));
  const isFree = (use: PyNode): boolean =>
    made.origins.includes(use) || made.passed.includes(use) || isWrittenOrLeft(module, use);
  return made.passed.length > 0 && isSame && module.occurrences(scope, parameter).every(isFree);
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
    const known = isRedefined(module, name) || isTarget(parent, true) ? undefined : ofTensor(name);
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
