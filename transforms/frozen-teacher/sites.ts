import { isOfModule, walksModule } from '../../src/library/library.js';
import { definitionOf } from '../../src/semantic/flow.js';
import { qualifiedName } from '../../src/semantic/imports.js';
import type { PyModule } from '../../src/semantic/module.js';
import {
  argumentsOf,
  contextManagers,
  enclosingFunction,
  enclosingWiths,
  methodName,
  receiverOf,
  statementOf,
} from '../../src/semantic/statements.js';
import { isTestCode } from '../../src/semantic/test-code.js';
import type { PyNode } from '../../src/syntax/node.js';
import { backwards } from '../../src/torch/grad/backward-calls.js';
import { isPlainPath, networkOf, SWITCHES, switchesToEvaluation } from '../../src/torch/grad/evaluation.js';
import { gradModeOf } from '../../src/torch/grad/gradient.js';
import { isGradOff, onlyRunsGradOff, switchesGradOff, usesOf } from '../../src/torch/grad/mode.js';
import { isForward, isPartInProject, runsNetwork } from '../../src/torch/grad/runs.js';
import { walkedFor } from './walked.js';

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

/** Networks of the file by their text: those that may be somebody's teacher, and those that are trained here. */
export interface Networks {
  readonly teachers: ReadonlySet<string>;
  readonly trained: ReadonlySet<string>;
}

export function networksIn(module: PyModule): Networks {
  return module.memo(findNetworks, module);
}

function findNetworks(module: PyModule): Networks {
  const trained = new Set<string>();
  const frozen = new Set<string>();
  for (const literal of ['parameters()', 'children()', 'modules()']) {
    for (const node of module.at(literal)) {
      const call = node.parent?.parent;
      const network = call?.type === 'call' ? receiverOf(call) : undefined;
      if (call === undefined || network === undefined || !walksModule(methodName(call) ?? '')) continue;
      const walked = walkedFor(module, call);
      if (walked === 'frozen') frozen.add(network.text);
      else if (walked !== 'plain') trained.add(network.text);
    }
  }
  const teachers = new Set<string>();
  for (const call of switches(module)) {
    const network = switchesToEvaluation(call) ? networkOf(call) : undefined;
    if (network !== undefined) teachers.add(network.text);
    else if (methodName(call) === 'train') trained.add(receiverOf(call)?.text ?? '');
  }
  for (const text of [...copies(module), ...twinsOf(module, trained)]) teachers.add(text);
  for (const node of module.at('requires_grad_(')) {
    const call = node.parent?.parent;
    const [mode] = call?.type === 'call' ? argumentsOf(call) : [];
    if (call !== undefined && (mode?.field('value') ?? mode)?.type === 'false')
      frozen.add(networkOf(call)?.text ?? '');
  }
  for (const text of [...trained, ...frozen, 'self', '']) teachers.delete(text);
  return { teachers, trained };
}

function switches(module: PyModule): readonly PyNode[] {
  return SWITCHES.flatMap((literal) => module.at(literal)).flatMap((node) => {
    const call = node.parent?.parent;
    return call?.type === 'call' ? [call] : [];
  });
}

/** `target.load_state_dict(net.state_dict())`, `target = copy.deepcopy(net)`. */
function* copies(module: PyModule): Generator<string> {
  for (const node of module.at('.load_state_dict(')) {
    const call = node.parent?.parent;
    const [given] = call?.type === 'call' ? argumentsOf(call) : [];
    const receiver = call && receiverOf(call);
    const isCopy = given?.type === 'call' && methodName(given) === 'state_dict';
    if (isCopy && receiver !== undefined && isPlainPath(receiver)) yield receiver.text;
  }
  for (const node of module.at('deepcopy(')) {
    const call = node.closest('call');
    const callee = call?.field('function');
    if (call === undefined || callee === undefined || qualifiedName(module, callee) !== 'copy.deepcopy')
      continue;
    const statement = statementOf(call).named[0];
    const target = statement?.type === 'assignment' ? statement.field('left') : undefined;
    if (target !== undefined && isPlainPath(target)) yield target.text;
  }
}

/** Networks that the same class made as one that is trained: `self.target = Critic(…)` beside `self.local = Critic(…)`. */
function* twinsOf(module: PyModule, trained: ReadonlySet<string>): Generator<string> {
  const makers = new Set<string>();
  for (const text of trained) {
    for (const place of placesOf(module, text)) {
      const value = place.parent?.field('left') === place ? place.parent.field('right') : valueAt(place);
      const maker = value && makerOf(value);
      if (maker !== undefined) makers.add(maker.text);
    }
  }
  for (const maker of makers) {
    for (const node of module.at(`${maker}(`)) {
      const call = node.closest('call');
      const target = call?.field('function')?.text === maker ? targetOf(call) : undefined;
      if (target !== undefined && isPlainPath(target)) yield target.text;
    }
  }
}

