import { builtin, isOfModule, mayShare, ofTensor, row } from '../../library/library.js';
import { PLAIN_BASES } from '../../library/names.js';
import { isModuleClass, MAKES_RECORD } from '../../library/paths.js';
import { isAnywhere } from '../../semantic/anywhere.js';
import { everywhere } from '../../semantic/companions.js';
import { ancestryOf } from '../../semantic/definitions.js';
import { isOnlyAsked, isParsed } from '../../semantic/given-away.js';
import { qualifiedName } from '../../semantic/imports.js';
import { isFreshContainer, partsOfLiteral } from '../../semantic/literals.js';
import type { PyModule } from '../../semantic/module.js';
import { importedPath, roleOf } from '../../semantic/names.js';
import { functionsByName } from '../../semantic/reach.js';
import { returnsOf } from '../../semantic/returns.js';
import {
  decoratorsOf,
  elementSet,
  enclosingClass,
  enclosingFunction,
  isCallee,
  methodName,
  receiverOf,
  rootOf,
  unparenthesized,
  valuesAssigned,
  wholeName,
} from '../../semantic/statements.js';
import { isUnbound, readsOf, waysGiven } from '../../semantic/variables.js';
import type { PyNode } from '../../syntax/node.js';
import { endsGraph } from '../../values/value/ends-graph.js';
import { recordsNoGraph } from '../../values/value/gradient.js';
import { keepsGiven } from '../../values/value/names.js';
import { hasFieldAround } from '../../values/value/parts.js';
import { isOfKnownPackage } from '../../values/value/plain.js';
import { outlivingNames, parametersBehind } from './outliving.js';
import { isSetBefore, TAKERS, takesAssignments } from './set-before.js';

/** Whether a file reads something with its graph, or the other names by which it hands it out. */
export type Reads = 'all' | readonly string[];

const ALL = 'all';

/** Whether somebody reads with its graph what goes by a name. `isHeld`: what was put into it. */
export function isReadInProject(module: PyModule, name: string, isHeld: boolean): boolean {
  // `self._buffers["last"] = y`: torch itself hands these out.
  if (/^_(?:buffers|parameters|modules)$/.test(name) || module.memo(isHeld ? findReadIn : findRead, name))
    return true;
  if (name.endsWith('()')) return false;
  // Then what is assigned to it may not be what is read.
  return [name, ...TAKERS].some((each) => isAnywhere(module, each, takesAssignments));
}

function findRead(module: PyModule, name: string): boolean {
  return isReadAnywhere(module, name, readsGraphOf);
}

function findReadIn(module: PyModule, name: string): boolean {
  return isReadAnywhere(module, name, readsGraphIn);
}

/** By that name, or by those of functions that hand it out. */
function isReadAnywhere(module: PyModule, name: string, look: typeof readsGraphOf): boolean {
  const names = new Set([name]);
  for (const each of names) {
    const word = each.replace('()', '');
    const by = word === each ? look : givenBy;
    const files = word === '' ? undefined : everywhere(module, word, by);
    if (files === undefined || names.size > MOST_NAMES || readsField(module, word)) return true;
    for (const found of files) {
      if (found === 'all') return true;
      for (const other of found) names.add(other);
    }
  }
  // `for name in dir(net): getattr(net, name)` runs what nobody names.
  return (
    names.size > 1 && (isAnywhere(module, 'dir', isCalled) || isAnywhere(module, 'getmembers', isCalled))
  );
}

function isCalled(alone: PyModule, word: string): boolean {
  return alone.words(word).some((node) => isCallee(wholeName(node)));
}

const MOST_NAMES = 8;

/** Whether a file reads what goes by a name, as something whose graph may count, and after another run may have left it. */
export function readsGraphOf(alone: PyModule, name: string): Reads {
  return readsLeft(alone, name, false);
}

/** The same of what is put into it. */
export function readsGraphIn(alone: PyModule, name: string): Reads {
  return readsLeft(alone, name, true);
}

/** What functions of this name give that they do not make: by the names of others, or by any. */
function givenBy(alone: PyModule, name: string): Reads {
  const others = functionsByName(alone, name).flatMap((each) =>
    returnsOf(each).flatMap((value) => (value ? outlivingNames(alone, each, value) : [])),
  );
  return others.every((each) => each.endsWith('()')) ? others : ALL;
}

/** `model.last.data`, where that may be a field of an object of the project, with its graph. */
function readsField(module: PyModule, name: string): boolean {
  return isAnywhere(module, name, readsData) && module.memo(hasFieldAround, module);
}

function readsData(alone: PyModule, name: string): boolean {
  return alone.words(name).some((node) => wholeName(node).parent?.attribute?.text === 'data');
}

