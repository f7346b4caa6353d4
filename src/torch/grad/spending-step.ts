import { isSameValue, sourcesOf } from '../../semantic/attributes.js';
import { calledDefinition } from '../../semantic/definitions.js';
import type { Elsewhere } from '../../semantic/elsewhere.js';
import { reachingDefinitions } from '../../semantic/flow.js';
import type { PyModule } from '../../semantic/module.js';
import { returnedParts } from '../../semantic/returns.js';
import { unparenthesized } from '../../semantic/statements.js';
import type { PyNode } from '../../syntax/node.js';
import { valueOf } from '../../values/index.js';
import { calledBy } from '../../values/value/called.js';
import { backwardsIn } from './backward-calls.js';
import { certainBackward, operandsOf, spendingBackward } from './spent-graph.js';

/** The call of a function that differentiates what it then returns: `loss = self.train_step(batch)`. */
export interface SpendingStep {
  readonly call: PyNode;
  /** What its `return`s give for the value, in the functions that it may run. */
  readonly returned: readonly Elsewhere[];
}

export function spendingStep(module: PyModule, value: PyNode): SpendingStep | undefined {
  return module.memo(findStep, unparenthesized(value));
}

function findStep(module: PyModule, value: PyNode): SpendingStep | undefined {
  const given = value.type === 'identifier' ? (reachingDefinitions(module, value) ?? []) : [];
  const [only, ...others] = given.filter(({ kind }) => kind !== 'update');
  const isGiven = others.length === 0 && (only?.kind === 'value' || only?.kind === 'part');
  const call = isGiven ? unparenthesized(only.value) : value;
  const own = call.type === 'call' ? calledDefinition(module, call) : undefined;
  if (own?.type !== 'function_definition' || backwardsIn(module, own).length === 0) return undefined;
  const index = only?.kind === 'part' ? only.node.parent?.named.indexOf(only.node) : undefined;
  const called = calledBy(module, call);
  if (called === undefined || called.makers.length > 0) return undefined;
  const returned = called.functions.flatMap((run) => returnedParts(run, index));
  const isSpent = returned.every((each) => each !== undefined && isSpentBefore(each.module, each.node));
  if (returned.length === 0 || !isSpent) return undefined;
  return { call, returned: returned.flatMap((each) => each ?? []) };
}

function isSpentBefore(module: PyModule, returned: PyNode): boolean {
  const backward = spendingBackward(module, returned);
  return backward !== undefined && backward.call.start < returned.start;
}

const MAX_DEPTH = 8;

/** The value itself, perhaps scaled, is differentiated in the same round: it is a tensor. */
export function isDifferentiated(module: PyModule, value: PyNode): boolean {
  const found = certainBackward(module, value, sourcesOf(module, value), (each) =>
    comesFrom(module, each.value, value, 0),
  );
  return found !== undefined;
}

/** Whichever way an expression got its value, it is this one, perhaps scaled. */
function comesFrom(module: PyModule, expression: PyNode, value: PyNode, depth: number): boolean {
  const node = unparenthesized(expression);
  if (isSameValue(module, node, value)) return true;
  if (depth >= MAX_DEPTH) return false;
  const [only, ...others] = operandsOf(node).filter((each) => each !== undefined && mayBring(module, each));
  if (only !== undefined) return others.length === 0 && comesFrom(module, only, value, depth + 1);
  const given = node.type === 'identifier' ? (reachingDefinitions(module, node) ?? []) : [];
  const ways = given.filter(({ kind }) => kind !== 'update');
  const [source, ...more] = sourcesOf(module, value);
  // `if n > 1: loss = loss / n`: on one way the value itself, on the other a part of it.
  const isBinding = (binding: PyNode): boolean =>
    unparenthesized(value).type === 'identifier' && more.length === 0 && binding === source;
  return (
    ways.length > 0 &&
    ways.every(
      (each) =>
        isBinding(each.node) ||
        ((each.kind === 'value' || each.kind === 'with') && comesFrom(module, each.value, value, depth + 1)),
    )
  );
}

/** An operand that the graph of the whole may come from; a number, a count and what is detached bring none. */
function mayBring(module: PyModule, operand: PyNode): boolean {
  return valueOf(module, operand).isNumber !== 'yes' && valueOf(module, operand).mayHaveGraph();
}
