import { CHECKPOINT, CHECKPOINT_SEQUENTIAL } from '../../src/library/names.js';
import { calledPath } from '../../src/semantic/imports.js';
import type { PyModule } from '../../src/semantic/module.js';
import type { PyNode } from '../../src/syntax/node.js';

/** A call of torch's own `checkpoint` or `checkpoint_sequential`, as the imports prove. */
export function checkpointCall(module: PyModule, call: PyNode): { readonly sequential: boolean } | undefined {
  const path = calledPath(module, call);
  if (path !== CHECKPOINT && path !== CHECKPOINT_SEQUENTIAL) return undefined;
  return { sequential: path === CHECKPOINT_SEQUENTIAL };
}
