import { valuesWritten } from '../../src/semantic/attribute-uses.js';
import { classAround } from '../../src/semantic/definitions.js';
import { definitionOf } from '../../src/semantic/flow.js';
import { qualifiedName } from '../../src/semantic/imports.js';
import type { PyModule } from '../../src/semantic/module.js';
import { argumentsOf } from '../../src/semantic/statements.js';
import { plainString } from '../../src/semantic/strings.js';
import type { PyNode } from '../../src/syntax/node.js';
import { isPythonNumber } from '../../src/values/value/python-number.js';
import { readsOf, type Stray } from './loaded-use.js';

/** Whether an entry of a checkpoint is a number: because of what is done with it, or because all that the project saves by its name is. */
export function isNumberEntry(module: PyModule, value: PyNode, name: string): boolean {
  return isCounted(module, value, new Set()) || module.memo(isSavedAsNumber, name);
}

/** A name under which a number is likely: then that is the question, and proves nothing. */
export function numberByName(name: string): 'likely' | undefined {
  return COUNTS.test(name) ? 'likely' : undefined;
}

export function unprovenNumber(node: PyNode): Stray {
  return { node, does: 'counts something', answer: 'unknown', matter: 'number' };
}

const COUNTS =
  /^(?:(?:start|global|train|last|current|num|n|total|model|next)_)?(?:epochs?|steps?|iters?|iterations?|seed)$/;

/** `range(start, end)` takes no tensor with more than one number. */
function isCounted(module: PyModule, value: PyNode, seen: Set<PyNode>): boolean {
  if (seen.has(value)) return false;
  seen.add(value);
  let part = value;
  while (part.parent?.type === 'binary_operator' || part.parent?.type === 'parenthesized_expression')
    part = part.parent;
  const { parent } = part;
  if (parent?.type === 'argument_list') return isBuiltin(module, parent.parent, 'range');
  const target = parent?.type === 'assignment' && parent.right === part ? parent.left : undefined;
  if (target?.type !== 'identifier') return false;
  return readsOf(module, target).some((read) => isCounted(module, read, seen));
}

function isBuiltin(module: PyModule, call: PyNode | undefined, name: string): boolean {
  const callee = call?.type === 'call' ? call.function : undefined;
  return callee?.text === name && module.resolve(callee) === undefined;
}

/** What a file puts into dictionaries, by name. */
interface Put {
  readonly name: string;
  readonly isNumber: boolean;
}

function isSavedAsNumber(module: PyModule, name: string): boolean {
  const others = module.around.summaries({ word: 'save', beside: [] }, putsIn);
  if (others === undefined) return false;
  const found = [...putsIn(module.alone), ...others.flat()].filter((put) => put.name === name);
  return found.length > 0 && found.every(({ isNumber }) => isNumber);
}

function putsIn(alone: PyModule): readonly Put[] {
  return alone.memo(findPuts, alone);
}

/** Entries of dictionaries as they are written, and those that are set. */
function findPuts(alone: PyModule): readonly Put[] {
  if (alone.words('save').length === 0) return [];
  return [...alone.root.walk()].flatMap((node) => {
    const [key, value] = entryOf(node);
    const name = key && (key.type === 'identifier' ? key.text : plainString(key));
    if (name === undefined || value === undefined) return [];
    return [{ name, isNumber: isNumber(alone, value, name) }];
  });
}

function entryOf(node: PyNode): readonly (PyNode | undefined)[] {
  if (node.type === 'pair') return [node.key, node.value];
  if (node.type === 'assignment' && node.left?.type === 'subscript') return [node.left.subscript, node.right];
  const call = node.type === 'keyword_argument' ? node.parent?.parent : undefined;
  return call?.type === 'call' && /^(?:dict|update)$/.test(call.function?.text.split('.').at(-1) ?? '')
    ? [node.name, node.value]
    : [];
}

/** Also what `range` and `enumerate` count, a sum with one, and what is read back by the name that it is saved by. */
function isNumber(alone: PyModule, value: PyNode, name: string): boolean {
  if (isPythonNumber(alone, value) === 'yes') return true;
  if (value.type === 'binary_operator' || value.type === 'parenthesized_expression')
    return value.named.every((side) => isNumber(alone, side, name));
  if (value.type === 'subscript')
    return value.subscript !== undefined && plainString(value.subscript) === name;
  const attribute = value.type === 'attribute' ? value.attribute?.text : undefined;
  const around = attribute === undefined ? undefined : classAround(value);
  if (attribute !== undefined && value.object?.text === around?.self && around !== undefined) {
    const given = valuesWritten(alone, around.classNode, attribute);
    return (
      given.length > 0 &&
      given.every((each) => each !== undefined && each.type !== 'attribute' && isNumber(alone, each, name))
    );
  }
  const scope = value.type === 'identifier' ? alone.resolve(value) : undefined;
  const writes = scope === undefined ? [] : alone.writes(scope, value.text);
  return writes.length > 0 && writes.every((write) => isCounter(alone, write, name));
}

function isCounter(alone: PyModule, write: PyNode, name: string): boolean {
  const found = definitionOf(write);
  if (found.kind === 'value' || found.kind === 'update')
    return found.value.type !== 'identifier' && isNumber(alone, found.value, name);
  if (found.kind !== 'loop') return false;
  const [first] = argumentsOf(found.iterable);
  if (isBuiltin(alone, found.iterable, 'range')) return write.parent?.left === write;
  const isFirst = write.parent?.named[0] === write && write.parent.type === 'pattern_list';
  if (isFirst) return isBuiltin(alone, found.iterable, 'enumerate');
  // `tqdm(range(n))`
  const callee = found.iterable.function;
  const isShown = callee !== undefined && /^tqdm\./.test(qualifiedName(alone, callee) ?? '');
  return isShown && isBuiltin(alone, first, 'range');
}

/** Whether an operation has only numbers beside a value: then the result is where the value is. */
export function isWithNumber(module: PyModule, operation: PyNode, value: PyNode): boolean {
  return operation.named.every((side) => side === value || isPythonNumber(module, side) === 'yes');
}
