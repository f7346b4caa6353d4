import type { Answer } from '../../semantic/answer.js';
import { ancestryOf, calledDefinition, methodNamed, selfName } from '../../semantic/definitions.js';
import { qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { roleOf } from '../../semantic/names.js';
import {
  argumentsOf,
  decoratorsOf,
  hasSplat,
  isAsync,
  keywordArgument,
  methodName,
  receiverOf,
} from '../../semantic/statements.js';
import type { PyNode } from '../../syntax/node.js';
import { LOAD_DATASET, TORCH_DATASETS } from '../catalog.js';
import { shown } from '../gate.js';
import { passOf } from './training-loop.js';

/** A dataset class that computes all of its items when it is made, one per entry of its source. */
export interface EagerDataset {
  readonly classNode: PyNode;
  readonly init: PyNode;
  /** `self.items = self.method()` */
  readonly fill: PyNode;
  /** `self.items`, as written. */
  readonly items: string;
  /** `self.source`, as written. */
  readonly source: PyNode;
  readonly method: PyNode;
  readonly loop: PyNode;
  readonly item: PyNode;
  readonly append: PyNode;
  readonly value: PyNode;
  readonly result: PyNode;
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
  const found = init.field('body')?.named.flatMap((statement) => fillOf(statement, self)) ?? [];
  const [fill] = found;
  const filled = fill === undefined ? filledInPlace(init, getItem) : undefined;
  if (filled !== undefined)
    return `\`__init__\` fills \`${filled}\` itself; in a method of its own, \`${filled} = ${self}.load()\`, the loop could be taken apart`;
  if (fill === undefined || found.length > 1) return undefined;
  const method = methodNamed(module, classNode, fill.method);
  const shape = method && loopShape(module, method);
  if (method === undefined || shape === undefined) return undefined;
  const given = lookupOf(getItem, fill.items);
  if (given === undefined) return `\`__getitem__\` does more than look up \`${fill.items}\``;
  if (typeof shape === 'string') return shape;
  const lengths = otherUses(module, classNode, fill, given.statement);
  if (typeof lengths === 'string') return lengths;
  const { items, statement } = fill;
  return {
    ...shape,
    classNode,
    init,
    fill: statement,
    items,
    method,
    lookup: given.statement,
    index: given.index,
    lengths,
  };
}

/** `self.items` of a constructor that makes the list and fills it in a loop, where that is what `__getitem__` looks up. */
function filledInPlace(init: PyNode, getItem: PyNode): string | undefined {
  const statements = init.field('body')?.named ?? [];
  return statements.flatMap((statement) => {
    const assignment = statement.named[0];
    const items = assignment?.type === 'assignment' ? (assignment.field('left')?.text ?? '') : '';
    const isEmpty = /^(?:\[\s*\]|list\(\))$/.test(assignment?.field('right')?.text ?? '');
    if (!isEmpty || lookupOf(getItem, items) === undefined) return [];
    const grows = statements.some(
      ({ type, text }) => type === 'for_statement' && text.includes(`${items}.append(`),
    );
    return grows ? [items] : [];
  })[0];
}

interface Fill {
  readonly statement: PyNode;
  readonly items: string;
  readonly method: string;
}

/** `self.items = self.method()` */
function fillOf(statement: PyNode, self: string | undefined): readonly Fill[] {
  const assignment = statement.named[0];
  const target = assignment?.type === 'assignment' ? assignment.field('left') : undefined;
  const call = assignment?.field('right');
  if (target?.type !== 'attribute' || target.field('object')?.text !== self || call?.type !== 'call')
    return [];
  const method = methodName(call);
  if (method === undefined || receiverOf(call)?.text !== self || argumentsOf(call).length > 0) return [];
  return [{ statement, items: target.text, method }];
}

type LoopShape = Pick<EagerDataset, 'source' | 'loop' | 'item' | 'append' | 'value' | 'result'>;

/** Undefined where the method does not collect items in one loop over an attribute. */
function loopShape(module: PyModule, method: PyNode): LoopShape | string | undefined {
  const self = selfName(method);
  const statements = (method.field('body')?.named ?? []).filter(
    (statement, at) => !(at === 0 && statement.named[0]?.type === 'string'),
  );
  const [start, loop, result] = statements;
  const list = start?.named[0]?.type === 'assignment' ? start.named[0].field('left') : undefined;
  const isEmpty = /^(?:\[\s*\]|list\(\))$/.test(start?.named[0]?.field('right')?.text ?? '');
  if (list?.type !== 'identifier' || !isEmpty || loop?.type !== 'for_statement') return undefined;
  if (result?.type !== 'return_statement' || result.named[0]?.text !== list.text) return undefined;
  const pass = passOf(module, loop);
  if (pass?.data.type !== 'attribute' || pass.data.field('object')?.text !== self) return undefined;
  if (statements.length > 3 || isAsync(method) || decoratorsOf(method).length > 0)
    return `\`${method.field('name')?.text}\` does more than one loop`;
  if (pass.item?.type !== 'identifier' || pass.counter !== undefined || loop.childOfType('else_clause'))
    return 'its loop counts or unpacks the entries';
  const append = loop.field('body')?.named.at(-1);
  const call = append?.type === 'expression_statement' ? append.named[0] : undefined;
  const [value, ...more] = call?.type === 'call' ? argumentsOf(call) : [];
  const appends =
    call?.type === 'call' && methodName(call) === 'append' && receiverOf(call)?.text === list.text;
  if (append === undefined || !appends || value === undefined || more.length > 0)
    return 'its loop does not append exactly one item per entry';
  const problem = bodyProblem(module, loop, list.text, pass.item, self ?? '');
  return problem ?? { source: pass.data, loop, item: pass.item, append, value, result };
}

const RANDOM = /rand|shuffle|choice|\bsample\(|permutation|uuid|time\(/;
const CHANGES = /^(?:add|append|clear|extend|insert|pop|popitem|remove|setdefault|sort|update|write)$/;

/** Why one entry cannot be processed apart from the others, each time that it is asked for. */
function bodyProblem(
  module: PyModule,
  loop: PyNode,
  list: string,
  item: PyNode,
  self: string,
): string | undefined {
  const body = loop.field('body');
  const nodes = body === undefined ? [] : [...body.walk()];
  const own = new Set<string>([item.text]);
  for (const node of nodes) {
    if (/^(?:continue|break|return|global|nonlocal)_statement$|^yield$|^await$/.test(node.type))
      return `a \`${node.type.replace('_statement', '')}\` may leave entries out`;
    if (node.type === 'call' && CHANGES.test(methodName(node) ?? '')) {
      const receiver = receiverOf(node)?.text ?? '';
      if (receiver !== list && (receiver.startsWith(`${self}.`) || rootOf(receiver) === item.text))
        return `\`${shown(node)}\` changes what the next entry sees`;
    }
    const called = node.type === 'call' ? calledDefinition(module, node) : undefined;
    if (
      called !== undefined &&
      new RegExp(`\\b${self}\\.[\\w.]+(?:\\[.*\\])?\\s*[-+*/|]?=(?!=)`).test(called.text)
    )
      return `\`${shown(node)}\` changes what the next entry sees`;
    if (/^(?:augmented_)?assignment$|^delete_statement$/.test(node.type)) {
      const target = node.field('left') ?? node.named[0];
      const root = rootOf(target?.text ?? '');
      if (
        target?.type !== 'identifier' &&
        target?.type !== 'pattern_list' &&
        (root === self || root === item.text)
      )
        return `\`${shown(node)}\` changes what the next entry sees`;
    }
    if (node.type !== 'identifier' || module.scopeAt(node) !== module.scopeAt(loop)) continue;
    const role = roleOf(node);
    if (role === 'write' || role === 'loop') own.add(node.text);
    else if (node.text === list && !isAppended(node)) return `\`${list}\` is used for more than appending`;
    else if (role === 'update' && !own.has(node.text)) return `\`${node.text}\` counts across entries`;
    else if (
      role === 'read' &&
      !own.has(node.text) &&
      module.resolve(node) === module.scopeAt(loop) &&
      node.text !== list &&
      node.text !== self
    )
      return `\`${node.text}\` is carried from one entry to the next`;
  }
  return RANDOM.test(body?.text ?? '')
    ? 'it draws random numbers, which would be drawn anew each time'
    : undefined;
}

function isAppended(node: PyNode): boolean {
  return node.parent?.type === 'attribute' && node.parent.field('attribute')?.text === 'append';
}

function rootOf(text: string): string {
  return /^\w+/.exec(text)?.[0] ?? '';
}

/** The only statement of `__getitem__`: `return self.items[index]`, with a plain parameter as the index. */
function lookupOf(
  getItem: PyNode,
  items: string,
): { readonly statement: PyNode; readonly index: PyNode } | undefined {
  const statements = (getItem.field('body')?.named ?? []).filter(({ named }) => named[0]?.type !== 'string');
  const [statement] = statements;
  const item = statement?.type === 'return_statement' ? statement.named[0] : undefined;
  const [, index] = item?.named ?? [];
  if (statements.length !== 1 || statement === undefined || item?.type !== 'subscript') return undefined;
  if (item.field('value')?.text !== items || index?.type !== 'identifier') return undefined;
  return { statement, index };
}

/** The lengths that are taken of the items; a sentence where anything else is done with them. */
function otherUses(
  module: PyModule,
  classNode: PyNode,
  { items, method, statement }: Fill,
  lookup: PyNode,
): readonly PyNode[] | string {
  const name = items.split('.').at(-1) ?? '';
  const lengths: PyNode[] = [];
  for (const node of module.at(name)) {
    const attribute = node.parent;
    if (node.text !== name || attribute?.type !== 'attribute' || attribute.field('attribute') !== node)
      continue;
    if (statement.contains(node) || lookup.contains(node)) continue;
    const call = attribute.parent?.parent;
    const isLength = call?.type === 'call' && call.field('function')?.text === 'len';
    if (!isLength || !classNode.contains(node) || attribute.text !== items)
      return `\`${shown(attribute.closest('call') ?? attribute.parent ?? attribute)}\` uses the items elsewhere`;
    lengths.push(attribute);
  }
  const calls = module.at(`.${method}`).filter(({ text }) => text === method);
  if (calls.length > 1) return `\`${method}\` is called elsewhere`;
  const derived = module
    .at('class ')
    .some(
      ({ parent }) =>
        parent !== classNode &&
        parent?.type === 'class_definition' &&
        ancestryOf(module, parent).classes.includes(classNode),
    );
  return derived ? 'another class of the file derives from it' : lengths;
}

/** Whether the source can be asked for one entry by its number, in the order in which it is iterated over. */
export function isIndexable(module: PyModule, { classNode, fill, source }: EagerDataset): Answer {
  const name = source.field('attribute')?.text ?? '';
  const writes = module.at(`.${name}`).flatMap((node) => {
    const target = node.parent;
    const assignment = target?.parent;
    const written =
      node.text === name &&
      target?.type === 'attribute' &&
      assignment?.field('left') === target &&
      classNode.contains(node);
    return written && assignment !== undefined ? [assignment] : [];
  });
  const [only] = writes;
  const dropped = new RegExp(`\\bdel\\s[^\\n]*\\.${name}\\b|\\.${name}\\.(?:clear|pop|close|remove)\\(`);
  if (writes.some(({ start }) => start > fill.start) || dropped.test(classNode.text)) return 'no';
  if (only?.type !== 'assignment' || writes.length !== 1) return 'unknown';
  const value = only.field('right');
  if (value?.type === 'list' || value?.type === 'list_comprehension') return 'yes';
  const callee = value?.type === 'call' ? value.field('function') : undefined;
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
  const streaming = keywordArgument(value, 'streaming')?.field('value');
  if (streaming !== undefined && streaming.type !== 'false') return 'no';
  return keywordArgument(value, 'split') === undefined ? 'no' : 'yes';
}
