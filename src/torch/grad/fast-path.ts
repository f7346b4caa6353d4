import { boundElsewhere } from '../../semantic/elsewhere.js';
import type { PyModule } from '../../semantic/module.js';
import { placeOf } from '../gate.js';

/** Modules with a faster path that only runs without gradients: other kernels, other rounding, other padding. */
const FAST_PATHS: readonly string[] = ['TransformerEncoder', 'MultiheadAttention', 'nn.Transformer('];
/** In another file, made or subclassed; and the models of torchvision that are made of them. */
const FAST_PATH = /\b(?:TransformerEncoder(?:Layer)?|MultiheadAttention|nn\.Transformer|vit_[blh]_\d+)[()]/;
const GIVEN_IN: readonly string[] = ['TransformerEncoderLayer', 'MultiheadAttention'];
const IMPORTED_FROM = /^[ \t]*from[ \t]+([.\w]+)[ \t]+import[ \t]*(?:\(([^()]*)\)|([^\n]*))/gm;

/** From one file to the next, this far. */
const MAX_HOPS = 2;

/** Whether a model of this file, or of one of the project whose names it imports, may have such a path. */
export function hasInferenceFastPath(module: PyModule): boolean {
  return module.memo(mayTakeFastPath, module);
}

function mayTakeFastPath(module: PyModule): boolean {
  if (/\bvit_[blh]_\d+\(/.test(module.text)) return true;
  if (FAST_PATHS.some((name) => module.at(name).length > 0)) return true;
  const seen = new Set([module]);
  let ring = [module];
  for (let hop = 0; hop < MAX_HOPS; hop++) {
    ring = ring.flatMap((here) => [...modulesBehindImports(here)]).filter((there) => !seen.has(there));
    if (ring.some(({ text }) => FAST_PATH.test(text))) return true;
    for (const there of ring) seen.add(there);
  }
  return false;
}

/** Where the functions and classes stand that a file imports by their names. */
function* modulesBehindImports(module: PyModule): Generator<PyModule> {
  for (const [, from = '', inBrackets, onLine = ''] of module.text.matchAll(IMPORTED_FROM)) {
    for (const each of (inBrackets ?? onLine).replace(/#[^\n]*/g, '').split(',')) {
      const name = /\w+/.exec(each)?.[0];
      const found = name && boundElsewhere(module, from.endsWith('.') ? from + name : `${from}.${name}`);
      if (found) yield found.module;
    }
  }
}

/** A file of the project that makes such a module: a model that is given in may be that one. */
export function fastPathInProject(module: PyModule): string | undefined {
  for (const word of GIVEN_IN) {
    const makes = `${word}(`;
    const { modules, unread } = module.around.naming({ word, beside: [] }, (text) => text.includes(makes));
    if (unread !== undefined) return unread;
    for (const there of modules) {
      const [made] = there.at(makes);
      if (made !== undefined) return placeOf(there, made);
    }
  }
  return undefined;
}
