import { attributeValues } from '../../src/semantic/attributes.js';
import { definitionsOf } from '../../src/semantic/flow.js';
import { isFreshContainer } from '../../src/semantic/literals.js';
import type { PyModule } from '../../src/semantic/module.js';
import { givenTo } from '../../src/semantic/statements.js';
import { readsOf } from '../../src/semantic/variables.js';
import type { PyNode } from '../../src/syntax/node.js';
import { isFrozen } from '../../src/torch/grad/evaluation.js';
import { callsOnlyLibraries, runsAlikeWithoutGradients } from '../../src/torch/record/harmless.js';
import { type GradlessPart, leavesNothingItself } from '../../src/torch/record/left-behind.js';
import { isNeeded } from '../../src/torch/record/needed.js';
import { gradUseIn } from '../../src/values/effects/grad.js';
import { isProven } from './block.js';
import { unspentLoss } from './unspent-loss.js';

/** A statement that runs networks. */
export interface Run {
  readonly statement: PyNode;
  readonly models: readonly PyNode[];
}

/** What goes under a `with` of its own. */
export function partsOf(module: PyModule, owner: PyNode, runs: readonly Run[]): readonly GradlessPart[] {
  const parts: readonly GradlessPart[] = rowsOf(module, owner, runs).flatMap((row) =>
    longest(module, owner, row),
  );
  for (let at = parts; ; ) {
    const whole = withNext(module, aroundBranches(module, at));
    if (whole === at) return at;
    at = whole;
  }
}

/** Parts in several branches of an `if` of which nothing else needs gradients go under one `with`, around it. */
function aroundBranches(module: PyModule, parts: readonly GradlessPart[]): readonly GradlessPart[] {
  const statements = new Set(parts.flatMap((part) => branching(part.wrapped[0]) ?? []));
  for (const statement of statements) {
    const inside = parts.filter(({ wrapped }) => branching(wrapped[0]) === statement);
    const [first] = inside;
    const branches = new Set(inside.map(({ wrapped }) => wrapped[0]?.parent));
    if (first === undefined || branches.size < 2 || !mayStandAround(module, statement, inside)) continue;
    const whole = { ...first, wrapped: [statement], statements: [statement], models: modelsOf(inside) };
    if (isProven(module, whole)) return [...parts.filter((part) => !inside.includes(part)), whole];
  }
  return parts;
}

/** A part and the `if` behind it that has another one in a branch, and nothing that needs gradients, share a `with`. */
function withNext(module: PyModule, parts: readonly GradlessPart[]): readonly GradlessPart[] {
  for (const part of parts) {
    const last = part.wrapped.at(-1);
    const siblings = last?.parent?.named.filter(({ type }) => type !== 'comment') ?? [];
    const next = last && siblings[siblings.indexOf(last) + 1];
    const both = [part, ...parts.filter(({ wrapped }) => branching(wrapped[0]) === next)];
    if (next === undefined || both.length === 1 || !mayStandAround(module, next, both)) continue;
    const wrapped = [...part.wrapped, next];
    const whole = { ...part, wrapped, statements: wrapped, models: modelsOf(both) };
    if (isProven(module, whole)) return [...parts.filter((each) => !both.includes(each)), whole];
  }
  return parts;
}

function modelsOf(parts: readonly Pick<GradlessPart, 'models'>[]): readonly PyNode[] {
  return [...new Map(parts.flatMap(({ models }) => models).map((model) => [model.text, model])).values()];
}

/** The `if` that a statement is in a branch of. */
function branching(statement: PyNode | undefined): PyNode | undefined {
  const clause = statement?.parent?.parent;
  const found = clause !== undefined && /^(?:elif|else)_clause$/.test(clause.type) ? clause.parent : clause;
  return found?.type === 'if_statement' ? found : undefined;
}

function mayStandAround(module: PyModule, statement: PyNode, parts: readonly GradlessPart[]): boolean {
  const isWrapped = (each: PyNode): boolean => parts.some(({ wrapped }) => wrapped.includes(each));
  const isFree = (each: PyNode): boolean =>
    each.type === 'comment' ||
    isWrapped(each) ||
    runsAlikeWithoutGradients(
      module,
      each,
      parts.flatMap(({ wrapped }) => wrapped),
    );
  const isClause = ({ type }: PyNode): boolean => /^(?:elif|else)_clause$/.test(type);
  return [statement, ...statement.named.filter(isClause)].every((clause) =>
    clause.named.every((each) => {
      if (each.type === 'block') return each.named.every(isFree);
      return isClause(each) || each.type === 'comment' || callsOnlyLibraries(module, each);
    }),
  );
}

/** How many assignments between two such statements go under the same `with`. */
const MAX_BETWEEN = 3;

