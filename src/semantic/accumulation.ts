import { namesBeside } from '../syntax/beside.js';
import { restOfLine } from '../syntax/code-text.js';
import type { Glimpse } from '../syntax/glimpse.js';
import type { PyNode } from '../syntax/node.js';
import { placesOf } from '../text/words.js';
import { type Counter, runsOnlyEmpty, zeroGiven } from './counter.js';
import { countProblem, denominatorOf } from './denominator.js';
import type { PyModule } from './module.js';
import { binds, roleOf } from './names.js';
import type { Scope } from './scope.js';
import { enclosingLoops, statementOf, unparenthesized } from './statements.js';

/** `total += value` or `total = total + value`. */
export interface Addition {
  readonly statement: PyNode;
  readonly target: PyNode;
  readonly value: PyNode;
}

/** A local that starts at zero, grows by additions in loops and is then divided by their number. */
export interface Accumulation {
  readonly name: string;
  readonly scope: Scope;
  readonly zeroed: PyNode;
  readonly zero: PyNode;
  readonly additions: readonly Addition[];
  /** `total / n`, or the whole of `total /= n`. */
  readonly division: PyNode;
  /** The name that is divided by, where it is a counter. */
  readonly counter: Counter | undefined;
  /** The argument of `len()`, where that is divided by. */
  readonly sequence: PyNode | undefined;
  /** `max(n, 1)`: with nothing added, the mean is 0.0. */
  readonly clamped: boolean;
  /** Reads that see the zero, because nothing was added. */
  readonly emptyReads: readonly PyNode[];
  /** Where the mean is used: what is read of the name it was given, else the division itself. */
  readonly meanUses: readonly PyNode[];
  /** The zero is still the value on some path. */
  readonly zeroSurvives: boolean;
  /** Completes "left alone because …". */
  readonly problem: string | undefined;
}

/** A target, maybe among others, and a zero in what is assigned: `total, n = 0.0, 0`, `total = n = 0`. */
const ZEROED = /^(?:[^=]*=(?!=)){1,4}[^=]*?(?<![\w.])0(?:\.0*)?(?![\w.])/;

/** The names that are divided, added to and set beside a zero, going by the text alone: no node is made to ask it. */
export function* accumulatedNames(text: string): Generator<string> {
  if (!text.includes('+')) return;
  const divided = namesBeside(text, '/', 'before');
  if (divided.size === 0) return;
  const names = [...namesBeside(text, '+', 'around')].filter((name) => divided.has(name));
  if (names.length === 0) return;
  const places = placesOf(new Set(names), text);
  for (const name of names) {
    const own = places.get(name) ?? [];
    const grows = own.some((at, nth) => isAddedTo(text, at + name.length, own[nth + 1]));
    if (grows && own.some((at) => ZEROED.test(restOfLine(text, at)))) yield name;
  }
}

const SET = /\s*(?:\+=|=(?!=))/y;
/** How far behind its `=` a name is looked for in what is assigned to it. */
const REACH = 400;

/** `name += …`, or `name = …` with the name again in what is assigned. */
function isAddedTo(text: string, behind: number, next: number | undefined): boolean {
  SET.lastIndex = behind;
  if (!SET.test(text)) return false;
  return text[SET.lastIndex - 2] === '+' || (next !== undefined && next <= SET.lastIndex + REACH);
}

/** Whether some function of the file has such a name. */
export function mayAccumulate(glimpse: Glimpse): boolean {
  return glimpse.repeatingWith('+').some((stretch) => !accumulatedNames(stretch).next().done);
}

/** The divisions of the file whose left side could be an accumulated total. */
export function accumulatedDivisions(module: PyModule): readonly PyNode[] {
  const names = new Map(module.glimpse.repeating.map((text) => [text, new Set(accumulatedNames(text))]));
  const found = new Set<PyNode>();
  for (const name of new Set([...names.values()].flatMap((some) => [...some]))) {
    for (const node of module.wordsWhere(name, (stretch) => names.get(stretch)?.has(name) === true)) {
      const division = node.type === 'identifier' && node.text === name ? divisionOf(node) : undefined;
      if (division !== undefined) found.add(division);
    }
  }
  return [...found].sort((a, b) => a.start - b.start);
}

