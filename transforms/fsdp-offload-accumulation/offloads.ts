import { CPU_OFFLOAD } from '../../src/library/names.js';
import { callsOfPaths } from '../../src/semantic/called-name.js';
import { definedElsewhere, type Elsewhere } from '../../src/semantic/elsewhere.js';
import { importedNames } from '../../src/semantic/imports.js';
import type { PyModule } from '../../src/semantic/module.js';
import { importedPath } from '../../src/semantic/names.js';
import { argumentsOf, keywordValue } from '../../src/semantic/statements.js';
import { isTestFile } from '../../src/semantic/test-code.js';
import type { PyNode } from '../../src/syntax/node.js';
import { accumulatingLoops } from '../../src/torch/training/training-loop.js';

/** Calls of `CPUOffload(…)` of torch that may offload parameters. */
export function cpuOffloads(module: PyModule): readonly PyNode[] {
  return callsOfPaths(module, 'CPUOffload', CPU_OFFLOAD).filter((call) => {
    const value = keywordValue(call, 'offload_params') ?? argumentsOf(call)[0];
    return value !== undefined && value.type !== 'false' && value.type !== 'none' && !isForSome(call);
  });
}

/** A condition about something else than sharding and offloading decides: the model that is trained may be left out. */
function isForSome(call: PyNode): boolean {
  for (const ancestor of call.ancestors()) {
    const condition = ancestor.type === 'conditional_expression' ? ancestor.named[1] : ancestor.condition;
    if (condition !== undefined && !/offload|fsdp|__name__/i.test(condition.text)) return true;
  }
  return false;
}

/** The same in the functions of other files of the project that this file imports, with the file. */
export function accumulatingElsewhere(
  module: PyModule,
  may: (text: string) => boolean,
): Elsewhere | undefined {
  for (const name of importedNames(module, module.scope).keys()) {
    const [binding] = module.writes(module.scope, name);
    const path = binding && importedPath(binding);
    const found = path === undefined ? undefined : definedElsewhere(module, path);
    if (found?.node.type !== 'function_definition' || !/\.backward\(/.test(found.module.codeOf(found.node)))
      continue;
    if (!may(found.module.text) || isTestFile(found.module.path, found.module.text)) continue;
    const loop = accumulatingLoops(found.module).find(({ backward }) => found.node.contains(backward));
    if (loop !== undefined) return { module: found.module, node: loop.backward };
  }
  return undefined;
}
