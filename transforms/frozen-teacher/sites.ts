import { isOfModule } from '../../src/library/library.js';
import { attributeUses } from '../../src/semantic/attribute-uses.js';
import { methodCallsAt, placesOf } from '../../src/semantic/called-name.js';
import { calledDefinition, classAround } from '../../src/semantic/definitions.js';
import { qualifiedName } from '../../src/semantic/imports.js';
import type { PyModule } from '../../src/semantic/module.js';
import { remembered } from '../../src/semantic/remembered.js';
import {
  argumentsOf,
  contextManagers,
  enclosingFunction,
  enclosingWiths,
  isCallee,
  isPlainPath,
  methodName,
  ownNodes,
  receiverOf,
  statementOf,
  unparenthesized,
} from '../../src/semantic/statements.js';
import { isTestCode } from '../../src/semantic/test-code.js';
import type { PyNode } from '../../src/syntax/node.js';
import { backwards } from '../../src/torch/grad/backward-calls.js';
import { IN_FILE, isForward, isPartInProject, runsNetwork } from '../../src/torch/grad/runs.js';
import { isDifferentiatedAround, networksIn as networksOfFile } from '../../src/torch/grad/teachers.js';
import { moduleKind } from '../../src/torch/module/modules.js';
import { traceGraph } from '../../src/torch/module/networks.js';
import { mayAskForGradients } from '../../src/torch/record/harmless.js';
import { isNeeded } from '../../src/torch/record/needed.js';
import { isGradOff, switchesGradOff } from '../../src/values/effects/mode.js';
import { gradModeOf } from '../../src/values/value/gradient.js';
import { plainBuffer } from '../../src/values/value/plain-buffer.js';
import { classOf } from './called.js';
import { Graphless } from './graphless.js';
import { isLoss } from './inputs.js';
import { networksIn } from './sinks.js';
import { backwardsInVain, type InVain } from './thrown-away.js';
import { lossesOfTrainers } from './trainer.js';

/** A statement of a training step that runs networks which are not trained there, and gives the result to variables. */
export interface TeacherRun {
  readonly statement: PyNode;
  /** What the statement computes. */
  readonly value: PyNode;
  /** The variables that get it, or the elements of tensors; none where the function returns it. */
  readonly targets: readonly PyNode[];
  /** The networks, as written there. */
  readonly networks: readonly PyNode[];
  /** Nothing but what they are called, and that the file trains another, lets one ask: what forbids it need not be told. */
  readonly isGuess: boolean;
  /** The networks are trained elsewhere: the backwards whose gradients are cleared before anybody reads them. */
  readonly inVain: InVain | undefined;
  /** Runs of the same networks on what is trained, which come to the same values: those keep their graph. */
  readonly beside: readonly PyNode[];
}

/** Such statements that follow one another. */
export interface TeacherSite {
  readonly runs: readonly TeacherRun[];
}

export function teacherSites(module: PyModule): readonly TeacherSite[] {
  if (switchesGradOff(module)) return [];
  const features = featureRuns(module);
  if (backwards(module).length === 0 && lossesOfTrainers(module).length === 0) return grouped(features);
  const { teachers, trained } = networksOfFile(module);
  const runs = runsOf(module, [...teachers, ...guesses(module)]).map((run) => ({
    ...run,
    isGuess: !run.networks.some(({ text }) => teachers.has(text)),
    inVain: undefined,
    beside: [],
  }));
  // One optimizer alone reads all that its backward does.
  const steps = new Set(methodCallsAt(module, '.step(').map((call) => receiverOf(call)?.text));
  const others = runsOf(module, steps.size > 1 ? trained : []).flatMap((run) => {
    if (runs.some(({ statement }) => statement === run.statement)) return [];
    const inVain = backwardsInVain(module, run.statement, run.networks);
    return inVain === undefined ? [] : [{ ...run, isGuess: true, inVain, beside: [] }];
  });
  const known = new Set([...runs, ...others].map(({ statement }) => statement));
  return grouped([...runs, ...others, ...features.filter(({ statement }) => !known.has(statement))]);
}

/**
 * `self.vgg(real)` beside `self.vgg(fake)` in a loss of two pictures: the parts of modules that one function runs on what
 * carries no graph and on what may. Whatever of the part asks for gradients does so in both.
 */
