import { ofTensor } from '../../src/library/library.js';
import { makerOf } from '../../src/semantic/elsewhere.js';
import { reachingDefinitions, readsReached } from '../../src/semantic/flow.js';
import { readerOfVariables } from '../../src/semantic/liveness.js';
import type { PyModule } from '../../src/semantic/module.js';
import { binds, roleOf } from '../../src/semantic/names.js';
import { mayBeReadElsewhere } from '../../src/semantic/project-names.js';
import { ask } from '../../src/semantic/question.js';
import {
  contextManagers,
  enclosingFunction,
  enclosingWiths,
  isAsync,
  methodName,
  receiverOf,
  statementOf,
} from '../../src/semantic/statements.js';
import { isTestCode } from '../../src/semantic/test-code.js';
import type { PyNode } from '../../src/syntax/node.js';
import { within } from '../../src/syntax/within.js';
import { LR_SCHEDULERS } from '../../src/torch/catalog-modules.js';
import { ONLY_READ, shown } from '../../src/torch/gate.js';
import { callersElsewhere, partReturned } from '../../src/torch/grad/callers.js';
import { suspicionsOf, trainingCallReached } from '../../src/torch/grad/calls.js';
import {
  doubtsAboutNetwork,
  type GradDoubt,
  measuresOther,
  no,
  unknown,
} from '../../src/torch/grad/doubts.js';
import { differentiatingModuleAround } from '../../src/torch/grad/elsewhere.js';
import { escapesOf } from '../../src/torch/grad/escapes.js';
import { isFrozen, networkOf, SWITCHES, switchesToEvaluation } from '../../src/torch/grad/evaluation.js';
import { asksForGraph, measuredMemory } from '../../src/torch/grad/forward.js';
import { gradUseIn, gradUseReached } from '../../src/torch/grad/grad.js';
import {
  differentiates,
  differentiatingReader,
  entersGradOff,
  isGradOff,
  onlyRunsGradOff,
  switchesGradOff,
} from '../../src/torch/grad/mode.js';
import { valuesPutInto } from '../../src/torch/grad/parts.js';
import { isCalledByTraining, isTrainingByName } from '../../src/torch/grad/roles.js';
import { isPartInFile, isPartInProject, runsNetwork } from '../../src/torch/grad/runs.js';
import { GradTrace } from '../../src/torch/grad/trace.js';
import { differentiatesWhenIterated, suspectInWords } from '../../src/torch/grad/unknown-code.js';
import { isReport } from '../../src/torch/record/loss-use.js';

/** Statements in a row behind `model.eval()` that run the model with gradients on, in code that trains elsewhere. */
export interface EvaluationBlock {
  /** What is put under the `with`. */
  readonly wrapped: readonly PyNode[];
  /** What then runs without gradients: all of it, or what no flag keeps for training. */
  readonly statements: readonly PyNode[];
  /** The function around them, or the module. */
  readonly owner: PyNode;
  /** The networks in evaluation mode that they run. */
  readonly models: readonly PyNode[];
}

export function evaluationBlocks(module: PyModule): readonly EvaluationBlock[] {
  if (switchesGradOff(module)) return [];
  const found = new Map<PyNode, PyNode[]>();
  for (const node of SWITCHES.flatMap((literal) => module.at(literal))) {
    const call = node.parent?.parent;
    if (call?.type !== 'call' || !switchesToEvaluation(call)) continue;
    const model = networkOf(call);
    if (model === undefined) continue;
    for (const statement of statementsBehind(module, statementOf(call), model.text)) {
      const known = found.get(statement) ?? [];
      if (!known.some(({ text }) => text === model.text)) found.set(statement, [...known, model]);
    }
  }
  return inRows(found).flatMap((run) => {
    const owner = enclosingFunction(run.statements[0]) ?? module.root;
    const block = { ...run, wrapped: run.statements, owner };
    return isOurs(module, block) ? [block] : [];
  });
}

