import type { PyModule } from '../semantic/module.js';

/** `loss.data[0]` raises since torch 0.5, and `volatile=True` does nothing since 0.4: whoever writes so may have neither. */
const OLD_IDIOM = /(?:loss|cost|err)\w*\.data\[0\]|\bvolatile\s*=\s*True\b/i;

export function isWrittenForOldTorch(module: PyModule): boolean {
  return module.mentions(OLD_IDIOM);
}
