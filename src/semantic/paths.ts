import type { PyNode } from '../syntax/node.js';
import { controlFlowOf } from './cfg.js';
import { Events, type Reached } from './cfg-search.js';
import type { PyModule } from './module.js';
import { enclosingLoops, unparenthesized } from './statements.js';

/** The function, lambda, class body or module whose code a node is part of; a comprehension is part of the code around it. */
function codeOf(module: PyModule, node: PyNode): PyNode {
  let scope = module.scopeAt(node);
  while (scope.kind === 'comprehension' && scope.parent !== undefined) scope = scope.parent;
  return scope.node;
}

/**
 * For some nodes of one function (or module, …), a question to ask about others of it: which of them may be the last to be
 * evaluated before that one, and whether there may be none. One that is not certain to be evaluated, such as the right side
 * of `and`, hides no earlier one.
 */
export function lastOf(module: PyModule, nodes: readonly PyNode[]): (before: PyNode) => Reached {
  const [first] = nodes;
  if (first === undefined) return () => NOTHING;
  const events = eventsOf(module, codeOf(module, first), nodes, () => true);
  return (before) => events.before(before);
}

const NOTHING: Reached = { events: new Set(), fromEntry: true };

/**
 * Whether some way leads from a node to the next evaluation of another, or of itself, without passing any of `past`.
 * What runs in another function leads everywhere.
 */
export function mayLead(
  module: PyModule,
  from: PyNode,
  to: PyNode,
  past: readonly (PyNode | undefined)[] = [],
): boolean {
  const code = codeOf(module, to);
  if (codeOf(module, from) !== code) return true;
  const others = past.flatMap((node) => (node === undefined || node === from ? [] : [node]));
  return eventsOf(module, code, [from, ...others], (event) => event !== from)
    .before(to)
    .events.has(from);
}

/** Whether a node is evaluated again, in a later round of a loop, without any of `past` in between. */
export function isRepeated(module: PyModule, node: PyNode, past: readonly PyNode[]): boolean {
  const loops = enclosingLoops(node);
  // Most have none in the loop: then it takes no graph to tell.
  if (loops.some((loop) => !past.some((other) => loop.contains(other)))) return true;
  return loops.length > 0 && mayLead(module, node, node, past);
}

/** Whether a run of the code, or a round of a loop in it, evaluates at most one of two nodes. */
export function excludeOneAnother(module: PyModule, node: PyNode, other: PyNode, loop?: PyNode): boolean {
  const past = [loop && startOfRound(loop)];
  return !mayLead(module, node, other, past) && !mayLead(module, other, node, past);
}

/**
 * Whether every way on from a node evaluates one of `others`, before the next round of a loop begins and before the function
 * is left. Errors that something around the node catches are not considered, nor those that leave the function.
 */
export function isAlwaysFollowed(
  module: PyModule,
  node: PyNode,
  others: readonly PyNode[],
  loop: PyNode | undefined,
): boolean {
  const code = codeOf(module, node);
  const events = eventsOf(module, code, [node, ...others], (event) => event !== node, node);
  const start = loop && startOfRound(loop);
  return (
    !(start && events.before(start).events.has(node)) &&
    !events.beforePoints([{ block: events.flow.exit, index: 0 }]).events.has(node)
  );
}

/** Whether every way to a node, from the start of the function or of a round of a loop, evaluates one of `others` before. */
export function isAlwaysAfter(
  module: PyModule,
  node: PyNode,
  others: readonly PyNode[],
  loop: PyNode | undefined,
): boolean {
  const start = loop && startOfRound(loop);
  const known = start === undefined ? others : [start, ...others];
  const { events, fromEntry } = eventsOf(module, codeOf(module, node), known, () => true).before(node);
  return events.size > 0 && !fromEntry && !(start && events.has(start));
}

/** Whether one of some nodes is evaluated before a loop starts, whichever way leads there. */
export function isAlwaysBeforeLoop(module: PyModule, loop: PyNode, nodes: readonly PyNode[]): boolean {
  const start = loop.right ?? startOfRound(loop);
  return start !== undefined && isAlwaysAfter(module, start, nodes, undefined);
}

/** What a loop evaluates first in each round. */
export function startOfRound(loop: PyNode): PyNode | undefined {
  if (loop.type === 'for_statement') return loop.left;
  let first = loop.condition;
  for (let inner = first; inner !== undefined; ) {
    first = unparenthesized(inner);
    inner = first.type === 'boolean_operator' ? first.left : undefined;
    if (first.type === 'not_operator') inner = first.argument;
  }
  return first;
}

function eventsOf(
  module: PyModule,
  code: PyNode,
  nodes: readonly PyNode[],
  ends: (event: PyNode) => boolean,
  uncaught?: PyNode,
): Events {
  const own = [...new Set(nodes)].filter((node) => codeOf(module, node) === code);
  const sorted = own.sort((a, b) => a.start - b.start);
  return new Events(controlFlowOf(module, code), sorted, ends, { uncaught });
}

/** In different branches of one `if`. */
export function areAlternatives(one: PyNode, other: PyNode): boolean {
  for (const choice of one.ancestors()) {
    if (choice.type === 'function_definition') return false;
    if (choice.type !== 'if_statement' || !choice.contains(other)) continue;
    const branch = (node: PyNode): PyNode | undefined => choice.named.find((part) => part.contains(node));
    return branch(one) !== branch(other) && branch(other) !== choice.condition;
  }
  return false;
}
