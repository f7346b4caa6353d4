import { LOAD_DATASET, TORCH_DATASETS } from '../../src/library/names.js';
import type { Answer } from '../../src/semantic/answer.js';
import { ancestryOf, classAround, heirsOf, methodNamed, selfName } from '../../src/semantic/definitions.js';
import { shown } from '../../src/semantic/gate.js';
import { qualifiedName } from '../../src/semantic/imports.js';
import type { PyModule } from '../../src/semantic/module.js';
import { passOf } from '../../src/semantic/passes.js';
import {
  argumentsOf,
  decoratorsOf,
  hasSplat,
  isAsync,
  keywordArgument,
  keywordValue,
  methodName,
  receiverOf,
} from '../../src/semantic/statements.js';
import type { PyNode } from '../../src/syntax/node.js';
import { type OneByOne, oneByOne } from './one-by-one.js';

/** A dataset class that computes all of its items when it is made, one per entry of its source. */
export interface EagerDataset extends Omit<OneByOne, 'data' | 'given'> {
  readonly classNode: PyNode;
  readonly self: string;
  readonly init: PyNode;
  /** `self.items = self.method()`, or `self.items = []` where `__init__` has the loop itself. */
  readonly fill: PyNode;
  /** `self.items`, as written. */
  readonly items: string;
  /** `self.source`. */
  readonly source: string;
  /** With the loop. */
  readonly method: PyNode;
  /** `return list` behind the loop of a method of its own. */
  readonly result: PyNode | undefined;
  /** What only `__init__` knows where its loop reads it, and the attributes that are the same. */
  readonly given: readonly { readonly node: PyNode; readonly attribute: string }[];
  /** Parameters that no attribute keeps yet, but that attributes of their names could. */
  readonly unkept: readonly string[];
  /** `return self.items[index]` of `__getitem__`. */
  readonly lookup: PyNode;
  readonly index: PyNode;
  /** `self.items` of each `len(self.items)`. */
  readonly lengths: readonly PyNode[];
}

/** The dataset, or why its class is not of the strict shape; undefined where it is not about eager items at all. */
export function eagerDataset(module: PyModule, getItem: PyNode): EagerDataset | string | undefined {
  const classNode = getItem.parent?.parent;
  const init =
    classNode?.type === 'class_definition' ? methodNamed(module, classNode, '__init__') : undefined;
  if (classNode === undefined || init === undefined || init.parent?.parent !== classNode) return undefined;
  if (!ancestryOf(module, classNode).imported.some((base) => TORCH_DATASETS.has(base))) return undefined;
  const self = selfName(init);
  if (self === undefined) return undefined;
  const called = init.body?.named.flatMap((statement) => fillOf(statement, self)) ?? [];
  if (called.length > 1) return undefined;
  const filling = called[0] === undefined ? filledInPlace(init, getItem) : called[0];
  if (filling === undefined) return undefined;
  const shape =
    filling.method === undefined
      ? shapeInPlace(module, classNode, init, self, filling)
      : shapeOfMethod(module, methodNamed(module, classNode, filling.method));
  if (shape === undefined) return undefined;
  const given = lookupOf(getItem, filling.items);
  if (given === undefined) return `\`__getitem__\` does more than look up \`${filling.items}\``;
  if (typeof shape === 'string') return shape;
  const later = changedLater(module, classNode, init, filling.statement, shape.loop);
  if (later !== undefined) return `\`${later}\` changes after the items were made`;
  const lengths = otherUses(module, classNode, filling, given.statement, shape.append);
  if (typeof lengths === 'string') return lengths;
  const { items, statement: fill } = filling;
  return {
    ...shape,
    classNode,
    self,
    init,
    fill,
    items,
    lookup: given.statement,
    index: given.index,
    lengths,
  };
}

/** `self.items = []` of a constructor with a loop that fills it, where that is what `__getitem__` looks up. */
function filledInPlace(init: PyNode, getItem: PyNode): Fill | undefined {
  const statements = init.body?.named ?? [];
  return statements.flatMap((statement) => {
    const assignment = statement.named[0];
    const items = assignment?.type === 'assignment' ? (assignment.left?.text ?? '') : '';
    if (!isEmptyList(assignment?.right) || lookupOf(getItem, items) === undefined) return [];
    const grows = statements.some(
      ({ type, text }) => type === 'for_statement' && text.includes(`${items}.append(`),
    );
    return grows ? [{ statement, items, method: undefined }] : [];
  })[0];
}

interface Fill {
  readonly statement: PyNode;
  readonly items: string;
  /** Undefined where `__init__` has the loop. */
  readonly method: string | undefined;
}

/** `self.items = self.method()` */
function fillOf(statement: PyNode, self: string): readonly Fill[] {
  const assignment = statement.named[0];
  const target = assignment?.type === 'assignment' ? assignment.left : undefined;
  const call = assignment?.right;
  if (target?.type !== 'attribute' || target.object?.text !== self || call?.type !== 'call') return [];
  const method = methodName(call);
  if (method === undefined || receiverOf(call)?.text !== self || argumentsOf(call).length > 0) return [];
  return [{ statement, items: target.text, method }];
}

