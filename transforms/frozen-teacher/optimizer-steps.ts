import { OPTIMIZERS } from '../../src/library/names.js';
import { isAnywhere } from '../../src/semantic/anywhere.js';
import { attributeUses } from '../../src/semantic/attribute-uses.js';
import { calledDefinition, classAround, classBehind } from '../../src/semantic/definitions.js';
import type { Elsewhere } from '../../src/semantic/elsewhere.js';
import { callOf, functionUses } from '../../src/semantic/function-uses.js';
import { hasStarImport, qualifiedName } from '../../src/semantic/imports.js';
import type { PyModule } from '../../src/semantic/module.js';
import { mayLead } from '../../src/semantic/paths.js';
import { allPlacesOf } from '../../src/semantic/places.js';
import { replacedByName } from '../../src/semantic/replaced.js';
import { mayReplaceAny } from '../../src/semantic/setters.js';
import {
  argumentsOf,
  decoratorsOf,
  enclosingFunction,
  isAsync,
  isCallee,
  isPlainPath,
  keywordValue,
  methodName,
  statementOf,
} from '../../src/semantic/statements.js';
import { plainString } from '../../src/semantic/strings.js';
import type { PyNode } from '../../src/syntax/node.js';
import { definitionsRun } from '../../src/values/value/called.js';
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
  const names = hops < MAX_HOPS ? allPlacesOf(module, target) : undefined;
  if (names?.writes.length !== 1 || names.reads.length === 0) return undefined;
  const found = names.reads.map((read) => optimizersOf(module, read, hops + 1));
  return found.every((each) => each !== undefined) ? found.flat() : undefined;
}

function stepsOf(module: PyModule, optimizer: PyNode, network: PyNode): readonly Reader[] | undefined {
  const places = allPlacesOf(module, optimizer);
  if (places === undefined || !places.writes.every((write) => isMadeAt(module, write))) return undefined;
  const steps: PyNode[] = [];
  const clears: PyNode[] = [];
  for (const read of places.reads) {
    const call = calledOn(read);
    const name = call && methodName(call);
    if (call !== undefined && name === 'step' && argumentsOf(call).length === 0) steps.push(call);
    else if (call !== undefined && name === 'zero_grad' && dropsGradients(call))
      clears.push(call, ...callsOfClearing(module, call));
    else if (!isHarmless(module, read, 0)) return undefined;
  }
  if (places.writes.length > 1 && !clears.every((each) => isStill(module, each, places.writes, optimizer)))
    return undefined;
  for (const { node, writes } of clearedBy(module, network))
    for (const each of [node, ...callsOfClearing(module, node)])
      if (isStill(module, each, writes, optimizer)) clears.push(each);
  return steps.map((step) => ({ step, clears }));
}

/** `self.reset_grad()`: the calls of the function around a clearing, where that does nothing but clear. */
function callsOfClearing(module: PyModule, clear: PyNode): readonly PyNode[] {
  const owner = enclosingFunction(clear);
  const statements = owner?.body?.named ?? [];
  const isPlain =
    owner !== undefined &&
    decoratorsOf(owner).length === 0 &&
    !isAsync(owner) &&
    statements.includes(statementOf(clear)) &&
    statements.every(({ type, named: [only, ...others] }) => {
      if (type === 'comment') return true;
      if (type !== 'expression_statement' || only === undefined || others.length > 0) return false;
      const isClear = only.type === 'call' && methodName(only) === 'zero_grad' && dropsGradients(only);
      return only.type === 'string' || (isClear && isPlainPath(only.function ?? only));
    });
  if (!isPlain || mayReplaceAny(module) || replacedByName(module, owner.name?.text ?? '') !== undefined)
    return [];
  return functionUses(module, owner).flatMap((use) => {
    const call = callOf(use);
    const runs = call && definitionsRun(module, call, owner);
    // Of the same object, or by its one name.
    const isSame =
      use.parent?.attribute === use
        ? use.parent.object?.text === classAround(use)?.self
        : calledDefinition(module, call ?? use) === owner && !hasStarImport(module);
    return call !== undefined && isSame && runs?.length === 1 ? [call] : [];
  });
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
    module.writes(scope, target.text).every(({ parent: loop }) => loop?.type === 'for_statement') &&
    module.reads(scope, target.text).every(isSetting)
  );
}

function isSetting(group: PyNode): boolean {
  const { parent } = group;
  const key = parent?.type === 'subscript' && parent.value === group ? parent.subscript : undefined;
  const name = key && plainString(key);
  return name !== undefined && name !== 'params';
}
