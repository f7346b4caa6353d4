import { FAST_PATHS, VALUES_ONLY } from '../../library/names.js';
import { classAround } from '../../semantic/definitions.js';
import { definedElsewhere } from '../../semantic/elsewhere.js';
import { placeOf } from '../../semantic/gate.js';
import { modulesBehindImports, modulesWithin } from '../../semantic/imported-modules.js';
import { qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { importedPath, roleOf } from '../../semantic/names.js';
import { starredDefinition } from '../../semantic/star-imports.js';
import { enclosingFunction, wholeName } from '../../semantic/statements.js';
import { usesElsewhere } from '../../semantic/uses-elsewhere.js';
import type { PyNode } from '../../syntax/node.js';
import { isOfKnownPackage } from '../../values/value/plain.js';

/** The models of torchvision that are made of them. */
const MADE_OF_THEM = /\bvit_[blh]_\d+\b(?!\.)/;

/** `getattr(nn, "MultiheadAttention")`. */
const BY_TEXT = /["'](?:Transformer(?:En|De)coder(?:Layer)?|MultiheadAttention)["']/;
const REFLECTED = /\b(?:getattr|attrgetter|eval|globals|import_module|__dict__)\b/;

/** From one file to the next, this far. */
const MAX_HOPS = 2;

/** Whether a model of this file, or of one of the project whose names it imports, may have such a path. */
export function hasInferenceFastPath(module: PyModule): boolean {
  return module.memo(mayTakeFastPath, module);
}

function mayTakeFastPath(module: PyModule): boolean {
  const seen = new Set([module, ...modulesWithin(module, MAX_HOPS)]);
  for (const each of seen) {
    const makers = each.memo(fastPathMakers, each);
    if (makers === undefined) return true;
    for (const maker of makers) seen.add(maker);
  }
  return false;
}

/** The files of the classes that only have such a name; undefined where one may be torch's. */
function fastPathMakers(module: PyModule): ReadonlySet<PyModule> | undefined {
  if (MADE_OF_THEM.test(module.code) || (REFLECTED.test(module.code) && module.mentions(BY_TEXT)))
    return undefined;
  const makers = new Set<PyModule>();
  for (const name of FAST_PATHS) {
    for (const node of module.words(name)) {
      const maker = makerNamed(module, node);
      if (maker === undefined) return undefined;
      makers.add(maker);
    }
  }
  return makers;
}

/** The file of the project that a name is from, at one of its places; undefined where it may be torch's. */
function makerNamed(module: PyModule, node: PyNode): PyModule | undefined {
  const whole = wholeName(node);
  const renamed = node.parent?.parent?.type === 'aliased_import' ? node.parent.parent.alias : undefined;
  const path = importedPath(renamed ?? node) ?? qualifiedName(module, whole);
  if (path !== undefined)
    return definedElsewhere(module, path)?.module ?? (mayBeTorchs(node, path) ? undefined : module);
  if (whole.type === 'attribute')
    return whole.object?.text !== classAround(whole)?.self && mayBeTorchs(node) ? undefined : module;
  if (roleOf(node) === 'none' || module.resolve(node) !== undefined) return module;
  return starredDefinition(module, node.text)?.module ?? (mayBeTorchs(node) ? undefined : module);
}

/** Many a network is called `Transformer`. */
function mayBeTorchs({ text }: PyNode, path = ''): boolean {
  return text !== 'Transformer' || path.startsWith('torch.');
}

/** A call in another file that may give the function a model with such a path, or a caller of the function around it. */
export function fastPathGivenIn(module: PyModule, functionNode: PyNode, hops = 0): string | undefined {
  const name = functionNode.name;
  if (name === undefined || hops > MAX_HOPS) return undefined;
  const { uses } = usesElsewhere(module, name, { may: () => true, byName: false });
  const caller = uses.find((use) => hasInferenceFastPath(use.module));
  if (caller !== undefined) return placeOf(caller.module, caller.node);
  for (const use of uses) {
    const around = enclosingFunction(use.node);
    const found = around && fastPathGivenIn(use.module, around, hops + 1);
    if (found !== undefined) return found;
  }
  return undefined;
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

/** Whether the file, or one that it imports names from, has an LSTM: without gradients, the CPU rounds it otherwise. */
export function hasLstm(module: PyModule): boolean {
  return module.memo(findLstm, module);
}

function findLstm(module: PyModule): boolean {
  return [module, ...modulesBehindImports(module)].some(({ code }) => /\bLSTM\b/.test(code));
}
