import type { PyModule } from '../../src/semantic/module.js';
import { ask } from '../../src/semantic/question.js';
import { remembered } from '../../src/semantic/remembered.js';
import { isAtLeast } from '../../src/semantic/standing.js';
import {
  contextManagers,
  enclosingFunction,
  enclosingWiths,
  isAsync,
  ownCalls,
  statementOf,
} from '../../src/semantic/statements.js';
import { isTestCode } from '../../src/semantic/test-code.js';
import type { PyNode } from '../../src/syntax/node.js';
import {
  doubtsAboutNetwork,
  type GradDoubt,
  measuresOther,
  no,
  unknown,
} from '../../src/torch/grad/doubts.js';
import {
  isFrozen,
  networkOf,
  SWITCHES,
  switchesToEvaluation,
  switchesToTraining,
} from '../../src/torch/grad/evaluation.js';
import { isCalledByTraining, isTrainingByName } from '../../src/torch/grad/roles.js';
import { IN_FILE, IN_PROJECT, runsNetwork } from '../../src/torch/grad/runs.js';
import { doubtsOfPart, type GradlessPart } from '../../src/torch/record/left-behind.js';
import { measuredMemory } from '../../src/values/effects/forward.js';
import { gradUseIn, reachesGradUse } from '../../src/values/effects/grad.js';
import {
  entersGradOff,
  isAutocast,
  isGradOff,
  onlyRunsGradOff,
  switchesGradOff,
  trainingAutocastAround,
} from '../../src/values/effects/mode.js';
import { askAbout, differentiatesWhenIterated } from '../../src/values/effects/unknown-code.js';
import { unspentLoss } from './unspent-loss.js';

/** The statements in a row behind `model.eval()` that run the model with gradients on, in code that trains elsewhere. */
export const evaluationBlocks = remembered((module: PyModule): readonly GradlessPart[] => {
  if (switchesGradOff(module)) return [];
  const found = new Map<PyNode, PyNode[]>();
  for (const node of SWITCHES.flatMap((literal) => module.at(literal))) {
    const call = node.parent?.parent;
    if (call?.type !== 'call' || !switchesToEvaluation(call)) continue;
    const model = networkOf(call);
    if (model === undefined) continue;
    for (const statement of statementsBehind(module, statementOf(call), model.text)) {
      const known = found.get(statement) ?? [];
      if (!known.some(({ text }) => text === model.text)) found.set(statement, [...known, model]);
    }
  }
  return inRows(found).flatMap((run) => {
    const owner = enclosingFunction(run.statements[0]) ?? module.root;
    const block = { ...run, wrapped: run.statements, owner };
    return isOurs(module, block) ? [block] : [];
  });
});

/** Those that stand one below the other go under one `with`. */
function inRows(found: ReadonlyMap<PyNode, readonly PyNode[]>) {
  const rows: { statements: [PyNode, ...PyNode[]]; models: readonly PyNode[] }[] = [];
  for (const [statement, models] of [...found].sort(([a], [b]) => a.start - b.start)) {
    const row = rows.at(-1);
    const last = row?.statements.at(-1);
    const siblings = statement.parent?.named ?? [];
    if (row !== undefined && last !== undefined && siblings[siblings.indexOf(statement) - 1] === last) {
      row.statements.push(statement);
      row.models = [
        ...row.models,
        ...models.filter(({ text }) => row.models.every((each) => each.text !== text)),
      ];
    } else rows.push({ statements: [statement], models });
  }
  return rows;
}

/** A statement that can stand under `with` as it is, and leaves the block by no other way. */
const WRAPPED = /^(?:for|while|if|with|expression)_statement$/;

/** The statements of the same block between this `eval()` and the next `train()` that run the network. */
function statementsBehind(module: PyModule, evaluation: PyNode, model: string): readonly PyNode[] {
  const siblings = evaluation.parent?.named ?? [];
  const found: PyNode[] = [];
  for (const statement of siblings.slice(siblings.indexOf(evaluation) + 1).flatMap(branchesThatReturn)) {
    const calls = [...ownCalls(statement)];
    // Outside a loop, only what is surely a forward is worth a block of its own.
    const reach = statement.type === 'expression_statement' ? IN_FILE : IN_PROJECT;
    const isRun = (call: PyNode) => runsNetwork(module, call, model, reach) && !isGradOff(module, call);
    if (WRAPPED.test(statement.type) && calls.some(isRun)) found.push(statement);
    if (calls.some((call) => switchesToTraining(call, model))) break;
  }
  return found;
}

