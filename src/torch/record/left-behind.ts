import { isOperation, ofTensor, row } from '../../library/library.js';
import { LR_SCHEDULERS } from '../../library/names.js';
import { makerOf } from '../../semantic/elsewhere.js';
import { type Definition, definitionOf, reachingDefinitions, readsReached } from '../../semantic/flow.js';
import { partReturned } from '../../semantic/function-uses.js';
import { shown } from '../../semantic/gate.js';
import { calledPath } from '../../semantic/imports.js';
import { readerOfVariables } from '../../semantic/liveness.js';
import type { PyModule } from '../../semantic/module.js';
import { binds, roleOf } from '../../semantic/names.js';
import { mayLead } from '../../semantic/paths.js';
import { isForProgramOnly, isNotebook } from '../../semantic/program.js';
import { mayBeReadElsewhere } from '../../semantic/project-names.js';
import { ask } from '../../semantic/question.js';
import { isCallee, methodName, ownCalls, receiverOf, statementOf } from '../../semantic/statements.js';
import type { PyNode } from '../../syntax/node.js';
import { within } from '../../syntax/within.js';
import { suspicionsOf } from '../../values/effects/calls.js';
import { asksForGraph } from '../../values/effects/forward.js';
import { differentiates, differentiatingReader, onlyReadInNotebook } from '../../values/effects/mode.js';
import { effectsOf, valueOf } from '../../values/index.js';
import { escapesOf } from '../../values/uses/escapes.js';
import { isReport } from '../../values/uses/report.js';
import { premisesOfTaken } from '../../values/uses/taken.js';
import { recordsNoGraph } from '../../values/value/gradient.js';
import { valuesPutInto } from '../../values/value/put-into.js';
import { GradTrace } from '../../values/value/trace.js';
import { mayCarryGraph, type Premises } from '../../values/value/trace-kinds.js';
import { callersElsewhere, isOnlyHandedToRead } from '../grad/callers.js';
import { differentiation, type GradDoubt, no, unknown } from '../grad/doubts.js';
import { switchesToTraining } from '../grad/evaluation.js';
import { questionsOfKept, questionsOfOwnKeepers } from '../grad/taken.js';
import { ONLY_READ } from '../questions.js';
import { isOwnBuffer, isPure } from './own-buffer.js';

/** Statements of a function or a script that run networks, and could do so without gradients. */
export interface GradlessPart {
  /** What is put under the `with`. */
  readonly wrapped: readonly PyNode[];
  /** What then runs without gradients: all of it, or what no flag keeps for training. */
  readonly statements: readonly PyNode[];
  /** The function around them, or the module. */
  readonly owner: PyNode;
  /** The networks that they run. */
  readonly models: readonly PyNode[];
  /** Nothing shows that these are in evaluation mode. */
  readonly mayTrain?: true;
}

/** All that the statements do themselves, or leave behind, that needs gradients, refusals first. */
export function* doubtsOfPart(module: PyModule, run: GradlessPart): Generator<GradDoubt> {
  for (const statement of run.statements) yield* refusals(module, statement, run.models);
  yield* leavings(module, run, {});
  const taken = premisesOfTaken(module, run.owner, run.statements);
  if (taken !== undefined) yield* leavings(module, run, { premises: taken });
  for (const question of questionsOfKept(module, run.owner, run.statements, 'this code'))
    yield unknown(question);
  const models = new Set(run.models.map(({ text }) => text));
  for (const question of questionsOfOwnKeepers(module, run.statements, models)) yield unknown(question);
}

/** Whether nothing that they compute is kept, differentiated or handed on with its graph, but where it is read in vain. */
export function leavesNothing(module: PyModule, run: GradlessPart, isInVain?: Asked['isInVain']): boolean {
  for (const _doubt of leavings(module, run, { isInVain })) return false;
  return true;
}

/** The same, where the code that they run elsewhere is still to be asked about. */
export function leavesNothingItself(module: PyModule, run: GradlessPart): boolean {
  for (const _doubt of leavings(module, run, { isItself: true })) return false;
  return true;
}

