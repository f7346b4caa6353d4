import { OPTIMIZERS } from '../../src/library/names.js';
import { isAnywhere } from '../../src/semantic/anywhere.js';
import { attributeUses, plainAttributes } from '../../src/semantic/attribute-uses.js';
import { classAround, classBehind } from '../../src/semantic/definitions.js';
import type { Elsewhere } from '../../src/semantic/elsewhere.js';
import { qualifiedName } from '../../src/semantic/imports.js';
import type { PyModule } from '../../src/semantic/module.js';
import { mayLead } from '../../src/semantic/paths.js';
import {
  argumentsOf,
  enclosingFunction,
  isCallee,
  keywordValue,
  methodName,
  statementOf,
} from '../../src/semantic/statements.js';
import { plainString } from '../../src/semantic/strings.js';
import { attributeUsesElsewhere, usesElsewhere } from '../../src/semantic/uses-elsewhere.js';
import type { PyNode } from '../../src/syntax/node.js';
import { definitionCalled, parameterGetting } from './called.js';
import { fateOf } from './fate.js';

/** A step of an optimizer of a network, and what clears the gradients that it reads. */
export interface Reader {
  readonly step: PyNode;
  readonly clears: readonly PyNode[];
}

/** The steps of all optimizers that have the parameters of a network; undefined where something else may read its gradients. */
export function readersOf(module: PyModule, network: PyNode): readonly Reader[] | undefined {
  const found: Reader[] = [];
  for (const doubt of fateOf(module, network).doubts) {
    if (doubt.answer !== 'no') continue;
    const readers = doubt.trainer?.module === module ? readersBy(module, doubt.trainer, network) : undefined;
    if (readers === undefined) return undefined;
    found.push(...readers);
  }
  return found;
}

/** The steps of the optimizers that are made with such parameters, where all that is done with these shows. */
function readersBy(
  module: PyModule,
  { node: parameters }: Elsewhere,
  network: PyNode,
): readonly Reader[] | undefined {
  const readers = optimizersOf(module, parameters, 0)?.map((each) => stepsOf(module, each, network));
  return readers?.every((each) => each !== undefined) ? readers.flat() : undefined;
}

/** The variables or attributes of the optimizers that get a value; undefined where something else may get it. */
function optimizersOf(module: PyModule, value: PyNode, hops: number): readonly PyNode[] | undefined {
  const assignment = statementOf(value).named[0];
  const target = assignment?.type === 'assignment' ? assignment.left : undefined;
  if (target === undefined || !assignment?.right?.contains(value)) return undefined;
  if (isMadeAt(module, target)) return [target];
  // `params = list(net.parameters())`
  const names = target.type === 'identifier' && hops < MAX_HOPS ? placesOf(module, target) : undefined;
  if (names?.writes.length !== 1 || names.reads.length === 0) return undefined;
  const found = names.reads.map((read) => optimizersOf(module, read, hops + 1));
  return found.every((each) => each !== undefined) ? found.flat() : undefined;
}

function stepsOf(module: PyModule, optimizer: PyNode, network: PyNode): readonly Reader[] | undefined {
  const places = placesOf(module, optimizer);
  if (places === undefined || !places.writes.every((write) => isMadeAt(module, write))) return undefined;
  const steps: PyNode[] = [];
  const clears: PyNode[] = [];
  for (const read of places.reads) {
    const call = calledOn(read);
    const name = call && methodName(call);
    if (call !== undefined && name === 'step' && argumentsOf(call).length === 0) steps.push(call);
    else if (call !== undefined && name === 'zero_grad' && dropsGradients(call)) clears.push(call);
    else if (!isHarmless(module, read, 0)) return undefined;
  }
  if (places.writes.length > 1 && !clears.every((each) => isStill(module, each, places.writes, optimizer)))
    return undefined;
  for (const { node, writes } of clearedBy(module, network))
    if (isStill(module, node, writes, optimizer)) clears.push(node);
  return steps.map((step) => ({ step, clears }));
}

/** What is cleared is what the optimizer was made with: nothing takes its place later, nor between a clearing and the step. */
function isStill(module: PyModule, clear: PyNode, writes: readonly PyNode[], optimizer: PyNode): boolean {
  const maker = enclosingFunction(optimizer);
  return writes.every(
    (write) =>
      enclosingFunction(write) === maker &&
      (enclosingFunction(clear) !== maker || !mayLead(module, clear, write)),
  );
}

/** `net.zero_grad()`, `self.net.zero_grad()`, with all that gives the variable a network. */
function clearedBy(
  module: PyModule,
  network: PyNode,
): readonly { readonly node: PyNode; readonly writes: readonly PyNode[] }[] {
  const owner = network.type === 'attribute' ? classBehind(module, network.object ?? network) : undefined;
  const scope = network.type === 'identifier' ? module.resolve(network) : undefined;
  const uses = owner === undefined ? [] : attributeUses(module, owner, network.attribute?.text ?? '');
  const own = uses.filter(({ node }) => node.object?.text === classAround(node)?.self);
  const reads = scope === undefined ? own.map(({ node }) => node) : module.reads(scope, network.text);
  const writes =
    scope === undefined
      ? uses.flatMap(({ node, kind }) => (kind === 'read' ? [] : [node]))
      : module.writes(scope, network.text);
  return reads.flatMap((read) => {
    const node = calledOn(read);
    return node !== undefined && methodName(node) === 'zero_grad' && dropsGradients(node)
      ? [{ node, writes }]
      : [];
  });
}

