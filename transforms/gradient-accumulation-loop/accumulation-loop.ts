import { DATA_LOADER } from '../../src/library/names.js';
import type { Answer } from '../../src/semantic/answer.js';
import { reachingDefinitions } from '../../src/semantic/flow.js';
import { shown } from '../../src/semantic/gate.js';
import { importsPackage, qualifiedName } from '../../src/semantic/imports.js';
import type { PyModule } from '../../src/semantic/module.js';
import { binds, roleOf } from '../../src/semantic/names.js';
import { type Pass, passOf } from '../../src/semantic/passes.js';
import {
  argumentsOf,
  enclosingLoops,
  methodName,
  receiverOf,
  statementOf,
} from '../../src/semantic/statements.js';
import { waysGiven } from '../../src/semantic/variables.js';
import type { PyNode } from '../../src/syntax/node.js';
import { passesForModel } from '../../src/torch/module/model-value.js';
import { steppedOptimizer, type TrainingLoop } from '../../src/torch/training/training-loop.js';
import { gradUsesIn } from '../../src/values/effects/grad.js';

/** A training loop in which every batch is a step of its own, statement by statement. */
export interface StrictLoop {
  readonly loop: PyNode;
  readonly pass: Pass;
  /** `optimizer.zero_grad()`, in front of the backward or in the run below. */
  readonly zeroGrad: PyNode;
  /** The loss of `loss.backward()`. */
  readonly loss: PyNode;
  /** The run of statements behind the backward that belong to a step: clipping, `step()`, the schedule, `zero_grad()`. */
  readonly stepRun: readonly PyNode[];
  /** The scheduler's step, where it is one of them. */
  readonly schedule: PyNode | undefined;
}

/** The strict shape, or why the loop does not have it; undefined where it accumulates already or steps elsewhere. */
export function strictLoop(module: PyModule, training: TrainingLoop): StrictLoop | string | undefined {
  const { loop, body, backwards, steps, zeroGrads } = training;
  const [backward, ...moreBackwards] = backwards;
  const [step, ...moreSteps] = steps;
  const [zero, ...moreZeros] = zeroGrads;
  if (backward === undefined || step === undefined || accumulates(training)) return undefined;
  if (loop.type !== 'for_statement') return 'a `while` loop does not know its last batch';
  if (moreBackwards.length > 0) return 'it differentiates more than once per batch';
  if (moreSteps.length > 0) return 'it steps more than one optimizer';
  if (zero === undefined || moreZeros.length > 0) return 'it does not have exactly one `zero_grad()`';
  const loss = receiverOf(backward);
  if (loss?.type !== 'identifier' && loss?.type !== 'attribute')
    return `\`${shown(backward)}\` is not a plain \`loss.backward()\``;
  const given = argumentsOf(backward).filter(({ text }) => !/^retain_graph\s*=\s*False$/.test(text));
  if (given.length > 0 || argumentsOf(step).length > 0) return '`backward()` or `step()` is given arguments';
  const odd = [zero, backward, step].find((call) => !isStatementOf(call, body));
  if (odd !== undefined) return `\`${shown(odd)}\` is not a statement of the loop itself`;
  const optimizer = steppedOptimizer(module, step);
  const cleared = receiverOf(zero);
  if (optimizer === undefined || cleared === undefined) return undefined;
  if (cleared.text !== optimizer.text && passesForModel(module, cleared) === 'no')
    return `\`${shown(zero)}\` may clear other gradients than \`${optimizer.text}\` uses`;
  const run = stepRunOf(body, statementOf(backward), statementOf(step), statementOf(zero));
  if (typeof run === 'string') return run;
  const pass = countedPass(module, loop);
  if (typeof pass === 'string') return pass;
  const moved = [statementOf(zero), statementOf(backward), ...run];
  const stray = strayIn(module, training, optimizer.text, moved);
  if (stray !== undefined) return stray;
  const schedule = run.find((statement) => isSchedule(statement));
  return { loop, pass, zeroGrad: statementOf(zero), loss, stepRun: run, schedule };
}

