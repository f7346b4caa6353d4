import { LIGHTNING } from '../../src/library/names.js';
import { isNamedAnywhere } from '../../src/semantic/anywhere.js';
import { READS_NAMES } from '../../src/semantic/by-text.js';
import { ancestryOf } from '../../src/semantic/definitions.js';
import type { PyModule } from '../../src/semantic/module.js';
import { mayLead } from '../../src/semantic/paths.js';
import { functionsNamed } from '../../src/semantic/project-names.js';
import {
  argumentsOf,
  enclosingClass,
  enclosingFunction,
  isCallee,
  isOnlyTarget,
  isTarget,
  methodName,
  ownNodes,
  receiverOf,
  statementOf,
} from '../../src/semantic/statements.js';
import { isTestCode } from '../../src/semantic/test-code.js';
import { isOneFunction } from '../../src/syntax/code-text.js';
import type { PyNode } from '../../src/syntax/node.js';
import { backwards } from '../../src/torch/grad/backward-calls.js';
import { doubtsAbout, keptOf } from '../../src/torch/grad/doubts.js';
import { type Evaluation, evaluations } from '../../src/torch/grad/evaluation.js';
import { NUMBERS, once } from '../../src/torch/grad/numeric-cues.js';
import { mayRunHere, networkRunBy, numericRunsIn } from '../../src/torch/grad/numeric-runs.js';
import { isCalledByTraining } from '../../src/torch/grad/roles.js';
import { isDifferentiatedAround, isInTraining, networksIn } from '../../src/torch/grad/teachers.js';
import { walks } from '../../src/torch/grad/walks.js';
import type { GradlessPart } from '../../src/torch/record/left-behind.js';
import { gradUseIn, gradUses, reachesGradUse } from '../../src/values/effects/grad.js';
import { isGradOff, switchesGradOff } from '../../src/values/effects/mode.js';
import { effectsOf } from '../../src/values/index.js';
import { plainBuffer } from '../../src/values/value/plain-buffer.js';
import { GradTrace } from '../../src/values/value/trace.js';
import { doubtsAboutBlock, evaluationBlocks, isProven, lacksDecorator } from './block.js';
import { flaggedParts } from './flag.js';
import { callTest, mayKeepOutput } from './kept-output.js';
import { isAssignment, isContainer, partsOf, type Run } from './rows.js';
import { mayRunNetwork, networkRunThrough } from './run-through.js';

/**
 * Statements that run a network in code that trains, in whichever mode, where nothing is done with the results but to read
 * them: predictions after the training, actions, old probabilities, targets that are detached.
 */
export function numericBlocks(module: PyModule): readonly GradlessPart[] {
  if (switchesGradOff(module)) return [];
  const owners = new Set<PyNode>();
  const [mayKeep, mayCall] = [
    module.glimpse.memo(mayKeepOutput),
    callTest(module.glimpse, mayRunHere(module)),
  ];
  const isPassedOver = (code: string) =>
    IN_OTHER_HANDS.test(code) && isOneFunction(code) && !mayTrain(module) && !CUTS.test(code);
  const isWanted = once((code) => mayKeep(code) && !isPassedOver(code) && mayCall(code));
  for (const literal of NUMBERS)
    for (const node of module.atWhere(literal, isWanted)) owners.add(enclosingFunction(node) ?? module.root);
  return [...owners].flatMap((owner) => {
    if (isTestCode(module, owner)) return [];
    const calls = callsOf(module, owner);
    // Most run none: that shows sooner than what becomes of their results.
    if (!calls.some((call) => networkRunBy(module, call) ?? networkRunThrough(module, call))) return [];
    if (isOurs(module, owner)) return blocksOf(module, owner, calls);
    if (owner.name?.text === 'forward' && CUTS.test(module.codeOf(owner)) && !isNamedAnywhere(module, 'jit'))
      return blocksOf(module, owner, calls).filter((part) => isProven(module, part));
    if (!mayBeBetter(module, owner)) return [];
    const blocks = blocksOf(module, owner, calls);
    if (blocks.length > 0 && !isForDecorator(module, owner)) return blocks;
    // Where a decorator hangs on the same questions, it is the shorter answer.
    const proven = blocks.filter((part) => isProven(module, part));
    return proven.length === 0 || isDecorated(module, owner) ? [] : proven;
  });
}

/** Whoever runs the network, or makes the object, decides about the grad mode of these, unless they differentiate themselves. */
const IN_OTHER_HANDS = /^(?:@.*\s*)*(?:async[ \t]+)?def[ \t]+(?:forward|__init__)\b/;

