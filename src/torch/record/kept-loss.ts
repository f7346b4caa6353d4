import type { Answer } from '../../semantic/answer.js';
import { partReturned } from '../../semantic/function-uses.js';
import { type Gate, shown, spotOf } from '../../semantic/gate.js';
import { readerNamed, readerOfVariable } from '../../semantic/liveness.js';
import type { PyModule } from '../../semantic/module.js';
import { roleOf } from '../../semantic/names.js';
import { isProgram } from '../../semantic/program.js';
import { functionsNamed, type NamedFunction } from '../../semantic/project-names.js';
import { ask } from '../../semantic/question.js';
import type { Reason } from '../../semantic/reason.js';
import {
  enclosingFunction,
  enclosingLoops,
  statementOf,
  unparenthesized,
} from '../../semantic/statements.js';
import { readsOf } from '../../semantic/variables.js';
import type { PyNode } from '../../syntax/node.js';
import { gradUseReached } from '../../values/effects/grad.js';
import { entersGradOff, isGradOff, onlyRunsGradOff, switchesGradOff } from '../../values/effects/mode.js';
import { effectsOf, usesOf, valueOf } from '../../values/index.js';
import type { Fate } from '../../values/uses/record-fate.js';
import { recordsNoGraph } from '../../values/value/gradient.js';
import { isTorchCode } from '../framework.js';
import { backwardsIn } from '../grad/backward-calls.js';
import { callersElsewhere, isOnlyReadByCallers } from '../grad/callers.js';
import { isDifferentiated, spendingStep } from '../grad/spending-step.js';
import {
  holdsActivations,
  needsWeights,
  passSpendingBackward,
  spendingBackward,
  stalingLoop,
} from '../grad/spent-graph.js';
import { walks } from '../grad/walks.js';
import { graphAsked } from '../module/graph-asked.js';
import { networksOf } from '../module/networks.js';
import { ONLY_READ } from '../questions.js';
import { lossTerm } from './loss-term.js';
import { EVALUATION_NAME } from './running-total.js';

/** A variable that keeps values for people to read, and would keep their graphs. */
export interface LossRecord {
  /** What the code does not prove about where the record goes. */
  readonly gates: readonly Gate[];
  /** Each value is differentiated in its own round: backward has freed what its graph held, if anything. */
  readonly differentiated: boolean;
  /** The same, and it surely held something: nobody can differentiate it again. */
  readonly spent: boolean;
  /** Where the record goes, if all gates hold. */
  readonly reasons: readonly Reason[];
}

/**
 * What keeps the values is a variable, or an attribute that is read all over the project. Undefined where it is
 * differentiated, or may be by those who get it: then it is a loss, and no record.
 */
