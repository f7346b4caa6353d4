import { attributeUses } from '../../src/semantic/attribute-uses.js';
import { calledDefinition, classAround, classBehind } from '../../src/semantic/definitions.js';
import type { Elsewhere } from '../../src/semantic/elsewhere.js';
import { callOf, functionUses } from '../../src/semantic/function-uses.js';
import { hasStarImport } from '../../src/semantic/imports.js';
import type { PyModule } from '../../src/semantic/module.js';
import { mayLead } from '../../src/semantic/paths.js';
import { allPlacesOf, type Places } from '../../src/semantic/places.js';
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
import type { PyNode } from '../../src/syntax/node.js';
import { definitionsRun } from '../../src/values/value/called.js';
import { fateOf } from './fate.js';
import { isMadeAt, leavesParameters } from './optimizer-uses.js';

/** A step of an optimizer of a network, and what clears the gradients that it reads. */
export interface Reader {
  readonly step: PyNode;
  readonly clears: readonly PyNode[];
}

/** The steps of all optimizers that have the parameters of a network; undefined where something else may read its gradients. */
export function readersOf(module: PyModule, network: PyNode): readonly Reader[] | undefined {
  const found: Reader[] = [];
  const fate = fateOf(module, network);
  for (const doubt of fate.doubts) {
    if (doubt.answer !== 'no') continue;
    const own = fate.own.find(({ trainer }) => trainer === doubt.trainer);
    const readers =
      own !== undefined
        ? readersOfOwn(module, own.uses, network)
        : doubt.trainer?.module === module
          ? readersBy(module, doubt.trainer, network)
          : undefined;
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

/** `net.optimizer.step()`, of the optimizer that a network has of its own parameters. */
function readersOfOwn(
  module: PyModule,
  uses: readonly Elsewhere[],
  network: PyNode,
): readonly Reader[] | undefined {
  const optimizers = uses.flatMap((each) => (each.module === module ? [each.node] : []));
  const done = optimizers.length < uses.length ? undefined : doneWith(module, optimizers);
  const { writes } = placesOf(module, network);
  return done && readersClearedBy(module, done, network, writes, writes[0] ?? network);
}

function stepsOf(module: PyModule, optimizer: PyNode, network: PyNode): readonly Reader[] | undefined {
  const places = allPlacesOf(module, optimizer);
  if (places === undefined || !places.writes.every((write) => isMadeAt(module, write))) return undefined;
  const done = doneWith(module, places.reads);
  return done && readersClearedBy(module, done, network, places.writes, optimizer);
}

interface Done {
  readonly steps: readonly PyNode[];
  readonly clears: readonly PyNode[];
}

/** The steps and the clearings of an optimizer, by the places where it stands; undefined where something else is done with it. */
function doneWith(module: PyModule, places: readonly PyNode[]): Done | undefined {
  const steps: PyNode[] = [];
  const clears: PyNode[] = [];
  for (const place of places) {
    const call = calledOn(place);
    const name = call && methodName(call);
    if (call !== undefined && name === 'step' && argumentsOf(call).length === 0) steps.push(call);
    else if (call !== undefined && name === 'zero_grad' && dropsGradients(call))
      clears.push(call, ...callsOfClearing(module, call));
    else if (!leavesParameters(module, place)) return undefined;
  }
  return { steps, clears };
}

/** `writes`: what gives the holder of the optimizer another. */
function readersClearedBy(
  module: PyModule,
  { steps, clears }: Done,
  network: PyNode,
  writes: readonly PyNode[],
  holder: PyNode,
): readonly Reader[] | undefined {
  if (writes.length > 1 && !clears.every((each) => isStill(module, each, writes, holder))) return undefined;
  const own = placesOf(module, network);
  const byNetwork = own.reads
    .flatMap((read) => clearedAt(module, read))
    .filter((each) => isStill(module, each, own.writes, holder));
  const all = [...clears, ...byNetwork];
  return steps.map((step) => ({ step, clears: all }));
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

/** `net.zero_grad()`, `self.net.zero_grad()`, and the calls of a function that does nothing else. */
function clearedAt(module: PyModule, network: PyNode): readonly PyNode[] {
  const call = calledOn(network);
  return call !== undefined && methodName(call) === 'zero_grad' && dropsGradients(call)
    ? [call, ...callsOfClearing(module, call)]
    : [];
}

/** Of a variable, or of an attribute by `self`. */
function placesOf(module: PyModule, network: PyNode): Places {
  const owner = network.type === 'attribute' ? classBehind(module, network.object ?? network) : undefined;
  const scope = network.type === 'identifier' ? module.resolve(network) : undefined;
  if (scope !== undefined)
    return { reads: module.reads(scope, network.text), writes: module.writes(scope, network.text) };
  const uses = owner === undefined ? [] : attributeUses(module, owner, network.attribute?.text ?? '');
  const own = uses.filter(({ node }) => node.object?.text === classAround(node)?.self);
  return {
    reads: own.map(({ node }) => node),
    writes: uses.flatMap(({ node, kind }) => (kind === 'read' ? [] : [node])),
  };
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

/** `params = list(net.parameters())`: how many such variables are followed. */
const MAX_HOPS = 3;