function readsLeft(alone: PyModule, name: string, isHeld: boolean): Reads {
  if (name === '' || isReflected(alone, name, isHeld)) return ALL;
  const others = new Set<string>();
  const isRead = alone.words(name).some((node) => {
    if (node.type !== 'identifier' || node.text !== name) return false;
    const { parent } = node;
    for (const value of isHeld ? valuesUnder(alone, node) : [])
      for (const other of namesOfShared(alone, value)) {
        if (!other.endsWith('()')) return true;
        others.add(other);
      }
    if (parent?.parent?.type === 'aliased_import') return isRenamed(parent.parent);
    if (parent === undefined || /import|dotted_name|_definition$|parameter|global|nonlocal/.test(parent.type))
      return false;
    if (parent.type === 'keyword_argument' && parent.name === node) return false;
    const isAttribute = parent.type === 'attribute' && parent.attribute === node;
    if (!isAttribute && (roleOf(node) !== 'read' || isLocal(alone, node))) return false;
    const place = isAttribute ? parent : node;
    if (isAttribute && !isHeld && isOfOther(alone, parent)) return false;
    if (!isReadForGraph(alone, place) || (isAttribute && isSetBefore(alone, parent, isHeld))) return false;
    const giver = giverOf(alone, place);
    return giver === undefined || !others.add(giver);
  });
  return isRead ? ALL : [...others];
}

/** What an attribute or a variable is given; undefined where that does not show. */
function valuesUnder(alone: PyModule, node: PyNode): readonly (PyNode | undefined)[] {
  const target = wholeName(node);
  const { parent } = target;
  // `SimpleNamespace(kept=bank)`
  const callee = parent?.type === 'keyword_argument' ? parent.parent?.parent?.function : undefined;
  if (callee !== undefined) return mayMakeRecord(alone, callee) ? [parent?.value] : [];
  // `net.kept["a"] = bank`
  const element = elementSet(target)?.parent?.right;
  if (element?.type === 'identifier') return isMadeContainer(alone, element) ? [undefined] : [];
  const part = /^(?:pattern_list|tuple_pattern)$/.test(parent?.type ?? '') ? parent : target;
  const assignment = part?.parent;
  if (part === undefined || assignment?.type !== 'assignment' || assignment.left !== part) return [];
  // `KEPT = self.kept = []`
  if (assignment.parent?.type === 'assignment' || assignment.right?.type === 'assignment') return [undefined];
  // `kept: list` of a record, which is made with one.
  const owner = assignment.parent?.parent?.parent;
  if (
    owner?.type === 'class_definition' &&
    assignment.field('type') !== undefined &&
    decoratorsOf(owner).length > 0
  )
    return [undefined];
  return valuesAssigned(assignment).flatMap((each) => (each.target === target ? each.values : []));
}

/** What it is given by a name, others may find by that name: of Python and known packages, only these do that. */
function mayMakeRecord(alone: PyModule, callee: PyNode): boolean {
  if (isUnbound(alone, callee)) return builtin(callee.text)?.gives === undefined || callee.text === 'dict';
  const path = qualifiedName(alone, callee) ?? '';
  return MAKES_RECORD.has(path) || !isOfKnownPackage(path);
}

function isMadeContainer(alone: PyModule, name: PyNode): boolean {
  return waysGiven(alone, name).some((way) => way.kind === 'value' && isFreshContainer(alone, way.value));
}

/** The names by which others have a value, or a part of it, already. */
function namesOfShared(alone: PyModule, value: PyNode | undefined): readonly string[] {
  if (value === undefined) return [''];
  return partsOfLiteral(value).flatMap((part) => {
    const isOnlyName = part.type !== 'identifier' || isUnbound(alone, part) || isMoved(alone, part);
    const owner = enclosingFunction(part) ?? part;
    // `settings.rows` is of whoever made the settings.
    const isGiven = [part, rootOf(part)].some((each) => parametersBehind(alone, owner, each).length > 0);
    if (!isOnlyName || isGiven) return [''];
    return outlivingNames(alone, owner, part);
  });
}

/** `kept = []; self.kept = kept`: the variable is not read again. */
function isMoved(alone: PyModule, name: PyNode): boolean {
  const isMade = waysGiven(alone, name).every(({ kind }) => kind === 'value');
  return isMade && isLocal(alone, name) && readsOf(alone, name).length === 1;
}

/** The name of a function that only hands out what it reads here, to whoever calls it by that name. */
export function giverOf(alone: PyModule, place: PyNode): string | undefined {
  const owner = place.parent?.type === 'return_statement' ? enclosingFunction(place) : undefined;
  const name = owner?.name?.text;
  if (owner === undefined || name === undefined || enclosingFunction(owner) !== undefined) return undefined;
  if (name === 'forward' || name.startsWith('__') || isOfModule(name)) return undefined;
  if (!decoratorsOf(owner).every(({ text }) => text === 'property')) return undefined;
  const classNode = enclosingClass(owner);
  if (classNode === undefined) return name;
  // A framework runs methods by names that nobody says.
  const { imported, unknown } = ancestryOf(alone, classNode);
  const isPlain = (path: string) => PLAIN_BASES.has(path) || isModuleClass(path);
  return unknown || !imported.every(isPlain) ? undefined : name;
}