/** It steps less often than it differentiates, or says so. */
function accumulates({ loop, backwards, steps }: TrainingLoop): boolean {
  for (const { type, text } of loop.walk()) if (type === 'identifier' && /accum/i.test(text)) return true;
  if (backwards.some((call) => enclosingLoops(call)[0] !== loop)) return true;
  return steps.some((step) => {
    const condition = step.closest('if_statement', 'for_statement', 'while_statement');
    return condition?.type === 'if_statement' && /%/.test(condition.condition?.text ?? '');
  });
}

function isStatementOf(call: PyNode, body: PyNode): boolean {
  return call.parent?.type === 'expression_statement' && call.parent.parent === body;
}

/** `scheduler.step()`, also below `if scheduler is not None:`. */
export function isSchedule(statement: PyNode): boolean {
  if (statement.type === 'if_statement') {
    const [inner, ...more] = statement.consequence?.named ?? [];
    const receiver = inner?.named[0] && receiverOf(inner.named[0])?.text;
    const condition = statement.condition?.text.replace(/\s+is\s+not\s+None$/, '');
    const alone = more.length === 0 && !statement.children.some(({ type }) => /^el(?:se|if)_/.test(type));
    return inner !== undefined && alone && condition === receiver && isSchedule(inner);
  }
  const call = statement.type === 'expression_statement' ? statement.named[0] : undefined;
  return (
    call?.type === 'call' &&
    methodName(call) === 'step' &&
    argumentsOf(call).length === 0 &&
    /sched|warmup|annealing/i.test(receiverOf(call)?.text ?? '')
  );
}

function isClipping(statement: PyNode): boolean {
  const call = statement.type === 'expression_statement' ? statement.named[0] : undefined;
  return call?.type === 'call' && /clip_grad_(?:norm|value)_$/.test(call.function?.text ?? '');
}

function stepRunOf(body: PyNode, backward: PyNode, step: PyNode, zero: PyNode): readonly PyNode[] | string {
  const { named } = body;
  const between = named.slice(named.indexOf(backward) + 1, named.indexOf(step));
  if (named.indexOf(step) < named.indexOf(backward)) return 'it steps before it differentiates';
  const other = between.find((statement) => !isClipping(statement));
  if (other !== undefined) return `\`${shown(other)}\` stands between the backward and the step`;
  const run = [...between, step];
  for (const statement of named.slice(named.indexOf(step) + 1)) {
    if (statement !== zero && !isSchedule(statement)) break;
    run.push(statement);
  }
  if (named.indexOf(zero) > named.indexOf(step) && !run.includes(zero))
    return '`zero_grad()` does not follow the step at once';
  return named.indexOf(zero) > named.indexOf(backward) && !run.includes(zero)
    ? '`zero_grad()` stands between the backward and the step'
    : run;
}

export function countedPass(module: PyModule, loop: PyNode): Pass | string {
  const pass = passOf(module, loop);
  if (pass === undefined || pass.item === undefined) return 'it does not run over a loader';
  if (!/^(?:identifier|attribute|subscript)$/.test(pass.data.type))
    return `how many batches \`${shown(pass.data)}\` has is not known`;
  if (pass.from !== 0 && pass.from !== 1) return 'its counter starts neither at 0 nor at 1';
  const enumerated = loop.right?.text.includes('enumerate') ?? false;
  if (enumerated && pass.counter === undefined) return 'its counter is not a plain variable';
  return pass;
}