type Shape = Omit<OneByOne, 'data' | 'given'> &
  Pick<EagerDataset, 'given' | 'method' | 'result' | 'source' | 'unkept'>;

/** Undefined where the method does not collect items in one loop over an attribute. */
function shapeOfMethod(module: PyModule, method: PyNode | undefined): Shape | string | undefined {
  const self = method && selfName(method);
  if (method === undefined || self === undefined) return undefined;
  const statements = (method.body?.named ?? []).filter(
    (statement, at) => !(at === 0 && statement.named[0]?.type === 'string'),
  );
  const [start, loop, result] = statements;
  const list = start?.named[0]?.type === 'assignment' ? start.named[0].left : undefined;
  if (list?.type !== 'identifier' || !isEmptyList(start?.named[0]?.right)) return undefined;
  if (loop?.type !== 'for_statement' || result?.type !== 'return_statement') return undefined;
  const data = passOf(module, loop)?.data;
  if (result.named[0]?.text !== list.text || data === undefined || !isAttributeOf(data, self))
    return undefined;
  if (statements.length > 3 || isAsync(method) || decoratorsOf(method).length > 0)
    return `\`${method.name?.text}\` does more than one loop`;
  const found = oneByOne(module, loop, list.text, self);
  if (typeof found === 'string') return found;
  const other = found.given.find(({ text }) => text !== self && text !== list.text);
  if (other !== undefined) return `\`${other.text}\` is a parameter of \`${method.name?.text}\``;
  return { ...found, source: data.text, method, result, given: [], unkept: [] };
}

/** Where the constructor itself has the loop, as its last statement. */
function shapeInPlace(
  module: PyModule,
  classNode: PyNode,
  init: PyNode,
  self: string,
  { items }: Fill,
): Shape | string {
  const loop = init.body?.named.at(-1);
  if (loop?.type !== 'for_statement' || !loop.text.includes(`${items}.append(`))
    return `the loop that fills \`${items}\` is not the last statement of \`__init__\``;
  const found = oneByOne(module, loop, items, self);
  if (typeof found === 'string') return found;
  const unkept = new Set<string>();
  const attributeFor = (name: PyNode) => {
    const known = attributeOf(module, classNode, init, name, self);
    if (known === undefined && !canBeKept(module, classNode, init, name)) return undefined;
    if (known === undefined) unkept.add(name.text);
    return known ?? `${self}.${name.text}`;
  };
  const { data } = found;
  const source = data.type === 'identifier' ? attributeFor(data) : data.text;
  if (source === undefined || (data.type !== 'identifier' && !isAttributeOf(data, self)))
    return `its loop goes over \`${shown(data)}\`, which only \`__init__\` knows`;
  const given: { node: PyNode; attribute: string }[] = [];
  for (const node of found.given) {
    if (node.text === self) continue;
    const attribute = attributeFor(node);
    if (attribute === undefined) return `only \`__init__\` knows \`${node.text}\`, which its loop reads`;
    given.push({ node, attribute });
  }
  return { ...found, source, method: init, result: undefined, given, unkept: [...unkept] };
}

/** `self.x` of the one `self.x = name` of the class, where the name means the same in all of `__init__`. */
function attributeOf(
  module: PyModule,
  classNode: PyNode,
  init: PyNode,
  name: PyNode,
  self: string,
): string | undefined {
  for (const { named } of init.body?.named ?? []) {
    const target = named[0]?.type === 'assignment' ? named[0].left : undefined;
    const value = named[0]?.right;
    if (target === undefined || value?.type !== 'identifier' || value.text !== name.text) continue;
    const writes = module.writes(module.scopeAt(name), name.text);
    const isSame = value.end < name.start && writes.every(({ start }) => start < value.start);
    if (
      isSame &&
      isAttributeOf(target, self) &&
      writesOf(module, classNode, target.attribute?.text ?? '').length === 1
    )
      return target.text;
  }
  return undefined;
}

/** A parameter that is never bound again, of a class that has nothing else by its name. */
function canBeKept(module: PyModule, classNode: PyNode, init: PyNode, name: PyNode): boolean {
  const writes = module.writes(module.scopeAt(name), name.text);
  const isParameter = writes.length === 1 && writes.every((each) => init.parameters?.contains(each));
  const isTaken =
    new RegExp(`(?:\\.|\\b(?:def|class)\\s+)${name.text}\\b`).test(classNode.text) ||
    classNode.body?.named.some(({ text }) => text.startsWith(name.text));
  return isParameter && !isTaken;
}

/** An attribute that the loop reads and that is written outside of the constructor, or behind the loop. */
function changedLater(
  module: PyModule,
  classNode: PyNode,
  init: PyNode,
  fill: PyNode,
  loop: PyNode,
): string | undefined {
  const self = selfName(init) ?? '';
  for (const node of loop.body?.walk() ?? []) {
    if (!isAttributeOf(node, self) || node.parent?.type === 'call') continue;
    const later = writesOf(module, classNode, node.attribute?.text ?? '').some(
      (write) => !init.contains(write) || write.start > fill.end,
    );
    if (later) return node.text;
  }
  return undefined;
}

