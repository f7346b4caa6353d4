import { methodCallsAt } from '../semantic/called-name.js';
import type { PyModule } from '../semantic/module.js';
import { argumentsOf, enclosingFunction, methodName } from '../semantic/statements.js';
import { isTestCode } from '../semantic/test-code.js';
import type { PyNode } from '../syntax/node.js';
import { isGradOff } from '../values/effects/mode.js';
import { definitionOf } from './trained.js';

/** Functions that get the model are followed this far. */
const MAX_HOPS = 3;

/** Graphs of a model that are alive, and the most of them that one backward met; Infinity where a loop makes them. */
interface Count {
  readonly sure: number;
  /** Those of one branch more: several that ask are ways to do the same, such as one for each architecture. */
  readonly either: number;
  readonly most: number;
}

const NONE: Count = { sure: 0, either: 0, most: 0 };

function aliveIn({ sure, either }: Count): number {
  return sure + either;
}

/** Passes of a model in one step, and the backward that ends it. */
interface Passes {
  readonly count: number;
  readonly backward: PyNode;
}

/** How often one step calls a model by this name: before one backward, or at all where `anyway`, also without gradients. */
export function passesOf(module: PyModule, name: string, anyway = false): Passes | undefined {
  let most: Passes | undefined;
  for (const backward of methodCallsAt(module, '.backward(')) {
    if (isTestCode(module, backward)) continue;
    const step = loopAround(backward) ?? enclosingFunction(backward) ?? module.root;
    const found = count(module, step.body ?? step, name, anyway, 0, NONE);
    const passes = anyway ? Math.max(aliveIn(found), found.most) : found.most;
    if (passes > (most?.count ?? 0)) most = { count: passes, backward };
  }
  return most;
}

/** The innermost loop; one over models or losses inside of it is part of a step. */
function loopAround(call: PyNode): PyNode | undefined {
  return call.closest('for_statement', 'while_statement', 'function_definition')?.type ===
    'function_definition'
    ? undefined
    : call.closest('for_statement', 'while_statement');
}

function count(
  module: PyModule,
  node: PyNode,
  name: string,
  anyway: boolean,
  hops: number,
  before: Count,
): Count {
  const next = (inner: PyNode, at: Count) => count(module, inner, name, anyway, hops, at);
  switch (node.type) {
    case 'function_definition':
    case 'class_definition':
    case 'lambda':
      return before;
    case 'if_statement': {
      const asked = node.condition === undefined ? before : next(node.condition, before);
      const others = node.childrenOfType('else_clause');
      const ways = [node.consequence, ...node.childrenOfType('elif_clause'), ...others];
      const ends = ways.flatMap((way) => (way === undefined ? [] : next(way, asked)));
      return joined(asked, others.length > 0 ? ends : [...ends, asked]);
    }
    case 'for_statement':
    case 'while_statement': {
      const once = node.body === undefined ? before : next(node.body, before);
      return aliveIn(once) > aliveIn(before) ? { ...once, sure: Infinity } : once;
    }
    case 'call':
      return called(module, node, name, anyway, hops, inside(node, before, next));
    default:
      return inside(node, before, next);
  }
}

/** After branches of which one runs. */
function joined(before: Count, ends: readonly Count[]): Count {
  const most = Math.max(...ends.map((end) => end.most));
  const left = ends.map(aliveIn);
  const least = Math.min(...left);
  // A backward in one of them has taken apart what was there.
  if (least < aliveIn(before) || least === Infinity) return { sure: Math.max(...left), either: 0, most };
  const added = Math.max(...left) - least;
  return { sure: before.sure + least - aliveIn(before), either: Math.max(before.either, added), most };
}

function inside(node: PyNode, before: Count, next: (inner: PyNode, at: Count) => Count): Count {
  return node.named.reduce((at, child) => next(child, at), before);
}

function called(
  module: PyModule,
  call: PyNode,
  name: string,
  anyway: boolean,
  hops: number,
  before: Count,
): Count {
  if (methodName(call) === 'backward')
    return anyway ? before : { ...NONE, most: Math.max(before.most, aliveIn(before)) };
  if (call.function?.text === name)
    return anyway || !isGradOff(module, call) ? { ...before, sure: before.sure + 1 } : before;
  const inner = hops < MAX_HOPS ? parameterGiven(module, call, name) : undefined;
  if (inner === undefined || (!anyway && isGradOff(module, call))) return before;
  return count(inner.module, inner.body, inner.parameter, anyway, hops + 1, before);
}

interface Parameter {
  readonly module: PyModule;
  readonly body: PyNode;
  readonly parameter: string;
}

/** The function of the project that gets the model, and what it calls it. */
export function parameterGiven(module: PyModule, call: PyNode, name: string): Parameter | undefined {
  const given = argumentsOf(call);
  const at = given.findIndex((each) => (each.type === 'keyword_argument' ? each.value : each)?.text === name);
  const there = at < 0 ? undefined : definitionOf(module, call);
  if (there?.node.type !== 'function_definition' || there.node.body === undefined) return undefined;
  const argument = given[at];
  const names = (there.node.parameters?.named ?? [])
    .filter(({ type }) => type !== 'comment')
    .map((each) => (each.type === 'identifier' ? each.text : (each.name?.text ?? each.children[0]?.text)));
  const parameter =
    argument?.type === 'keyword_argument'
      ? argument.name?.text
      : names[at + (names[0] === 'self' && call.function?.type === 'attribute' ? 1 : 0)];
  return parameter === undefined ? undefined : { module: there.module, body: there.node.body, parameter };
}
