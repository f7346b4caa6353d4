import type { PyModule } from './module.js';
import { roleOf } from './names.js';
import type { Scope } from './scope.js';

/** Whether a function can take this name for a new local without hiding or meeting another variable. */
export function freeName(module: PyModule, name: string, scope: Scope): boolean {
  if (module.lookup(name, scope) !== undefined) return false;
  if (!module.alone.memo(wordsOf, module.alone).has(name)) return true;
  return !module
    .at(name)
    .some(
      (node) =>
        node.type === 'identifier' &&
        node.text === name &&
        roleOf(node) !== 'none' &&
        scope.node.contains(node),
    );
}

/** Many ask for new names, which mostly stand nowhere in the file. */
function wordsOf({ text }: PyModule): ReadonlySet<string> {
  return new Set(text.match(/[\w\u0080-\uffff]+/g));
}