/** What else in the body counts on one step per batch. */
export function strayIn(
  module: PyModule,
  { loop, body }: TrainingLoop,
  optimizer: string,
  moved: readonly PyNode[],
): string | undefined {
  if (loop.childOfType('else_clause') !== undefined) return 'the loop has an `else`';
  for (const node of body.walk(({ type }) => !/_definition$|^lambda$/.test(type))) {
    if (/^(?:continue|break|return)_statement$|^yield$/.test(node.type))
      return `a \`${node.type.replace('_statement', '')}\` would leave gradients without their step`;
  }
  const inside = (node: PyNode): boolean => moved.some((statement) => statement.contains(node));
  const use = gradUsesIn(module, body).find(({ node }) => !inside(node));
  if (use !== undefined) return `it ${use.words}`;
  for (const statement of body.named) {
    if (moved.includes(statement)) continue;
    const text = module.codeOf(statement).replaceAll(`${optimizer}.param_groups`, '');
    if (mentions(text, optimizer)) return `\`${shown(statement)}\` uses the optimizer in every batch`;
    if (/sched\w*\.step|\bema\b|_ema\b|\bema_|\.parameters\(|target_net|momentum_update|scaler\./i.test(text))
      return `\`${shown(statement)}\` belongs to a step, and would run in every batch`;
  }
  const rebound = [...loop.walk()].find((node) => {
    const pass = passOf(module, loop);
    const names = [pass?.counter, pass?.data].map((each) => each?.text);
    return (
      node.type === 'identifier' && names.includes(node.text) && binds(roleOf(node)) && body.contains(node)
    );
  });
  return rebound === undefined ? undefined : `\`${rebound.text}\` is changed inside the loop`;
}

function mentions(text: string, name: string): boolean {
  return new RegExp(`(?<![\\w.])${name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}(?!\\w)`).test(text);
}

/** Whether the data of the loop has a length, by what made it. */
export function hasLength(module: PyModule, data: PyNode): Answer {
  const made = data.type === 'identifier' ? waysGiven(module, data) : [];
  const answers = made.map((definition): Answer => {
    if (definition.kind !== 'value') return 'unknown';
    const { value } = definition;
    if (/^(?:list|tuple|list_comprehension)$/.test(value.type)) return 'yes';
    if (value.type === 'generator_expression') return 'no';
    const callee = value.type === 'call' ? value.function : undefined;
    const path = callee && qualifiedName(module, callee);
    if (path === DATA_LOADER) return module.mentions(/Iterable|streaming/) ? 'unknown' : 'yes';
    return path?.startsWith('itertools.') || /^(?:iter|zip|map)$/.test(callee?.text ?? '') ? 'no' : 'unknown';
  });
  if (answers.includes('no')) return 'no';
  return answers.length > 0 && answers.every((answer) => answer === 'yes') ? 'yes' : 'unknown';
}

const COMPARES = /contrast|\bnce\b|info_?nce|_nce|nt_?xent|triplet|simclr|siglip|clip_loss|barlow|vicreg/i;

/** Why the loss of a larger batch is not the mean of the losses of its parts; undefined where nothing says so. */
export function isNoMean(module: PyModule, loss: PyNode): string | undefined {
  const definitions = loss.type === 'identifier' ? (reachingDefinitions(module, loss) ?? []) : [];
  const values = definitions.flatMap((definition) => ('value' in definition ? [definition.value.text] : []));
  if (module.mentions(/reduction\s*=\s*["']sum["']/) || values.some((value) => /\.sum\(\s*\)$/.test(value)))
    return 'a loss that is a sum over the batch must not be divided';
  const compared = values.find((value) => COMPARES.test(value));
  return compared === undefined
    ? undefined
    : 'its loss compares the examples of one batch with each other, and would see fewer of them';
}

/** A library that accumulates by itself, or shards gradients so that accumulating loses some. */
export function accumulatesElsewhere(module: PyModule): string | undefined {
  const library = ['accelerate', 'deepspeed', 'lightning', 'pytorch_lightning'].find((name) =>
    importsPackage(module, name),
  );
  if (library !== undefined) return `${library} accumulates by a setting of its own`;
  return module.mentions(/CPUOffload|offload_params/)
    ? 'parameters offloaded by FSDP lose the gradients of all but the last batch'
    : undefined;
}