/** The statements in the branches of an `if` that returns something: what is handed back is computed outside the block. */
function branchesThatReturn(statement: PyNode): readonly PyNode[] {
  if (statement.type !== 'if_statement') return [statement];
  const returns = [...statement.walk(({ type }) => !/_definition$|^lambda$/.test(type))].some(
    ({ type }) => type === 'return_statement',
  );
  const clauses = statement.named.flatMap((each) => [each, ...each.named]);
  const bodies = clauses.filter(({ type }) => type === 'block').flatMap((block) => block.named);
  return returns ? bodies.flatMap(branchesThatReturn) : [statement];
}

/** Not where a decorator on the whole function does, nor where somebody else decides about gradients. */
function isOurs(module: PyModule, { statements, owner, models }: GradlessPart): boolean {
  if (statements.some((each) => isTestCode(module, each) || isGradOff(module, each))) return false;
  // It trains: evaluation mode only keeps batch norm and dropout as they are.
  if (statements.some((each) => gradUseIn(module, each) !== undefined)) return false;
  const evaluation = { functionNode: owner, evals: [], trains: [], forwards: [], gradless: [] };
  if (models.every((model) => isFrozen(module, { ...evaluation, model }))) return false;
  if (owner === module.root) return true;
  if (isCalledByTraining(module, owner) || onlyRunsGradOff(module, owner) || entersGradOff(module, owner))
    return false;
  return isAsync(owner) || isTrainingByName(owner) || reachesGradUse(module, owner) || lacksDecorator(module);
}

/** `no_grad()` is no decorator before torch 1.0. */
export function lacksDecorator(module: PyModule): boolean {
  return isAtLeast(module, 'torch', '1.0') !== 'yes' && isAtLeast(module, 'torch', '0.4') === 'yes';
}

/** All that speaks against running the block without gradients, refusals first. */
export function* doubtsAboutBlock(module: PyModule, run: GradlessPart): Generator<GradDoubt> {
  for (const statement of run.wrapped) yield* lettingOthersRun(statement);
  yield* doubtsOfPart(module, run);
  for (const statement of run.statements) {
    for (const model of run.models)
      yield* doubtsAboutNetwork(module, model, run.owner, statement, run.mayTrain === true);
    yield* doubtsOfRunning(module, statement);
  }
  // Where a flag says so, it is spent.
  const loss = run.mayTrain === true && !('flag' in run) ? unspentLoss(module, run) : undefined;
  if (loss !== undefined)
    yield unknown(
      ask('only-reported')`Is it meant that \`${loss}\`, as computed here, takes part in no backward?`,
    );
  const isIterated = run.wrapped.some((each) => [...each.walk()].some(({ type }) => type.startsWith('for_')));
  const iterated = isIterated ? differentiatesWhenIterated(module) : undefined;
  if (iterated !== undefined)
    yield unknown(
      askAbout(iterated, (words) => ask('another-iterable')`Does this loop never iterate over ${words}?`),
    );
}

export function isProven(module: PyModule, part: GradlessPart): boolean {
  for (const _doubt of doubtsAboutBlock(module, part)) return false;
  return true;
}

function* lettingOthersRun(statement: PyNode): Generator<GradDoubt> {
  const nodes = [...statement.walk(({ type }) => !/_definition$|^lambda$/.test(type))];
  if (nodes.some(({ type }) => type === 'yield'))
    yield no('the code that takes what it yields would run without gradients too');
  if (nodes.some(({ type, text }) => type === 'await' || text === 'async'))
    yield no('other tasks, which run while it waits, would run without gradients too');
}

function* doubtsOfRunning(module: PyModule, loop: PyNode): Generator<GradDoubt> {
  const measured = measuredMemory(module, loop);
  if (measured !== undefined) yield unknown(measuresOther(measured));
  const managers = enclosingWiths(loop).flatMap(contextManagers);
  const owner = enclosingFunction(loop);
  const casting = managers.some((manager) => isAutocast(module, manager))
    ? 'it runs'
    : owner && trainingAutocastAround(module, owner);
  if (casting !== undefined)
    yield unknown(
      ask(
        'version',
      )`Is ${'torch newer than 2.9'} (${casting} inside an \`autocast\` block, whose cache loses gradients before)?`,
    );
}