/** Those that stand one below the other go under one `with`. */
function inRows(found: ReadonlyMap<PyNode, readonly PyNode[]>) {
  const rows: { statements: [PyNode, ...PyNode[]]; models: readonly PyNode[] }[] = [];
  for (const [statement, models] of [...found].sort(([a], [b]) => a.start - b.start)) {
    const row = rows.at(-1);
    const last = row?.statements.at(-1);
    const siblings = statement.parent?.named ?? [];
    if (row !== undefined && last !== undefined && siblings[siblings.indexOf(statement) - 1] === last) {
      row.statements.push(statement);
      row.models = [
        ...row.models,
        ...models.filter(({ text }) => row.models.every((each) => each.text !== text)),
      ];
    } else rows.push({ statements: [statement], models });
  }
  return rows;
}

/** A statement that can stand under `with` as it is, and leaves the block by no other way. */
const WRAPPED = /^(?:for_statement|expression_statement)$/;

/** The statements of the same block between this `eval()` and the next `train()` that run the network. */
function statementsBehind(module: PyModule, evaluation: PyNode, model: string): readonly PyNode[] {
  const siblings = evaluation.parent?.named ?? [];
  const found: PyNode[] = [];
  for (const statement of siblings.slice(siblings.indexOf(evaluation) + 1)) {
    const calls = [...ownCalls(statement)];
    // Outside a loop, only what is surely a forward is worth a block of its own.
    const isPart = statement.type === 'for_statement' ? isPartInProject : isPartInFile;
    const isRun = (call: PyNode) => runsNetwork(module, call, model, isPart) && !isGradOff(module, call);
    if (WRAPPED.test(statement.type) && calls.some(isRun)) found.push(statement);
    if (calls.some((call) => switchesToTraining(call, model))) break;
  }
  return found;
}

function* ownCalls(statement: PyNode): Generator<PyNode> {
  for (const node of statement.walk(({ type }) => !/_definition$|^lambda$/.test(type)))
    if (node.type === 'call') yield node;
}

function switchesToTraining(call: PyNode, model: string): boolean {
  return methodName(call) === 'train' && receiverOf(call)?.text === model && !switchesToEvaluation(call);
}

/** Not where a decorator on the whole function does, nor where somebody else decides about gradients. */
function isOurs(module: PyModule, { statements, owner, models }: EvaluationBlock): boolean {
  if (statements.some((each) => isTestCode(module, each) || isGradOff(module, each))) return false;
  // It trains: evaluation mode only keeps batch norm and dropout as they are.
  if (statements.some((each) => gradUseIn(module, each) !== undefined)) return false;
  const evaluation = { functionNode: owner, evals: [], trains: [], forwards: [], gradless: [] };
  if (models.every((model) => isFrozen(module, { ...evaluation, model }))) return false;
  if (owner === module.root) return true;
  if (isCalledByTraining(module, owner) || onlyRunsGradOff(module, owner) || entersGradOff(module, owner))
    return false;
  return isAsync(owner) || isTrainingByName(owner) || gradUseReached(module, owner) !== undefined;
}

/** All that speaks against running the block without gradients, refusals first. */
export function* doubtsAboutBlock(module: PyModule, run: EvaluationBlock): Generator<GradDoubt> {
  for (const statement of run.wrapped) yield* lettingOthersRun(statement);
  for (const statement of run.statements) yield* refusals(module, statement, run.models);
  const models = new Set(run.models.map(({ text }) => text));
  const trace = new GradTrace(module, run.owner, models);
  const part = { module, run, models, trace };
  for (const statement of run.statements) yield* doubtsAboutPart(part, statement);
  yield* usedBehind(part);
  for (const statement of run.statements) {
    for (const model of run.models) yield* doubtsAboutNetwork(module, model, run.owner, statement);
    yield* doubtsOfRunning(module, statement);
  }
  const isIterated = run.wrapped.some((each) => [...each.walk()].some(({ type }) => type.startsWith('for_')));
  const iterated = isIterated ? differentiatesWhenIterated(module) : undefined;
  if (iterated !== undefined)
    yield unknown(
      ask('another-iterable')`Does this loop iterate over something other than ${suspectInWords(iterated)}?`,
    );
}

interface Part {
  readonly module: PyModule;
  readonly run: EvaluationBlock;
  readonly models: ReadonlySet<string>;
  readonly trace: GradTrace;
}

