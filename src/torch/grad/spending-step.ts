import { calledDefinition } from '../../semantic/definitions.js';
import type { Elsewhere } from '../../semantic/elsewhere.js';
import { reachingDefinitions } from '../../semantic/flow.js';
import type { PyModule } from '../../semantic/module.js';
import { givesReturned, returnsOf } from '../../semantic/returns.js';
import { unparenthesized } from '../../semantic/statements.js';
import type { PyNode } from '../../syntax/node.js';
import { calledBy } from '../../values/value/called.js';
import { backwardsIn } from './backward-calls.js';
import { spendingBackward } from './spent-graph.js';

/** The call of a function that differentiates what it then returns: `loss = self.train_step(batch)`. */
export interface SpendingStep {
  readonly call: PyNode;
  /** What its `return`s give for the value, in the functions that it may run. */
  readonly returned: readonly Elsewhere[];
}

export function spendingStep(module: PyModule, value: PyNode): SpendingStep | undefined {
  return module.memo(findStep, unparenthesized(value)).step;
}

interface Found {
  readonly step: SpendingStep | undefined;
}

const NONE: Found = { step: undefined };

function findStep(module: PyModule, value: PyNode): Found {
  const given = value.type === 'identifier' ? (reachingDefinitions(module, value) ?? []) : [];
  const [only, ...others] = given.filter(({ kind }) => kind !== 'update');
  const isGiven = others.length === 0 && (only?.kind === 'value' || only?.kind === 'part');
  const call = isGiven ? unparenthesized(only.value) : value;
  const own = call.type === 'call' ? calledDefinition(module, call) : undefined;
  if (own?.type !== 'function_definition' || backwardsIn(module, own).length === 0) return NONE;
  const index = only?.kind === 'part' ? only.node.parent?.named.indexOf(only.node) : undefined;
  const called = calledBy(module, call);
  if (called === undefined || called.makers.length > 0) return NONE;
  const returned = called.functions.flatMap((run) => returnedBy(run, index));
  const isSpent = returned.every((each) => each !== undefined && isSpentBefore(each.module, each.node));
  if (returned.length === 0 || !isSpent) return NONE;
  return { step: { call, returned: returned.flatMap((each) => each ?? []) } };
}

/** Undefined for a `return` that does not show the value. */
function returnedBy(
  { module, node }: Elsewhere,
  index: number | undefined,
): readonly (Elsewhere | undefined)[] {
  if (!givesReturned(node)) return [undefined];
  return returnsOf(node).map((given) => {
    const isSeveral = given?.type === 'expression_list' || given?.type === 'tuple';
    const part =
      index === undefined ? (isSeveral ? undefined : given) : isSeveral ? given.named[index] : undefined;
    return part && { module, node: part };
  });
}

function isSpentBefore(module: PyModule, returned: PyNode): boolean {
  const backward = spendingBackward(module, returned);
  return backward !== undefined && backward.call.start < returned.start;
}
