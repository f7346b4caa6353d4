import type { PyNode } from '../syntax/node.js';
import { within } from '../syntax/within.js';
import { bisect } from '../text/bisect.js';
import type { PyModule } from './module.js';
import { roleOf } from './names.js';
import type { Scope } from './scope.js';

/** One way a variable can get its value. */
export type Definition =
  | { readonly kind: 'value'; readonly node: PyNode; readonly value: PyNode }
  /** `x += value`; the old value flows in as well. */
  | { readonly kind: 'update'; readonly node: PyNode; readonly operator: string; readonly value: PyNode }
  /** One target of an unpacking whose value is not taken apart. */
  | { readonly kind: 'part'; readonly node: PyNode; readonly value: PyNode }
  | { readonly kind: 'loop'; readonly node: PyNode; readonly iterable: PyNode }
  | { readonly kind: 'with'; readonly node: PyNode; readonly value: PyNode }
  | { readonly kind: 'parameter' | 'other'; readonly node: PyNode };

/** How a binding identifier gets its value. Tuples on both sides are matched element by element. */
export function definitionOf(binding: PyNode): Definition {
  const role = roleOf(binding);
  const { parent } = binding;
  if (role === 'parameter') return { kind: 'parameter', node: binding };
  if (role === 'loop') {
    const iterable = binding.closest('for_statement', 'for_in_clause')?.field('right');
    return iterable === undefined
      ? { kind: 'other', node: binding }
      : { kind: 'loop', node: binding, iterable };
  }
  if (role === 'update') {
    const statement = binding.closest('augmented_assignment');
    const value = statement?.field('right');
    const operator = statement?.field('operator')?.text;
    if (value !== undefined && operator !== undefined)
      return { kind: 'update', node: binding, operator, value };
  }
  if (role !== 'write' || parent === undefined) return { kind: 'other', node: binding };
  if (parent.type === 'named_expression') {
    const value = parent.field('value');
    return value === undefined ? { kind: 'other', node: binding } : { kind: 'value', node: binding, value };
  }
  if (parent.type === 'as_pattern_target') {
    const value = parent.parent?.named[0];
    if (value !== undefined && binding.closest('with_item', 'except_clause')?.type === 'with_item') {
      return { kind: 'with', node: binding, value };
    }
    return { kind: 'other', node: binding };
  }
  const assignment = binding.closest('assignment');
  const value = assignment && finalValue(assignment);
  if (assignment === undefined || value === undefined) return { kind: 'other', node: binding };
  if (assignment.field('left') === binding) return { kind: 'value', node: binding, value };
  const targets = parent.named;
  if (parent.parent === assignment && isSequence(value) && value.named.length === targets.length) {
    const plain = [...targets, ...value.named].every((item) => !item.type.includes('splat'));
    const element = value.named[targets.indexOf(binding)];
    if (plain && element !== undefined) return { kind: 'value', node: binding, value: element };
  }
  return { kind: 'part', node: binding, value };
}

/** The value of `a = b = value`. */
function finalValue(assignment: PyNode): PyNode | undefined {
  let value = assignment.field('right');
  while (value?.type === 'assignment') value = value.field('right');
  return value;
}

function isSequence(node: PyNode): boolean {
  return node.type === 'expression_list' || node.type === 'tuple' || node.type === 'list';
}

const NOWHERE = { start: -1, end: -1 };
const LOOPS: ReadonlySet<string> = new Set(['for_statement', 'while_statement']);

/**
 * The definitions that may give a read its value, or undefined when the variable lives outside the function or is written
 * elsewhere. Walks back through the statements before the read; a plain assignment there ends the search.
 */
export function reachingDefinitions(module: PyModule, read: PyNode): readonly Definition[] | undefined {
  return module.alone.memo(definitionsReaching, read);
}