/** Those of one block that only assignments stand between. */
function rowsOf(module: PyModule, owner: PyNode, runs: readonly Run[]): readonly (readonly Run[])[] {
  // What is asked about one statement is no question about those beside it.
  const isUnspent = ({ statement, models }: Run): boolean =>
    unspentLoss(module, { statements: [statement], owner, models }) !== undefined;
  const rows: Run[][] = [];
  for (const run of [...runs].sort((a, b) => a.statement.start - b.statement.start)) {
    const row = rows.at(-1);
    const last = row?.at(-1);
    const between = last && statementsBetween(last.statement, run.statement);
    if (
      row !== undefined &&
      between !== undefined &&
      between.length <= MAX_BETWEEN &&
      between.every((each) => mayStandBetween(module, each, [...row, run])) &&
      isUnspent(run) === (last !== undefined && isUnspent(last))
    )
      row.push(run);
    else rows.push([run]);
  }
  return rows;
}

function mayStandBetween(module: PyModule, statement: PyNode, runs: readonly Run[]): boolean {
  if (!isAssignment(statement)) return false;
  return runsAlikeWithoutGradients(
    module,
    statement,
    runs.map((run) => run.statement),
  );
}

/** The statements of a block between two of it; undefined where they are of different ones. */
function statementsBetween(first: PyNode, last: PyNode): readonly PyNode[] | undefined {
  const siblings = first.parent?.named ?? [];
  const end = siblings.indexOf(last);
  return end === -1
    ? undefined
    : siblings.slice(siblings.indexOf(first) + 1, end).filter(({ type }) => type !== 'comment');
}

/** The longest stretches of a row that leave nothing with a graph. */
function longest(module: PyModule, owner: PyNode, row: readonly Run[]): readonly GradlessPart[] {
  const found: GradlessPart[] = [];
  for (let from = 0; from < row.length; ) {
    const part = row
      .slice(from)
      .flatMap((_run, index) => partOf(module, owner, row.slice(from, row.length - index)) ?? [])
      .find((each) => mayStand(module, each) && leavesNothingItself(module, each));
    if (part !== undefined) found.push(part);
    from +=
      part === undefined
        ? 1
        : row.slice(from).filter(({ statement }) => part.wrapped.includes(statement)).length;
  }
  return found;
}

/** What stands between is asked again: a run that it hangs on may not be among these. */
function partOf(module: PyModule, owner: PyNode, runs: readonly Run[]): GradlessPart | undefined {
  const [first] = runs;
  const last = runs.at(-1);
  if (first === undefined || last === undefined) return undefined;
  const siblings = first.statement.parent?.named ?? [];
  const wrapped = siblings
    .slice(siblings.indexOf(first.statement), siblings.indexOf(last.statement) + 1)
    .filter(({ type }) => type !== 'comment');
  const isRun = (each: PyNode): boolean => runs.some(({ statement }) => statement === each);
  if (!wrapped.every((each) => isRun(each) || mayStandBetween(module, each, runs))) return undefined;
  return { wrapped, statements: wrapped, owner, models: modelsOf(runs), mayTrain: true };
}

/** `y = …`, `a, b = …` with plain names, by which everything else gets at the values. */
export function isAssignment(statement: PyNode): boolean {
  const [assignment, ...others] = statement.type === 'expression_statement' ? statement.named : [];
  const target = assignment?.type === 'assignment' ? assignment.left : undefined;
  const value = assignment?.right;
  if (target === undefined || value === undefined || others.length > 0) return false;
  const targets = /pattern|tuple/.test(target.type) ? target.named : [target];
  if (!targets.every(({ type }) => type === 'identifier') || value.type === 'assignment') return false;
  return ![...value.walk()].some(({ type }) => type === 'yield' || type === 'await');
}

/** Networks whose gradients are off record nothing anyway, and what nobody reads is better deleted. */
export function mayStand(module: PyModule, { statements, owner, models }: GradlessPart): boolean {
  if (!statements.some((each) => isNeeded(module, owner, each))) return false;
  if (statements.some((each) => gradUseIn(module, each) !== undefined || givesContainer(module, each)))
    return false;
  const evaluation = { functionNode: owner, evals: [], trains: [], forwards: [], gradless: [] };
  return !models.every((model) => isFrozen(module, { ...evaluation, model }));
}

/** `net(batch)`, where `batch` is a list or a dictionary that is read behind it: a forward may leave its results there. */
function givesContainer(module: PyModule, statement: PyNode): boolean {
  const given = [...statement.walk()].flatMap((call) => (call.type === 'call' ? givenTo(call) : []));
  return given.some((value) => {
    if (value.type !== 'identifier') return false;
    const isMade = isContainer(module, value);
    return readsOf(module, value).some(
      (read) =>
        read.start > statement.end &&
        (isMade || (read.parent?.type === 'subscript' && read.parent.named[1]?.type === 'string')),
    );
  });
}

/** A list or dictionary that was made here, wherever it comes from. */
export function isContainer(module: PyModule, holder: PyNode): boolean {
  const values =
    holder.type === 'attribute'
      ? attributeValues(module, holder)
      : definitionsOf(module, holder)?.map((each) => (each.kind === 'value' ? each.value : undefined));
  return (
    values !== undefined &&
    values.length > 0 &&
    values.every((value) => value && isFreshContainer(module, value))
  );
}
