import { cutsGraph, isOfModule, row } from '../../library/library.js';
import { PLAIN_BASES } from '../../library/names.js';
import { isModuleClass } from '../../library/paths.js';
import { isAnywhere } from '../../semantic/anywhere.js';
import { summariesTogether } from '../../semantic/companions.js';
import { ancestryOf } from '../../semantic/definitions.js';
import { isOnlyAsked, isParsed } from '../../semantic/given-away.js';
import { qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { importedPath, roleOf } from '../../semantic/names.js';
import {
  decoratorsOf,
  enclosingClass,
  enclosingFunction,
  isCallee,
  wholeName,
} from '../../semantic/statements.js';
import { readsOf } from '../../semantic/variables.js';
import type { PyNode } from '../../syntax/node.js';
import { recordsNoGraph } from '../../values/value/gradient.js';
import { keepsGiven } from '../../values/value/names.js';
import { hasFieldAround } from '../../values/value/parts.js';
import { isOfKnownPackage } from '../../values/value/plain.js';
import { isSetBefore, TAKERS, takesAssignments } from './set-before.js';

/** Whether a file reads something with its graph, or the other names by which it hands it out. */
export type Reads = 'all' | readonly string[];

const ALL = 'all';

/** Whether somebody reads with its graph what goes by a name. `isHeld`: what was put into it. */
export function isReadInProject(module: PyModule, name: string, isHeld: boolean): boolean {
  if (module.memo(isHeld ? findReadIn : findRead, name)) return true;
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
    const files = each === '' ? undefined : summariesTogether(module, { word: each, beside: [] }, look);
    if (files === undefined || names.size > MOST_NAMES || readsField(module, each)) return true;
    for (const found of [look(module.alone, each), ...files]) {
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

/** `model.last.data`, where that may be a field of an object of the project, with its graph. */
function readsField(module: PyModule, name: string): boolean {
  return isAnywhere(module, name, readsData) && module.memo(hasFieldAround, module);
}

function readsData(alone: PyModule, name: string): boolean {
  return alone.words(name).some((node) => wholeName(node).parent?.attribute?.text === 'data');
}

function readsLeft(alone: PyModule, name: string, isHeld: boolean): Reads {
  if (name === '' || isReflected(alone, name)) return ALL;
  const others = new Set<string>();
  const isRead = alone.words(name).some((node) => {
    if (node.type !== 'identifier' || node.text !== name) return false;
    const { parent } = node;
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

/** Somebody may take the attribute by its name, as a text. */
function isReflected(alone: PyModule, name: string): boolean {
  return (
    /\b(?:getattr|attrgetter|methodcaller|vars|__dict__|__getattribute__)\b/.test(alone.code) &&
    new RegExp(`["']${name}["']`).test(alone.code)
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

/** Whether a place is read as something whose graph may count. */
export function isReadForGraph(module: PyModule, place: PyNode): boolean {
  const user = place.parent;
  if (user === undefined || recordsNoGraph(module, place)) return false;
  // The text of a tensor says what made it.
  if (user.type === 'interpolation') return user.childrenOfType('format_specifier').length === 0;
  if (isOnlyAsked(place)) return false;
  switch (user.type) {
    case 'assignment':
      return user.left !== place && !isPutBack(module, user);
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
      if (cutsGraph(name) || (isEffect && (name === 'clear' || keepsGiven(name)))) return false;
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