function definitionsReaching(module: PyModule, read: PyNode): readonly Definition[] | undefined {
  const scope = module.resolve(read);
  if (scope === undefined || scope !== module.scopeAt(read)) return undefined;
  const writes = module.writes(scope, read.text);
  const { isElsewhere, walruses, parameters } = writtenBy(module, scope, writes);
  if (isElsewhere) return undefined;
  const found = new Map<PyNode, Definition>();
  const add = (binding: PyNode): void => void found.set(binding, definitionOf(binding));

  let child: PyNode = read;
  for (const ancestor of read.ancestors()) {
    if (ancestor.type === 'block' || ancestor.type === 'module') {
      if (collectBackwards(ancestor, child, writes, add)) return [...found.values()];
    } else {
      for (const walrus of walruses) if (isBeside(walrus, ancestor, child)) add(walrus);
      if (collectAround(ancestor, child, writes, add)) return [...found.values()];
    }
    // A function on the way there is one whose header, such as a default, holds the read.
    if (ancestor === scope.node) break;
    child = ancestor;
  }
  for (const parameter of parameters) add(parameter);
  return [...found.values()];
}

/** The reads of a variable that some bindings of it may reach, in source order; those that the flow does not tell about are among them. */
export function readsReached(
  module: PyModule,
  scope: Scope,
  name: string,
  bindings: readonly PyNode[],
): readonly PyNode[] {
  const { traced, untraced } = reachOf(module.alone, module.reads(scope, name));
  const [first = NO_NODES, ...others] = bindings.flatMap((binding) => [traced.get(binding) ?? []]);
  if (untraced.length === 0 && others.length === 0) return first;
  const all = new Set([...first, ...others.flat(), ...untraced]);
  return [...all].sort((a, b) => a.start - b.start);
}

const NO_NODES: readonly PyNode[] = [];

/** Of the reads of one variable, by binding, those that it reaches. */
interface Reach {
  readonly traced: ReadonlyMap<PyNode, readonly PyNode[]>;
  readonly untraced: readonly PyNode[];
}

function reachOf(module: PyModule, reads: readonly PyNode[]): Reach {
  const all = module.memo(nothingReached, module);
  const known = all.get(reads);
  if (known !== undefined) return known;
  const traced = new Map<PyNode, PyNode[]>();
  const untraced: PyNode[] = [];
  for (const read of reads) {
    const definitions = reachingDefinitions(module, read);
    if (definitions === undefined) untraced.push(read);
    for (const { node } of definitions ?? []) {
      const reached = traced.get(node);
      if (reached === undefined) traced.set(node, [read]);
      else reached.push(read);
    }
  }
  const reach = { traced, untraced };
  all.set(reads, reach);
  return reach;
}

function nothingReached(): Map<readonly PyNode[], Reach> {
  return new Map();
}

/** Whether a variable is also written from another scope. */
export function isWrittenElsewhere(module: PyModule, scope: Scope, name: string): boolean {
  return writtenBy(module.alone, scope, module.writes(scope, name)).isElsewhere;
}

/** How a variable is written, whoever reads it. */
interface Written {
  /** Also from another scope. */
  readonly isElsewhere: boolean;
  readonly walruses: readonly PyNode[];
  readonly parameters: readonly PyNode[];
}

function writtenBy(module: PyModule, scope: Scope, writes: readonly PyNode[]): Written {
  const all = module.memo(nothingWritten, module);
  const known = all.get(writes);
  if (known !== undefined) return known;
  const isParameter = (write: PyNode): boolean => roleOf(write) === 'parameter';
  const written = {
    isElsewhere: writes.some((write) => module.scopeAt(write) !== scope && !isParameter(write)),
    walruses: writes.filter(({ parent }) => parent?.type === 'named_expression'),
    parameters: writes.filter(isParameter),
  };
  all.set(writes, written);
  return written;
}

function nothingWritten(): Map<readonly PyNode[], Written> {
  return new Map();
}

/** In the same expression or header, on whichever side: what runs first is not asked. */
function isBeside(walrus: PyNode, ancestor: PyNode, child: PyNode): boolean {
  if (!ancestor.contains(walrus) || child.contains(walrus)) return false;
  const block = walrus.closest('block');
  return block === undefined || block.contains(ancestor);
}