export function lossRecord(
  module: PyModule,
  binding: PyNode,
  values: readonly PyNode[],
): LossRecord | undefined {
  const isAttribute = binding.type === 'attribute';
  const fates = isAttribute ? usesOf(module, binding, 'target') : usesOf(module, binding, 'variable');
  if (fates.some(({ kind }) => kind === 'differentiated' || kind === 'gradless')) return undefined;
  const spending = values.map(
    (value) => spendingBackward(module, value)?.call ?? spendingStep(module, value)?.call,
  );
  const holding = values.every((value) => holdsActivations(module, value));
  const differentiated = spending.every((call) => call !== undefined);
  const using = values.map((value, at) => spending[at] ?? passSpendingBackward(module, value)?.call);
  const staling = values.map((value) => stalingLoop(module, value));
  const certain = holding && !values.some((value, at) => mayFailBetween(value, using[at]));
  const gates: Gate[] = [...readByText(module, binding)];
  for (const fate of fates) {
    if (fate.kind === 'returned' && isDifferentiatedByCaller(module, fate)) return undefined;
    // Between the addition and the backward of its round the graph is still whole.
    const usedUp = values.every((value, at) => {
      const call = using[at];
      if (call === undefined) return false;
      // Who reads an attribute may be called in between as well.
      return isAttribute
        ? call.start < value.start
        : !(fate.node.start > value.end && fate.node.end < call.start);
    });
    if (fate.kind === 'changed') {
      if (!usedUp && values.some(isKeptItself)) return undefined;
      continue;
    }
    const asking = graphAsked(module);
    if (asking !== undefined)
      gates.push({
        answer: 'unknown',
        otherwise: ask(
          'unasked-graph',
        )`Does ${asking}, which asks whether a tensor has a graph, get tensors other than \`${shown(fate.node)}\`?`,
      });
    if (fate.kind === 'saved' || (certain && usedUp)) continue;
    if (certain && staling.every((loop) => loop !== undefined && !loop.contains(fate.node))) {
      if (!values.every((value) => needsWeights(module, value)))
        gates.push({
          answer: 'unknown',
          otherwise: ask(
            'chained-layers',
          )`Does the network have layers in a chain (with one alone, \`${shown(fate.node)}\` can still be differentiated after the step)?`,
        });
      gates.push(...gatesOfCallers(module, fate, true));
      continue;
    }
    if (fate.kind === 'returned' && isOnlyRead(module, fate, differentiated && usedUp)) continue;
    // Where the loop does not train, what others get may well be the loss.
    const trains = values.every((value) => {
      if (spendingStep(module, value) !== undefined) return true;
      const round = enclosingLoops(value)[0] ?? enclosingFunction(value);
      return round !== undefined && backwardsIn(module, round).length > 0;
    });
    if (!trains && !(fate.kind === 'returned' && isEvaluationByName(fate.node))) return undefined;
    const around = enclosingFunction(fate.node)?.name?.text;
    const how = fate.kind === 'returned' ? `which \`${around}\` returns` : 'which others get';
    gates.push({
      answer: 'unknown',
      otherwise: ask('returned-only-read')`Is \`${shown(fate.node)}\`, ${how}, ${ONLY_READ}?`,
    });
    gates.push(...gatesOfCallers(module, fate, false));
  }
  const reasons = [...reasonsOf(module, binding, values, using)];
  return { gates, differentiated, spent: differentiated && certain, reasons };
}

/** Places that are named of what is read. */
const MOST_READS = 4;

function* reasonsOf(
  module: PyModule,
  binding: PyNode,
  values: readonly PyNode[],
  using: readonly (PyNode | undefined)[],
): Generator<Reason> {
  for (const [at, value] of values.entries()) {
    const call = using[at];
    if (call === undefined) continue;
    yield {
      source: 'code',
      text: `\`${shown(call)}\` (${spotOf(module, call)}) uses up the graph of \`${shown(value)}\` in its own round`,
    };
  }
  const name = `\`${shown(binding)}\``;
  const reads = binding.type === 'identifier' ? readsOf(module, binding) : [];
  for (const read of reads.filter((each) => roleOf(each) === 'read').slice(0, MOST_READS))
    yield {
      source: 'code',
      text: `\`${shown(statementOf(read))}\` (${spotOf(module, read)}) reads ${name} and differentiates nothing`,
    };
  yield { source: 'code', text: `nobody who gets ${name} differentiates it` };
}

/** `losses.append(value)`, `best = value`: a change of what is kept is one of the value. A sum is a tensor of its own. */
function isKeptItself(value: PyNode): boolean {
  return /^(?:argument_list|assignment)$/.test(value.parent?.type ?? '');
}

/** Who catches an error of the round may see a graph that backward has not got to. */
function mayFailBetween(value: PyNode, backward: PyNode | undefined): boolean {
  if (backward !== undefined && backward.start < value.start) return false;
  const caught = value.closest('try_statement', 'function_definition');
  return caught?.type === 'try_statement';
}

/** `evaluate`, `validate_epoch`: what it returns is hardly a loss to train on. */
function isEvaluationByName(node: PyNode): boolean {
  return EVALUATION_NAME.test(enclosingFunction(node)?.name?.text ?? '');
}

/** `locals()`, `exec(…)`, a magic that nobody knows: what they do with the variable is not in the code. */
function readByText(module: PyModule, binding: PyNode): readonly Gate[] {
  const reader = readerOfVariable(module, binding);
  if (reader === undefined) return [];
  const name = `\`${shown(binding)}\``;
  const otherwise = ask(
    'unread-code',
  )`Does ${readerNamed(module, reader)} leave ${name} alone, or only read what it comes to?`;
  return [{ answer: 'unknown', otherwise }];
}

function isDifferentiatedByCaller(module: PyModule, { node }: Fate): boolean {
  const around = enclosingFunction(node);
  return around !== undefined && effectsOf(module, around).differentiatedBy !== undefined;
}

/**
 * Its callers make numbers and texts of it. Code outside the project could still differentiate it, unless the file is a
 * program, or backward has used the graph up.
 */
