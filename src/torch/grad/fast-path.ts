import { FAST_PATHS, VALUES_ONLY } from '../../library/names.js';
import { placeOf } from '../../semantic/gate.js';
import { modulesBehindImports, modulesWithin } from '../../semantic/imported-modules.js';
import type { PyModule } from '../../semantic/module.js';
import { enclosingFunction } from '../../semantic/statements.js';
import { usesElsewhere } from '../../semantic/uses-elsewhere.js';
import type { PyNode } from '../../syntax/node.js';

/** In another file, by whatever name it goes there; and the models of torchvision that are made of them. */
const FAST_PATH =
  /\b(?:Transformer(?:En|De)coder(?:Layer)?|MultiheadAttention|nn\.Transformer|vit_[blh]_\d+)(?:\b(?!\.|\w)|[()])/;

/** From one file to the next, this far. */
const MAX_HOPS = 2;

/** Whether a model of this file, or of one of the project whose names it imports, may have such a path. */
export function hasInferenceFastPath(module: PyModule): boolean {
  return module.memo(mayTakeFastPath, module);
}

function mayTakeFastPath(module: PyModule): boolean {
  if (module.mentions(/\bvit_[blh]_\d+\(/)) return true;
  if (FAST_PATHS.some((name) => module.at(name).length > 0)) return true;
  for (const { alone } of modulesWithin(module, MAX_HOPS)) if (alone.memo(namesFastPath, alone)) return true;
  return false;
}

function namesFastPath({ code }: PyModule): boolean {
  return FAST_PATH.test(code);
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

/** Such a function in a part of the file. */
export function valuesOnlyIn(module: PyModule, part: PyNode): string | undefined {
  for (const name of VALUES_ONLY) {
    const [found] = module.atWithin(name, part);
    if (found !== undefined) return name;
  }
  return undefined;
}

/** Whether the file, or one that it imports names from, has an LSTM: without gradients, the CPU rounds it otherwise. */
export function hasLstm(module: PyModule): boolean {
  return module.memo(findLstm, module);
}

function findLstm(module: PyModule): boolean {
  return [module, ...modulesBehindImports(module)].some(({ code }) => /\bLSTM\b/.test(code));
}