interface Places {
  readonly writes: readonly PyNode[];
  readonly reads: readonly PyNode[];
}

/** All places of a variable, or of an attribute that each object of the class sets and reads by `self`; undefined where more may be. */
function placesOf(module: PyModule, holder: PyNode): Places | undefined {
  const look = { may: () => true, byName: true };
  if (holder.type === 'identifier') {
    const scope = module.resolve(holder);
    if (scope === undefined) return undefined;
    const { uses, unread } = usesElsewhere(module, holder, { ...look, byName: false });
    if (uses.length > 0 || unread !== undefined) return undefined;
    return { writes: module.writes(scope, holder.text), reads: module.reads(scope, holder.text) };
  }
  const owner = holder.type === 'attribute' ? classBehind(module, holder.object ?? holder) : undefined;
  const name = holder.attribute?.text ?? '';
  if (owner === undefined || plainAttributes(module, owner, name).answer !== 'yes') return undefined;
  const { uses, unread } = attributeUsesElsewhere(module, owner, name, look);
  if (uses.length > 0 || unread !== undefined) return undefined;
  const here = attributeUses(module, owner, name);
  const isOwn = ({ node, kind }: (typeof here)[number]): boolean =>
    node.object?.text === classAround(node)?.self && /^(?:read|write)$/.test(kind);
  if (!here.every(isOwn)) return undefined;
  return {
    writes: here.flatMap(({ node, kind }) => (kind === 'write' ? [node] : [])),
    reads: here.flatMap(({ node, kind }) => (kind === 'read' ? [node] : [])),
  };
}

/** `optimizer = torch.optim.Adam(…)` */
function isMadeAt(module: PyModule, write: PyNode): boolean {
  const made =
    write.parent?.type === 'assignment' && write.parent.left === write ? write.parent.right : undefined;
  const path = made?.type === 'call' ? qualifiedName(module, made.function ?? made) : undefined;
  return path?.startsWith(OPTIMIZERS) === true && !path.startsWith(`${OPTIMIZERS}lr_scheduler`);
}

function calledOn(read: PyNode): PyNode | undefined {
  return read.parent?.type === 'attribute' && read.parent.object === read && isCallee(read.parent)
    ? read.parent.parent
    : undefined;
}

/** `zero_grad()`; what `set_to_none=False` leaves are zeros, which a step takes for gradients. */
function dropsGradients(call: PyNode): boolean {
  const given = argumentsOf(call);
  return given.length === 0 || (given.length === 1 && keywordValue(call, 'set_to_none')?.type === 'true');
}

const MAX_HOPS = 3;

/** The optimizer is saved, loaded, scheduled or shown; its gradients are not read. */
function isHarmless(module: PyModule, read: PyNode, hops: number): boolean {
  const { parent } = read;
  if (parent?.type === 'attribute' && parent.object === read) {
    const name = parent.attribute?.text ?? '';
    return isCallee(parent)
      ? /^(?:load_)?state_dict$/.test(name)
      : name === 'param_groups' && isSettings(module, parent);
  }
  const argument = parent?.type === 'keyword_argument' ? parent : read;
  const call = argument.parent?.type === 'argument_list' ? argument.parent.parent : undefined;
  const path = call && qualifiedName(module, call.function ?? call);
  if (path !== undefined && /^torch\.optim\.lr_scheduler\.[A-Z]\w*$/.test(path))
    return !isAnywhere(module, 'optimizer', asksAnother);
  const found = call === undefined || hops > MAX_HOPS ? undefined : definitionCalled(module, call);
  const parameter = found && call && parameterGetting(found, module, read, call);
  if (found?.node.type !== 'function_definition' || parameter === undefined) return false;
  const scope = found.module.scopeOf(found.node);
  return (
    found.module.writes(scope, parameter.text).length === 1 &&
    found.module.reads(scope, parameter.text).every((each) => isHarmless(found.module, each, hops + 1))
  );
}

/** `scheduler.optimizer`: of another object than the own one. */
function asksAnother(alone: PyModule, word: string): boolean {
  return alone.words(`.${word}`).some((node) => {
    const object = node.parent?.attribute === node ? node.parent.object : undefined;
    return object !== undefined && object.text !== classAround(node)?.self;
  });
}

/** `optimizer.param_groups[0]["lr"]`, `for group in optimizer.param_groups: group["lr"] = rate`. */
function isSettings(module: PyModule, groups: PyNode): boolean {
  const { parent } = groups;
  if (parent?.type === 'subscript' && parent.value === groups) return isSetting(parent);
  const target = parent?.type === 'for_statement' && parent.right === groups ? parent.left : undefined;
  const scope = target?.type === 'identifier' ? module.resolve(target) : undefined;
  return (
    target !== undefined &&
    scope !== undefined &&
    module.writes(scope, target.text).length === 1 &&
    module.reads(scope, target.text).every(isSetting)
  );
}

function isSetting(group: PyNode): boolean {
  const { parent } = group;
  const key = parent?.type === 'subscript' && parent.value === group ? parent.subscript : undefined;
  const name = key && plainString(key);
  return name !== undefined && name !== 'params';
}