/** `np.mean`, and `args.hidden` of a command line: of no object that a forward has set it on. */
function isOfOther(alone: PyModule, attribute: PyNode): boolean {
  return isOfKnownPackage(qualifiedName(alone, attribute) ?? '') || isParsed(alone, attribute);
}

/** `from cache import KEPT as kept`: it is read by another name. */
function isRenamed({ alias }: PyNode): boolean {
  const path = alias && importedPath(alias);
  return (
    path !== undefined && alias?.parent?.parent?.type === 'import_from_statement' && !isOfKnownPackage(path)
  );
}

const REFLECTED = /\b(?:getattr|attrgetter|methodcaller|vars|__dict__|__getattribute__)\b/;
const REFLECTED_OR_SET = new RegExp(`${REFLECTED.source}|\\b(?:setattr|__setattr__)\\b`);

/** Somebody may take the attribute by its name, as a text; or give it another container. */
function isReflected(alone: PyModule, name: string, isHeld: boolean): boolean {
  return (
    (isHeld ? REFLECTED_OR_SET : REFLECTED).test(alone.code) && new RegExp(`["']${name}["']`).test(alone.code)
  );
}

/** A variable of a function: another one, unless a function inside that one sets it. */
function isLocal(module: PyModule, identifier: PyNode): boolean {
  if (module.resolve(identifier)?.kind !== 'function') return false;
  return module.words(identifier.text).every(({ parent }) => parent?.type !== 'nonlocal_statement');
}

/** `kept = self.flag`, where `kept` is only put back: `self.flag = kept`. */
function isPutBack(module: PyModule, { left, right }: PyNode): boolean {
  if (left?.type !== 'identifier' || !isLocal(module, left)) return false;
  if (/(?<![.\w])(?:eval|exec|locals|vars)\(/.test(module.code)) return false;
  return readsOf(module, left).every(
    ({ parent: back, start }) =>
      back?.type === 'assignment' &&
      back.right?.start === start &&
      back.left?.text === right?.text &&
      back.parent?.type === 'expression_statement',
  );
}

/** `self.table = self.table.to(x.device)`: what it was has the same name still, and is read by that. */
function isRebound({ left, right }: PyNode): boolean {
  let value = right && unparenthesized(right);
  while (value?.type === 'call' && mayShare(ofTensor(methodName(value) ?? ''))) value = receiverOf(value);
  return left?.type === 'attribute' && left.object?.type === 'identifier' && value?.text === left.text;
}

/** Whether a place is read as something whose graph may count. */
export function isReadForGraph(module: PyModule, place: PyNode): boolean {
  const user = place.parent;
  if (user === undefined || recordsNoGraph(module, place)) return false;
  // The text of a tensor says what made it.
  if (user.type === 'interpolation') return user.childrenOfType('format_specifier').length === 0;
  if (isOnlyAsked(place)) return false;
  switch (user.type) {
    case 'assignment':
      return user.left !== place && !isPutBack(module, user) && !isRebound(user);
    case 'augmented_assignment':
      return user.left !== place;
    // Only whether it is true.
    case 'if_statement':
    case 'elif_clause':
    case 'while_statement':
    case 'not_operator':
      return false;
    // These stand on the left only.
    case 'pattern_list':
    case 'tuple_pattern':
    case 'list_pattern':
    case 'delete_statement':
    case 'expression_statement':
    case 'comparison_operator':
      return false;
    case 'subscript':
      return user.value !== place || isReadForGraph(module, user);
    case 'attribute': {
      const name = user.attribute?.text ?? '';
      const call = user.parent?.type === 'call' && user.parent.function === user ? user.parent : undefined;
      const isEffect = call?.parent?.type === 'expression_statement';
      // `kept.add(value)`; of a tensor, `total.add(value)` is for what it gives.
      if (endsGraph(module, name) || (isEffect && (name === 'clear' || keepsGiven(name)))) return false;
      // `loss.backward()`: called for what it does.
      return isEffect || isReadForGraph(module, call ?? user);
    }
    case 'argument_list': {
      const callee = user.parent?.function;
      const path = callee && qualifiedName(module, callee);
      const known = path === undefined ? undefined : row(path);
      if (known?.graph === 'cut' && known.makes === 'data') return false;
      return !(
        callee?.type === 'identifier' &&
        /^(?:len|isinstance|id|type|hasattr|float|int|bool|range)$/.test(callee.text)
      );
    }
    default:
      return true;
  }
}
