import { isOfModule } from '../../library/library.js';
import { type Definition, reachingDefinitions } from '../../semantic/flow.js';
import type { PyModule } from '../../semantic/module.js';
import { roleOf } from '../../semantic/names.js';
import { givenTo, methodName, receiverOf } from '../../semantic/statements.js';
import { livesIn } from '../../semantic/variables.js';
import type { PyNode } from '../../syntax/node.js';
import { putIntoValues } from './arrays.js';

/**
 * Whether what is called like one of these networks is something else here: a variable of the function that is being called,
 * or what a network gave.
 */
export function isRenamed(
  module: PyModule,
  node: PyNode,
  networks: ReadonlySet<string>,
  called: PyNode | undefined,
): boolean {
  if (node.type !== 'identifier') return false;
  return called === undefined ? mayBeOutput(module, node, networks) : livesIn(module, node, called);
}

/** Whether a name may stand, where it is read, for what one of these networks has computed: `net = net(x)`. */
function mayBeOutput(module: PyModule, name: PyNode, networks: ReadonlySet<string>): boolean {
  const seen = new Set([name]);
  for (const read of seen) {
    const definitions = reachingDefinitions(module, read) ?? [];
    const put = putIntoValues(module, read, definitions) ?? [];
    for (const source of [...definitions.map(sourceOf), ...put])
      for (const node of source?.walk() ?? []) {
        if (node.type === 'call' && runs(node, networks)) return true;
        if (node.type === 'identifier' && roleOf(node) === 'read') seen.add(node);
      }
  }
  return false;
}

function sourceOf(definition: Definition): PyNode | undefined {
  if (definition.kind === 'loop') return definition.iterable;
  return 'value' in definition ? definition.value : undefined;
}

/** `net(x)`, `net.forward(x)`, `net.encode(x)`; not `net.to(device)`, `net.merge_and_unload()`. */
function runs(call: PyNode, networks: ReadonlySet<string>): boolean {
  if (networks.has(call.function?.text ?? '')) return true;
  if (!networks.has(receiverOf(call)?.text ?? '') || givenTo(call).length === 0) return false;
  return methodName(call) === 'forward' || !isOfModule(methodName(call) ?? '');
}