function* leavings(module: PyModule, run: GradlessPart, { premises, ...asked }: Asked): Generator<GradDoubt> {
  const models = new Set(run.models.map(({ text }) => text));
  const trace = new GradTrace(module, run.owner, models, new Map(), 0, premises);
  const part = { module, run, models, trace, ...asked, seen: new Set<PyNode>() };
  for (const statement of run.statements) yield* doubtsAboutPart(part, statement);
  yield* usedBehind(part);
}

/** What is known already, or left for later. */
interface Asked {
  /** A read that comes to nothing. */
  readonly isInVain?: ((read: PyNode) => boolean) | undefined;
  /** Code elsewhere is not asked about. */
  readonly isItself?: true;
  readonly premises?: Premises;
}

interface Part extends Omit<Asked, 'premises'> {
  readonly module: PyModule;
  readonly run: GradlessPart;
  readonly models: ReadonlySet<string>;
  readonly trace: GradTrace;
  /** The reads that were looked at. */
  readonly seen: Set<PyNode>;
}

function* doubtsAboutPart(part: Part, statement: PyNode): Generator<GradDoubt> {
  const { module, run, models, trace } = part;
  const { owner } = run;
  const asked = asksForGraph(module, statement, trace);
  if (asked !== undefined) yield no(`it ${asked}`);
  for (const each of suspicionsOf(module, owner, models, trace, statement))
    if (each.kind === 'trains') yield no(each.words);
    else if (!part.isItself) yield unknown(each.question);
  for (const { into, question, isDerived } of escapesOf(module, owner, trace, statement)) {
    // Whoever reads the tensor that it is written into was looked at.
    if (into?.type === 'subscript' && readsOfTarget(part, into, statement) !== undefined) continue;
    const reader = into && differentiatingReader(module, owner, into);
    const name = reader?.name?.text;
    if (name !== undefined && into !== undefined)
      yield no(`\`${name}\` differentiates \`${shown(into)}\`, which it sets`);
    if (!isDerived) yield unknown(question);
  }
}

