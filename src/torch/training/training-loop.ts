import { OPTIMIZERS } from '../../library/names.js';
import type { Answer } from '../../semantic/answer.js';
import { initialValue } from '../../semantic/attribute-uses.js';
import { methodCallsAt } from '../../semantic/called-name.js';
import { ancestryOf, definitionBehind } from '../../semantic/definitions.js';
import { qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { remembered } from '../../semantic/remembered.js';
import { argumentsOf, enclosingLoops, receiverOf, unparenthesized } from '../../semantic/statements.js';
import { waysGiven } from '../../semantic/variables.js';
import type { PyNode } from '../../syntax/node.js';
import { within } from '../../syntax/within.js';

/** A hand-written training loop: the innermost loop that differentiates and steps an optimizer. */
export interface TrainingLoop {
  readonly loop: PyNode;
  readonly body: PyNode;
  /** Calls of `….backward(…)`, those of loops inside included. */
  readonly backwards: readonly PyNode[];
  /** Calls of `optimizer.step(…)` and `scaler.step(optimizer)`. */
  readonly steps: readonly PyNode[];
  /** Calls of `….zero_grad(…)`. */
  readonly zeroGrads: readonly PyNode[];
}

/** The text may hold a training loop; no node is made to ask it. */
export function mayTrain(text: string): boolean {
  return text.includes('.backward(') && text.includes('.step(') && /^[ \t]*(?:for|while)\b/m.test(text);
}

export const trainingLoops = remembered((module: PyModule): readonly TrainingLoop[] => {
  const backwards = callsAt(module, 'backward');
  if (backwards.length === 0) return [];
  const zeroGrads = callsAt(module, 'zero_grad');
  const stepped = new Map<PyNode, PyNode[]>();
  for (const step of callsAt(module, 'step')) {
    if (steppedOptimizer(module, step) === undefined) continue;
    const loop = enclosingLoops(step).find((each) => callsIn(each, backwards).length > 0);
    if (loop === undefined) continue;
    const known = stepped.get(loop);
    if (known === undefined) stepped.set(loop, [step]);
    else known.push(step);
  }
  return [...stepped].flatMap(([loop, steps]) => {
    const body = loop.body;
    if (body === undefined) return [];
    return [{ loop, body, backwards: callsIn(loop, backwards), steps, zeroGrads: callsIn(loop, zeroGrads) }];
  });
});

/** Those in the loop's body, and not in a function that is only defined there. */
function callsIn(loop: PyNode, calls: readonly PyNode[]): readonly PyNode[] {
  return within(calls, loop).filter((call) => enclosingLoops(call).includes(loop));
}

/** The calls of a method of this name, in source order. */
function callsAt(module: PyModule, method: string): readonly PyNode[] {
  return methodCallsAt(module, `.${method}(`).toSorted((a, b) => a.start - b.start);
}

/** The optimizer that a call of `step` steps: `optimizer.step()`, `scaler.step(optimizer)`. */
export function steppedOptimizer(module: PyModule, step: PyNode): PyNode | undefined {
  const receiver = receiverOf(step);
  if (receiver !== undefined && isOptimizer(module, receiver) !== 'no') return receiver;
  const [given] = argumentsOf(step);
  return given !== undefined &&
    /scaler|accelerator/i.test(receiver?.text ?? '') &&
    isOptimizer(module, given) !== 'no'
    ? given
    : undefined;
}

const OPTIMIZER_NAME = /(?:^|[._])(?:\w*optim(?:izers?)?|opt)(?:$|[_\d[])|(?:^|[._])(?:adamw?|sgd)\d*$/i;
const OTHER_NAME = /sched|config|args|swa|ema\b/i;

/** Whether an expression is an optimizer of torch: by the call that made it, else perhaps by its name. */
export function isOptimizer(module: PyModule, expression: PyNode): Answer {
  const node = unparenthesized(expression);
  const byName: Answer = OPTIMIZER_NAME.test(node.text) && !OTHER_NAME.test(node.text) ? 'unknown' : 'no';
  const values = valuesOf(module, node);
  if (values.length === 0) return byName;
  const answers = values.map(
    (value): Answer => (value?.type === 'call' ? makesOptimizer(module, value) : undefined) ?? byName,
  );
  if (answers.every((answer) => answer === 'yes')) return 'yes';
  return answers.every((answer) => answer === 'no') ? 'no' : 'unknown';
}

/** What a name or an attribute of `self` is given; undefined for a value that is not seen. */
export function valuesOf(module: PyModule, node: PyNode): readonly (PyNode | undefined)[] {
  if (node.type === 'identifier') {
    return waysGiven(module, node).map((definition) =>
      definition.kind === 'value' ? definition.value : undefined,
    );
  }
  const name = node.type === 'attribute' ? node.attribute?.text : undefined;
  const value = name === undefined ? undefined : initialValue(module, node, name);
  return value === undefined ? [] : [value];
}

function makesOptimizer(module: PyModule, call: PyNode): Answer | undefined {
  const callee = call.function;
  if (callee === undefined) return undefined;
  const path = qualifiedName(module, callee);
  if (path?.startsWith(OPTIMIZERS)) return isOptimizerPath(path) ? 'yes' : 'no';
  const local = definitionBehind(module, callee);
  if (local?.type !== 'class_definition') return undefined;
  return ancestryOf(module, local).imported.some((base) => base.startsWith(OPTIMIZERS)) ? 'yes' : 'no';
}

function isOptimizerPath(path: string): boolean {
  return !/\.(?:lr_scheduler|swa_utils)\./.test(path);
}

interface AccumulatingLoop {
  readonly loop: TrainingLoop;
  readonly backward: PyNode;
}

/** Training loops that call `backward` more than once per step, where the code shows it, with the call that is repeated. */
export const accumulatingLoops = remembered((module: PyModule): readonly AccumulatingLoop[] =>
  trainingLoops(module).flatMap((loop) => {
    const backward = loop.backwards.find(
      (call) => enclosingLoops(call)[0] !== loop.loop || isSteppedSometimes(loop, call),
    );
    return backward === undefined ? [] : [{ loop, backward }];
  }),
);

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
