import type { PyModule } from './module.js';
import { remembered } from './remembered.js';

/** `loss.data[0]` raises since torch 0.5: whoever writes so has an older one. */
const READS_LOSS = /(?:loss|cost|err)\w*\.data\[0\]/i;
/** The same of anything, beside a `Variable`; what goes on with the element may be a row. */
const READS_ELEMENT = /\.data\[0\](?!\s*[.[])/;

/** Since 0.4 a tensor needs no `Variable` around it: every torch takes it. */
const WRAPPED =
  /^[ \t]*from[ \t]+torch\.autograd[ \t]+import[^#\n]*\bVariable\b|\bautograd\.Variable\(|\bvolatile\s*=\s*True\b/m;
/** The same, but whoever counts on it runs out of memory with a newer one. */
const VOLATILE = /\bvolatile\s*=\s*True\b/;
/** A `Variable` may come by this. */
const STAR = /^[ \t]*from[ \t]+\S+[ \t]+import[ \t]+\*/m;
/** What 0.4 brought: whoever has it and a `Variable` has not cleared up. */
const SINCE_0_4 =
  /\b(?:no_grad|inference_mode|set_grad_enabled|autocast)\b|\btorch\.(?:device|amp|compile)\b|\.item\(\)|\.to\(|\bset_to_none\b/;
/** The same by words that no other package has. */
const OF_TORCH_SINCE_0_4 =
  /\btorch\.(?:no_grad|inference_mode|set_grad_enabled|device|amp|compile|tensor)\b|\bclip_grad_(?:norm|value)_\(|\bnn\.init\.\w+_\(/;

/** The file reads losses as only torch before 0.5 lets it, or counts on what does nothing since 0.4, in a project without anything newer. */
export function isForOldTorch(module: PyModule): boolean {
  if (module.mentions(READS_LOSS) || (isWrapping(module) && module.mentions(READS_ELEMENT))) return true;
  return module.mentions(VOLATILE) && isOfOldDays(module);
}

/** It is written as people did before 0.4, and runs with every torch; that says nothing where the project has what 0.4 brought. */
export function isOfOldDays(module: PyModule): boolean {
  return isWrapping(module) && !hasNewTorch(module) && !module.memo(isBesideNewTorch, module);
}

function isWrapping(module: PyModule): boolean {
  return module.mentions(WRAPPED) || (module.mentions(STAR) && module.mentions(/\bVariable\(/));
}

/** Another file is for old torch, and none of the project has what 0.4 brought. */
export const isBesideOldTorch = remembered((module: PyModule): boolean => {
  const old = module.around.summaries({ word: 'Variable', beside: ['volatile', 'data'] }, readsAsOldTorch);
  return old?.includes(true) === true && !hasNewTorch(module) && !needsNewTorch(module);
});

function readsAsOldTorch(alone: PyModule): boolean {
  if (alone.mentions(READS_LOSS) || alone.mentions(VOLATILE)) return true;
  return alone.mentions(WRAPPED) && alone.mentions(READS_ELEMENT);
}

function hasNewTorch(module: PyModule): boolean {
  return module.mentions(SINCE_0_4) || isOfNewTorch(module);
}

/** Whether the file, or another one of the project, which one torch runs, has what only 0.4 brought. */
function needsNewTorch(module: PyModule): boolean {
  return module.alone.memo(isOfNewTorch, module.alone) || module.memo(isBesideNewTorch, module);
}

function isBesideNewTorch(module: PyModule): boolean {
  return module.around.summaries({ word: 'torch', beside: [] }, isOfNewTorch)?.includes(true) ?? false;
}

function isOfNewTorch(alone: PyModule): boolean {
  return alone.mentions(OF_TORCH_SINCE_0_4);
}