function* refusals(module: PyModule, loop: PyNode, models: readonly PyNode[]): Generator<GradDoubt> {
  yield* differentiation(module, loop, models);
  const { trains } = effectsOf(module, loop);
  if (trains !== undefined) yield no(trains);
  const mode = models.find(({ text }) => [...ownCalls(loop)].some((call) => switchesToTraining(call, text)));
  if (mode !== undefined) yield no(`\`${mode.text}\` is put back into training mode inside`);
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
  const leaving = [...changedIn(part)].filter((name) => leavesGraph(part, name));
  const isOpenName = (name: string) =>
    owner === module.root &&
    module.writes(module.scope, name).some((write) => isInside(write) && !isForProgramOnly(module, write));
  const shownNames = isNotebook(module)
    ? leaving.filter((name) => isOpenName(name) && mayHoldGraph(part, name))
    : [];
  if (shownNames.length > 0) yield unknown(onlyReadInNotebook(shownNames));
  for (const name of leaving) {
    const isOpen = isOpenName(name) && !isNotebook(module);
    if (isOpen && mayHoldGraph(part, name) && mayBeReadElsewhere(module, name))
      yield unknown(ask('only-read')`Is \`${name}\` ${ONLY_READ} in other files?`);
    for (const read of module.reads(module.scopeOf(owner), name)) {
      if (isInside(read) || !comesFrom(module, run, read, name)) continue;
      if (isReturnedWhole(read) && isOnlyHandedToRead(module, owner, read)) continue;
      if (isHarmless(part, read, followed, 0)) continue;
      yield differentiates(module, owner, read)
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

/** `return x`, `return n, [x, y]`: nothing else is done with it there. */
function isReturnedWhole(read: PyNode): boolean {
  let at = read.parent;
  while (/^(?:list|tuple|expression_list|parenthesized_expression)$/.test(at?.type ?? '')) at = at?.parent;
  return at?.type === 'return_statement';
}

/** What the block gives the variable may have a graph, or it changes what it has. */
function leavesGraph({ module, run: { owner, wrapped }, trace }: Part, name: string): boolean {
  const scope = module.scopeOf(owner);
  const isInside = (node: PyNode) => wrapped.some((each) => each.contains(node));
  const isFed = module
    .occurrences(scope, name)
    .some((node) => isInside(node) && valuesPutInto(module, node).some((put) => trace.of(put) !== 'plain'));
  if (isFed) return true;
  return module.writes(scope, name).some((write) => {
    if (!isInside(write)) return false;
    const definition = definitionOf(write);
    return definition.kind === 'update' || trace.defined(definition) !== 'plain';
  });
}

function mayHoldGraph({ module, run: { owner, wrapped }, trace }: Part, name: string): boolean {
  return module.writes(module.scopeOf(owner), name).some((write) => {
    if (!wrapped.some((each) => each.contains(write))) return false;
    return trace.mayCarryGraph(write) || mayCarryGraph(trace.defined(definitionOf(write)));
  });
}

/** The variables that a block binds, or puts something into. */
function changedIn({ module, run: { wrapped, owner }, trace }: Part): ReadonlySet<string> {
  const scope = module.scopeOf(owner);
  const changed = new Set<string>();
  for (const node of wrapped.flatMap((statement) => [...statement.walk()])) {
    if (node.type !== 'identifier' || module.resolve(node) !== scope) continue;
    // What has no graph in either mode changes nothing of what holds it.
    const isFed = !isMetric(module, node) && valuesPutInto(module, node).some((p) => trace.of(p) !== 'plain');
    if (binds(roleOf(node)) || isFed) changed.add(node.text);
  }
  return changed;
}

/** The read may see what the block wrote; where it only puts something into an object, every read behind it does. */
function comesFrom(module: PyModule, { wrapped, owner }: GradlessPart, read: PyNode, name: string): boolean {
  const isInside = (node: PyNode) => wrapped.some((each) => each.contains(node));
  const scope = module.scopeOf(owner);
  if (!module.writes(scope, name).some(isInside))
    return module.occurrences(scope, name).some((each) => isInside(each) && mayLead(module, each, read));
  const definitions = reachingDefinitions(module, read);
  return definitions === undefined || definitions.some(({ node }) => isInside(node));
}

/** `out.requires_grad`, `loss.grad_fn is None`; of what is cut off before, the answer is the same in both modes. */
function asksAboutGraph(trace: GradTrace, read: PyNode, statement: PyNode): boolean {
  for (const around of read.ancestors()) {
    if (around === statement) return false;
    const name = around.type === 'attribute' ? around.attribute?.text : undefined;
    if (name !== undefined && ofTensor(name)?.asksGraph === true) return true;
    if (isCutOff(trace, around)) return false;
  }
  return false;
}

/** `writer.add_scalar('q', torch.max(q), step)`: what operations make of it is reported. */
function isReported(module: PyModule, read: PyNode): boolean {
  for (let value = read; ; ) {
    if (isReport(module, value)) return true;
    const { parent } = value;
    const isMethod = parent?.type === 'attribute' && parent.object === value && isCallee(parent);
    const call = isMethod || parent?.type === 'argument_list' ? parent?.parent : undefined;
    if (call?.type !== 'call') return false;
    const path = calledPath(module, call);
    const isPlain = isMethod ? isPure(module, methodName(call) ?? '') : isOperation(row(path ?? ''));
    if (!isPlain) return false;
    value = call;
  }
}

/** `with torch.no_grad(): target = reward - 0.9 * value`: another tensor, which has no graph in either mode. */
function isComputedWithout(module: PyModule, read: PyNode): boolean {
  const { parent } = read;
  if (parent?.type !== 'binary_operator' || !recordsNoGraph(module, read)) return false;
  const definitions = reachingDefinitions(module, read) ?? [];
  const isTensors = (found: Definition): boolean =>
    found.kind === 'value' && found.value.type === 'call' && isPure(module, methodName(found.value) ?? '');
  return valueOf(module, read).isTensor || (definitions.length > 0 && definitions.every(isTensors));
}

/** `x.to(device)` as a statement: another tensor, which nobody gets. */
function isDropped(module: PyModule, read: PyNode, statement: PyNode): boolean {
  let at = read;
  while (at.parent !== undefined && at.parent !== statement) {
    const { parent } = at;
    const name = parent.type === 'attribute' ? (parent.attribute?.text ?? '') : undefined;
    if (name === undefined ? parent.type !== 'call' || parent.function !== at : !isPure(module, name))
      return false;
    at = parent;
  }
  return at.parent === statement && at.type === 'call' && statement.type === 'expression_statement';
}

/** `out.detach()`, `out.data`, `float(out)` */
function isCutOff(trace: GradTrace, value: PyNode): boolean {
  return (value.type === 'call' || value.type === 'attribute') && trace.of(value) === 'plain';
}

const MAX_HOPS = 6;

/**
 * The value is printed, compared, turned into a number, or only passed on to names of which the same is true. `followed`
 * gets the statements that it goes through.
 */
function isHarmless(part: Part, read: PyNode, followed: Set<PyNode>, hops: number): boolean {
  const { module, trace, seen } = part;
  // What is asked already is answered there.
  if (seen.has(read) || !(trace.mayCarryGraph(read) || trace.isDerived(read))) return true;
  seen.add(read);
  if (part.isInVain?.(read)) return true;
  const statement = statementOf(read);
  if (statement.type === 'delete_statement') return true;
  if (asksAboutGraph(trace, read, statement)) return false;
  if (isReported(module, read) || isComputedWithout(module, read)) return true;
  const holder = read.closest('comparison_operator', 'call', 'block', 'module');
  if (holder?.type === 'comparison_operator') return followed.add(holder).has(holder);
  if (isDropped(module, read, statement)) return true;
  const told = holder?.type === 'call' ? receiverOf(holder) : undefined;
  if (told !== undefined && makerOf(module, told)?.startsWith(LR_SCHEDULERS) === true) return true;
  // What becomes a number there is looked at as far as that.
  for (const around of read.ancestors()) {
    if (around === statement) break;
    if (isCutOff(trace, around)) {
      followed.add(around);
      return true;
    }
  }
  followed.add(statement);
  for (const around of read.ancestors()) {
    if (around === statement) break;
    if (around.type === 'call' && !trace.mayCarryGraph(around)) return true;
  }
  const assignment = statement.type === 'expression_statement' ? statement.named[0] : undefined;
  if (!/^(?:augmented_)?assignment$/.test(assignment?.type ?? '')) return false;
  const value = assignment?.right;
  const target = assignment?.left;
  if (value?.contains(read) && !trace.mayCarryGraph(value)) return true;
  // `y[done] = 0.0` writes into it, with or without a graph.
  if (target?.type === 'subscript' && target.value === read) return true;
  if (target === undefined || hops >= MAX_HOPS) return false;
  const reads = readsOfTarget(part, target, statement);
  return reads?.every((each) => isHarmless(part, each, followed, hops + 1)) ?? false;
}

/** The reads of what an assignment changes: of `y`, of `y[i]` wherever `y` is read. */
function readsOfTarget(part: Part, target: PyNode, statement: PyNode): readonly PyNode[] | undefined {
  // `_, index = values.max(1)`
  if (/^(?:pattern_list|tuple_pattern)$/.test(target.type)) {
    const parts = target.named.map((each) =>
      each.type === 'identifier' ? readsOfTarget(part, each, statement) : undefined,
    );
    return parts.every((each) => each !== undefined) ? parts.flat() : undefined;
  }
  const { module, run } = part;
  const isElement = target.type === 'subscript';
  const name = isElement ? target.value : target;
  const scope = name?.type === 'identifier' ? module.resolve(name) : undefined;
  if (name === undefined || scope === undefined) return undefined;
  if (!isElement)
    return readsReached(module, scope, name.text, within(module.writes(scope, name.text), statement));
  // A tensor of this function: what is written into it is seen by all who have it.
  return scope === module.scopeOf(run.owner) && isOwnBuffer(module, target)
    ? module.reads(scope, name.text)
    : undefined;
}
