import { FSDP, OPTIMIZERS } from '../../src/library/names.js';
import { callsOfPaths } from '../../src/semantic/called-name.js';
import { qualifiedName } from '../../src/semantic/imports.js';
import type { PyModule } from '../../src/semantic/module.js';
import { remembered } from '../../src/semantic/remembered.js';
import { receiverOf } from '../../src/semantic/statements.js';
import type { PyNode } from '../../src/syntax/node.js';

/** Calls that wrap a module in `FullyShardedDataParallel`. */
export function shardings(module: PyModule): readonly PyNode[] {
  const names = ['FullyShardedDataParallel', 'FSDP'];
  return [...new Set(names.flatMap((name) => callsOfPaths(module, name, FSDP)))];
}

/** An optimizer over all parameters of one module: `torch.optim.AdamW(model.parameters(), …)`. */
interface OptimizerOver {
  readonly call: PyNode;
  /** The variable, or the attribute of `self`, that holds the module. */
  readonly model: PyNode;
}

export const optimizersOver = remembered((module: PyModule): readonly OptimizerOver[] =>
  module.at('.parameters(').flatMap((node): readonly OptimizerOver[] => {
    const given = node.closest('call');
    const model = given && receiverOf(given);
    const call = given?.parent?.type === 'argument_list' ? given.parent.parent : undefined;
    const callee = call?.function;
    if (model === undefined || call === undefined || callee === undefined) return [];
    const isHeld = model.type === 'identifier' || /^self\.\w+$/.test(model.text);
    const path = qualifiedName(module, callee) ?? '';
    const isOurs = path.startsWith(OPTIMIZERS) && /\.[A-Z]\w*$/.test(path);
    return isHeld && isOurs && call.closest('string') === undefined ? [{ call, model }] : [];
  }),
);

/** An optimizer of the same function is made above the wrap. */
export function isOptimizerAbove(module: PyModule, wrap: PyNode): boolean {
  const owner = wrap.closest('function_definition') ?? module.root;
  return optimizersOver(module).some(({ call }) => owner.contains(call) && call.start < wrap.start);
}
