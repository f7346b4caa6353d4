import type { PyModule } from './module.js';

/** `loss.data[0]` raises since torch 0.5, and `volatile=True` does nothing since 0.4: whoever writes so may have neither. */
const OLD_IDIOM = /(?:loss|cost|err)\w*\.data\[0\]|\bvolatile\s*=\s*True\b/i;

/** Since 0.4 a tensor needs no `Variable` around it. */
const WRAPPED = /^[ \t]*from[ \t]+torch\.autograd[ \t]+import[^#\n]*\bVariable\b|\bautograd\.Variable\(/m;
/** What 0.4 brought: whoever has it and a `Variable` has not cleared up. */
const SINCE_0_4 =
  /\b(?:no_grad|inference_mode|set_grad_enabled|autocast)\b|\btorch\.(?:device|amp|compile)\b|\.item\(\)|\.to\(|\bset_to_none\b/;

/** By what the file says itself; a `Variable` alone, which every torch has, says nothing where other files of the project have what 0.4 brought. */
export function isWrittenForOldTorch(module: PyModule): boolean {
  if (module.mentions(OLD_IDIOM)) return true;
  return module.mentions(WRAPPED) && !hasNewTorch(module) && !module.memo(isBesideNewTorch, module);
}

function hasNewTorch(module: PyModule): boolean {
  return module.mentions(SINCE_0_4);
}

/** Whether the file, or another one of the project, which one torch runs, has what only 0.4 brought. */
export function needsNewTorch(module: PyModule): boolean {
  return module.alone.memo(isOfNewTorch, module.alone) || module.memo(isBesideNewTorch, module);
}

function isBesideNewTorch(module: PyModule): boolean {
  return module.around.summaries({ word: 'torch', beside: [] }, isOfNewTorch)?.includes(true) ?? false;
}

/** What 0.4 brought, by a word that no other package has. */
function isOfNewTorch(alone: PyModule): boolean {
  return alone.mentions(/\btorch\.(?:no_grad|inference_mode|set_grad_enabled|device|amp|compile)\b/);
}
