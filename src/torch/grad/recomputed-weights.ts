import { PARAMETRIZE, PLAIN_BASES, RECOMPUTING } from '../../library/names.js';
import { isAnywhere } from '../../semantic/anywhere.js';
import { READS_NAMES } from '../../semantic/by-text.js';
import { everywhere } from '../../semantic/companions.js';
import { ancestryOf, attributeOfSelf } from '../../semantic/definitions.js';
import { placeOf } from '../../semantic/gate.js';
import { hasStarImport, qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { importedPath } from '../../semantic/names.js';
import { isMethodOfProject } from '../../semantic/project-names.js';
import { remembered } from '../../semantic/remembered.js';
import {
  enclosingFunction,
  keywordValue,
  positionalArguments,
  wholeName,
} from '../../semantic/statements.js';
import { plainString } from '../../semantic/strings.js';
import type { PyNode } from '../../syntax/node.js';
import { isOfKnownPackage } from '../../values/value/plain.js';
import { runsInForward } from '../module/modules.js';
import { isReadForGraph } from './graph-reads.js';
import { type KeptState, UNREAD } from './holds.js';

/** How one file speaks of a function that makes a layer compute its weight anew. */
interface Spoken {
  readonly states: readonly RecomputedState[];
  /** It imports the name from torch: others may use it by way of this file. */
  readonly isHandedOn: boolean;
  /** It uses the name without having it from torch: perhaps by way of another file. */
  readonly isTaken: boolean;
  /** The names by which it calls the function, if not by its own. */
  readonly aliases: readonly string[];
}

interface RecomputedState extends KeptState {
  /** The layer is made there, by a class of torch's: it is no `self` of the project. */
  readonly isOfTorch: boolean;
}

/** `weight_norm(layer)`: what a forward has made of its parameters is on the layer until the next, for a penalty of weights. */
export function recomputedWeight(module: PyModule): KeptState | undefined {
  const wholes = [...RECOMPUTING].map((path) => path.slice(path.lastIndexOf('.') + 1));
  for (const word of new Set(wholes)) {
    const all = everywhere(module, word, recomputedIn);
    if (all === undefined) return UNREAD;
    const isPassed =
      (all.some(({ isHandedOn }) => isHandedOn) && all.some(({ isTaken }) => isTaken)) ||
      all.some(({ aliases }) => aliases.some((alias) => isAnywhere(module, alias, takesFromFile)));
    const anyLayer = { owner: word, file: '', attribute: 'self', unread: '', isHeld: true, isOfTorch: false };
    for (const state of [...(isPassed ? [anyLayer] : []), ...all.flatMap(({ states }) => states)])
      if (isWeightRead(module, state)) return state;
  }
  return undefined;
}

function recomputedIn(alone: PyModule, word: string): Spoken {
  const nodes = alone.words(word);
  const aliases = nodes.flatMap(
    (node) => node.closest('aliased_import', 'block', 'module')?.field('alias')?.text ?? [],
  );
  const uses = [...nodes, ...aliases.flatMap((alias) => alone.words(alias))];
  const states = uses.flatMap((node): readonly RecomputedState[] => {
    const whole = wholeName(node);
    if (isImported(node) || !(RECOMPUTING.has(qualifiedName(alone, whole) ?? '') || isStarred(alone, whole)))
      return [];
    const call = whole.parent?.type === 'call' && whole.parent.function === whole ? whole.parent : undefined;
    const given = call && (keywordValue(call, 'name') ?? positionalArguments(call)[1]);
    const isHanded = call === undefined && aliases.includes(node.text);
    const name = isHanded ? '' : given === undefined ? 'weight' : (plainString(given) ?? '');
    const isOfTorch = call !== undefined && isMadeByTorch(alone, call);
    return [{ owner: word, file: alone.path, attribute: name, unread: name, isHeld: true, isOfTorch }];
  });
  const isHandedOn = nodes.some(
    (node) => isImported(node) && RECOMPUTING.has(qualifiedName(alone, node) ?? ''),
  );
  const isTaken =
    new RegExp(`["']${word}["']`).test(alone.code) ||
    (isHandedOn && READS_NAMES.test(alone.code)) ||
    nodes.some((node) => !isImported(node) && isFromElsewhere(alone, node));
  return { states, isHandedOn, isTaken, aliases };
}

/** `from torch.nn.utils import *`, in this file or in one that it has all names of. */
function isStarred(alone: PyModule, name: PyNode): boolean {
  return name.type === 'identifier' && alone.resolve(name) === undefined && hasStarImport(alone);
}

function isImported(node: PyNode): boolean {
  return /^import/.test(
    node.closest('import_statement', 'import_from_statement', 'block', 'module')?.type ?? '',
  );
}

/** A name that the file has neither made itself nor from a package that is known. */
function isFromElsewhere(alone: PyModule, node: PyNode): boolean {
  if (node.parent?.type === 'keyword_argument' && node.parent.name === node) return false;
  const whole = wholeName(node);
  const path = qualifiedName(alone, whole);
  if (path !== undefined) return !RECOMPUTING.has(path) && !isOfKnownPackage(path);
  return whole !== node || alone.resolve(node) === undefined;
}

/** Whether a file has something by a name of another file, which it may call with any. */
function takesFromFile(alone: PyModule, name: string): boolean {
  const nodes = alone.words(name).filter(({ type, text }) => type === 'identifier' && text === name);
  const isOwn = nodes.some((node) => RECOMPUTING.has(importedPath(node) ?? ''));
  if (new RegExp(`["']${name}["']`).test(alone.code)) return true;
  if (isOwn && READS_NAMES.test(alone.code)) return true;
  return nodes.some((node) => {
    if (isImported(node)) {
      const alias = node.closest('aliased_import', 'import_statement', 'block', 'module')?.field('alias');
      return !RECOMPUTING.has(importedPath(alias ?? node) ?? '');
    }
    const path = qualifiedName(alone, wholeName(node));
    if (path !== undefined) return !isOwn || !RECOMPUTING.has(path);
    const { parent } = node;
    const isKey = parent?.attribute === node || (parent?.type === 'keyword_argument' && parent.name === node);
    return !isKey && (alone.resolve(node) === undefined || hasStarImport(alone));
  });
}

/** `spectral_norm(nn.Linear(8, 8))` */
function isMadeByTorch(alone: PyModule, call: PyNode): boolean {
  const maker = positionalArguments(call)[0]?.function;
  return maker !== undefined && /^torch\.nn\.[A-Z]\w*$/.test(qualifiedName(alone, maker) ?? '');
}

function isWeightRead(module: PyModule, { unread: name = '', isOfTorch }: RecomputedState): boolean {
  const isDelegated = DELEGATES.some((method) => isMethodOfProject(module, method));
  const look = isOfTorch && !isDelegated ? readsWeightOfOthers : readsWeight;
  return name === '' || everywhere(module, name, look)?.includes(true) !== false;
}

/** Other than by a forward, before which it is computed, and to be initialised. */
function readsWeight(alone: PyModule, name: string): boolean {
  return isRead(alone, name, (place) => {
    const method = enclosingFunction(place);
    return attributeOfSelf(place) !== undefined && method !== undefined && runsInForward(alone, method);
  });
}

/** Methods by which an object may give what another one has. */
const DELEGATES = ['__getattr__', '__getattribute__'];

/** The same of what is no `self` of a class that inherits from torch's alone. */
function readsWeightOfOthers(alone: PyModule, name: string): boolean {
  return isRead(alone, name, (place) => {
    const classNode = attributeOfSelf(place)?.classNode;
    if (classNode === undefined) return false;
    const { imported, unknown } = ancestryOf(alone, classNode);
    return !unknown && imported.every((path) => PLAIN_BASES.has(path) || path.startsWith('torch.nn.'));
  });
}

function isRead(alone: PyModule, name: string, isOther: (place: PyNode) => boolean): boolean {
  if (new RegExp(`getattr\\([^()]*,\\s*["']${name}["']`).test(alone.code)) return true;
  return alone.words(name).some((node) => {
    const place = node.parent;
    if (place?.type !== 'attribute' || place.attribute !== node || !isReadForGraph(alone, place))
      return false;
    const call = place.parent?.type === 'argument_list' ? place.parent.parent : undefined;
    if (call?.function && qualifiedName(alone, call.function)?.startsWith('torch.nn.init.')) return false;
    return !isOther(place);
  });
}

/** Where the project computes parametrized weights once for all forwards inside a `with`. */
export const cachedParametrization = remembered((module: PyModule): string | undefined => {
  const places = everywhere(module, 'cached', cachedIn, ['parametrize']);
  return places === undefined ? 'of one of many files' : places.find((place) => place !== undefined);
});

function cachedIn(alone: PyModule): string | undefined {
  const found = alone
    .words('cached')
    .find((node) => qualifiedName(alone, wholeName(node)) === `${PARAMETRIZE}.cached`);
  return found && `of ${placeOf(alone, found)}`;
}
