import { definitionOf } from '../../src/semantic/flow.js';
import { shown, spotOf } from '../../src/semantic/gate.js';
import { readerOfVariables } from '../../src/semantic/liveness.js';
import type { PyModule } from '../../src/semantic/module.js';
import { isNotebook } from '../../src/semantic/program.js';
import { mayBeReadElsewhere } from '../../src/semantic/project-names.js';
import { ask } from '../../src/semantic/question.js';
import type { Reason } from '../../src/semantic/reason.js';
import { isAtLeast } from '../../src/semantic/standing.js';
import {
  contextManagers,
  enclosingFunction,
  enclosingWiths,
  unparenthesized,
} from '../../src/semantic/statements.js';
import type { PyNode } from '../../src/syntax/node.js';
import { IS_TORCH } from '../../src/torch/framework.js';
import {
  anotherNetwork,
  doubtsOfRounding,
  type GradDoubt,
  no,
  sameWithout,
  unknown,
} from '../../src/torch/grad/doubts.js';
import { hasInferenceFastPath, hasLstm } from '../../src/torch/grad/fast-path.js';
import { stateOfForward, stateOnlyRead } from '../../src/torch/grad/kept-state.js';
import { compilerOf, importsTorch } from '../../src/torch/grad/roles.js';
import { questionsOfKept } from '../../src/torch/grad/taken.js';
import { networksIn } from '../../src/torch/grad/teachers.js';
import { ONLY_READ } from '../../src/torch/questions.js';
import { classAskingForModeAround } from '../../src/values/effects/elsewhere.js';
import { keepingHook } from '../../src/values/effects/forward.js';
import { onlyReadInNotebook } from '../../src/values/effects/mode.js';
import { strangersRunIn } from '../../src/values/effects/strangers-called.js';
import { differentiatingNetwork } from '../../src/values/effects/unknown-code.js';
import { valueOf } from '../../src/values/index.js';
import { plainBuffer } from '../../src/values/value/plain-buffer.js';
import { isOnlyReadDetached, readsAt } from './detached.js';
import { type Fate, fateOf } from './fate.js';
import { Graphless } from './graphless.js';
import { first, isAsked } from './inputs.js';
import { differentiatedAlone } from './sinks.js';
import type { TeacherRun } from './sites.js';
import { idleAt } from './thrown-away.js';

/**
 * All that speaks against computing this statement without gradients, or what forbids it. Two proofs: nobody reads what it
 * computes with its graph; or the graph leads to nothing but parameters that nobody trains and whose gradients nobody reads.
 */
export function doubtsAboutRun(module: PyModule, run: TeacherRun): readonly GradDoubt[] {
  const found: GradDoubt[] = [];
  for (const doubt of doubtsOf(module, run)) {
    if (doubt.answer === 'no') return [doubt];
    found.push(doubt);
  }
  return found;
}

/** Why a run that nothing speaks against needs no graph. */
export function reasonsFor(module: PyModule, run: TeacherRun): readonly Reason[] {
  const code = (text: string): Reason => ({ source: 'code', text });
  const place = `\`${shown(run.statement)}\` (${spotOf(module, run.statement)})`;
  if (isOnlyReadDetached(module, run))
    return [code(`all that comes of ${place} is detached before anybody computes with it, or only read`)];
  return run.networks.flatMap((network) => [
    code(
      isInVain(run)
        ? `the gradients that ${place} leaves in \`${shown(network)}\` are cleared before an optimizer of it steps`
        : `no optimizer of the project gets the parameters of \`${shown(network)}\`, and nobody reads their gradients`,
    ),
    code(`what ${place} gets was computed by no network that is trained, and asks for no gradient`),
  ]);
}

/** Without gradients, other kernels or another program may run. */
export function mayRoundOtherwise(module: PyModule, { networks }: TeacherRun): boolean {
  return (
    hasInferenceFastPath(module) ||
    hasLstm(module, networks) ||
    networks.some((each) => fateOf(module, each).compiler !== undefined)
  );
}