/** `name / b` and `name /= b`. */
function divisionOf(name: PyNode): PyNode | undefined {
  let left = name;
  while (left.parent?.type === 'parenthesized_expression') left = left.parent;
  const { parent } = left;
  if (parent?.left !== left) return undefined;
  const operator = parent.operator?.text;
  if (parent.type === 'binary_operator') return operator === '/' ? parent : undefined;
  return parent.type === 'augmented_assignment' && operator === '/=' ? parent : undefined;
}

/** The accumulation that a division ends; undefined when it is something else, not merely an unsuitable one. */
export function accumulationOf(module: PyModule, division: PyNode): Accumulation | undefined {
  const left = division.left;
  const numerator = left && unparenthesized(left);
  const right = division.right;
  if (numerator?.type !== 'identifier' || right === undefined) return undefined;
  const scope = module.resolve(numerator);
  if (scope?.kind !== 'function' || module.scopeAt(numerator) !== scope) return undefined;
  const name = numerator.text;
  const denominator = denominatorOf(module, scope, right);
  if (denominator === undefined) return undefined;

  const rebound = reboundBy(division, name);
  const own = [numerator, ...(rebound === undefined ? [] : [rebound])];
  const additions: Addition[] = [];
  const inside: PyNode[] = [...own];
  const rest: PyNode[] = [];
  let zeroed: PyNode | undefined;
  for (const place of module.occurrences(scope, name)) {
    if (inside.includes(place)) continue;
    const addition = additionAt(place);
    if (addition !== undefined) {
      additions.push(addition);
      inside.push(...addition.reads);
    } else if (zeroed === undefined && zeroGiven(place) !== undefined) zeroed = place;
    else rest.push(place);
  }
  const zero = zeroed && zeroGiven(zeroed);
  if (zeroed === undefined || zero === undefined || additions.length === 0) return undefined;
  if (!additions.some(({ statement }) => enclosingLoops(statement).length > 0)) return undefined;

  const tests = denominator.counter?.tests ?? [];
  const emptyRest = rest.filter((place) => module.scopeAt(place) === scope && runsOnlyEmpty(place, tests));
  const rebinds = rebound !== undefined || division.type === 'augmented_assignment';
  const shape = { module, scope, name, zeroed, additions, division, rest, emptyRest, rebinds };
  return {
    name,
    scope,
    zeroed,
    zero,
    additions,
    division,
    counter: denominator.counter,
    sequence: denominator.sequence,
    clamped: denominator.clamped,
    emptyReads: emptyRest.filter((place) => roleOf(place) === 'read'),
    meanUses: meanUses(module, scope, division),
    zeroSurvives: rebinds && zeroSurvives(shape),
    problem: orderProblem(shape) ?? countProblem(module, { additions, division, zeroed, name }, denominator),
  };
}

function meanUses(module: PyModule, scope: Scope, division: PyNode): readonly PyNode[] {
  const operation = statementOf(division).named[0];
  const holder = division.parent?.type === 'assignment' ? division.parent : division;
  const target = holder === operation ? holder.left : undefined;
  if (target?.type !== 'identifier') return [division];
  return module
    .occurrences(scope, target.text)
    .filter((place) => roleOf(place) === 'read' && follows(place, holder));
}

/** The target of `total = total / n`, whatever else that expression does with the mean. */
function reboundBy(division: PyNode, name: string): PyNode | undefined {
  const statement = statementOf(division);
  const assignment = statement.type === 'expression_statement' ? statement.named[0] : undefined;
  const target = assignment?.type === 'assignment' ? assignment.left : undefined;
  return target?.type === 'identifier' && target.text === name ? target : undefined;
}

export function additionAt(place: PyNode): (Addition & { readonly reads: readonly PyNode[] }) | undefined {
  const operation = place.parent;
  const statement = statementOf(place);
  if (statement.named[0] !== operation || operation?.left !== place) return undefined;
  const given = operation.right;
  if (given === undefined) return undefined;
  if (operation.type === 'augmented_assignment') {
    return operation.operator?.text === '+='
      ? { statement, target: place, value: given, reads: [] }
      : undefined;
  }
  const right = unparenthesized(given);
  if (operation.type !== 'assignment' || right.type !== 'binary_operator' || right.operator?.text !== '+') {
    return undefined;
  }
  const [a, b] = [right.left, right.right];
  if (a?.text === place.text && b !== undefined) return { statement, target: place, value: b, reads: [a] };
  return b?.text === place.text && a !== undefined
    ? { statement, target: place, value: a, reads: [b] }
    : undefined;
}

