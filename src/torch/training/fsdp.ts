import { definedElsewhere, type Elsewhere } from '../../semantic/elsewhere.js';
import { importedNames, qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { importedPath } from '../../semantic/names.js';
import { argumentsOf, enclosingLoops, keywordArgument, receiverOf } from '../../semantic/statements.js';
import { isTestFile } from '../../semantic/test-code.js';
import type { PyNode } from '../../syntax/node.js';
import { CPU_OFFLOAD, FSDP, OPTIMIZERS } from '../catalog.js';
import { type TrainingLoop, trainingLoops } from './training-loop.js';

/** Calls of `CPUOffload(…)` of torch that may offload parameters. */
export function cpuOffloads(module: PyModule): readonly PyNode[] {
  return callsNamed(module, 'CPUOffload', CPU_OFFLOAD).filter((call) => {
    const value = keywordArgument(call, 'offload_params')?.field('value') ?? argumentsOf(call)[0];
    return value !== undefined && value.type !== 'false' && value.type !== 'none' && !isForSome(call);
  });
}

/** A condition about something else than sharding and offloading decides: the model that is trained may be left out. */
function isForSome(call: PyNode): boolean {
  for (const ancestor of call.ancestors()) {
    const condition =
      ancestor.type === 'conditional_expression' ? ancestor.named[1] : ancestor.field('condition');
    if (condition !== undefined && !/offload|fsdp|__name__/i.test(condition.text)) return true;
  }
  return false;
}

/** Calls that wrap a module in `FullyShardedDataParallel`. */
export function shardings(module: PyModule): readonly PyNode[] {
  const names = ['FullyShardedDataParallel', 'FSDP'];
  return [...new Set(names.flatMap((name) => callsNamed(module, name, FSDP)))];
}

function callsNamed(module: PyModule, name: string, paths: ReadonlySet<string>): readonly PyNode[] {
  return module.at(`${name}(`).flatMap((node) => {
    const call = node.closest('call');
    const callee = call?.field('function');
    if (call === undefined || !callee?.contains(node) || call.closest('string') !== undefined) return [];
    return paths.has(qualifiedName(module, callee) ?? '') ? [call] : [];
  });
}

interface AccumulatingLoop {
  readonly loop: TrainingLoop;
  readonly backward: PyNode;
}

/** Training loops that call `backward` more than once per step, where the code shows it, with the call that is repeated. */
export function accumulatingLoops(module: PyModule): readonly AccumulatingLoop[] {
  return module.memo(findAccumulating, module);
}

function findAccumulating(module: PyModule): readonly AccumulatingLoop[] {
  return trainingLoops(module).flatMap((loop) => {
    const backward = loop.backwards.find(
      (call) => enclosingLoops(call)[0] !== loop.loop || isSteppedSometimes(loop, call),
    );
    return backward === undefined ? [] : [{ loop, backward }];
  });
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

/** Every step of the loop is under a condition by remainder that its backward is not under, or such a condition skips it. */
function isSteppedSometimes({ loop, body, steps }: TrainingLoop, backward: PyNode): boolean {
  const skips = [...body.walk()].some(
    (node) =>
      node.type === 'continue_statement' &&
      node.start > backward.end &&
      enclosingLoops(node)[0] === loop &&
      isByRemainder(node.closest('if_statement')),
  );
  if (skips) return true;
  return steps.every((step) => {
    for (const ancestor of step.ancestors()) {
      if (ancestor === loop || ancestor.contains(backward)) return false;
      if (isByRemainder(ancestor)) return true;
    }
    return false;
  });
}

function isByRemainder(statement: PyNode | undefined): boolean {
  const condition = statement?.type === 'if_statement' ? (statement.field('condition')?.text ?? '') : '';
  return condition.includes('%') && !/%\s*1\b/.test(condition);
}

/** An optimizer over all parameters of one module: `torch.optim.AdamW(model.parameters(), …)`. */
export interface OptimizerOver {
  readonly call: PyNode;
  /** The variable, or the attribute of `self`, that holds the module. */
  readonly model: PyNode;
}

export function optimizersOver(module: PyModule): readonly OptimizerOver[] {
  return module.memo(findOptimizersOver, module);
}

function findOptimizersOver(module: PyModule): readonly OptimizerOver[] {
  return module.at('.parameters(').flatMap((node): readonly OptimizerOver[] => {
    const given = node.closest('call');
    const model = given && receiverOf(given);
    const call = given?.parent?.type === 'argument_list' ? given.parent.parent : undefined;
    const callee = call?.field('function');
    if (model === undefined || call === undefined || callee === undefined) return [];
    const isHeld = model.type === 'identifier' || /^self\.\w+$/.test(model.text);
    const path = qualifiedName(module, callee) ?? '';
    const isOurs = path.startsWith(OPTIMIZERS) && /\.[A-Z]\w*$/.test(path);
    return isHeld && isOurs && call.closest('string') === undefined ? [{ call, model }] : [];
  });
}

/** An optimizer of the same function is made above the wrap. */
export function isOptimizerAbove(module: PyModule, wrap: PyNode): boolean {
  const owner = wrap.closest('function_definition') ?? module.root;
  return optimizersOver(module).some(({ call }) => owner.contains(call) && call.start < wrap.start);
}
