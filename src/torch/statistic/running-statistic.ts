import { classAround } from '../../semantic/definitions.js';
import { importsPackage, qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import {
  argumentsOf,
  enclosingClass,
  enclosingFunction,
  methodName,
  receiverOf,
  statementOf,
  unparenthesized,
} from '../../semantic/statements.js';
import type { Glimpse } from '../../syntax/glimpse.js';
import type { PyNode } from '../../syntax/node.js';
import { LERP } from '../catalog.js';
import {
  type AttributeUse,
  attributeUses,
  moduleKind,
  type Registration,
  registrationOf,
} from '../module/modules.js';
import { kindOf } from '../tensor/tensor.js';

/** One `self.name = self.name * decay + fresh * gain`. */
export interface Update {
  readonly statement: PyNode;
  /** The written `self.name`. */
  readonly target: PyNode;
  /** The new value that is folded in. */
  readonly fresh: PyNode;
  /** The factor of the old value; undefined for `lerp` and `old + (new - old) * gain`. */
  readonly decay: PyNode | undefined;
  /** What is stored instead as long as there is no old value, in `first if self.name is None else …`. */
  readonly first?: PyNode;
  readonly gain: PyNode | undefined;
  /** Two constants, or `m` and `1 - m`. */
  readonly isAverage: boolean;
}

/** A tensor on `self` of a module that is averaged over calls. */
export interface RunningStatistic {
  readonly classNode: PyNode;
  readonly name: string;
  readonly updates: readonly Update[];
  /** All other writes of the attribute; those in `__init__` come first in source. */
  readonly otherWrites: readonly AttributeUse[];
  /** Reads outside the updates. */
  readonly reads: readonly AttributeUse[];
  readonly registration: Registration;
}

/** A product, not a power and not `**kwargs`; or an average by name. */
const PRODUCT = /(?<!\*)\*(?!\*)|lerp/;
/** How long the value of an update may be. */
const REACH = 800;
/** How often an attribute may be used: with more, every finding would have to look at all of them. */
const MAX_USES = 250;

export function runningStatistics(module: PyModule): readonly RunningStatistic[] {
  return module.memo(findStatistics, module);
}

/** Whether some function of the file could hold an update, going by the text alone: no node is made to ask it. */
export function mayHaveStatistic(text: string, _path: string, glimpse: Glimpse): boolean {
  // Mostly the text itself says no, comments and strings included.
  return mayUpdate(text) && glimpse.stretches.some(mayUpdate);
}

function mayUpdate(text: string): boolean {
  return !averageMarks(text).next().done;
}

/** An assignment may reach beyond its line only from a bracket, a string or a backslash on. */
const WRITTEN =
  /\bself\.(\w+)(?:[ \t]*=(?!=)(?=[^\n]{0,800}?(?:\bself\.\1\b|[([{"'\\]))|\.mul_\(|\.lerp_\()/g;

/** Where `self.name` is assigned a product with itself, or changed by a method that averages in place. */
function* averageMarks(text: string): Generator<{ name: string; at: number; assigned: boolean }> {
  let mayAverage: boolean | undefined;
  for (const match of text.matchAll(WRITTEN)) {
    const [written, name = ''] = match;
    const assigned = written.endsWith('=');
    const behind = match.index + written.length;
    // The cheapest question first: most attributes are assigned once, in `__init__`.
    if (assigned && !text.slice(behind, behind + REACH).includes(`self.${name}`)) continue;
    const value = assigned ? restOfStatement(text, behind) : '';
    mayAverage ??= PRODUCT.test(text);
    if (!mayAverage) return;
    if (assigned && !PRODUCT.test(value)) continue;
    if (!assigned || new RegExp(`\\bself\\.${name}\\b`).test(value))
      yield { name, at: match.index + 'self.'.length, assigned };
  }
}

/** From an offset to the end of its logical line, or a little further. */
function restOfStatement(text: string, from: number): string {
  let depth = 0;
  for (const match of text
    .slice(from, from + REACH)
    .matchAll(/#[^\r\n]*|(["'])(?:\\.|(?!\1).)*\1|[([{]|[)\]}]|\\?\r?\n|\\?\r/g)) {
    const [token] = match;
    if ('([{'.includes(token)) depth++;
    else if (')]}'.includes(token)) depth--;
    else if (/^[\r\n]/.test(token) && depth <= 0) return text.slice(from, from + match.index);
  }
  return text.slice(from, from + REACH);
}

function findStatistics(module: PyModule): readonly RunningStatistic[] {
  const found = new Map<string, { classNode: PyNode; name: string; updates: Update[] }>();
  for (const { name, at, assigned } of averageMarks(module.text)) {
    const target = module.root.descendantAt(at).parent;
    const update = target && (assigned ? updateAt(module, target) : updateInPlace(target));
    const classNode = target && classAround(target)?.classNode;
    if (update === undefined || classNode === undefined) continue;
    const key = `${classNode.start}.${name}`;
    const group = found.get(key) ?? { classNode, name, updates: [] };
    found.set(key, group);
    group.updates.push(update);
  }
  return [...found.values()].flatMap((group) => statisticOf(module, group) ?? []);
}

function statisticOf(
  module: PyModule,
  { classNode, name, updates }: { classNode: PyNode; name: string; updates: readonly Update[] },
): RunningStatistic | undefined {
  const { isModule } = moduleKind(module, classNode);
  if (isModule === 'no') return undefined;
  // A base from elsewhere: only what looks like a module is worth a word.
  const resembles = module.scopeOf(classNode).has('forward') && importsPackage(module, 'torch');
  if (isModule === 'unknown' && !resembles) return undefined;
  const uses = attributeUses(module, classNode, name);
  if (uses.length > MAX_USES) return undefined;
  const isOwn = ({ node }: AttributeUse): boolean =>
    updates.some(({ statement }) => statement.contains(node));
  return {
    classNode,
    name,
    updates,
    otherWrites: uses.filter((use) => use.kind !== 'read' && !isOwn(use)),
    reads: uses.filter((use) => use.kind === 'read' && !isOwn(use)),
    registration: registrationOf(module, classNode, name),
  };
}

function updateAt(module: PyModule, target: PyNode): Update | undefined {
  const assignment = target.parent;
  const value = assignment?.field('right');
  if (assignment?.type !== 'assignment' || value === undefined || assignment.field('left') !== target)
    return undefined;
  if (assignment.parent?.type !== 'expression_statement' || assignment.field('type') !== undefined)
    return undefined;
  if (!isMethodBody(target)) return undefined;
  for (const [given, first] of choices(value)) {
    const parts = blend(module, target.text, given) ?? step(module, target.text, given);
    if (parts === undefined) continue;
    const update = { statement: statementOf(target), target, ...parts };
    return first === undefined ? update : { ...update, first, isAverage: false };
  }
  return undefined;
}

/** `self.name.mul_(decay).add_(fresh, …)` and `self.name.lerp_(fresh, …)`, which keep a graph just the same. */
function updateInPlace(target: PyNode): Update | undefined {
  const first = target.parent?.parent;
  if (first?.type !== 'call' || receiverOf(first) !== target || !isMethodBody(target)) return undefined;
  const scales = methodName(first) === 'mul_';
  const last = scales ? first.parent?.parent : first;
  if (last?.type !== 'call' || last.parent?.type !== 'expression_statement') return undefined;
  if (scales && (methodName(last) !== 'add_' || receiverOf(last) !== first)) return undefined;
  const [fresh] = argumentsOf(last);
  const decay = scales ? argumentsOf(first)[0] : undefined;
  if (fresh === undefined || fresh.type === 'keyword_argument') return undefined;
  return { statement: statementOf(target), target, fresh, decay, gain: undefined, isAverage: false };
}

/** In a method other than `__init__`, not in a function inside one. */
function isMethodBody(node: PyNode): boolean {
  const owner = enclosingFunction(node);
  return (
    owner !== undefined && enclosingClass(owner) !== undefined && owner.field('name')?.text !== '__init__'
  );
}

/** The value itself, or either side of `a if … else b` with the other one. */
function choices(value: PyNode): readonly (readonly [PyNode, PyNode?])[] {
  const node = unparenthesized(value);
  const [one, , other] = node.named;
  if (node.type !== 'conditional_expression' || one === undefined || other === undefined) return [[node]];
  return [
    [one, other],
    [other, one],
  ];
}

type Parts = Pick<Update, 'fresh' | 'decay' | 'gain' | 'isAverage'>;

/** `old * decay + fresh * gain`, in any order. */
function blend(module: PyModule, old: string, value: PyNode): Parts | undefined {
  const sum = unparenthesized(value);
  if (!isOperation(sum, '+')) return undefined;
  for (const [kept, added] of swapped(sum)) {
    const factors = scaled(kept, old);
    if (factors === undefined || unparenthesized(added).text === old) continue;
    const { decay, moved } = factors;
    const { fresh, gain } = freshPart(module, decay, unparenthesized(added));
    const constants = gain !== undefined && isNumeral(decay) && isNumeral(gain);
    const isAverage = !moved && (constants || (gain !== undefined && areComplements(decay, gain)));
    return { decay, fresh, gain, isAverage };
  }
  return undefined;
}

/** `old + (fresh - old) * gain`, `old - (old - fresh) * gain` and `lerp(old, fresh, gain)`. */
function step(module: PyModule, old: string, value: PyNode): Parts | undefined {
  const outer = unparenthesized(value);
  const plain = { decay: undefined, gain: undefined, isAverage: false };
  if (outer.type === 'call') {
    const callee = outer.field('function');
    const isFunction = callee !== undefined && qualifiedName(module, callee) === LERP;
    const receiver = receiverOf(outer);
    if (!isFunction && methodName(outer) !== 'lerp') return undefined;
    const [first, second] = isFunction ? argumentsOf(outer) : [receiver, argumentsOf(outer)[0]];
    return first?.text === old && second !== undefined && second.type !== 'keyword_argument'
      ? { ...plain, fresh: second }
      : undefined;
  }
  const falls = isOperation(outer, '-');
  if (!falls && !isOperation(outer, '+')) return undefined;
  for (const [kept, added] of swapped(outer).slice(0, falls ? 1 : 2)) {
    const product = unparenthesized(added);
    if (unparenthesized(kept).text !== old || !isOperation(product, '*')) continue;
    for (const [difference] of swapped(product)) {
      const inner = unparenthesized(difference);
      const [fresh, gone] = falls
        ? [inner.field('right'), inner.field('left')]
        : [inner.field('left'), inner.field('right')];
      if (!isOperation(inner, '-') || gone?.text !== old) continue;
      if (fresh !== undefined) return { ...plain, fresh };
    }
  }
  return undefined;
}

/** `old * decay`, where `old` may be moved to a device on the way. */
function scaled(term: PyNode, old: string): { readonly decay: PyNode; readonly moved: boolean } | undefined {
  const product = unparenthesized(term);
  if (!isOperation(product, '*')) return undefined;
  for (const [side, decay] of swapped(product)) {
    const kept = unparenthesized(side);
    if (kept.text === old) return { decay, moved: false };
    const moves = ['to', 'cuda', 'cpu', 'type_as'].includes(methodName(kept) ?? '');
    if (kept.type === 'call' && moves && receiverOf(kept)?.text === old) return { decay, moved: true };
  }
  return undefined;
}

/** Which factor is the new value: the one that is not the complement of `decay`, nor a number. */
function freshPart(
  module: PyModule,
  decay: PyNode,
  term: PyNode,
): { readonly fresh: PyNode; readonly gain: PyNode | undefined } {
  if (isOperation(term, '*')) {
    const sides = swapped(term);
    const found =
      sides.find(([side]) => areComplements(decay, side)) ??
      sides.find(([side]) => isNumeral(side)) ??
      sides.find(([side]) => kindOf(module, side) === 'number');
    if (found !== undefined) return { gain: found[0], fresh: found[1] };
  }
  return { fresh: term, gain: undefined };
}

function swapped(operation: PyNode): readonly (readonly [PyNode, PyNode])[] {
  const left = operation.field('left');
  const right = operation.field('right');
  return left === undefined || right === undefined
    ? []
    : [
        [left, right],
        [right, left],
      ];
}

function isOperation(node: PyNode, operator: string): boolean {
  return node.type === 'binary_operator' && node.field('operator')?.text === operator;
}

export function isNumeral(node: PyNode): boolean {
  const inner = unparenthesized(node);
  return inner.type === 'integer' || inner.type === 'float';
}

/** `0.9` and `0.1`, or `m` and `1 - m` either way round. */
function areComplements(a: PyNode, b: PyNode): boolean {
  if (isNumeral(a) && isNumeral(b)) return Math.abs(numeral(a) + numeral(b) - 1) < 1e-9;
  return isOneMinus(a, b) || isOneMinus(b, a);
}

function isOneMinus(whole: PyNode, part: PyNode): boolean {
  const difference = unparenthesized(whole);
  const left = difference.field('left');
  const right = difference.field('right');
  if (!isOperation(difference, '-') || left === undefined || right === undefined) return false;
  return isNumeral(left) && numeral(left) === 1 && words(right) === words(part);
}

function numeral(node: PyNode): number {
  return Number(unparenthesized(node).text.replaceAll('_', ''));
}

function words(node: PyNode): string {
  return unparenthesized(node).text.replace(/\s+/g, '');
}
