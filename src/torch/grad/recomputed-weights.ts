import { RECOMPUTING } from '../../library/names.js';
import { attributeOfSelf } from '../../semantic/definitions.js';
import { qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
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
import { isReadForGraph } from './forward-stores.js';
import { type KeptState, UNREAD } from './holds.js';

/** How one file speaks of a function that makes a layer compute its weight anew. */
interface Spoken {
  readonly states: readonly KeptState[];
  /** It imports the name from torch: others may use it by way of this file. */
  readonly isHandedOn: boolean;
  /** It uses the name without having it from torch: perhaps by way of another file. */
  readonly isTaken: boolean;
}

/** `weight_norm(layer)`: what a forward has made of its parameters is on the layer until the next, for a penalty of weights. */
export function recomputedWeight(module: PyModule): KeptState | undefined {
  const wholes = [...RECOMPUTING].map((path) => path.slice(path.lastIndexOf('.') + 1));
  for (const word of new Set(wholes)) {
    const files = module.around.summaries({ word, beside: [] }, recomputedIn);
    if (files === undefined) return UNREAD;
    const all = [recomputedIn(module.alone, word), ...files];
    const isPassed = all.some(({ isHandedOn }) => isHandedOn) && all.some(({ isTaken }) => isTaken);
    const passed = isPassed ? [{ owner: word, file: '', attribute: 'self', unread: '', isHeld: true }] : [];
    for (const state of [...passed, ...all.flatMap(({ states }) => states)])
      if (isWeightRead(module, state.unread ?? '')) return state;
  }
  return undefined;
}

function recomputedIn(alone: PyModule, word: string): Spoken {
  const nodes = alone.words(word);
  const states = nodes.flatMap((node): readonly KeptState[] => {
    const whole = wholeName(node);
    // By another name it may be called with any.
    if (node.closest('aliased_import', 'block', 'module')?.type === 'aliased_import')
      return [{ owner: word, file: alone.path, attribute: 'self', unread: '', isHeld: true }];
    if (isImported(node) || !RECOMPUTING.has(qualifiedName(alone, whole) ?? '')) return [];
    const call = whole.parent?.type === 'call' && whole.parent.function === whole ? whole.parent : undefined;
    const given = call && (keywordValue(call, 'name') ?? positionalArguments(call)[1]);
    const name = given === undefined ? 'weight' : (plainString(given) ?? '');
    return [{ owner: word, file: alone.path, attribute: name, unread: name, isHeld: true }];
  });
  const isHandedOn = nodes.some(
    (node) => isImported(node) && RECOMPUTING.has(qualifiedName(alone, node) ?? ''),
  );
  const isTaken =
    new RegExp(`["']${word}["']`).test(alone.code) ||
    (isHandedOn && /(?<![.\w])(?:globals|locals|vars|eval|exec)\(/.test(alone.code)) ||
    nodes.some((node) => !isImported(node) && isFromElsewhere(alone, node));
  return { states, isHandedOn, isTaken };
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

function isWeightRead(module: PyModule, name: string): boolean {
  if (name === '' || module.alone.memo(readsWeight, name)) return true;
  const files = module.around.summaries({ word: name, beside: [] }, readsWeight);
  return files === undefined || files.includes(true);
}

/** Other than by a forward, before which it is computed, and to be initialised. */
function readsWeight(alone: PyModule, name: string): boolean {
  if (new RegExp(`getattr\\([^()]*,\\s*["']${name}["']`).test(alone.code)) return true;
  return alone.words(name).some((node) => {
    const place = node.parent;
    if (place?.type !== 'attribute' || place.attribute !== node || !isReadForGraph(alone, place))
      return false;
    const call = place.parent?.type === 'argument_list' ? place.parent.parent : undefined;
    if (call?.function && qualifiedName(alone, call.function)?.startsWith('torch.nn.init.')) return false;
    const method = enclosingFunction(place);
    return !(attributeOfSelf(place) && method !== undefined && runsInForward(alone, method));
  });
}