/** A forward that throws away the graph of a part of it. */
const CUTS = /\.(?:detach[\s\\]*\(|data(?!\w))/;

/** The file differentiates somewhere. */
function mayTrain(module: PyModule): boolean {
  return gradUses(module).length > 0 || backwards(module).length > 0;
}

/** Code that trains: the rest is the business of a decorator first. */
export function isOurs(module: PyModule, owner: PyNode): boolean {
  if (owner === module.root) return true;
  if (effectsOf(module, owner).isGradOff) return false;
  if (reachesGradUse(module, owner) || isTrainingHook(module, owner)) return true;
  if (!isInTraining(module, owner)) return false;
  if (evaluations(module).some(({ functionNode }) => functionNode === owner)) return false;
  const runs = runsIn(module, owner);
  return runs.length === 0 || keptOf(module, owner, runs) !== 'numbers';
}

/** Hooks that Lightning runs with gradients on. */
const TRAINING_HOOK =
  /^(?:training_(?:step|step_end|epoch_end)|on_(?:train|fit|epoch|batch|before|after)_\w+|optimizer_\w+)$/;

/** A hook of Lightning that is part of the training: a sample that it draws for a picture records its graph. */
function isTrainingHook(module: PyModule, functionNode: PyNode): boolean {
  const classNode = enclosingClass(functionNode);
  if (classNode === undefined || !TRAINING_HOOK.test(functionNode.name?.text ?? '')) return false;
  return ancestryOf(module, classNode).imported.some((base) => LIGHTNING.test(base));
}

/** A function that may do more than a decorator is proven to allow, and whose grad mode nobody else decides about. */
function mayBeBetter(module: PyModule, owner: PyNode): boolean {
  return !effectsOf(module, owner).isGradOff && !isCalledByTraining(module, owner);
}

/** A decorator is offered for the whole function, or would be but for what it leaves. */
function isForDecorator(module: PyModule, owner: PyNode): boolean {
  if (lacksDecorator(module)) return false;
  if (walks(module).some(({ functionNode }) => functionNode === owner)) return true;
  const runs = runsIn(module, owner);
  return runs.length > 0 && (runs.some(({ evals }) => evals.length > 0) || isReadOnly(module, owner, runs));
}

function isReadOnly(module: PyModule, owner: PyNode, runs: readonly Evaluation[]): boolean {
  const kept = keptOf(module, owner, runs);
  return kept === 'numbers' || (kept === 'unknown' && !isInTraining(module, owner));
}

/** The whole function is proven to need no gradients, or asks nothing that its part would not. */
function isDecorated(module: PyModule, owner: PyNode): boolean {
  const runs = runsIn(module, owner);
  if (runs.length === 0 || lacksDecorator(module)) return false;
  for (const _doubt of doubtsAbout(module, owner, runs)) return false;
  return true;
}

function runsIn(module: PyModule, owner: PyNode): readonly Evaluation[] {
  const isHere = ({ functionNode }: Evaluation) => functionNode === owner;
  const evaluated = evaluations(module).filter(isHere);
  return evaluated.length > 0 ? evaluated : numericRunsIn(module, owner);
}

/** The statements of an evaluation that run networks, where all of them are proven to need no gradients, and the whole is not. */
export function provenParts(module: PyModule, block: GradlessPart): readonly GradlessPart[] {
  const { owner, wrapped } = block;
  if (isProven(module, block) || !mayBeWhole(module)(block)) return [];
  const isInside = (node: PyNode) => wrapped.some((each) => each.contains(node));
  const parts = blocksOf(module, owner, callsOf(module, owner).filter(isInside), true);
  const isLeftOut = (node: PyNode) =>
    node.type === 'call' &&
    (networkRunBy(module, node) ?? networkRunThrough(module, node)) !== undefined &&
    !isGradOff(module, node) &&
    !parts.some((part) => part.wrapped.some((each) => each.contains(node)));
  if (parts.length === 0 || wrapped.some((each) => [...each.walk()].some(isLeftOut))) return [];
  return parts.every((part) => isProven(module, part)) ? parts : [];
}

function blocksOf(
  module: PyModule,
  owner: PyNode,
  calls: readonly PyNode[],
  isTakenApart = false,
): readonly GradlessPart[] {
  if (owner === module.root && READS_NAMES.test(module.code)) return [];
  const found = new Map<PyNode, PyNode[]>();
  for (const call of calls) {
    const model = networkRunBy(module, call) ?? runThrough(module, owner, call);
    if (model === undefined || isGradOff(module, call)) continue;
    const statement = statementOf(call);
    if (!mayStandAlone(module, owner, statement, model)) continue;
    if (!isTakenApart && isTaken(module, statement)) continue;
    const known = found.get(statement) ?? [];
    if (!known.some(({ text }) => text === model.text)) found.set(statement, [...known, model]);
  }
  if (found.size === 0) return [];
  const { teachers } = networksIn(module);
  // Networks that nobody trains, beside a backward, are followed by another transform.
  const isTeachers = ({ statement, models }: Run): boolean =>
    models.every(({ text }) => teachers.has(text)) && isDifferentiatedAround(module, statement);
  const runs = [...found]
    .map(([statement, models]) => ({ statement, models }))
    .filter((run) => isTakenApart || !isTeachers(run))
    .filter(({ statement }) => gradUseIn(module, statement) === undefined);
  return partsOf(module, owner, runs);
}

/** It goes under a `with` for another reason. */
export function isTaken(module: PyModule, statement: PyNode): boolean {
  return module.memo(findTaken, module).some((each) => each.contains(statement));
}

function findTaken(module: PyModule): readonly PyNode[] {
  const blocks = evaluationBlocks(module).filter(mayBeWhole(module));
  return [...blocks, ...flaggedParts(module)].flatMap(({ wrapped }) => wrapped);
}

/** The network that a function of the file runs, where what it hands back has a graph: else it keeps that to itself. */
function runThrough(module: PyModule, owner: PyNode, call: PyNode): PyNode | undefined {
  const model = networkRunThrough(module, call);
  if (model === undefined) return undefined;
  return new GradTrace(module, owner, new Set([model.text])).of(call) === 'graph' ? model : undefined;
}

/** Nothing inside needs gradients: else its parts are looked at one by one, such as what an attack stands beside. */
function mayBeWhole(module: PyModule): (block: GradlessPart) => boolean {
  return (block) => {
    for (const { answer } of doubtsAboutBlock(module, block)) if (answer === 'no') return false;
    return true;
  };
}

/** The calls that the code of a function, or of a script, makes itself, and that may run a network in such a statement. */
function callsOf(module: PyModule, owner: PyNode): readonly PyNode[] {
  const nodes =
    owner === module.root
      ? [...owner.walk(({ type }) => !/_definition$|^lambda$/.test(type))]
      : [...ownNodes(owner)];
  return nodes.filter(
    (node) =>
      node.type === 'call' &&
      mayRunNetwork(module, node) &&
      mayBeAlone(statementOf(node)) &&
      node.closest('lambda') === undefined,
  );
}

/** An assignment, or a call that appends: known before it is asked what runs there. */
function mayBeAlone(statement: PyNode): boolean {
  const [only, ...others] = statement.type === 'expression_statement' ? statement.named : [];
  if (only === undefined || others.length > 0) return false;
  return only.type === 'assignment' || methodName(only) === 'append';
}

/** Such an assignment, or one to anywhere of what has no graph in either mode: `self.targets[i] = net(x).data`, `values[mask] = net(x).data`. */
function mayStandAlone(module: PyModule, owner: PyNode, statement: PyNode, model: PyNode): boolean {
  if (isAssignment(statement)) return true;
  const [assignment, ...others] = statement.type === 'expression_statement' ? statement.named : [];
  if (assignment?.type === 'call' && others.length === 0)
    return isPlainAppend(module, assignment, new GradTrace(module, owner, new Set([model.text])));
  const value = assignment?.type === 'assignment' ? assignment.right : undefined;
  if (value === undefined || value.type === 'assignment' || others.length > 0) return false;
  const target = assignment?.left;
  if (target === undefined || [...value.walk()].some(({ type }) => type === 'yield' || type === 'await'))
    return false;
  const trace = new GradTrace(module, owner, new Set([model.text]));
  const buffer = plainBuffer(module, target);
  // Whoever reads it is looked at, like those who read a name.
  if (trace.of(value) !== 'plain') return buffer !== undefined || isOwnContainer(module, owner, target);
  return buffer === undefined ? isRebound(module, target) : trace.of(buffer) === 'plain';
}

/** `found[name] = …`, of a list or dictionary of the function that nothing else holds when that runs. */
function isOwnContainer(module: PyModule, owner: PyNode, target: PyNode): boolean {
  const holder = target.type === 'subscript' ? target.value : undefined;
  if (holder?.type !== 'identifier' || owner === module.root || !isContainer(module, holder)) return false;
  const scope = module.scopeOf(owner);
  if (module.resolve(holder) !== scope) return false;
  return module.occurrences(scope, holder.text).every((use) => {
    if (enclosingFunction(use) !== owner) return false;
    const { parent } = use;
    if (isTarget(use)) return isOnlyTarget(use);
    if (!mayLead(module, use, holder)) return true;
    if (parent?.type === 'subscript' && parent.value === use) return true;
    const call = parent?.type === 'attribute' && isCallee(parent) ? parent.parent : undefined;
    const around = call?.parent;
    // What `values()` gives shows what is put in later.
    const isPassed = /^for_(?:statement|in_clause)$/.test(around?.type ?? '') && around?.right === call;
    return call !== undefined && (isPassed || around?.type === 'expression_statement');
  });
}

/** `features.append(net(x).detach())`, to a list of the function. */
function isPlainAppend(module: PyModule, call: PyNode, trace: GradTrace): boolean {
  const [value, ...others] = argumentsOf(call);
  const list = methodName(call) === 'append' ? receiverOf(call) : undefined;
  if (list === undefined || value === undefined || others.length > 0 || trace.of(value) !== 'plain')
    return false;
  if ([...value.walk()].some(({ type }) => type === 'yield' || type === 'await')) return false;
  return list.type === 'identifier' && isContainer(module, list);
}

/** An attribute, or an item of a list or dictionary: an element of a tensor would be written into its graph. */
function isRebound(module: PyModule, target: PyNode): boolean {
  if (target.type === 'attribute')
    // A setter would run without gradients, too.
    return [target.attribute?.text ?? '', '__setattr__'].every(
      (name) => functionsNamed(module, name)?.length === 0,
    );
  const holder = target.type === 'subscript' ? target.value : undefined;
  return holder !== undefined && isContainer(module, holder);
}
