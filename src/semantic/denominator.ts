import type { PyNode } from '../syntax/node.js';
import { type Counter, counterNamed } from './counter.js';
import type { PyModule } from './module.js';
import type { Scope } from './scope.js';
import { isCountOf } from './sized-loop.js';
import { argumentsOf, enclosingLoops, statementOf, swallowsErrors, unparenthesized } from './statements.js';

/** What a total is divided by, when it may be the number of its terms. */
export interface Denominator {
  readonly counter: Counter | undefined;
  readonly clamped: boolean;
  /** The argument of `len()`. */
  readonly sequence: PyNode | undefined;
}

export function denominatorOf(module: PyModule, scope: Scope, written: PyNode): Denominator | undefined {
  const node = unparenthesized(written);
  if (node.type === 'identifier') {
    const counter = counterNamed(module, scope, node.text, [node]);
    return counter && { counter, clamped: false, sequence: undefined };
  }
  const callee = node.type === 'call' ? node.function : undefined;
  if (callee?.type !== 'identifier' || module.resolve(callee) !== undefined) return undefined;
  const args = argumentsOf(node);
  const [first, second] = args;
  if (first === undefined) return undefined;
  if (callee.text === 'len' && args.length === 1) {
    return /^[\w.]+$/.test(first.text) ? { counter: undefined, clamped: false, sequence: first } : undefined;
  }
  if (callee.text === 'float' && args.length === 1) return denominatorOf(module, scope, first);
  if (callee.text !== 'max' || args.length !== 2 || second === undefined) return undefined;
  const counted = first.text === '1' ? second : second.text === '1' ? first : undefined;
  const inner = counted?.type === 'identifier' ? denominatorOf(module, scope, counted) : undefined;
  return inner && { ...inner, clamped: true };
}

interface Counted {
  readonly name: string;
  readonly zeroed: PyNode;
  readonly additions: readonly { readonly statement: PyNode }[];
  readonly division: PyNode;
}

/** Why the denominator is not proven to be the number of additions, as a because-clause. */
export function countProblem(
  module: PyModule,
  shape: Counted,
  { counter, sequence }: Denominator,
): string | undefined {
  const { additions, division, zeroed } = shape;
  if (isInTry(division)) {
    return 'the division is inside a `try`, which may rely on its ZeroDivisionError';
  }
  if (sequence !== undefined) return isCountOf(module, sequence, additions, division);
  if (counter === undefined) return undefined;
  const { name, bumps } = counter;
  const [first] = additions;
  const beside = statementOf(counter.zeroed).parent === statementOf(zeroed).parent;
  if (!beside || first === undefined || counter.zeroed.start > first.statement.start)
    return `\`${name}\` is not set to zero beside \`${shape.name}\``;
  const paired =
    bumps.length === additions.length &&
    additions.every((addition) => bumps.some((bump) => isBeside(addition.statement, bump)));
  if (!paired) return `\`${name}\` is not raised by one beside each addition`;
  const loops = additions.map(({ statement }) => enclosingLoops(statement)[0]);
  if (new Set(loops).size < loops.length) return 'one loop adds in more than one place';
  return undefined;
}

/** In one block, with nothing between them that may leave it; inside a `try`, directly one after the other. */
function isBeside(addition: PyNode, bump: PyNode): boolean {
  const block = addition.parent;
  if (block === undefined || bump.parent !== block) return false;
  const [from, to] = [addition.index, bump.index].sort((a, b) => a - b);
  const between = block.children
    .slice((from ?? 0) + 1, to)
    .filter((node) => node.isNamed && node.type !== 'comment');
  if (isInTry(addition)) return between.length === 0 && addition.index < bump.index;
  return !between.some((statement) => [...statement.walk()].some(leaves));
}

function leaves(node: PyNode): boolean {
  return ['continue_statement', 'break_statement', 'return_statement', 'yield'].includes(node.type);
}

function isInTry(node: PyNode): boolean {
  for (const ancestor of node.ancestors()) {
    if (ancestor.type === 'function_definition') return false;
    if (ancestor.type === 'try_statement' || swallowsErrors(ancestor)) return true;
  }
  return false;
}