/** What a name is given, also in `a, b = Net(), Net()`. */
function valueAt(place: PyNode): PyNode | undefined {
  const definition = place.type === 'identifier' ? definitionOf(place) : undefined;
  return definition?.kind === 'value' ? definition.value : undefined;
}

/** `Net` of `Net(3).to(device)`; what a function makes may be anything. */
function makerOf(value: PyNode): PyNode | undefined {
  let call = value;
  for (let inner = receiverOf(call); inner?.type === 'call'; inner = receiverOf(call)) call = inner;
  const callee = call.type === 'call' ? call.field('function') : undefined;
  return callee !== undefined && /(?:^|\.)[A-Z]\w*$/.test(callee.text) ? callee : undefined;
}

/** The name that gets what a call makes, perhaps moved. */
function targetOf(call: PyNode): PyNode | undefined {
  let value = call;
  while (value.parent?.type === 'attribute' && value.parent.parent?.type === 'call')
    value = value.parent.parent;
  const { parent } = value;
  if (parent?.type === 'assignment')
    return parent.field('right') === value ? parent.field('left') : undefined;
  const assignment = parent?.parent;
  const targets = assignment?.type === 'assignment' ? assignment.field('left')?.named : undefined;
  return parent !== undefined && targets?.length === parent.named.length
    ? targets[parent.named.indexOf(value)]
    : undefined;
}

export function teacherSites(module: PyModule): readonly TeacherSite[] {
  if (switchesGradOff(module) || backwards(module).length === 0) return [];
  const { teachers } = networksIn(module);
  const runs = new Map<PyNode, PyNode[]>();
  for (const text of teachers) {
    for (const network of placesOf(module, text)) {
      const call = callOn(network);
      if (call === undefined || !mayRun(call, text) || !isInTraining(module, call)) continue;
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

/** `with torch.enable_grad():` around it: somebody wants the graph. */
function isGradOn(module: PyModule, node: PyNode): boolean {
  return enclosingWiths(node)
    .flatMap(contextManagers)
    .some((manager) => gradModeOf(module, manager) === 'on');
}

/** Where the network stands, as written. */
function placesOf(module: PyModule, text: string): readonly PyNode[] {
  const last = text.slice(text.lastIndexOf('.') + 1);
  return module.words(last).flatMap((node) => {
    const whole =
      node.parent?.type === 'attribute' && node.parent.field('attribute') === node ? node.parent : node;
    return whole.text === text ? [whole] : [];
  });
}

/** `net(x)`, `net.encode(x)`, `net.module(x)`. */
function callOn(network: PyNode): PyNode | undefined {
  const { parent } = network;
  if (parent?.type === 'call' && parent.field('function') === network) return parent;
  if (parent?.type !== 'attribute' || parent.field('object') !== network) return undefined;
  const call = parent.parent;
  return call?.type === 'call' && call.field('function') === parent ? call : undefined;
}

function mayRun(call: PyNode, text: string): boolean {
  return isForward(call, text) || !isOfModule(methodName(call) ?? '');
}

/** The code around differentiates, or a function of the file that runs it does. */
function isInTraining(module: PyModule, node: PyNode): boolean {
  const owner = enclosingFunction(node);
  const differentiating = module.memo(functionsWithBackward, module);
  if (differentiating.has(owner)) return true;
  if (owner === undefined || onlyRunsGradOff(module, owner)) return false;
  return usesOf(module, owner).some(
    (use) => differentiating.has(enclosingFunction(use)) && !isGradOff(module, use),
  );
}

function functionsWithBackward(module: PyModule): ReadonlySet<PyNode | undefined> {
  return new Set(backwards(module).map(({ call }) => enclosingFunction(call)));
}

/** `y = net(x)`, `a, b = net(x)`, `return net(x)`. */
function runOf(statement: PyNode, networks: readonly PyNode[]): TeacherRun | undefined {
  if (statement.type === 'return_statement') {
    const [value] = statement.named;
    return value === undefined ? undefined : { statement, value, targets: [], networks };
  }
  const assignment = statement.type === 'expression_statement' ? statement.named[0] : undefined;
  const target = assignment?.type === 'assignment' ? assignment.field('left') : undefined;
  const value = assignment?.field('right');
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