/** Adds what a compound statement around `child` may have written before; true when it certainly has. */
function collectAround(
  ancestor: PyNode,
  child: PyNode,
  writes: readonly PyNode[],
  add: (binding: PyNode) => void,
): boolean {
  const addInside = (part: PyNode | undefined): void => {
    for (const write of part === undefined ? [] : within(writes, part)) add(write);
  };
  if (LOOPS.has(ancestor.type)) {
    // An earlier iteration may have run any write of the loop.
    addInside(ancestor.field('body'));
    const isBody = ancestor.field('body') === child;
    const header = within(writes, ancestor.field('left') ?? NOWHERE).find(
      (write) => roleOf(write) === 'loop' && write.closest('for_statement') === ancestor,
    );
    if (header === undefined) return isBody && collectHeader(ancestor, writes, add);
    if (isBody || child.type === 'else_clause') add(header);
    return isBody;
  }
  if (child.type === 'block') return collectHeader(ancestor, writes, add);
  // A guard reads what its pattern has captured.
  if (ancestor.type === 'case_clause') return collectHeader(ancestor, writes, add);
  if (ancestor.type === 'try_statement') {
    // What `finally` reads may come from any part; the other clauses run after the body only.
    for (const part of child.type === 'finally_clause' ? ancestor.children : [ancestor.field('body')])
      if (part !== child) addInside(part);
  }
  return false;
}

/** Adds what the statements before `child` may write; true when one of them certainly does. */
function collectBackwards(
  block: PyNode,
  child: PyNode,
  writes: readonly PyNode[],
  add: (binding: PyNode) => void,
): boolean {
  let at = bisect(writes.length, (each) => (writes[each]?.start ?? Infinity) < child.start) - 1;
  // The nearest first: most reads get their value from the statement before, and a long block has many.
  for (let last = writes[at]; last !== undefined && last.start >= block.start; last = writes[at]) {
    const statement = statementIn(block, last);
    const inside = within(writes, statement);
    for (const write of inside) add(write);
    const certain = inside.some((write) => {
      const role = roleOf(write);
      return (role === 'write' || role === 'def' || role === 'import') && isDirect(write, statement);
    });
    if (certain) return true;
    while ((writes[at]?.start ?? -1) >= statement.start) at--;
  }
  return false;
}

/** The statement of a block that holds a node. */
function statementIn(block: PyNode, node: PyNode): PyNode {
  let statement = node;
  while (statement.parent !== undefined && statement.parent !== block) statement = statement.parent;
  return statement;
}

/**
 * Adds what the header of a compound statement (`with … as x`, `if x := …`) writes before its block; true when it certainly
 * does: not behind an `or`, or in one arm of a conditional.
 */
function collectHeader(
  statement: PyNode,
  writes: readonly PyNode[],
  add: (binding: PyNode) => void,
): boolean {
  const headers = statement.children.filter(
    (part) => part.type !== 'block' && !part.type.endsWith('_clause'),
  );
  const withClause = statement.childrenOfType('with_clause').slice(0, 1);
  const inside = [...headers, ...withClause].flatMap((part) => within(writes, part));
  for (const write of inside) add(write);
  return inside.some((write) => !mayBeSkipped(write, statement));
}

function mayBeSkipped(write: PyNode, statement: PyNode): boolean {
  for (const around of write.ancestors()) {
    if (around === statement) return false;
    if (around.type === 'conditional_expression') return true;
    if (around.type === 'boolean_operator' && around.field('operator')?.text === 'or') return true;
  }
  return false;
}

/** The statement itself is the assignment, so whenever it runs the variable is written. */
function isDirect(write: PyNode, statement: PyNode): boolean {
  if (statement.type === 'expression_statement') {
    return (
      write.closest('assignment')?.parent?.type !== undefined &&
      write.closest('named_expression', 'lambda') === undefined
    );
  }
  if (statement.type === 'with_statement') return write.closest('with_clause')?.parent === statement;
  return statement.type === 'import_statement' || statement.type === 'import_from_statement';
}
