import { shown } from '../../src/semantic/gate.js';
import type { PyModule } from '../../src/semantic/module.js';
import { binds, roleOf } from '../../src/semantic/names.js';
import type { Pass } from '../../src/semantic/passes.js';
import { argumentsOf, methodName, receiverOf, statementOf } from '../../src/semantic/statements.js';
import type { PyNode } from '../../src/syntax/node.js';
import { passesForModel } from '../../src/torch/module/model-value.js';
import { steppedOptimizer, type TrainingLoop } from '../../src/torch/training/training-loop.js';
import { countedPass, isSchedule, strayIn } from './accumulation-loop.js';

/** A training loop with one backward and one step in each arm of one `if … else …`: with a gradient scaler and without. */
export interface ArmedLoop {
  readonly loop: PyNode;
  readonly pass: Pass;
  /** The `if` statement. */
  readonly fork: PyNode;
  /** `optimizer.zero_grad()`, a statement of the loop in front of the fork. */
  readonly zeroGrad: PyNode;
  readonly arms: readonly Arm[];
  /** The scheduler's step right behind the fork. */
  readonly schedule: PyNode | undefined;
  /** What a step gives that every batch reads, and the value that the code itself gives it where there is none. */
  readonly reset: { readonly name: string; readonly value: string } | undefined;
}

export interface Arm {
  /** The loss of `loss.backward()`, of `scaler.scale(loss).backward()`. */
  readonly loss: PyNode;
  /** From behind the backward to the step, and `scaler.update()`. */
  readonly run: readonly PyNode[];
}

/** That shape, or why the loop does not have it; undefined where no fork has the backwards in its arms. */
export function armedLoop(module: PyModule, training: TrainingLoop): ArmedLoop | string | undefined {
  const { loop, body, backwards, steps, zeroGrads } = training;
  const fork = body.named.find(
    ({ type, start, end }) =>
      type === 'if_statement' && backwards.every((call) => start <= call.start && call.end <= end),
  );
  const blocks = fork === undefined ? undefined : blocksOf(fork);
  if (fork === undefined || blocks?.length !== 2 || backwards.length !== 2) return undefined;
  const arms = blocks.map((block) => armOf(module, block, backwards, steps));
  const [first, second] = arms;
  if (first === undefined || second === undefined || steps.length !== 2) return undefined;
  if (typeof first === 'string') return first;
  if (typeof second === 'string') return second;
  if (first.optimizer !== second.optimizer) return 'it steps more than one optimizer';
  const [zero, ...moreZeros] = zeroGrads;
  const cleared = zero && receiverOf(zero);
  if (zero === undefined || cleared === undefined || moreZeros.length > 0)
    return 'it does not have exactly one `zero_grad()`';
  if (cleared.text !== first.optimizer && passesForModel(module, cleared) === 'no')
    return `\`${shown(zero)}\` may clear other gradients than \`${first.optimizer}\` uses`;
  const zeroGrad = statementOf(zero);
  if (zeroGrad.parent !== body || zeroGrad.start > fork.start)
    return `\`${shown(zero)}\` is not a statement of the loop itself, before the backward`;
  const pass = countedPass(module, loop);
  if (typeof pass === 'string') return pass;
  const changed = changedIn(loop, fork);
  if (changed !== undefined)
    return `\`${changed}\` is changed in the loop, and decides whether gradients are scaled`;
  const behind = body.named[body.named.indexOf(fork) + 1];
  const schedule = behind !== undefined && isSchedule(behind) ? behind : undefined;
  const moved = [zeroGrad, fork, ...(schedule === undefined ? [] : [schedule])];
  const stray = strayIn(module, training, first.optimizer, moved) ?? strayInArms(module, [first, second]);
  if (stray !== undefined) return stray;
  const reset = resetOf(module, loop, [first, second]);
  return typeof reset === 'string'
    ? reset
    : { loop, pass, fork, zeroGrad, arms: [first, second], schedule, reset };
}

interface FoundArm extends Arm {
  readonly optimizer: string;
  readonly block: PyNode;
}

function blocksOf(fork: PyNode): readonly PyNode[] {
  const others = fork.children.filter(({ type }) => type === 'elif_clause' || type === 'else_clause');
  const [only] = others;
  const blocks = [fork.consequence, only?.type === 'else_clause' ? only.body : undefined];
  return others.length === 1 ? blocks.filter((block) => block !== undefined) : [];
}