function* doubtsAboutPart({ module, run, models, trace }: Part, statement: PyNode): Generator<GradDoubt> {
  const { owner } = run;
  const asked = asksForGraph(module, statement, trace);
  if (asked !== undefined) yield no(`it ${asked}`);
  for (const each of suspicionsOf(module, owner, models, trace, statement))
    yield each.kind === 'trains' ? no(each.words) : unknown(each.question);
  for (const { into, question, isDerived } of escapesOf(module, owner, trace, statement)) {
    const reader = into && differentiatingReader(module, owner, into);
    const name = reader?.field('name')?.text;
    if (name !== undefined && into !== undefined)
      yield no(`\`${name}\` differentiates \`${shown(into)}\`, which it sets`);
    if (!isDerived) yield unknown(question);
  }
}

function* lettingOthersRun(statement: PyNode): Generator<GradDoubt> {
  const nodes = [...statement.walk(({ type }) => !/_definition$|^lambda$/.test(type))];
  if (nodes.some(({ type }) => type === 'yield'))
    yield no('the code that takes what it yields would run without gradients too');
  if (nodes.some(({ type, text }) => type === 'await' || text === 'async'))
    yield no('other tasks, which run while it waits, would run without gradients too');
}

function* refusals(module: PyModule, loop: PyNode, models: readonly PyNode[]): Generator<GradDoubt> {
  const reached = gradUseReached(module, loop);
  if (reached !== undefined) {
    const via = reached.via?.field('name')?.text;
    yield no(
      via === undefined ? `it ${reached.use.words}` : `it may run \`${via}\`, which ${reached.use.words}`,
    );
  }
  const inner = differentiatingModuleAround(module);
  if (inner !== undefined) yield no(`it may run \`${inner.name}\`, whose forward ${inner.use.words}`);
  const training = trainingCallReached(module, loop);
  if (training !== undefined) yield no(training.words);
  const mode = models.find(({ text }) => [...ownCalls(loop)].some((call) => switchesToTraining(call, text)));
  if (mode !== undefined) yield no(`\`${mode.text}\` is put back into training mode inside`);
}

function* doubtsOfRunning(module: PyModule, loop: PyNode): Generator<GradDoubt> {
  const measured = measuredMemory(module, loop);
  if (measured !== undefined) yield unknown(measuresOther(measured));
  const managers = enclosingWiths(loop).flatMap(contextManagers);
  if (managers.some(({ text }) => text.includes('autocast')))
    yield unknown(
      ask(
        'version',
      )`Is ${'torch newer than 2.9'} (it runs inside an \`autocast\` block, whose cache loses gradients before)?`,
    );
}

/** Packages whose objects turn what they are fed into numbers for a report. */
const METRICS = /^(?:torchmetrics|evaluate|ignite\.metrics|torcheval\.metrics)\./;

function isMetric(module: PyModule, object: PyNode): boolean {
  return METRICS.test(makerOf(module, object) ?? '');
}

/** Variables that leave the block with what may hang on a graph, and are used for more than a report. */
function* usedBehind(part: Part): Generator<GradDoubt> {
  const { module, run } = part;
  const { wrapped, owner } = run;
  const isInside = (node: PyNode) => wrapped.some((each) => each.contains(node));
  const followed = new Set<PyNode>();
  for (const name of changedIn(module, run)) {
    const isOpen = owner === module.root && module.writes(module.scope, name).some(isInside);
    if (isOpen && mayHoldGraph(part, name) && mayBeReadElsewhere(module, name))
      yield unknown(ask('only-read')`Is \`${name}\` ${ONLY_READ} in other files?`);
    for (const read of module.reads(module.scopeOf(owner), name)) {
      if (isInside(read) || !comesFrom(module, run, read, name)) continue;
      if (isHarmless(part, read, followed, 0)) continue;
      const answer = differentiates(module, owner, read) ? 'no' : 'unknown';
      yield answer === 'no'
        ? no(`\`${name}\`, which it computes, is differentiated behind it`)
        : unknown(ask('only-read')`Is \`${name}\`, which it leaves behind, ${ONLY_READ}?`);
      const isReturned = statementOf(read).type === 'return_statement' && owner !== module.root;
      const called = isReturned ? callersElsewhere(module, owner, partReturned(read)).doubt : undefined;
      if (called !== undefined) yield called;
    }
  }
  const reader = owner === module.root ? undefined : readerOfVariables(module, owner);
  if (reader !== undefined) yield unknown(ask('only-read')`Is what \`${shown(reader)}\` gives ${ONLY_READ}?`);
  // What is done with the values there may need their graph.
  for (const statement of followed) {
    yield* refusals(module, statement, []);
    yield* doubtsAboutPart(part, statement);
  }
}

