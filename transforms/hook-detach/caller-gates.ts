import { partReturned } from '../../src/semantic/function-uses.js';
import type { Gate } from '../../src/semantic/gate.js';
import type { PyModule } from '../../src/semantic/module.js';
import { enclosingFunction } from '../../src/semantic/statements.js';
import type { PyNode } from '../../src/syntax/node.js';
import { callersElsewhere } from '../../src/torch/grad/callers.js';

/** The same for what stands in a `return`, as gates. */
export function callerGates(module: PyModule, returned: PyNode): readonly Gate[] {
  const around = enclosingFunction(returned);
  if (around === undefined) return [];
  const { doubt, unread } = callersElsewhere(module, around, partReturned(returned));
  return [doubt, unread].flatMap((found) => (found === undefined ? [] : [found]));
}