/** The comments beside the value, within the parentheses around the sum. */
export function looseComments({ statement, value }: Addition): readonly string[] {
  if (!statement.text.includes('#')) return [];
  return [...statement.walk()].flatMap((node) =>
    node.type === 'comment' && !value.contains(node) ? [node.text.trimEnd()] : [],
  );
}

interface Shape {
  readonly module: PyModule;
  readonly scope: Scope;
  readonly name: string;
  readonly zeroed: PyNode;
  readonly additions: readonly Addition[];
  readonly division: PyNode;
  /** Uses of the name that are none of the above. */
  readonly rest: readonly PyNode[];
  readonly emptyRest: readonly PyNode[];
  readonly rebinds: boolean;
}

/** Start, loops and division must follow each other in one block, and nothing else may look at the total meanwhile. */
function orderProblem(shape: Shape): string | undefined {
  const { module, scope, name, zeroed, additions, division, rest, emptyRest, rebinds } = shape;
  const block = statementOf(zeroed).parent;
  const places = [zeroed, ...additions.map(({ statement }) => statement), division].map((node) =>
    placeIn(block, node),
  );
  const ordered = places.every((place, at) => place >= 0 && (at === 0 || place >= (places[at - 1] ?? 0)));
  const [first = -1, ...loops] = places;
  const last = loops.pop() ?? -1;
  if (division.text.includes('#')) return 'a comment stands inside the division';
  if (module.atWithin('locals(', scope.node).length > 0) return `\`locals()\` may read \`${name}\``;
  if (rest.some((place) => module.scopeAt(place) !== scope))
    return `\`${name}\` is also used by a nested function`;
  if (!ordered || loops.includes(first))
    return `\`${name}\` is not set to zero right before the loop on every path`;
  const growing = additions
    .flatMap(({ statement }) => enclosingLoops(statement))
    .filter((loop) => block?.contains(loop));
  if (growing.some((loop) => loop.contains(division))) return `\`${name}\` is read while it is still growing`;
  if (loops.includes(last)) return `\`${name}\` is set to zero outside the block that divides it`;
  if (enclosingLoops(division).some((loop) => block?.contains(loop))) {
    return `\`${name}\` is divided inside another loop`;
  }
  const loose = additions.find(
    ({ statement }) => !enclosingLoops(statement).some((loop) => block?.contains(loop)),
  );
  if (loose !== undefined) return `\`${name}\` also grows outside the loop`;
  for (const place of rest) {
    if (emptyRest.includes(place)) continue;
    const at = placeIn(block, place);
    if (binds(roleOf(place)) && roleOf(place) !== 'update' && at < last)
      return `\`${name}\` is set more than once`;
    if (loops.includes(at)) return `\`${name}\` is also read in the loop`;
    if (!rebinds) return `\`${name}\` is also used outside its mean`;
    if (at < last || !follows(place, statementOf(division))) {
      return `\`${name}\` is also used before it is divided`;
    }
  }
  return undefined;
}

/** Where the mean is taken under a condition, a later read may still find the zero. */
function zeroSurvives({ zeroed, division, rest, emptyRest }: Shape): boolean {
  const block = statementOf(division).parent;
  if (block === statementOf(zeroed).parent || block === undefined) return false;
  const choice = block.parent?.type === 'else_clause' ? block.parent.parent : block.parent;
  if (emptyRest.some((place) => roleOf(place) === 'write' && choice?.contains(place))) return false;
  return rest.some((place) => !emptyRest.includes(place) && !block.contains(place));
}

/** The index of the block's statement that holds the node, or -1. */
function placeIn(block: PyNode | undefined, node: PyNode): number {
  let child = node;
  for (const ancestor of node.ancestors()) {
    if (ancestor === block) return child.index;
    child = ancestor;
  }
  return -1;
}

function follows(node: PyNode, other: PyNode): boolean {
  return node.start >= other.end;
}
