import { LR_SCHEDULERS, PLAIN_BASES, TORCH } from '../../src/library/names.js';
import { attributeValues } from '../../src/semantic/attributes.js';
import { ancestryOf, definitionNamed, methodNamed } from '../../src/semantic/definitions.js';
import { definitionOf } from '../../src/semantic/flow.js';
import { qualifiedName } from '../../src/semantic/imports.js';
import type { PyModule } from '../../src/semantic/module.js';
import { argumentsOf, keywordValue, methodName, receiverOf } from '../../src/semantic/statements.js';
import { plainString } from '../../src/semantic/strings.js';
import { waysReaching } from '../../src/semantic/variables.js';
import type { PyNode } from '../../src/syntax/node.js';
import { isPythonNumber } from '../../src/values/value/python-number.js';

/**
 * torch's optimizers move the state of each parameter to where that is. Everything else stays as it was loaded: the settings of
 * a group, state by any other key, what is called `step`; and all that a scheduler, or a function object of one, holds.
 */

const OPTIMIZERS = `${TORCH}optim.`;

/** Numbers of an optimizer that are tensors on its device: they are kept as they are loaded. */
const TENSOR_SETTINGS = /\bcapturable\b|\b(?:lr|betas?|momentum)\s*=\s*(?:\w+\.)*(?:as_)?tensor\(/gi;

/** Whether a file may give an optimizer settings that are tensors. A variable `beta` that is only computed with, or told with others, is none. */
export function hasTensorSettings(alone: PyModule): boolean {
  if (
    ['lr', 'beta', 'betas', 'momentum'].some((name) =>
      alone.words(name).some((node) => getsTensor(alone, node)),
    )
  )
    return true;
  return [...alone.code.matchAll(TENSOR_SETTINGS)].some(({ index }) => {
    const target = alone.root.descendantAt(index);
    const isVariable = target.parent?.type === 'assignment' && target.parent.left === target;
    const scope = isVariable && target.text === 'beta' ? alone.resolve(target) : undefined;
    return scope?.kind !== 'function' || !alone.reads(scope, 'beta').every(isComputedWith);
  });
}

/** `momentum=rate`, where `rate` is made by `torch.tensor(…)`. */
function getsTensor(alone: PyModule, name: PyNode): boolean {
  const given =
    name.parent?.type === 'keyword_argument' && name.parent.name === name ? name.parent.value : undefined;
  const scope = given?.type === 'identifier' ? alone.resolve(given) : undefined;
  if (given === undefined || scope === undefined) return false;
  return alone.writes(scope, given.text).some((write) => {
    const found = definitionOf(write);
    return found.kind === 'value' && /^(?:\w+\.)*(?:as_)?tensor\(/.test(found.value.text);
  });
}

function isComputedWith(read: PyNode): boolean {
  let value = read;
  while (/^(?:binary_operator|parenthesized_expression)$/.test(value.parent?.type ?? ''))
    value = value.parent ?? value;
  const { parent } = value;
  if (parent?.type === 'expression_list' || parent?.type === 'tuple')
    return parent.parent?.type === 'return_statement' || value !== read;
  return value !== read && (parent?.type === 'assignment' || parent?.type === 'return_statement');
}

/** The classes of a file whose objects may keep a tensor where it was loaded, by the loading of torch's own classes. */
export function keepingClasses(alone: PyModule): readonly PyNode[] {
  return alone.memo(findKeeping, alone);
}

function findKeeping(alone: PyModule): readonly PyNode[] {
  const classes = alone
    .at('class')
    .flatMap(({ parent }) => (parent?.type === 'class_definition' ? [parent] : []));
  return classes.filter((node) => {
    const { imported, unknown } = ancestryOf(alone, node);
    if (imported.some((path) => path.startsWith(LR_SCHEDULERS))) return holdsMore(alone, node);
    // Without a base, one that loads has a method for it, which is looked at as such.
    const isPlain = !unknown && imported.every((path) => PLAIN_BASES.has(path));
    const isOptimizer =
      imported.some((path) => path.startsWith(OPTIMIZERS)) ||
      (!isPlain &&
        alone.atWithin('.param_groups', node).some(({ parent }) => parent?.object?.text === 'self'));
    return isOptimizer && keepsMore(alone, node);
  });
}

/** Whether an optimizer may have settings that are tensors, or state that is no parameter's. */
function keepsMore(alone: PyModule, classNode: PyNode): boolean {
  const init = methodNamed(alone, classNode, '__init__');
  return [...classNode.walk()].some((node) => {
    if (node.type === 'assignment' && node.left?.type === 'subscript')
      return isKept(alone, node.left, node.right);
    if (node.type === 'assignment') return node.left?.text === 'self.state';
    if (node.type === 'pair' || node.type === 'keyword_argument')
      return init?.contains(node) === true && isEntry(node) && !isSetting(alone, node.value);
    if (node.type !== 'call' || !/^(?:setdefault|update)$/.test(methodName(node) ?? '')) return false;
    const holder = receiverOf(node);
    const [key, value] = argumentsOf(node);
    if (methodName(node) === 'update')
      return !argumentsOf(node).every((each) => each.name !== undefined && isSetting(alone, each.value));
    const isOwn =
      holder !== undefined && isOfParameter(alone, holder) && key !== undefined && !mayBeStep(key);
    return !isOwn && !isSetting(alone, value);
  });
}

/** An entry of a dictionary, in either form. */
function isEntry(node: PyNode): boolean {
  const call = node.parent?.parent;
  return node.type === 'pair' || (call?.type === 'call' && call.function?.text === 'dict');
}

function isKept(alone: PyModule, target: PyNode, value: PyNode | undefined): boolean {
  const holder = target.value;
  if (holder === undefined || value === undefined) return true;
  if (holder.text === 'self.state') return value.type !== 'dictionary' || value.named.length > 0;
  if (isOfOwnList(alone, holder)) return false;
  const key = target.subscript;
  if (isOfParameter(alone, holder) && key !== undefined) {
    if (!mayBeStep(key)) return false;
    // It is put where it belongs, by its name or all alike.
    if (value.type === 'call' && methodName(value) === 'to' && plainString(key) === undefined) return false;
  }
  return !isSetting(alone, value);
}

function mayBeStep(key: PyNode): boolean {
  return (plainString(key) ?? 'step') === 'step';
}

/** `self.state[p]`, or a variable that is nothing else. */
function isOfParameter(alone: PyModule, holder: PyNode): boolean {
  if (holder.type === 'subscript')
    return holder.value?.text === 'self.state' && !/string/.test(holder.subscript?.type ?? '');
  const scope = holder.type === 'identifier' ? alone.resolve(holder) : undefined;
  const writes = scope === undefined ? [] : alone.writes(scope, holder.text);
  return (
    writes.length > 0 &&
    writes.every((write) => {
      const found = definitionOf(write);
      return found.kind === 'value' && found.value.type === 'subscript' && isOfParameter(alone, found.value);
    })
  );
}

/** `row[0]` of `row = self.rows[i]`, of a list that the class makes itself: torch saves the state and the groups, and nothing else. */
function isOfOwnList(alone: PyModule, holder: PyNode): boolean {
  if (holder.type === 'subscript') return holder.value !== undefined && isOfOwnList(alone, holder.value);
  if (holder.type === 'attribute') {
    const values = attributeValues(alone, holder) ?? [];
    return values.length > 0 && values.every(isListOfPlain);
  }
  const ways = holder.type === 'identifier' ? waysReaching(alone, holder) : [];
  return (
    ways.length > 0 &&
    ways.every(
      (way) => way.kind === 'value' && way.value.type === 'subscript' && isOfOwnList(alone, way.value),
    )
  );
}

/** `[[None, None, None] for _ in range(10)]` */
function isListOfPlain(value: PyNode): boolean {
  if (value.type === 'list') return value.named.every((each) => PLAIN.has(each.type) || isListOfPlain(each));
  return value.type === 'list_comprehension' && value.body !== undefined && isListOfPlain(value.body);
}

const PLAIN: ReadonlySet<string> = new Set('false float integer none string true'.split(' '));

/** A number, a text, or what the constructor was given for one. */
function isSetting(alone: PyModule, value: PyNode | undefined): boolean {
  if (value === undefined) return false;
  if (PLAIN.has(value.type) || isPythonNumber(alone, value) === 'yes') return true;
  if (/^(?:tuple|parenthesized_expression|unary_operator)$/.test(value.type))
    return value.named.every((each) => isSetting(alone, each));
  const scope = value.type === 'identifier' ? alone.resolve(value) : undefined;
  const writes = scope === undefined ? [] : alone.writes(scope, value.text);
  return writes.length === 1 && writes.every((write) => definitionOf(write).kind === 'parameter');
}

/** Calls that give no tensors. */
const PLAIN_CALLS = /^(?:math|numpy|copy|functools|types|weakref|torch\.optim)\.|^collections\.Counter$/;

/** Whether an object holds more than numbers and what it was given: a call of other code may give it a tensor. */
function holdsMore(alone: PyModule, classNode: PyNode): boolean {
  return [...classNode.walk()].some((node) => {
    const target = node.type === 'assignment' ? node.left : undefined;
    if (target?.type !== 'attribute') return false;
    return [...(node.right?.walk() ?? [])].some((each) => {
      const callee = each.type === 'call' ? each.function : undefined;
      if (callee === undefined) return isOfFile(alone, each);
      if (callee.type === 'identifier' && alone.resolve(callee) === undefined) return false;
      // `self.periods[self.starts.index(step)]` is what one of them holds already.
      if (each.parent?.closest('subscript', 'assignment')?.subscript?.contains(each)) return false;
      const path = qualifiedName(alone, callee) ?? '';
      const isEmpty = path === 'collections.defaultdict' && argumentsOf(each).length < 2;
      return !isEmpty && !PLAIN_CALLS.test(path);
    });
  });
}

/** A variable of the file that holds more than a number or a text. */
function isOfFile(alone: PyModule, node: PyNode): boolean {
  if (node.type !== 'identifier' || node.parent?.attribute === node || alone.resolve(node) !== alone.scope)
    return false;
  return alone.writes(alone.scope, node.text).some((write) => {
    const found = definitionOf(write);
    return found.kind === 'value' && !isSetting(alone, found.value);
  });
}

/** Whether a scheduler of the file is given a function object that may hold tensors: what those hold is saved and loaded with it. */
export function givesFunctionObject(alone: PyModule): boolean {
  return ['LambdaLR', 'MultiplicativeLR'].some((name) =>
    alone.words(name).some((node) => {
      const callee = node.parent?.attribute === node ? node.parent : node;
      const call =
        callee.parent?.type === 'call' && callee.parent.function === callee ? callee.parent : undefined;
      if (call === undefined || !(qualifiedName(alone, callee) ?? LR_SCHEDULERS).startsWith(LR_SCHEDULERS))
        return false;
      const given = keywordValue(call, 'lr_lambda') ?? argumentsOf(call)[1];
      const functions = given?.type === 'list' ? given.named : given === undefined ? [] : [given];
      return functions.some((each) => mayHold(alone, each));
    }),
  );
}

function mayHold(alone: PyModule, value: PyNode): boolean {
  if (value.type === 'call') {
    const callee = value.function;
    const made = callee && definitionNamed(alone, callee);
    if (made?.type === 'class_definition') return holdsMore(alone, made);
    return made === undefined && qualifiedName(alone, callee ?? value) !== 'functools.partial';
  }
  const scope = value.type === 'identifier' ? alone.resolve(value) : undefined;
  const writes = scope === undefined ? [] : alone.writes(scope, value.text);
  return writes.some((write) => {
    const found = definitionOf(write);
    return found.kind === 'value' && found.value.type === 'call' && mayHold(alone, found.value);
  });
}
