import { isOperation, row } from '../../library/library.js';
import { AUTOGRAD_FUNCTIONS, LIGHTNING, PLAIN_BASES } from '../../library/names.js';
import { attributeValues } from '../../semantic/attributes.js';
import { ancestryOf, classAround } from '../../semantic/definitions.js';
import { qualifiedName } from '../../semantic/imports.js';
import { isFreshContainer } from '../../semantic/literals.js';
import type { PyModule } from '../../semantic/module.js';
import { isAlwaysAfter } from '../../semantic/paths.js';
import { enclosingClass, enclosingFunction, ownNodes, statementOf } from '../../semantic/statements.js';
import { isUnbound } from '../../semantic/variables.js';
import type { PyNode } from '../../syntax/node.js';
import { within } from '../../syntax/within.js';
import { isOfKnownPackage } from '../../values/value/plain.js';
import { moduleKind } from '../module/modules.js';

/**
 * Whether a read of `self.name` sees only what the same run of the method has set it to: whatever an earlier run left there
 * is gone by then. `isHeld`: it is what is put into the object that counts, so that only a new container will do.
 */
export function isSetBefore(module: PyModule, read: PyNode, isHeld: boolean): boolean {
  const method = enclosingFunction(read);
  const name = read.type === 'attribute' ? read.attribute?.text : undefined;
  const around = classAround(read);
  if (method === undefined || name === undefined || around === undefined) return false;
  const { self, classNode } = around;
  if (!isHeld && isOwnBackward(module, method, classNode)) return true;
  if (read.object?.text !== self || !module.alone.memo(hasKnownBases, classNode)) return false;
  if (!module.alone.memo(isPlainAttribute, name) || module.alone.memo(mayBeLeft, method)) return false;
  if (isElementJustSet(module, read)) return true;
  if (isHeld && mayGetAnotherName(module, read)) return false;
  const targets = within(module.words(name), method).flatMap(({ parent: target }) => {
    const isPart = /^(?:pattern_list|tuple_pattern)$/.test(target?.parent?.type ?? '');
    const left = isPart ? target?.parent : target;
    const assignment = left?.parent;
    if (target?.text !== `${self}.${name}` || assignment?.type !== 'assignment') return [];
    if (assignment.left !== left || assignment.right === undefined) return [];
    return isHeld && (isPart || !isNew(module, assignment.right)) ? [] : [target];
  });
  return targets.length > 0 && isAlwaysAfter(module, read, targets, undefined);
}

/** `self.rows[i] = y` on the line before `z = self.rows[i]`, of a list or a dictionary: the rows of a tensor have one graph. */
function isElementJustSet(module: PyModule, read: PyNode): boolean {
  const element = read.parent;
  if (element?.type !== 'subscript' || element.value !== read) return false;
  // `[None] * depth`
  const isContainer = (value: PyNode): boolean =>
    isFreshContainer(module, value) || (value.type === 'binary_operator' && value.left?.type === 'list');
  const values = attributeValues(module, read) ?? [];
  if (values.length === 0 || !values.every(isContainer)) return false;
  const isPlainKey = element.named.slice(1).every(({ type }) => /^(?:identifier|integer|string)$/.test(type));
  const statement = statementOf(element);
  const siblings = statement.parent?.named.filter(({ type }) => type !== 'comment') ?? [];
  const before = siblings[siblings.findIndex((each) => each.start === statement.start) - 1]?.named[0];
  const isSet =
    before?.type === 'assignment' && before.right !== undefined && before.left?.text === element.text;
  const isSimple = statement.type === 'expression_statement' && isPlainKey;
  return (
    isSimple && isSet && ![...statement.walk()].some(({ type, end }) => type === 'call' && end <= read.start)
  );
}

/** Autograd runs it for the graph that the same run of `forward` has recorded, and not at all where none was. */
function isOwnBackward(module: PyModule, method: PyNode, classNode: PyNode): boolean {
  return (
    method.name?.text === 'backward' &&
    ancestryOf(module, classNode).imported.some((path) => AUTOGRAD_FUNCTIONS.has(path))
  );
}

/** `self.first = self.kept`: what is put into it is found there, too. */
function mayGetAnotherName(module: PyModule, read: PyNode): boolean {
  const user = read.parent;
  switch (user?.type) {
    case 'attribute':
    case 'subscript':
    case 'for_statement':
    case 'for_in_clause':
    case 'comparison_operator':
    case 'return_statement':
      return false;
    case 'argument_list': {
      const callee = user.parent?.function;
      const path = callee && qualifiedName(module, callee);
      return !isUnbound(module, callee) && !(path !== undefined && isOperation(row(path)));
    }
    default:
      return true;
  }
}

/** Nothing is in it yet, and nobody else has it. */
function isNew(module: PyModule, value: PyNode): boolean {
  return isFreshContainer(module, value) || /^(?:integer|float|none)$/.test(value.type);
}

/** Assigning to it binds it: no property or descriptor of the file, and nobody who takes assignments. */
function isPlainAttribute(module: PyModule, name: string): boolean {
  return [name, ...TAKERS].every((each) => !takesAssignments(module, each));
}

/** What a class takes assignments to its attributes by. */
export const TAKERS: readonly string[] = ['__setattr__', '__getattribute__'];

/** Whether a class of a file that may be a network, or be mixed into one, has something else than a plain value by this name. */
export function takesAssignments(alone: PyModule, name: string): boolean {
  return alone.words(name).some((node) => {
    const { parent } = node;
    const isMade = parent?.type === 'function_definition' && parent.name === node;
    const isSet = parent?.type === 'assignment' && parent.left === node && parent.right?.type === 'call';
    const statement = isMade ? parent : isSet ? parent.parent : undefined;
    const classNode = statement && enclosingClass(statement);
    if (classNode === undefined) return false;
    return classNode.superclasses === undefined || moduleKind(alone, classNode).isModule !== 'no';
  });
}

/** No class of another file may take assignments to the attribute. */
function hasKnownBases(module: PyModule, classNode: PyNode): boolean {
  const { imported, unknown } = ancestryOf(module, classNode);
  const isKnown = (path: string) => PLAIN_BASES.has(path) || LIGHTNING.test(path) || isOfKnownPackage(path);
  return !unknown && imported.every(isKnown);
}

/** Others may run between two lines of it, or `self` is another object at the second. */
function mayBeLeft(module: PyModule, method: PyNode): boolean {
  const self = classAround(method.body ?? method)?.self ?? '';
  if (module.writes(module.scopeOf(method), self).length > 1) return true;
  return ownNodes(method).some(({ type }) => type === 'yield' || type === 'await');
}
