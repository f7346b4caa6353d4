import { definedElsewhere, type Elsewhere } from './elsewhere.js';
import type { PyModule } from './module.js';
import { mayBring, starImports, within } from './stars.js';

/**
 * The definition in another file of the project that a name without a binding in its own file comes from, by
 * `from x import *`. Where several bring it, the last one counts; undefined where one of those may and does not show it.
 */
export function starredDefinition(module: PyModule, name: string): Elsewhere | undefined {
  if (name.startsWith('_')) return undefined;
  for (const { from, isSure } of starImports(module)) {
    if (!mayBring(module, from, name)) continue;
    return isSure ? definedElsewhere(module, within(from, name)) : undefined;
  }
  return undefined;
}
