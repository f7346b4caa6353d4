import { isKbitPreparation, isPeftModelMaker } from '../../src/library/paths.js';
import { reachingDefinitions } from '../../src/semantic/flow.js';
import { qualifiedName } from '../../src/semantic/imports.js';
import type { PyModule } from '../../src/semantic/module.js';
import { argumentsOf } from '../../src/semantic/statements.js';
import { waysGiven } from '../../src/semantic/variables.js';
import type { PyNode } from '../../src/syntax/node.js';

/**
 * Whether a model has adapters of peft here, and nobody has made its inputs require gradients: peft does so itself where
 * checkpointing is on before the adapters come, and when it prepares a quantized model.
 */
export function hasAdapters(module: PyModule, expression: PyNode): boolean {
  if (expression.type !== 'identifier') return false;
  const before = reachingDefinitions(module, expression) ?? waysGiven(module, expression);
  return before.some((definition) => {
    const maker = definition.kind === 'value' ? definition.value : undefined;
    const callee = maker?.function;
    const path = callee && qualifiedName(module, callee);
    const [base] = maker?.type === 'call' ? argumentsOf(maker) : [];
    return path !== undefined && isPeftModelMaker(path) && !(base && isPrepared(module, base));
  });
}

function isPrepared(module: PyModule, base: PyNode): boolean {
  const calls =
    base.type === 'identifier'
      ? (reachingDefinitions(module, base) ?? waysGiven(module, base)).map((each) =>
          each.kind === 'value' ? each.value : undefined,
        )
      : [base];
  return calls.some((call) => {
    const callee = call?.function;
    const path = callee && qualifiedName(module, callee);
    return path !== undefined && isKbitPreparation(path);
  });
}
