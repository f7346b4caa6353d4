import { cutsGraph } from '../../library/library.js';
import { LERP } from '../../library/names.js';
import { type AttributeUse, attributeUses } from '../../semantic/attribute-uses.js';
import {
  areComplements,
  choices,
  isNumeral,
  isOperation,
  stepped,
  swapped,
} from '../../semantic/complements.js';
import { classAround } from '../../semantic/definitions.js';
import { importsPackage, qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { remembered } from '../../semantic/remembered.js';
import {
  argumentsOf,
  elementSet,
  isMethodBody,
  methodName,
  receiverOf,
  statementOf,
  unparenthesized,
} from '../../semantic/statements.js';
import { restOfStatement } from '../../syntax/code-text.js';
import type { Glimpse } from '../../syntax/glimpse.js';
import type { PyNode } from '../../syntax/node.js';
import { valueOf } from '../../values/index.js';
import { moduleKind, type Registration, registrationOf } from '../module/modules.js';

/** One `self.name = self.name * decay + fresh * gain`, or the same of `self.name[key]`. */
export interface Update {
  readonly statement: PyNode;
  /** The written `self.name` or `self.name[key]`. */
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
  /** The old value goes in without its graph: only that of one call is kept. */
  readonly cutsOld?: boolean;
  /** `lerp` takes nothing but a tensor for the new value. */
  readonly takesTensor?: boolean;
}

/** A tensor on `self` of a module that is averaged over calls. */
export interface RunningStatistic {
  readonly classNode: PyNode;
  readonly name: string;
  readonly updates: readonly Update[];
  /** All other writes of the attribute or of its elements; those in `__init__` come first in source. */
  readonly otherWrites: readonly AttributeUse[];
  /** Reads outside the updates. */
  readonly reads: readonly AttributeUse[];
  readonly registration: Registration;
}

/** A product, not a power and not `**kwargs`; or an average by name. */
const PRODUCT = /(?<!\*)\*(?!\*)|lerp|\.mul_\(/;
/** How long the value of an update may be. */
const REACH = 800;
/** How often an attribute may be used: with more, every finding would have to look at all of them. */
const MAX_USES = 250;

export const runningStatistics = remembered((module: PyModule): readonly RunningStatistic[] => {
  const found = new Map<string, { classNode: PyNode; name: string; updates: Update[] }>();
  for (const { name, at, assigned } of averageMarks(module.text)) {
    const attribute = module.root.descendantAt(at).parent;
    const target = elementSet(attribute) ?? attribute;
    const update = target && (assigned ? updateAt(module, target) : updateInPlace(target));
    const classNode = target && classAround(target)?.classNode;
    if (update === undefined || classNode === undefined) continue;
    const key = `${classNode.start}.${name}`;
    const group = found.get(key) ?? { classNode, name, updates: [] };
    found.set(key, group);
    group.updates.push(update);
  }
  return [...found.values()].flatMap((group) => statisticOf(module, group) ?? []);
});

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
  /\bself\.(\w+)(?:(?:\[[^\]\n]{1,80}\])?[ \t]*\+?=(?!=)(?=[^\n]{0,800}?(?:\bself\.\1\b|[([{"'\\]))|\.mul_\(|\.lerp_\()/g;

/** Where `self.name` is assigned a product with itself, or changed by a method that averages in place. */
function* averageMarks(text: string): Generator<{ name: string; at: number; assigned: boolean }> {
  let mayAverage: boolean | undefined;
  for (const match of text.matchAll(WRITTEN)) {
    const [written, name = ''] = match;
    const assigned = written.endsWith('=');
    const behind = match.index + written.length;
    // The cheapest question first: most attributes are assigned once, in `__init__`.
    if (assigned && !text.slice(behind, behind + REACH).includes(`self.${name}`)) continue;
    const value = assigned ? restOfStatement(text, behind, REACH) : '';
    mayAverage ??= PRODUCT.test(text);
    if (!mayAverage) return;
    if (assigned && !PRODUCT.test(value)) continue;
    if (!assigned || new RegExp(`\\bself\\.${name}\\b`).test(value))
      yield { name, at: match.index + 'self.'.length, assigned };
  }
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
  const isOfElements = updates.every(({ target }) => target.type === 'subscript');
  // Where the elements are averaged, setting one is a write.
  const element = ({ node }: AttributeUse): PyNode | undefined =>
    isOfElements ? elementSet(node) : undefined;
  return {
    classNode,
    name,
    updates,
    otherWrites: uses.flatMap((use): readonly AttributeUse[] => {
      if (isOwn(use)) return [];
      const node = element(use);
      return node === undefined ? (use.kind === 'read' ? [] : [use]) : [{ ...use, node, kind: 'write' }];
    }),
    reads: uses.filter((use) => use.kind === 'read' && !isOwn(use) && element(use) === undefined),
    registration: registrationOf(module, classNode, name),
  };
}

function updateAt(module: PyModule, target: PyNode): Update | undefined {
  const assignment = target.parent;
  const value = assignment?.right;
  if (value === undefined || assignment?.left !== target) return undefined;
  if (assignment.type === 'augmented_assignment') return updateAdded(target, assignment, value);
  if (assignment.type !== 'assignment') return undefined;
  if (assignment.parent?.type !== 'expression_statement' || assignment.field('type') !== undefined)
    return undefined;
  if (!isMethodBody(target)) return undefined;
  for (const [given, first] of choices(value)) {
    const parts = blend(module, target.text, given) ?? step(module, target.text, given);
    if (parts === undefined) continue;
    const update = { statement: statementOf(target), target, ...parts };
    if (target.type === 'subscript') return { ...update, isAverage: false, ...(first && { first }) };
    return first === undefined ? update : { ...update, first, isAverage: false };
  }
  return undefined;
}

/** `self.name += (fresh - self.name) * gain` */
function updateAdded(target: PyNode, assignment: PyNode, value: PyNode): Update | undefined {
  if (assignment.operator?.text !== '+=' || !isMethodBody(target)) return undefined;
  const fresh = stepped(target.text, unparenthesized(value), false);
  const statement = statementOf(target);
  return fresh && { statement, target, fresh, decay: undefined, gain: undefined, isAverage: false };
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
  const plain = { decay, gain: undefined, isAverage: false, takesTensor: !scales };
  return { statement: statementOf(target), target, fresh, ...plain };
}

type Parts = Pick<Update, 'fresh' | 'decay' | 'gain' | 'isAverage' | 'cutsOld' | 'takesTensor'>;

/** `old * decay + fresh * gain`, in any order. */
function blend(module: PyModule, old: string, value: PyNode): Parts | undefined {
  const sum = unparenthesized(value);
  if (!isOperation(sum, '+')) return undefined;
  for (const [kept, added] of swapped(sum)) {
    const factors = scaled(kept, old);
    if (factors === undefined || unparenthesized(added).text === old) continue;
    const { decay, moved, cutsOld } = factors;
    const { fresh, gain } = freshPart(module, decay, unparenthesized(added));
    const constants = gain !== undefined && isNumeral(decay) && isNumeral(gain);
    const isAverage = !moved && (constants || (gain !== undefined && areComplements(decay, gain)));
    return { decay, fresh, gain, isAverage, cutsOld };
  }
  return undefined;
}

/** `old + (fresh - old) * gain`, `old - (old - fresh) * gain` and `lerp(old, fresh, gain)`. */
function step(module: PyModule, old: string, value: PyNode): Parts | undefined {
  const outer = unparenthesized(value);
  const plain = { decay: undefined, gain: undefined, isAverage: false };
  if (outer.type === 'call') {
    const callee = outer.function;
    const isFunction = callee !== undefined && qualifiedName(module, callee) === LERP;
    const receiver = receiverOf(outer);
    if (!isFunction && methodName(outer) !== 'lerp') return undefined;
    const [first, second] = isFunction ? argumentsOf(outer) : [receiver, argumentsOf(outer)[0]];
    return first?.text === old && second !== undefined && second.type !== 'keyword_argument'
      ? { ...plain, fresh: second, takesTensor: true }
      : undefined;
  }
  const falls = isOperation(outer, '-');
  if (!falls && !isOperation(outer, '+')) return undefined;
  for (const [kept, added] of swapped(outer).slice(0, falls ? 1 : 2)) {
    const fresh =
      unparenthesized(kept).text === old ? stepped(old, unparenthesized(added), falls) : undefined;
    if (fresh !== undefined) return { ...plain, fresh };
  }
  return undefined;
}

/** `old * decay`, where `old` may be moved to a device or detached on the way. */
function scaled(
  term: PyNode,
  old: string,
): { readonly decay: PyNode; readonly moved: boolean; readonly cutsOld: boolean } | undefined {
  const product = unparenthesized(term);
  if (!isOperation(product, '*')) return undefined;
  for (const [side, decay] of swapped(product)) {
    const kept = unparenthesized(side);
    if (kept.text === old) return { decay, moved: false, cutsOld: false };
    const inner = kept.attribute?.text === 'data' ? kept.object : receiverOf(kept);
    const isCut = kept.type === 'attribute' || cutsGraph(methodName(kept) ?? '');
    if (isCut && inner?.text === old) return { decay, moved: true, cutsOld: true };
    const moves = ['to', 'cuda', 'cpu', 'type_as'].includes(methodName(kept) ?? '');
    if (kept.type === 'call' && moves && inner?.text === old) return { decay, moved: true, cutsOld: false };
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
      sides.find(([side]) => valueOf(module, side).kind === 'number');
    if (found !== undefined) return { gain: found[0], fresh: found[1] };
  }
  return { fresh: term, gain: undefined };
}
