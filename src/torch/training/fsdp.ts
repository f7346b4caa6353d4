import { qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { enclosingLoops } from '../../semantic/statements.js';
import type { PyNode } from '../../syntax/node.js';
import { type TrainingLoop, trainingLoops } from './training-loop.js';

export function callsNamed(module: PyModule, name: string, paths: ReadonlySet<string>): readonly PyNode[] {
  return module.at(`${name}(`).flatMap((node) => {
    const call = node.closest('call');
    const callee = call?.function;
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
  const condition = statement?.type === 'if_statement' ? (statement.condition?.text ?? '') : '';
  return condition.includes('%') && !/%\s*1\b/.test(condition);
}
