import { boundElsewhere } from '../../semantic/elsewhere.js';
import { placeOf } from '../../semantic/gate.js';
import type { PyModule } from '../../semantic/module.js';
import { usesElsewhere } from '../../semantic/uses-elsewhere.js';
import type { PyNode } from '../../syntax/node.js';

/** Modules with a faster path that only runs without gradients: other kernels, other rounding, other padding. */
const FAST_PATHS: readonly string[] = ['TransformerEncoder', 'MultiheadAttention', 'nn.Transformer('];
/** In another file, made or subclassed; and the models of torchvision that are made of them. */
const FAST_PATH = /\b(?:TransformerEncoder(?:Layer)?|MultiheadAttention|nn\.Transformer|vit_[blh]_\d+)[()]/;
const IMPORTED_FROM = /^[ \t]*from[ \t]+([.\w]+)[ \t]+import[ \t]*(?:\(([^()]*)\)|([^\n]*))/gm;

/** From one file to the next, this far. */
const MAX_HOPS = 2;

/** Whether a model of this file, or of one of the project whose names it imports, may have such a path. */
export function hasInferenceFastPath(module: PyModule): boolean {
  return module.memo(mayTakeFastPath, module);
}

function mayTakeFastPath(module: PyModule): boolean {
  if (module.mentions(/\bvit_[blh]_\d+\(/)) return true;
  if (FAST_PATHS.some((name) => module.at(name).length > 0)) return true;
  const seen = new Set([module]);
  let ring = [module];
  for (let hop = 0; hop < MAX_HOPS; hop++) {
    ring = ring.flatMap((here) => [...modulesBehindImports(here)]).filter((there) => !seen.has(there));
    if (ring.some(({ alone }) => alone.memo(namesFastPath, alone))) return true;
    for (const there of ring) seen.add(there);
  }
  return false;
}

function namesFastPath({ text }: PyModule): boolean {
  return FAST_PATH.test(text);
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

/** A call in another file that may give the function a model with such a path. */
export function fastPathGivenIn(module: PyModule, functionNode: PyNode): string | undefined {
  const name = functionNode.name;
  if (name === undefined) return undefined;
  const { uses } = usesElsewhere(module, name, { may: () => true, byName: false });
  const caller = uses.find((use) => hasInferenceFastPath(use.module));
  return caller && placeOf(caller.module, caller.node);
}