function mayHoldGraph({ module, run, trace }: Part, name: string): boolean {
  const writes = module.writes(module.scopeOf(run.owner), name);
  return writes.some(
    (write) => run.wrapped.some((each) => each.contains(write)) && trace.mayCarryGraph(write),
  );
}

/** The variables that a block binds, or puts something into. */
function changedIn(module: PyModule, { wrapped, owner }: EvaluationBlock): ReadonlySet<string> {
  const scope = module.scopeOf(owner);
  const changed = new Set<string>();
  for (const node of wrapped.flatMap((statement) => [...statement.walk()])) {
    if (node.type !== 'identifier' || module.resolve(node) !== scope) continue;
    const isFed = valuesPutInto(node).length > 0 && !isMetric(module, node);
    if (binds(roleOf(node)) || isFed) changed.add(node.text);
  }
  return changed;
}

/** The read may see what the block wrote; where it only puts something into an object, every later read does. */
function comesFrom(
  module: PyModule,
  { wrapped, owner }: EvaluationBlock,
  read: PyNode,
  name: string,
): boolean {
  const isInside = (node: PyNode) => wrapped.some((each) => each.contains(node));
  if (!module.writes(module.scopeOf(owner), name).some(isInside)) return true;
  const definitions = reachingDefinitions(module, read);
  return definitions === undefined || definitions.some(({ node }) => isInside(node));
}

/** `out.requires_grad`, `loss.grad_fn is None`. */
function asksAboutGraph(read: PyNode, statement: PyNode): boolean {
  for (const around of read.ancestors()) {
    if (around === statement) return false;
    const name = around.type === 'attribute' ? around.field('attribute')?.text : undefined;
    if (name !== undefined && ofTensor(name)?.asksGraph === true) return true;
  }
  return false;
}

const MAX_HOPS = 4;

/**
 * The value is printed, compared, turned into a number, or only passed on to names of which the same is true. `followed`
 * gets the statements that it goes through.
 */
function isHarmless(part: Part, read: PyNode, followed: Set<PyNode>, hops: number): boolean {
  const { module, trace } = part;
  if (!trace.mayCarryGraph(read)) return true;
  const statement = statementOf(read);
  if (asksAboutGraph(read, statement)) return false;
  if (isReport(read)) return true;
  const holder = read.closest('comparison_operator', 'call', 'block', 'module');
  if (holder?.type === 'comparison_operator') return true;
  const told = holder?.type === 'call' ? receiverOf(holder) : undefined;
  if (told !== undefined && makerOf(module, told)?.startsWith(LR_SCHEDULERS) === true) return true;
  followed.add(statement);
  for (const around of read.ancestors()) {
    if (around === statement) break;
    if (around.type === 'call' && !trace.mayCarryGraph(around)) return true;
  }
  const assignment = statement.type === 'expression_statement' ? statement.named[0] : undefined;
  if (!/^(?:augmented_)?assignment$/.test(assignment?.type ?? '')) return false;
  const value = assignment?.field('right');
  const target = assignment?.field('left');
  if (value?.contains(read) && !trace.mayCarryGraph(value)) return true;
  if (target?.type !== 'identifier' || hops >= MAX_HOPS) return false;
  const scope = module.resolve(target);
  if (scope === undefined) return false;
  const bindings = within(module.writes(scope, target.text), statement);
  return readsReached(module, scope, target.text, bindings).every(
    (each) => each === read || statement.contains(each) || isHarmless(part, each, followed, hops + 1),
  );
}
