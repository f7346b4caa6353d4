import { isOfModule } from '../../src/library/library.js';
import { placesOf } from '../../src/semantic/called-name.js';
import type { PyModule } from '../../src/semantic/module.js';
import {
  contextManagers,
  enclosingFunction,
  enclosingWiths,
  methodName,
  statementOf,
} from '../../src/semantic/statements.js';
import { isTestCode } from '../../src/semantic/test-code.js';
import type { PyNode } from '../../src/syntax/node.js';
import { backwards } from '../../src/torch/grad/backward-calls.js';
import { isForward, isPartInProject, runsNetwork } from '../../src/torch/grad/runs.js';
import { isInTraining, networksIn } from '../../src/torch/grad/teachers.js';
import { isGradOff, switchesGradOff } from '../../src/values/effects/mode.js';
import { gradModeOf } from '../../src/values/value/gradient.js';
import { lossesOfTrainers } from './trainer.js';

/** A statement of a training step that runs networks which are not trained there, and gives the result to variables. */
export interface TeacherRun {
  readonly statement: PyNode;
  /** What the statement computes. */
  readonly value: PyNode;
  /** The variables that get it; none where the function returns it. */
  readonly targets: readonly PyNode[];
  /** The networks, as written there. */
  readonly networks: readonly PyNode[];
}

/** Such statements that follow one another. */
export interface TeacherSite {
  readonly runs: readonly TeacherRun[];
}

export function teacherSites(module: PyModule): readonly TeacherSite[] {
  if (switchesGradOff(module)) return [];
  if (backwards(module).length === 0 && lossesOfTrainers(module).length === 0) return [];
  const { teachers } = networksIn(module);
  const runs = new Map<PyNode, PyNode[]>();
  for (const text of teachers) {
    for (const network of placesOf(module, text)) {
      const call = callOn(network);
      if (call === undefined || !mayRun(call, text) || !isDifferentiatedAround(module, call)) continue;
      if (isGradOff(module, call) || isGradOn(module, call) || isTestCode(module, call)) continue;
      // A method asks the project: last.
      if (!isForward(call, text) && !runsNetwork(module, call, text, isPartInProject)) continue;
      const statement = statementOf(call);
      const known = runs.get(statement);
      if (known === undefined) runs.set(statement, [network]);
      else known.push(network);
    }
  }
  return grouped(
    [...runs]
      .sort(([a], [b]) => a.start - b.start)
      .flatMap(([statement, networks]) => runOf(statement, networks) ?? []),
  );
}

function isDifferentiatedAround(module: PyModule, call: PyNode): boolean {
  const owner = enclosingFunction(call);
  return isInTraining(module, call) || (owner !== undefined && lossesOfTrainers(module).includes(owner));
}

/** `with torch.enable_grad():` around it: somebody wants the graph. */
function isGradOn(module: PyModule, node: PyNode): boolean {
  return enclosingWiths(node)
    .flatMap(contextManagers)
    .some((manager) => gradModeOf(module, manager) === 'on');
}

/** `net(x)`, `net.encode(x)`, `net.module(x)`. */
function callOn(network: PyNode): PyNode | undefined {
  const { parent } = network;
  if (parent?.type === 'call' && parent.function === network) return parent;
  if (parent?.type !== 'attribute' || parent.object !== network) return undefined;
  const call = parent.parent;
  return call?.type === 'call' && call.function === parent ? call : undefined;
}

function mayRun(call: PyNode, text: string): boolean {
  return isForward(call, text) || !isOfModule(methodName(call) ?? '');
}

/** `y = net(x)`, `a, b = net(x)`, `return net(x)`. */
function runOf(statement: PyNode, networks: readonly PyNode[]): TeacherRun | undefined {
  if (statement.type === 'return_statement') {
    const [value] = statement.named;
    return value === undefined ? undefined : { statement, value, targets: [], networks };
  }
  const assignment = statement.type === 'expression_statement' ? statement.named[0] : undefined;
  const target = assignment?.type === 'assignment' ? assignment.left : undefined;
  const value = assignment?.right;
  if (target === undefined || value === undefined || statement.named.length > 1) return undefined;
  const targets = /pattern|tuple/.test(target.type) ? target.named : [target];
  const isPlain = targets.every(({ type }) => type === 'identifier') && value.type !== 'assignment';
  const isAtOnce = networks.every((each) => each.closest('lambda', 'block', 'module')?.type !== 'lambda');
  const waits = [...value.walk()].some(({ type }) => type === 'yield' || type === 'await');
  return isPlain && isAtOnce && !waits ? { statement, value, targets, networks } : undefined;
}

function grouped(runs: readonly TeacherRun[]): readonly TeacherSite[] {
  const sites: { runs: TeacherRun[] }[] = [];
  for (const run of runs) {
    const last = sites.at(-1)?.runs;
    const before = last?.at(-1)?.statement;
    const siblings = run.statement.parent?.named ?? [];
    const isNext = before !== undefined && siblings[siblings.indexOf(run.statement) - 1] === before;
    if (isNext) last?.push(run);
    else sites.push({ runs: [run] });
  }
  return sites;
}
