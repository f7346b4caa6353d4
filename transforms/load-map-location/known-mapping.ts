import { reachingDefinitions } from '../../src/semantic/flow.js';
import type { PyModule } from '../../src/semantic/module.js';
import { argumentsOf, enclosingFunction, methodName, ownNodes } from '../../src/semantic/statements.js';
import type { PyNode } from '../../src/syntax/node.js';
import { isSurelyBeside } from './keeper.js';

const MAKES_MAPPING = /(?:^|\.)(?:dict|OrderedDict|defaultdict|state_dict)$/;
const OF_MAPPINGS = /^(?:get|items|keys|pop|setdefault|update)$/;

/** Whether a container is a mapping: by what made it, or because its function, in any case, loads it whole or asks it for what only mappings have. */
export function isKnownMapping(module: PyModule, container: PyNode, loads: readonly PyNode[]): boolean {
  const values = valuesOf(module, container);
  if (values !== undefined && values.length > 0 && values.every(isMapping)) return true;
  const around = enclosingFunction(container) ?? module.root;
  return [...ownNodes(around)].some((node) => {
    const asked = node.type === 'call' ? mappingIn(node, loads) : undefined;
    if (asked?.text !== container.text || !isSurelyBeside(module, node, container)) return false;
    const others = valuesOf(module, asked);
    return values?.length === others?.length && values?.every((each) => others?.includes(each)) !== false;
  });
}

/** What a variable may hold at a place; undefined for anything else. */
function valuesOf(module: PyModule, node: PyNode): readonly PyNode[] | undefined {
  if (node.type !== 'identifier') return undefined;
  return reachingDefinitions(module, node)?.map((found) =>
    found.kind === 'value' ? found.value : found.node,
  );
}

function isMapping(made: PyNode): boolean {
  if (made.type === 'call') return MAKES_MAPPING.test(made.function?.text ?? '');
  return made.type === 'dictionary' || made.type === 'dictionary_comprehension';
}

/** `state` of `net.load_state_dict(state)` and of `state.items()`. */
function mappingIn(call: PyNode, loads: readonly PyNode[]): PyNode | undefined {
  if (loads.includes(call)) return argumentsOf(call)[0];
  return OF_MAPPINGS.test(methodName(call) ?? '') ? call.function?.object : undefined;
}
