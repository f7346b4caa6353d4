import type { PyNode } from '../syntax/node.js';
import { definitionOf } from './flow.js';
import type { PyModule } from './module.js';
import { binds, roleOf } from './names.js';
import type { Scope } from './scope.js';
import { enclosingLoops, statementOf, unparenthesized } from './statements.js';

/** A condition that only asks whether a counter is still zero. */
export interface EmptyTest {
  /** The comparison, the `not n`, or the bare name. */
  readonly node: PyNode;
  /** It holds when nothing was counted. */
  readonly whenEmpty: boolean;
}

/** A local that starts at 0 and is only ever raised by one. */
export interface Counter {
  readonly name: string;
  readonly zeroed: PyNode;
  readonly bumps: readonly PyNode[];
  readonly tests: readonly EmptyTest[];
  /** Reads that are neither tests nor the given ones. */
  readonly otherReads: readonly PyNode[];
}

function isZero(node: PyNode): boolean {
  return /^0(?:\.0*)?$/.test(node.text);
}

/** The literal 0 or 0.0 that an assignment statement gives to this name. */
export function zeroGiven(binding: PyNode): PyNode | undefined {
  const definition = definitionOf(binding);
  if (definition.kind !== 'value' || !isZero(definition.value)) return undefined;
  const statement = statementOf(binding);
  const plain = statement.type === 'expression_statement' && statement.named[0]?.type === 'assignment';
  return plain && binding.closest('named_expression') === undefined ? definition.value : undefined;
}

/** Expects `except` among the reads: the places where the counter serves as what it is. */
export function counterNamed(
  module: PyModule,
  scope: Scope,
  name: string,
  except: readonly PyNode[],
): Counter | undefined {
  let zeroed: PyNode | undefined;
  const bumps: PyNode[] = [];
  const tests: EmptyTest[] = [];
  const otherReads: PyNode[] = [];
  const inside: PyNode[] = [...except];
  for (const place of module.occurrences(scope, name)) {
    if (inside.includes(place)) continue;
    const bump = bumpAt(place);
    if (bump !== undefined) {
      bumps.push(bump.statement);
      inside.push(...bump.reads);
    } else if (binds(roleOf(place))) {
      if (zeroed !== undefined || zeroGiven(place) === undefined) return undefined;
      zeroed = place;
    } else {
      const test = module.scopeAt(place) === scope ? emptyTestAt(place) : undefined;
      if (test === undefined) otherReads.push(place);
      else tests.push(test);
    }
  }
  if (zeroed === undefined || bumps.length === 0) return undefined;
  // Between an addition and its bump a test in the loop sees another number than it would see of a list.
  const loops = bumps.flatMap((bump) => enclosingLoops(bump).filter((loop) => !loop.contains(zeroed)));
  const early = tests.filter(({ node }) => loops.some((loop) => loop.contains(node)));
  otherReads.push(...early.map(({ node }) => node));
  return { name, zeroed, bumps, tests: tests.filter((test) => !early.includes(test)), otherReads };
}

/** `n += 1` or `n = n + 1`. */
function bumpAt(
  place: PyNode,
): { readonly statement: PyNode; readonly reads: readonly PyNode[] } | undefined {
  const operation = place.parent;
  const statement = statementOf(place);
  if (statement.named[0] !== operation || operation?.left !== place) return undefined;
  const right = operation.right;
  if (operation.type === 'augmented_assignment') {
    return operation.operator?.text === '+=' && right?.text === '1' ? { statement, reads: [] } : undefined;
  }
  if (operation.type !== 'assignment' || right?.type !== 'binary_operator') return undefined;
  const [a, b] = [right.left, right.right];
  const read = a?.text === place.text ? a : b?.text === place.text ? b : undefined;
  const one = read === a ? b : a;
  return right.operator?.text === '+' && read !== undefined && one?.text === '1'
    ? { statement, reads: [read] }
    : undefined;
}

const EMPTY: ReadonlySet<string> = new Set(['n==0', '0==n', 'n<1', 'n<=0', '1>n', '0>=n']);
const SOME: ReadonlySet<string> = new Set(['n>0', '0<n', 'n!=0', '0!=n', 'n>=1', '1<=n']);

function emptyTestAt(read: PyNode): EmptyTest | undefined {
  const holder = read.parent;
  if (holder === undefined) return undefined;
  if (holder.type === 'comparison_operator') {
    const words = holder.children.map((child) => (child === read ? 'n' : child.text)).join('');
    if (!isCondition(holder)) return undefined;
    if (EMPTY.has(words)) return { node: holder, whenEmpty: true };
    return SOME.has(words) ? { node: holder, whenEmpty: false } : undefined;
  }
  if (holder.type === 'not_operator')
    return isCondition(holder) ? { node: holder, whenEmpty: true } : undefined;
  return isCondition(read) ? { node: read, whenEmpty: false } : undefined;
}

/** Only the truth of the value counts at this place. */
function isCondition(node: PyNode): boolean {
  const holder = node.parent;
  switch (holder?.type) {
    case 'parenthesized_expression':
    case 'boolean_operator':
    case 'not_operator':
      return isCondition(holder);
    case 'if_statement':
    case 'elif_clause':
      return holder.condition === node;
    case 'conditional_expression':
      return holder.named[1] === node;
    case 'assert_statement':
      return holder.named[0] === node;
    default:
      return false;
  }
}

/** Whether a node runs only when a test says that nothing was counted. */
export function runsOnlyEmpty(node: PyNode, tests: readonly EmptyTest[]): boolean {
  return tests.some(({ node: test, whenEmpty }) => {
    const condition = outerParentheses(test);
    const owner = condition.parent;
    if (owner?.type === 'conditional_expression') {
      return owner.named[whenEmpty ? 0 : 2]?.contains(node) ?? false;
    }
    if (owner?.type !== 'if_statement' && owner?.type !== 'elif_clause') return false;
    if (whenEmpty) return owner.consequence?.contains(node) ?? false;
    const whole = owner.closest('if_statement');
    return whole?.childOfType('else_clause')?.contains(node) ?? false;
  });
}

function outerParentheses(node: PyNode): PyNode {
  let outer = node;
  while (outer.parent?.type === 'parenthesized_expression' && unparenthesized(outer.parent) === node) {
    outer = outer.parent;
  }
  return outer;
}