function isOnlyRead(module: PyModule, { node }: Fate, isUsedUp: boolean): boolean {
  const around = enclosingFunction(node);
  return (
    around !== undefined &&
    (isUsedUp || isProgram(module)) &&
    isOnlyReadByCallers(module, around, partReturned(node))
  );
}

/** What callers in other files do with it; `all`: also where one of them cannot be looked into. */
function gatesOfCallers(module: PyModule, { kind, node }: Fate, all: boolean): readonly Gate[] {
  const around = kind === 'returned' ? enclosingFunction(node) : undefined;
  if (around === undefined) return [];
  const { doubt, unread } = callersElsewhere(module, around, partReturned(node));
  const found = doubt ?? (all ? unread : undefined);
  return found === undefined ? [] : [found];
}

/** Hooks that a framework runs without gradients. */
const GRADLESS_HOOK = /^(?:validation|test|predict|eval|valid)_step$|^on_(?:validation|test|predict)_/;

/** The place runs without gradients, or stands in an evaluation, which is the business of `no-grad`. */
export function isWithoutGrad(module: PyModule, place: PyNode): boolean {
  if (switchesGradOff(module) || recordsNoGraph(module, place) || isGradOff(module, place)) return true;
  const around = enclosingFunction(place);
  if (around === undefined) return false;
  if (GRADLESS_HOOK.test(around.name?.text ?? '')) return true;
  if (onlyRunsGradOff(module, around) || entersGradOff(module, around)) return true;
  const evaluates =
    module.atWithin('.eval(', around).length > 0 ||
    walks(module).some(({ functionNode }) => functionNode === around);
  return evaluates && gradUseReached(module, around) === undefined;
}

/** Whether a value that may hang on a graph has `.detach()`; undefined where nothing says that it is a tensor at all. */
export function isDetachable(module: PyModule, value: PyNode): Answer | undefined {
  if (isTorchCode(module) === 'no' || !valueOf(module, value).mayHaveGraph()) return undefined;
  // Data that nobody trains on have no graph, whatever is done with them.
  const isTrained =
    spendingBackward(module, value) !== undefined || spendingStep(module, value) !== undefined;
  if (!isTrained && networksOf(module, value).size === 0) return undefined;
  if (isTensorHere(module, value)) return 'yes';
  const term = lossTerm(module, value);
  if (term === undefined) return undefined;
  return valueOf(module, value).kind === 'unknown' && term.scalar === 'no' ? 'no' : 'unknown';
}

/**
 * Whether the project has a class with a `backward()` of its own: what it makes is differentiated like a tensor, and has no
 * `.detach()`; or a class of tensors with another `.detach()`.
 */
function hasLossClass(module: PyModule): boolean {
  const found = functionsNamed(module, 'backward');
  const detaching = functionsNamed(module, 'detach');
  const isOtherTensor = ({ owner }: NamedFunction): boolean =>
    owner?.bases.some((base) => /^(?:Tensor|Parameter)$/.test(base)) === true;
  if (detaching === undefined || detaching.some(isOtherTensor)) return true;
  return (
    found?.every(
      ({ owner, arity }) => owner === undefined || arity[0] > 0 || owner.members.includes('detach'),
    ) !== true
  );
}

/** By what it is made of, or because it is differentiated right there. */
function isTensorHere(module: PyModule, value: PyNode): boolean {
  const node = unparenthesized(value);
  if (valueOf(module, node).isTensor) return true;
  if (isDifferentiated(module, node)) return !module.memo(hasLossClass, module);
  const step = spendingStep(module, node);
  if (step !== undefined) return step.returned.every((each) => isTensorHere(each.module, each.node));
  const sides = node.type === 'binary_operator' ? [node.left, node.right] : [];
  return sides.some((side) => side !== undefined && isTensorHere(module, side));
}

/** The part of a product or sum that brings the graph, where only one does: `loss` of `loss * batch_size`. */
export function graphCarrier(module: PyModule, value: PyNode): PyNode {
  const node = unparenthesized(value);
  if (node.type !== 'binary_operator') return value;
  const carrying = [node.left, node.right].flatMap((side) =>
    side !== undefined && valueOf(module, side).mayHaveGraph() ? [side] : [],
  );
  const [only, ...others] = carrying;
  return only !== undefined && others.length === 0 && isTensorHere(module, only)
    ? graphCarrier(module, only)
    : value;
}
