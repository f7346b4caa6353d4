import { readsReached } from '../../semantic/flow.js';
import type { PyModule } from '../../semantic/module.js';
import { statementOf } from '../../semantic/statements.js';
import type { PyNode } from '../../syntax/node.js';
import { callsOnlyLibraries } from './harmless.js';

/** Something reads what an assignment gives, for more than names that nothing reads; or it gives it to more than a name. */
export function isNeeded(
  module: PyModule,
  owner: PyNode,
  statement: PyNode,
  seen = new Set<PyNode>(),
): boolean {
  if (seen.has(statement)) return false;
  seen.add(statement);
  const assignment = statement.named[0];
  const target = assignment?.type === 'assignment' ? assignment.left : undefined;
  if (target === undefined) return true;
  const scope = module.scopeOf(owner);
  const names = /pattern|tuple/.test(target.type) ? target.named : [target];
  return names.some((name) => {
    if (name.type !== 'identifier' || module.resolve(name) !== scope) return true;
    return readsReached(module, scope, name.text, [name]).some((read) => {
      const reading = statementOf(read);
      const isPassedOn =
        reading.type === 'expression_statement' &&
        reading.named[0]?.type === 'assignment' &&
        reading.named[0].right?.contains(read) === true &&
        callsOnlyLibraries(module, reading.named[0].right);
      return !isPassedOn || isNeeded(module, owner, reading, seen);
    });
  });
}