/** A value has no graph, or only one that leads to networks which nobody trains. */
export function hangsOnNothingTrained(module: PyModule, value: PyNode): boolean {
  const { teachers, trained } = networksIn(module);
  const graphless = new Graphless(module, teachers, trained);
  return (
    graphless.doubt(value) === undefined &&
    [...graphless.relied.values()].every((network) => fateOf(module, network).doubts.length === 0)
  );
}

function* doubtsOf(module: PyModule, run: TeacherRun): Generator<GradDoubt> {
  yield* doubtsOfPlace(module, run.statement);
  const names = new Set(run.networks.map(({ text }) => text));
  for (const question of strangersRunIn(module, run.statement, names)) yield unknown(question);
  const owner = enclosingFunction(run.statement) ?? module.root;
  for (const question of questionsOfKept(module, owner, [run.statement], `\`${shown(run.statement)}\``))
    yield unknown(question);
  const { teachers, trained } = networksIn(module);
  const idling = idleAt(module, run.networks, run.inVain);
  const idle = new Set(idling.map(({ text }) => text));
  const cleared = new Set(idling.map((each) => fateOf(module, each)));
  const others = new Set([...trained].filter((each) => !idle.has(each)));
  const graphless = new Graphless(module, new Set([...teachers, ...names, ...idle]), others);
  const buffers = run.targets.flatMap((each) => plainBuffer(module, each) ?? []);
  const input = first([run.value, ...buffers], (each) => graphless.doubt(each));
  const own = run.networks.map((each) => [`${each.text} ${enclosingFunction(each)?.start}`, each] as const);
  const networks = [...new Map([...own, ...graphless.relied]).values()];
  const fates = networks.map((network) => ({ network, fate: fateOf(module, network) }));
  const frozen = fates.every(({ fate }) => fate.isFrozen && !fate.isTrained);
  if (frozen && input === undefined)
    yield {
      answer: 'no',
      otherwise: `the parameters of \`${shown(networks[0] ?? run.value)}\` need no gradient: nothing is recorded`,
    };
  const open = openTo(module, run);
  if (isNotebook(module) && enclosingFunction(run.statement) === undefined) {
    if (valueOf(module, run.value).mayHaveGraph())
      yield unknown(onlyReadInNotebook(run.targets.map(({ text }) => text)));
  } else if (open !== undefined)
    yield unknown(ask('only-read')`Is \`${shown(open)}\`, which code elsewhere may read, ${ONLY_READ}?`);
  const isDetached = isOnlyReadDetached(module, run);
  const isOwn = fates.every(({ fate }) => fate.doubts.length === 0);
  const written = isDetached
    ? first(buffers, (each) => new Graphless(module, new Set(), new Set()).doubt(each))
    : undefined;
  if (written !== undefined) yield written;
  if ((isDetached && !isOwn) || isInVain(run)) yield* doubtsIfShared(module, run, fates);
  const keeper = run.inVain?.keeper;
  if (keeper !== undefined)
    yield unknown(ask('kept-only-read')`Is what \`${shown(keeper)}\` may keep of it ${ONLY_READ}?`);
  if (isInVain(run) && isAtLeast(module, 'torch', '2.0') !== 'yes')
    yield unknown(
      ask(
        'version',
      )`Is ${'torch 2.0 or newer'} (\`zero_grad()\` of older ones leaves zeros where the gradients were)?`,
    );
  if (!isDetached) {
    for (const { fate } of fates)
      yield* fate.doubts.filter(
        (each) => each.answer !== 'no' || each.trainer === undefined || !cleared.has(fate),
      );
    if (input !== undefined) yield input;
    const asked = gradientAsked(module, run.statement);
    if (asked !== undefined)
      yield unknown(
        ask(
          'unasked-gradient',
        )`Is \`${shown(asked)}\` about something other than what \`${shown(run.networks[0] ?? run.value)}\` gets?`,
      );
    yield* differentiatedAlone(module, run, new Set([...networks.map(({ text }) => text), ...idle]));
  }
  for (const { network, fate } of fates) yield* doubtsOfForward(module, network, fate);
}

/** The network is trained, and what this run adds to its gradients is cleared. */
function isInVain({ inVain }: TeacherRun): boolean {
  return inVain !== undefined;
}

