import { FAST_PATHS, NN_MODULE, VALUES_ONLY } from '../../library/names.js';
import { isAnywhere } from '../../semantic/anywhere.js';
import { BY_TEXT } from '../../semantic/by-text.js';
import { summariesTogether } from '../../semantic/companions.js';
import { attributeOfSelf, calledDefinition, classAround } from '../../semantic/definitions.js';
import { definedElsewhere, leadsInside, starredDefinition } from '../../semantic/elsewhere.js';
import { placeOf } from '../../semantic/gate.js';
import { modulesBehindImports, modulesWithin } from '../../semantic/imported-modules.js';
import { hasStarImport, qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { importedPath, roleOf } from '../../semantic/names.js';
import { remembered } from '../../semantic/remembered.js';
import {
  argumentsOf,
  hasSplat,
  isCallee,
  keywordValue,
  ownerOf,
  positionalArguments,
  wholeName,
} from '../../semantic/statements.js';
import { plainString } from '../../semantic/strings.js';
import { readsOf } from '../../semantic/variables.js';
import type { PyNode } from '../../syntax/node.js';
import { copiesMembers } from '../../values/effects/handed-on.js';
import { isOfKnownPackage } from '../../values/value/plain.js';
import { mayHold, type Owner } from './holds.js';

/** The models of torchvision that are made of them. */
const MADE_OF_THEM = /\bvit_[blh]_\d+\b(?!\.)/;

/** `getattr(nn, "MultiheadAttention")`. */
const QUOTED = /["'](?:Transformer(?:En|De)coder(?:Layer)?|MultiheadAttention)["']/;
const REFLECTED = new RegExp(`\\b(?:getattr|attrgetter)\\b|${BY_TEXT.source}`);

/** From one file to the next, this far. */
const MAX_HOPS = 2;

/** Whether a model of this file, or of one of the project whose names it imports, may have such a path. */
export const hasInferenceFastPath = remembered((module: PyModule): boolean => {
  const seen = new Set([module, ...modulesWithin(module, MAX_HOPS)]);
  const isAnyFast = module.memo(setsLayout, module) || [...seen].some(takesByText);
  for (const each of seen) {
    const makers = each.memo(isAnyFast ? allMakers : fastPathMakers, each);
    if (makers === undefined) return true;
    for (const maker of makers) seen.add(maker);
  }
  return false;
});

/** The files of the classes that only have such a name; undefined where one may be torch's. */
function fastPathMakers(module: PyModule): ReadonlySet<PyModule> | undefined {
  return makersOf(module, (node) => isImportedPlainly(node) || isSequenceFirst(node));
}

/** The same where a layer may be changed, or found by a text that is computed. */
function allMakers(module: PyModule): ReadonlySet<PyModule> | undefined {
  return makersOf(module, () => false);
}

function makersOf(module: PyModule, isLeft: (name: PyNode) => boolean): ReadonlySet<PyModule> | undefined {
  if (MADE_OF_THEM.test(module.code) || (REFLECTED.test(module.code) && module.mentions(QUOTED)))
    return undefined;
  const makers = new Set<PyModule>();
  for (const name of Object.keys(FAST_PATHS)) {
    for (const node of module.words(name)) {
      if (isLeft(node)) continue;
      const maker = makerNamed(module, node);
      if (maker === undefined) return undefined;
      makers.add(maker);
    }
  }
  return makers;
}

/** `from torch.nn import MultiheadAttention`: what is made of it is seen where its name is, in this file and others. */
function isImportedPlainly(node: PyNode): boolean {
  return node.parent?.parent?.type === 'import_from_statement';
}

/** `nn.MultiheadAttention(width, heads)`, which says nothing of `batch_first`: then there is no faster path. */
function isSequenceFirst(node: PyNode, name = node.text): boolean {
  const whole = wholeName(node);
  const call = isCallee(whole) ? whole.parent : undefined;
  const at = FAST_PATHS[name];
  if (call === undefined || at === undefined || hasSplat(call)) return false;
  const given = keywordValue(call, 'batch_first');
  return given === undefined ? positionalArguments(call).length < at : given.type === 'false';
}

/** Whether some file may change the layout of a layer after it was made. */
function setsLayout(module: PyModule): boolean {
  return isAnywhere(module, 'batch_first', setsLayoutIn) || module.memo(copiesMembers, module);
}

function setsLayoutIn(alone: PyModule, word: string): boolean {
  const isSet = alone.words(word).some((node) => {
    if (node.parent?.type === 'keyword_argument') return isGivenToUnknown(alone, node.parent);
    const place = node.parent?.attribute === node ? node.parent : undefined;
    const target =
      place && attributeOfSelf(place) === undefined ? place.closest('assignment')?.left : undefined;
    return place !== undefined && target?.contains(place) === true;
  });
  const isQuoted = /["']batch_first["']/.test(alone.code);
  return isSet || (isQuoted && /setattr|__(?:dict|setstate)__|\bvars\(/.test(alone.code));
}

/** `kind(16, 4, batch_first=True)`, `layer.__init__(16, 4, batch_first=True)`, where nothing says what that makes. */
function isGivenToUnknown(alone: PyModule, argument: PyNode): boolean {
  const call = argument.parent?.parent;
  if (argument.value?.type === 'false' || call?.type !== 'call' || call.function === undefined) return false;
  if (call.function.object?.function?.text === 'super') return false;
  return qualifiedName(alone, call.function) === undefined && calledDefinition(alone, call) === undefined;
}

/** `getattr(models, name)` of a file of the project. */
function takesByText(module: PyModule): boolean {
  if (BY_TEXT.test(module.code)) return true;
  return module.words('getattr').some((node) => {
    const [space, name] = node.parent?.type === 'call' ? argumentsOf(node.parent) : [];
    const path = space && qualifiedName(module, space);
    return path !== undefined && !isOfKnownPackage(path) && name?.type !== 'string';
  });
}

/** The file of the project that a name is from, at one of its places; undefined where it may be torch's. */
function makerNamed(module: PyModule, node: PyNode): PyModule | undefined {
  const whole = wholeName(node);
  const renamed = node.parent?.parent?.type === 'aliased_import' ? node.parent.parent.alias : undefined;
  const path = importedPath(renamed ?? node) ?? qualifiedName(module, whole);
  if (path !== undefined)
    return (
      definedElsewhere(module, path)?.module ??
      (mayBeTorchs(node, path) || leadsInside(module, path) ? undefined : module)
    );
  if (whole.type === 'attribute')
    return whole.object?.text !== classAround(whole)?.self && mayBeTorchs(node) ? undefined : module;
  if (roleOf(node) === 'none' || module.resolve(node) !== undefined) return module;
  const isOpen = mayBeTorchs(node) || hasStarImport(module);
  return starredDefinition(module, node.text)?.module ?? (isOpen ? undefined : module);
}

/** Many a network is called `Transformer`. */
function mayBeTorchs({ text }: PyNode, path = ''): boolean {
  return text !== 'Transformer' || path.startsWith('torch.');
}

/** Where the project names one of them, and a network may have it among its parts. Plain data: it outlives the scan. */
interface Named extends Owner {
  readonly place: string;
  /** It has such a path only if its layout is changed. */
  readonly isSequenceFirst: boolean;
}

/** What computes otherwise without gradients: layers with another path, an LSTM on the CPU, and linear algebra that gives values only. */
export type Rounding = 'attention' | 'LSTM' | 'values only';

const ROUNDING: Readonly<Record<Rounding, readonly string[]>> = {
  attention: Object.keys(FAST_PATHS),
  LSTM: ['LSTM'],
  'values only': VALUES_ONLY.filter((name) => !name.includes('.')),
};

/** The first of them, anywhere in the project; an empty place where too many files would have to be looked into. */
export function roundingIn(module: PyModule, network: PyNode, kind: Rounding): string | undefined {
  const named = module.memo(namedInProject, kind);
  const isFast = (each: Named): boolean => !each.isSequenceFirst || module.memo(setsLayout, module);
  return named === undefined
    ? ''
    : named.find((each) => isFast(each) && mayHold(module, network, each))?.place;
}

/** With these, a layer is taken out of `nn` by a text. */
const REFLECTING: readonly string[] = ['getattr', 'vars', '__dict__'];

function namedInProject(module: PyModule, kind: Rounding): readonly Named[] | undefined {
  const words = [
    ...ROUNDING[kind].map((word) => ({ word, beside: [] })),
    ...(kind === 'attention' ? REFLECTING.map((word) => ({ word, beside: ['nn'] })) : []),
  ];
  const files = words.map((mention) => summariesTogether(module, mention, namedIn));
  // Without its lines, which change.
  const own = words
    .flatMap(({ word }) => namedIn(module.alone, word))
    .map((each) => ({ ...each, place: 'this file' }));
  return files.some((each) => each === undefined)
    ? undefined
    : [...own, ...files.flat(2).flatMap((each) => each ?? [])];
}

function namedIn(alone: PyModule, word: string): readonly Named[] {
  // `from torch.nn import MultiheadAttention as Attention`
  const named = alone.words(word).flatMap((node) => {
    const alias = node.closest('aliased_import')?.alias;
    return alias === undefined ? [node] : readsOf(alone, alias);
  });
  return named.flatMap((node) => {
    const whole = wholeName(node);
    const isMade = REFLECTING.includes(word)
      ? takesLayer(alone, whole)
      : qualifiedName(alone, whole)?.startsWith('torch.');
    if (isMade !== true || node.closest('import_from_statement', 'import_statement', 'type')) return [];
    return {
      ...{ owner: ownerOf(node)?.name?.text ?? '', file: alone.path, place: placeOf(alone, node) },
      isSequenceFirst: isSequenceFirst(node, word),
    };
  });
}

/**
 * `getattr(nn, name)(width, heads)`, `vars(nn)[name]`, `nn.__dict__[name]`, where nothing says which layer that is; these take
 * two arguments, or are made by default.
 */
function takesLayer(alone: PyModule, whole: PyNode): boolean {
  const taken = isCallee(whole) ? whole.parent : undefined;
  const [space, name] = taken === undefined ? [whole.object] : argumentsOf(taken);
  if (space === undefined || `${qualifiedName(alone, space)}.Module` !== NN_MODULE) return false;
  if (whole.text !== 'getattr') return true;
  if (name === undefined || plainString(name) !== undefined) return false;
  const call = taken?.parent;
  if (call?.type !== 'call' || call.function !== taken) return true;
  return hasSplat(call) || argumentsOf(call).length > 1;
}

/** Such a function of torch in a part of the file, or one that may be it. */
export function valuesOnlyIn(module: PyModule, part: PyNode): string | undefined {
  return VALUES_ONLY.find((name) =>
    module.atWithin(name, part).some((node) => {
      const path = qualifiedName(module, wholeName(node));
      return path === undefined || !isOfKnownPackage(path) || path.startsWith('torch.');
    }),
  );
}

/** Whether a network may have an LSTM: without gradients, the CPU rounds it otherwise. */
export function hasLstm(module: PyModule, networks: readonly PyNode[]): boolean {
  return (
    module.memo(findLstm, module) || networks.some((each) => roundingIn(module, each, 'LSTM') !== undefined)
  );
}

function findLstm(module: PyModule): boolean {
  return [module, ...modulesBehindImports(module)].some(({ code }) => /\bLSTM\b/.test(code));
}
