import { givesModule, row } from '../../library/library.js';
import { NN_MODULE } from '../../library/names.js';
import { instancesBehind } from '../../semantic/attributes.js';
import {
  ancestryOf,
  calledDefinition,
  classBehind,
  methodNamed,
  overridesOf,
} from '../../semantic/definitions.js';
import { type Elsewhere, namedElsewhere } from '../../semantic/elsewhere.js';
import { qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { isOverriddenElsewhere } from '../../semantic/overridden.js';
import { methodName, receiverOf } from '../../semantic/statements.js';
import type { PyNode } from '../../syntax/node.js';
import { moduleKind } from '../../torch/module/modules.js';

/** What a call may run: all of it, here and in other files of the project. */
export interface Called {
  readonly functions: readonly Elsewhere[];
  /** The calls that made a module of torch's own which is run: `nn.MSELoss()`. */
  readonly makers: readonly PyNode[];
}

/** Undefined where that is not known. Calls of torch's functions and of methods of tensors are none of this. */
export function calledBy(module: PyModule, call: PyNode): Called | undefined {
  const definition = calledDefinition(module, call);
  if (definition?.type === 'function_definition') {
    const run = definitionsRun(module, call, definition);
    return run && { functions: run.map((node) => ({ module, node })), makers: [] };
  }
  const callee = call.function;
  if (callee === undefined) return undefined;
  const found = namedElsewhere(module, callee);
  if (found?.node.type === 'function_definition') return { functions: [found], makers: [] };
  const runs = instancesBehind(module, callee).map((made) => runOf(module, made));
  const known = runs.flatMap((run) => run ?? []);
  if (runs.length === 0 || known.length < runs.length) return undefined;
  return {
    functions: known.flatMap((run) => ('module' in run ? [run] : [])),
    makers: known.flatMap((run) => ('module' in run ? [] : [run.maker])),
  };
}

/** A function of the file that a call runs, and the methods of subclasses that may run in its place; undefined where others may. */
export function definitionsRun(
  module: PyModule,
  call: PyNode,
  definition: PyNode,
): readonly PyNode[] | undefined {
  const others = isOverriddenElsewhere(module, definition)
    ? undefined
    : overridesOf(module, call, definition);
  return others && [definition, ...others];
}

/** What runs when the object that this call makes is called. */
function runOf(module: PyModule, made: PyNode): Elsewhere | { readonly maker: PyNode } | undefined {
  // `nn.MSELoss().to(device)` is still the module.
  const receiver = receiverOf(made);
  if (receiver?.type === 'call' && givesModule(methodName(made) ?? '')) return runOf(module, receiver);
  const callee = made.function;
  const path = callee && qualifiedName(module, callee);
  const kind = path === undefined ? undefined : row(path)?.is;
  if (kind === 'loss' || kind === 'map') return { maker: made };
  const own = classBehind(module, made);
  if (own !== undefined)
    return ancestryOf(module, own).imported.includes(NN_MODULE) ? forwardOf(module, own) : undefined;
  const found = callee && namedElsewhere(module, callee);
  if (found?.node.type !== 'class_definition' || moduleKind(found.module, found.node).isModule !== 'yes')
    return undefined;
  return forwardOf(found.module, found.node);
}

function forwardOf(module: PyModule, classNode: PyNode): Elsewhere | undefined {
  const node = methodNamed(module, classNode, '__call__') ?? methodNamed(module, classNode, 'forward');
  return node && { module, node };
}