/** Nobody reads the result with its graph, but the network may be trained: what else its forward leaves behind counts. */
function* doubtsIfShared(
  module: PyModule,
  { statement }: TeacherRun,
  fates: readonly { readonly network: PyNode; readonly fate: Fate }[],
): Generator<GradDoubt> {
  const owner = enclosingFunction(statement) ?? module.root;
  const hook = keepingHook(module, owner);
  if (hook !== undefined) yield unknown(ask('kept-only-read')`Is what ${hook} keeps ${ONLY_READ}?`);
  const state = fates
    .map(({ network }) => stateOfForward(module, network, statement))
    .find((each) => each !== undefined);
  if (state !== undefined) yield unknown(stateOnlyRead(module, state));
  const isCast = enclosingWiths(statement)
    .flatMap(contextManagers)
    .some(({ text }) => text.includes('autocast'));
  const doubtful = fates.find(({ fate }) => fate.doubts.length > 0);
  if (isCast && doubtful !== undefined)
    yield unknown(
      ask(
        'version',
      )`Is ${'torch newer than 2.9'} (the \`autocast\` of older ones loses the gradients of \`${shown(doubtful.network)}\`, where it is trained as well)?`,
    );
}

/** What running the network without gradients would change in the forward itself. */
function* doubtsOfForward(module: PyModule, network: PyNode, { compiler }: Fate): Generator<GradDoubt> {
  if (compiler !== undefined)
    yield unknown(
      ask(
        'rounding',
      )`May the results of \`${shown(network)}\` be rounded otherwise (\`${compiler}\` may make another program of it without gradients)?`,
    );
  const suspect = differentiatingNetwork(module, network);
  if (suspect !== undefined) yield unknown(anotherNetwork(shown(network), suspect));
  const asking = classAskingForModeAround(module, true, network);
  if (asking !== undefined) yield unknown(sameWithout(module, asking));
  yield* doubtsOfRounding(module, network);
}

function* doubtsOfPlace(module: PyModule, statement: PyNode): Generator<GradDoubt> {
  const owner = enclosingFunction(statement);
  const compiler = owner && compilerOf(module, owner);
  if (compiler === 'jit' || compiler === 'foreign') yield no('another compiler takes the function');
  if (importsTorch(module) !== 'yes') yield unknown(IS_TORCH.unknown);
}

/**
 * `batch["x"].requires_grad_()` of the same function, or of what a loop anywhere in the file goes through: in place, so that
 * what has the tensor by another name sees it.
 */
function gradientAsked(module: PyModule, statement: PyNode): PyNode | undefined {
  const owner = enclosingFunction(statement) ?? module.root;
  return module.at('requires_grad').find((node) => {
    const object = node.parent?.type === 'attribute' ? node.parent.object : undefined;
    if (object === undefined || node.parent?.attribute !== node || !isAsked(object)) return false;
    // What arithmetic makes is another tensor.
    if (owner.contains(node)) return !/^(?:call|binary_operator)$/.test(unparenthesized(object).type);
    const scope = object.type === 'identifier' ? module.resolve(object) : undefined;
    return (
      scope !== undefined &&
      module.writes(scope, object.text).some((write) => {
        const definition = definitionOf(write);
        return definition.kind === 'loop' && !/parameters\(/.test(definition.iterable.text);
      })
    );
  })?.parent;
}

/** A variable of the statement that is not the function's own, or what reads all of its variables. */
function openTo(module: PyModule, { statement, targets }: TeacherRun): PyNode | undefined {
  const attribute = targets.find(({ type }) => type === 'attribute');
  if (attribute !== undefined && readsAt(module, attribute) === undefined) return attribute;
  const names = targets.flatMap((each) => (each.type === 'attribute' ? [] : (each.value ?? each)));
  const owner = enclosingFunction(statement);
  if (owner === undefined) return names.find(({ text }) => mayBeReadElsewhere(module, text));
  const scope = module.scopeOf(owner);
  return names.find((name) => module.resolve(name) !== scope) ?? readerOfVariables(module, owner);
}
