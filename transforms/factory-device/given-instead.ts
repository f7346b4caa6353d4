import type { Elsewhere } from '../../src/semantic/elsewhere.js';
import { reachingDefinitions } from '../../src/semantic/flow.js';
import type { PyModule } from '../../src/semantic/module.js';
import { argumentsByParameter } from '../../src/semantic/parameters.js';
import { isCallee } from '../../src/semantic/statements.js';
import { usesElsewhere } from '../../src/semantic/uses-elsewhere.js';
import type { PyNode } from '../../src/syntax/node.js';
import { valueOf } from '../../src/values/index.js';

/**
 * The argument of a call in the project that gives the parameter which an expression names something that is no device:
 * a tensor or a dtype, which `.to()` takes as well. `None` leaves the tensor where it is made in either form.
 */
export function givenInstead(module: PyModule, expression: PyNode): Elsewhere | undefined {
  const found = expression.type === 'identifier' ? reachingDefinitions(module, expression) : undefined;
  const parameter = found?.find(({ kind }) => kind === 'parameter')?.node;
  const functionNode = parameter?.closest('function_definition', 'lambda');
  const named = functionNode?.name;
  const scope = named && module.resolve(named);
  if (parameter === undefined || functionNode === undefined || named === undefined || scope === undefined)
    return undefined;
  const own = module.reads(scope, named.text).map((node) => ({ module, node }));
  const { uses } = usesElsewhere(module, named, { may: () => true, byName: false });
  for (const { module: there, node } of [...own, ...uses]) {
    const call = isCallee(node) ? node.parent : undefined;
    const value = call && argumentsByParameter(there, functionNode, call)?.get(parameter.text);
    if (value !== undefined && value.type !== 'none' && valueOf(there, value).isDevice === 'no')
      return { module: there, node: value };
  }
  return undefined;
}