/** Assignments to an attribute of that name in a class. */
function writesOf(module: PyModule, classNode: PyNode, name: string): readonly PyNode[] {
  return module.atWithin(`.${name}`, classNode).flatMap((node) => {
    const target = node.parent;
    const assignment = target?.parent;
    const isWritten = node.text === name && target?.type === 'attribute' && assignment?.left === target;
    return isWritten && assignment !== undefined ? [assignment] : [];
  });
}

function isAttributeOf(node: PyNode, object: string): boolean {
  return node.type === 'attribute' && node.object?.text === object;
}

function isEmptyList(node: PyNode | undefined): boolean {
  return /^(?:\[\s*\]|list\(\))$/.test(node?.text ?? '');
}

/** The only statement of `__getitem__`: `return self.items[index]`, with a plain parameter as the index. */
function lookupOf(
  getItem: PyNode,
  items: string,
): { readonly statement: PyNode; readonly index: PyNode } | undefined {
  const statements = (getItem.body?.named ?? []).filter(({ named }) => named[0]?.type !== 'string');
  const [statement] = statements;
  const item = statement?.type === 'return_statement' ? statement.named[0] : undefined;
  const [, index] = item?.named ?? [];
  if (statements.length !== 1 || statement === undefined || item?.type !== 'subscript') return undefined;
  if (item.value?.text !== items || index?.type !== 'identifier') return undefined;
  return { statement, index };
}

/** The lengths that are taken of the items; a sentence where anything else is done with them. */
function otherUses(
  module: PyModule,
  classNode: PyNode,
  { items, method, statement }: Fill,
  lookup: PyNode,
  append: PyNode,
): readonly PyNode[] | string {
  const name = items.split('.').at(-1) ?? '';
  const lengths: PyNode[] = [];
  const filled = append.named[0] && receiverOf(append.named[0]);
  for (const node of module.at(name)) {
    const attribute = node.parent;
    if (node.text !== name || attribute?.type !== 'attribute' || attribute.attribute !== node) continue;
    if (isOfAnother(module, classNode, attribute)) continue;
    if (statement.contains(node) || lookup.contains(node) || attribute === filled) continue;
    const call = attribute.parent?.parent;
    const isLength = call?.type === 'call' && call.function?.text === 'len';
    const isGrowing = append.parent?.contains(node);
    if (!isLength || isGrowing || !classNode.contains(node) || attribute.text !== items)
      return `\`${shown(attribute.closest('call') ?? attribute.parent ?? attribute)}\` uses the items elsewhere`;
    lengths.push(attribute);
  }
  const calls = method === undefined ? [] : module.at(`.${method}`).filter(({ text }) => text === method);
  if (calls.length > 1) return `\`${method}\` is called elsewhere`;
  return heirsOf(module, classNode).length > 1 ? 'another class of the file derives from it' : lengths;
}

/** An attribute of the `self` of a class that has nothing to do with this one. */
function isOfAnother(module: PyModule, classNode: PyNode, attribute: PyNode): boolean {
  const around = classAround(attribute);
  if (around === undefined || attribute.object?.text !== around.self) return false;
  return !ancestryOf(module, classNode).classes.includes(around.classNode);
}

/** Whether the source can be asked for one entry by its number, in the order in which it is iterated over. */
export function isIndexable(module: PyModule, { classNode, fill, source }: EagerDataset): Answer {
  const name = source.split('.').at(-1) ?? '';
  const writes = writesOf(module, classNode, name);
  const [only] = writes;
  const dropped = new RegExp(`\\bdel\\s[^\\n]*\\.${name}\\b|\\.${name}\\.(?:clear|pop|close|remove)\\(`);
  if (writes.some(({ start }) => start > fill.start) || dropped.test(classNode.text)) return 'no';
  if (only?.type !== 'assignment' || writes.length !== 1) return 'unknown';
  const value = only.right;
  if (value?.type === 'list' || value?.type === 'list_comprehension') return 'yes';
  const callee = value?.type === 'call' ? value.function : undefined;
  if (value === undefined || callee === undefined)
    return value?.type === 'generator_expression' ? 'no' : 'unknown';
  if (
    /^(?:open|iter|map|filter|zip|reversed|set|dict|csv\.\w+)$|(?:iterrows|itertuples|items|keys|values)$/.test(
      callee.text,
    )
  )
    return 'no';
  if (/^(?:list|sorted|tuple)$/.test(callee.text)) return 'yes';
  if (qualifiedName(module, callee) !== LOAD_DATASET || hasSplat(value)) return 'unknown';
  const streaming = keywordValue(value, 'streaming');
  if (streaming !== undefined && streaming.type !== 'false') return 'no';
  return keywordArgument(value, 'split') === undefined ? 'no' : 'yes';
}