const featureRuns = remembered((module: PyModule): readonly TeacherRun[] => {
  const calls = module.atWhere('self.', runsTwice).flatMap((self) => {
    const callee = self.parent?.type === 'attribute' && self.parent.object === self ? self.parent : undefined;
    return callee !== undefined && isCallee(callee) ? [callee] : [];
  });
  const places = new Map<string, PyNode[]>();
  for (const callee of calls) {
    const key = `${enclosingFunction(callee)?.start} ${callee.text}`;
    places.set(key, [...(places.get(key) ?? []), callee]);
  }
  return [...places.values()].flatMap((same) => {
    const isLookedAt = (callee: PyNode) =>
      !isGradOff(module, callee) && !isGradOn(module, callee) && !isLoss(module, callee);
    return same.length < 2 ? [] : featuresAmong(module, same.filter(isLookedAt));
  });
});

/** `a = self.net(x)` and `b = self.net(y)`, going by the text. */
function runsTwice(stretch: string): boolean {
  const names = [...stretch.matchAll(/=\s*self\.(\w+)\(/g)].map(([, name]) => name);
  return new Set(names).size < names.length;
}

/** Of the runs of one part in one function. */
function featuresAmong(module: PyModule, callees: readonly PyNode[]): readonly TeacherRun[] {
  const [network, ...others] = callees;
  const owner = network && classAround(network);
  if (owner === undefined || owner.self !== network?.object?.text || others.length === 0) return [];
  if (moduleKind(module, owner.classNode).isModule !== 'yes' || isTestCode(module, network)) return [];
  const isSet = attributeUses(module, owner.classNode, network.attribute?.text ?? '').some(
    ({ kind }) => kind === 'write',
  );
  if (!isSet || switchesItself(module, network)) return [];
  const calls = callees.flatMap(({ parent }) => parent ?? []);
  const isGiven = (call: PyNode) =>
    argumentsOf(call).every((each) => new Graphless(module, new Set(), new Set()).doubt(each) === undefined);
  const beside = calls.filter((call) => !isGiven(call));
  if (beside.length === 0 || beside.length === calls.length) return [];
  return calls.flatMap((call) => {
    const run = beside.includes(call) ? undefined : runOf(module, statementOf(call), [call.function ?? call]);
    return run === undefined || run.targets.length === 0
      ? []
      : [{ ...run, isGuess: true, inVain: undefined, beside }];
  });
}

/** Its own class speaks of gradients, mostly to freeze itself: then there may be nothing to gain. */
function switchesItself(module: PyModule, network: PyNode): boolean {
  const made = classOf(module, network);
  return made !== undefined && /requires_grad|no_grad|inference_mode/.test(made.module.codeOf(made.node));
}

function isLossOfTrainer(module: PyModule, functionNode: PyNode): boolean {
  return lossesOfTrainers(module).includes(functionNode);
}

type Run = Omit<TeacherRun, 'isGuess' | 'inVain' | 'beside'>;

/** The statements beside a backward that run one of these networks. */
function runsOf(module: PyModule, networks: Iterable<string>): readonly Run[] {
  const runs = new Map<PyNode, PyNode[]>();
  for (const text of networks) {
    for (const network of placesOf(module, text)) {
      const call = callOn(network);
      if (call === undefined || !mayRun(call, text) || !isDifferentiatedAround(module, call, isLossOfTrainer))
        continue;
      if (isGradOff(module, call) || isGradOn(module, call) || isTestCode(module, call)) continue;
      if (isWhatTrains(module, call, text)) continue;
      // A method asks the project: last.
      if (!isForward(call, text) && !runsNetwork(module, call, text, { ...IN_FILE, isPart: isPartInProject }))
        continue;
      const statement = statementOf(call);
      const known = runs.get(statement);
      if (known === undefined) runs.set(statement, [network]);
      else known.push(network);
    }
  }
  return [...runs]
    .filter(([statement]) => isNeeded(module, enclosingFunction(statement) ?? module.root, statement))
    .flatMap(([statement, found]) => runOf(module, statement, found) ?? []);
}

/** `prev_layer`, `old_head`, `teacher`: what is not trained any more, as it is called. */
const OF_BEFORE =
  /^(?:prev|previous|old|teacher|ref|reference|frozen|fixed|pretrained|ema)(?:_|$)|_(?:old|teacher|frozen|ref)$/;

/** What is called so beside a backward, and which the file neither trains nor freezes: a teacher that is given in. */
function guesses(module: PyModule): ReadonlySet<string> {
  const { teachers, trained, frozen } = networksOfFile(module);
  const owners = new Set(backwards(module).map(({ call }) => enclosingFunction(call) ?? module.root));
  const found = new Set<string>();
  for (const owner of owners) {
    for (const call of ownNodes(owner)) {
      const callee = call.type === 'call' ? call.function : undefined;
      if (callee === undefined || !isPlainPath(callee)) continue;
      const { text: name } = callee.attribute ?? callee;
      if (!OF_BEFORE.test(name)) continue;
      if (qualifiedName(module, callee) !== undefined || calledDefinition(module, call) !== undefined)
        continue;
      if (![teachers, trained, frozen].some((known) => known.has(callee.text))) found.add(callee.text);
    }
  }
  return found;
}

/** What is differentiated hangs on this run, and on no other network: then this one is what is trained. */
function isWhatTrains(module: PyModule, call: PyNode, text: string): boolean {
  // A tensor may be what is trained, as the image of a style transfer.
  if (mayAskForGradients(module)) return false;
  const owner = enclosingFunction(call);
  return backwards(module).some((backward) => {
    if (enclosingFunction(backward.call) !== owner) return false;
    const value = scaledValue(backward.value);
    let isReached = false;
    traceGraph(module, value, {
      call: (each) => {
        isReached ||= each === call;
      },
    });
    return isReached && others(module, value, new Set([text])).length === 0;
  });
}

/** Networks besides those in question. A name may say that something is none: nothing is fixed by that. */
function others(module: PyModule, value: PyNode, own: ReadonlySet<string>): readonly PyNode[] {
  return networksIn(module, value, own).filter((each) => {
    const callee = isCallee(each) ? each : each.parent;
    const call = callee !== undefined && isCallee(callee) ? callee.parent : undefined;
    if (call === undefined || methodName(call) === 'scale') return false;
    if (calledDefinition(module, call)?.type === 'function_definition') return false;
    return !isLoss(module, each) && !/criteri(?:on|a)|loss/i.test(callee?.text ?? '');
  });
}

/** `loss` of `scaler.scale(loss)`, and of `with amp.scale_loss(loss, optimizer) as scaled:`. */
function scaledValue(value: PyNode): PyNode {
  const node = unparenthesized(value);
  if (node.type === 'call' && methodName(node) === 'scale') return argumentsOf(node)[0] ?? node;
  if (node.type !== 'identifier') return node;
  const [manager] = enclosingWiths(node)
    .flatMap(contextManagers)
    .filter((each) => each.parent?.type === 'as_pattern' && each.parent.named.at(-1)?.text === node.text);
  return manager?.type === 'call' ? (argumentsOf(manager)[0] ?? node) : node;
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

/** `y = net(x)`, `a, b = net(x)`, `y[mask] = net(x)` of a tensor that was made here, `return net(x)`. */
function runOf(module: PyModule, statement: PyNode, networks: readonly PyNode[]): Run | undefined {
  if (statement.type === 'return_statement') {
    const [value] = statement.named;
    return value === undefined ? undefined : { statement, value, targets: [], networks };
  }
  const assignment = statement.type === 'expression_statement' ? statement.named[0] : undefined;
  const target = assignment?.type === 'assignment' ? assignment.left : undefined;
  const value = assignment?.right;
  if (target === undefined || value === undefined || statement.named.length > 1) return undefined;
  const targets = /pattern|tuple/.test(target.type) ? target.named : [target];
  const isPlain =
    targets.every((each) => isNameOrOwn(each) || plainBuffer(module, each) !== undefined) &&
    value.type !== 'assignment';
  const isAtOnce = networks.every((each) => each.closest('lambda', 'block', 'module')?.type !== 'lambda');
  const waits = [...value.walk()].some(({ type }) => type === 'yield' || type === 'await');
  return isPlain && isAtOnce && !waits ? { statement, value, targets, networks } : undefined;
}

/** `y`, `self.y`. */
function isNameOrOwn({ type, object }: PyNode): boolean {
  return type === 'identifier' || (type === 'attribute' && object?.type === 'identifier');
}

function grouped(runs: readonly TeacherRun[]): readonly TeacherSite[] {
  const sites: { runs: TeacherRun[] }[] = [];
  for (const run of runs.toSorted((a, b) => a.statement.start - b.statement.start)) {
    const last = sites.at(-1)?.runs;
    const before = last?.at(-1)?.statement;
    const siblings = run.statement.parent?.named ?? [];
    const isNext = before !== undefined && siblings[siblings.indexOf(run.statement) - 1] === before;
    if (isNext) last?.push(run);
    else sites.push({ runs: [run] });
  }
  return sites;
}