function armOf(
  module: PyModule,
  block: PyNode,
  backwards: readonly PyNode[],
  steps: readonly PyNode[],
): FoundArm | string | undefined {
  const [backward, ...moreBackwards] = backwards.filter((call) => block.contains(call));
  const [step, ...moreSteps] = steps.filter((call) => block.contains(call));
  if (backward === undefined || step === undefined || moreBackwards.length + moreSteps.length > 0)
    return undefined;
  const loss = lossOf(backward);
  if (loss === undefined) return `\`${shown(backward)}\` is not a plain \`loss.backward()\``;
  const [from, to] = [backward, step].map((call) =>
    call.parent?.type === 'expression_statement' && call.parent.parent === block
      ? block.named.indexOf(call.parent)
      : -1,
  );
  if (from === undefined || to === undefined || from < 0 || to < from)
    return `\`${shown(step)}\` is not a statement behind its backward`;
  const optimizer = steppedOptimizer(module, step)?.text;
  if (optimizer === undefined) return undefined;
  const between = block.named.slice(from + 1, to);
  const other = between.find((statement) => !belongsToStep(statement));
  if (other !== undefined) return `\`${shown(other)}\` stands between the backward and the step`;
  const run = block.named.slice(from + 1, to + 1);
  const behind = block.named[to + 1];
  if (behind !== undefined && calledIn(behind) === 'update') run.push(behind);
  return { loss, run, optimizer, block };
}

/** The loss, where it is a name: of `loss.backward()` and `scaler.scale(loss).backward()`. */
function lossOf(backward: PyNode): PyNode | undefined {
  const receiver = argumentsOf(backward).length > 0 ? undefined : receiverOf(backward);
  const scaled = receiver?.type === 'call' && methodName(receiver) === 'scale' ? argumentsOf(receiver) : [];
  const loss = scaled.length === 1 ? scaled[0] : receiver;
  return loss?.type === 'identifier' || loss?.type === 'attribute' ? loss : undefined;
}

/** Clipping and unscaling, also below a condition, and what remembers the norm. */
function belongsToStep(statement: PyNode): boolean {
  if (statement.type === 'comment') return true;
  if (statement.type === 'if_statement') {
    const blocks = statement.children.flatMap((each) =>
      each.type === 'block' ? [each] : [each.consequence ?? each.body],
    );
    return blocks.every((block) => block?.type !== 'block' || block.named.every(belongsToStep));
  }
  const [expression] = statement.type === 'expression_statement' ? statement.named : [];
  if (expression?.type === 'assignment') {
    const value = expression.right;
    if (expression.left?.type !== 'identifier' || value === undefined) return false;
    return isNumber(value) || isClipping(value);
  }
  return calledIn(statement) === 'unscale_' || (expression !== undefined && isClipping(expression));
}

function isClipping(call: PyNode): boolean {
  return call.type === 'call' && /clip_grad_(?:norm|value)_$/.test(call.function?.text ?? '');
}

function isNumber({ type }: PyNode): boolean {
  return type === 'float' || type === 'integer';
}

function calledIn(statement: PyNode): string | undefined {
  const [call] = statement.type === 'expression_statement' ? statement.named : [];
  return call?.type === 'call' ? methodName(call) : undefined;
}

/** A name of the fork's question that the loop binds: scaled and unscaled gradients would be added up. */
function changedIn(loop: PyNode, fork: PyNode): string | undefined {
  const question = fork.condition;
  const asked = new Set(
    [...(question?.walk() ?? [])].filter(({ type }) => type === 'identifier').map(({ text }) => text),
  );
  const bound = [...loop.walk()].find((node) => {
    if (node.type !== 'identifier' || !asked.has(node.text)) return false;
    const { parent } = node;
    return binds(roleOf(parent?.attribute === node ? parent : node));
  });
  return bound?.text;
}

/** What else in the arms counts on one step per batch. */
function strayInArms(module: PyModule, arms: readonly FoundArm[]): string | undefined {
  for (const { block, run, optimizer, loss } of arms) {
    const stray = block.named.find((statement) => {
      if (run.includes(statement) || statement.contains(loss)) return false;
      const code = module.codeOf(statement);
      return code.includes(optimizer) || /sched\w*\.step|scaler\.|\.parameters\(/.test(code);
    });
    if (stray !== undefined) return `\`${shown(stray)}\` belongs to a step, and would run in every batch`;
  }
  return undefined;
}

/** Names that the steps bind and other code of the loop reads need a value in the batches between. */
function resetOf(
  module: PyModule,
  loop: PyNode,
  arms: readonly FoundArm[],
): ArmedLoop['reset'] | string | undefined {
  const run = arms.flatMap((arm) => arm.run);
  const inside = (node: PyNode) => run.some((statement) => statement.contains(node));
  const written = new Map<string, PyNode[]>();
  for (const statement of run)
    for (const node of statement.walk())
      if (node.type === 'identifier' && binds(roleOf(node)))
        written.set(node.text, [...(written.get(node.text) ?? []), node]);
  const needed = [...written].filter(([name, [node]]) => {
    const scope = node && module.resolve(node);
    return scope !== undefined && module.reads(scope, name).some((read) => !inside(read));
  });
  const [only, ...more] = needed;
  if (only === undefined) return undefined;
  const [name, nodes] = only;
  const value = nodes.map((node) => node.parent?.right).find((each) => each && isNumber(each));
  const scope = nodes[0] && module.resolve(nodes[0]);
  const isElsewhere = scope !== undefined && module.writes(scope, name).some((write) => !inside(write));
  if (more.length > 0 || value === undefined || isElsewhere || !loop.contains(value))
    return `\`${name}\` is read in every batch, and has a value only where the optimizer steps`;
  return { name, value: value.text };
}
