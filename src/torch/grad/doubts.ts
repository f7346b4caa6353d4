import { isNamedAnywhere } from '../../semantic/anywhere.js';
import type { Elsewhere } from '../../semantic/elsewhere.js';
import { shown } from '../../semantic/gate.js';
import type { PyModule } from '../../semantic/module.js';
import { isProgram } from '../../semantic/program.js';
import { ask, type Question } from '../../semantic/question.js';
import { isAsync } from '../../semantic/statements.js';
import { isLoopElement } from '../../semantic/variables.js';
import type { PyNode } from '../../syntax/node.js';
import type { Suspect } from '../../values/effects/differentiators.js';
import { classAskingForModeAround } from '../../values/effects/elsewhere.js';
import { asksForGraph, derivativeNamed, keepingHook, measuredMemory } from '../../values/effects/forward.js';
import { differentiatingReader, trainingAutocastAround } from '../../values/effects/mode.js';
import {
  askAbout,
  differentiatesUnseen,
  differentiatesWhenIterated,
  differentiatingNetwork,
} from '../../values/effects/unknown-code.js';
import { effectsOf } from '../../values/index.js';
import { type Escape, handsBackGraph, keepingMethod } from '../../values/uses/escapes.js';
import { IS_TORCH } from '../framework.js';
import { ONLY_READ } from '../questions.js';
import { callersElsewhere, isOnlyHandedToRead } from './callers.js';
import { computedBy, type Kept } from './computed.js';
import { choosesGradMode, type Evaluation, returnsOwnModel, runsInEvalMode } from './evaluation.js';
import { hasInferenceFastPath, roundingIn, valuesOnlyIn } from './fast-path.js';
import { mayHold, type Owner } from './holds.js';
import { stateOfForward, stateOnlyRead } from './kept-state.js';
import { cachedParametrization } from './recomputed-weights.js';
import { compilerOf, importsTorch, isTrainingByName, scriptedElsewhere } from './roles.js';
import { questionsOfTaken } from './taken.js';
import { isEvaluated } from './training-only.js';

/** A reason against turning gradients off in a function: `no` would crash or change training, `unknown` could. */
export type GradDoubt =
  | {
      readonly answer: 'no';
      readonly otherwise: string;
      /** The parameters that an optimizer is made with, where that is why. */
      readonly trainer?: Elsewhere;
    }
  | { readonly answer: 'unknown'; readonly otherwise: Question };

export function no(otherwise: string, trainer?: Elsewhere): GradDoubt {
  return trainer === undefined ? { answer: 'no', otherwise } : { answer: 'no', otherwise, trainer };
}

export function unknown(otherwise: Question): GradDoubt {
  return { answer: 'unknown', otherwise };
}

/** All that speaks against running the function without gradients, refusals first. `onlyRefusals`: questions may be left out. */
export function* doubtsAbout(
  module: PyModule,
  functionNode: PyNode,
  runs: readonly Evaluation[],
  onlyRefusals = false,
): Generator<GradDoubt> {
  yield* refusals(module, functionNode, runs);
  const computed = computedBy(module, functionNode, runs);
  const { trace, leaving } = computed;
  const suspected = computed.suspected(true);
  const open = leaving.filter((each) => !each.isDerived && !isHandedToRead(module, functionNode, each));
  const leaves = suspected.length > 0 || open.length > 0;
  for (const run of runs) {
    yield* doubtsAboutMode(module, run, leaves);
    if (!onlyRefusals) yield* doubtsAboutRun(module, run);
  }
  const asked = asksForGraph(module, functionNode, trace);
  if (asked !== undefined) yield no(`it ${asked}`);
  for (const each of suspected) {
    yield each.kind === 'trains' ? no(each.words) : unknown(each.question);
  }
  const mayIterate = !onlyRefusals && iteratesOver(functionNode);
  const iterated = mayIterate ? differentiatesWhenIterated(module) : undefined;
  if (iterated !== undefined)
    yield unknown(
      askAbout(
        iterated,
        (words) => ask('another-iterable')`Does \`${functionNode.name?.text}\` never iterate over ${words}?`,
      ),
    );
  for (const { into, isDerived } of leaving) {
    if (isDerived && into !== undefined && isLoopElement(module, functionNode, into)) continue;
    const by =
      into === undefined
        ? effectsOf(module, functionNode).differentiatedBy
        : differentiatingReader(module, functionNode, into);
    const name = by?.name?.text;
    const what = into === undefined ? 'what it returns' : `\`${shown(into)}\`, which it sets`;
    if (name !== undefined) yield no(`\`${name}\` differentiates ${what}`);
  }
  const isReturned = leaving.some(({ into }) => into === undefined);
  const called = isReturned ? callersElsewhere(module, functionNode).doubt : undefined;
  if (called !== undefined) yield called;
  if (onlyRefusals) return;
  for (const question of questionsOfTaken(module, functionNode, computed.models, iterated))
    yield unknown(question);
  const [first] = open;
  if (first !== undefined) yield unknown(first.question);
  const exact = valuesOnlyIn(module, functionNode);
  if (exact !== undefined)
    yield unknown(
      ask(
        'rounding',
      )`May what \`${exact}\` gives be rounded otherwise (on the CPU it takes another path without gradients)?`,
    );
  const measured = measuredMemory(module, functionNode);
  if (measured !== undefined) yield unknown(measuresOther(measured));
  const casting = trainingAutocastAround(module, functionNode);
  if (casting !== undefined) {
    yield unknown(
      ask(
        'version',
      )`Is ${'torch newer than 2.9'} (${casting} inside a training \`autocast\` block, whose cache loses gradients before)?`,
    );
  }
  const torch = importsTorch(module);
  if (torch === 'lazily')
    yield unknown(
      ask('importable')`May ${'torch'} be imported at the top of this file, where only functions import it?`,
    );
  if (torch === 'no') yield unknown(IS_TORCH.unknown);
}

function isHandedToRead(module: PyModule, functionNode: PyNode, { node, into }: Escape): boolean {
  return into === undefined && isOnlyHandedToRead(module, functionNode, node);
}

/**
 * What a function keeps of the networks that it runs, as far as its own code shows. `numbers`: nothing else. `unknown`: no
 * value is seen to leave that was computed with them, and questions are left. The cheapest questions first: most functions
 * return what they compute.
 */
export function keptOf(module: PyModule, functionNode: PyNode, runs: readonly Evaluation[]): Kept {
  const { kept } = computedBy(module, functionNode, runs);
  const found = kept.get(runs) ?? findKept(module, functionNode, runs);
  kept.set(runs, found);
  return found;
}

function findKept(module: PyModule, functionNode: PyNode, runs: readonly Evaluation[]): Kept {
  if (isAsync(functionNode) || isTrainingByName(functionNode)) return 'graph';
  const computed = computedBy(module, functionNode, runs);
  if (handsBackGraph(functionNode, computed.trace) && !isProgram(module)) return 'graph';
  // What it gives back of what it was given is a question to its callers.
  const open = computed.leaving.filter(
    (each) => each.into !== undefined || !(each.isDerived || isHandedToRead(module, functionNode, each)),
  );
  if (open.some(({ isUnknown }) => !isUnknown)) return 'graph';
  const suspected = computed.suspected();
  // What a policy keeps of its actions is differentiated more often than not.
  if (suspected.some((each) => each.kind === 'trains' || each.question.kind === 'kept-only-read'))
    return 'graph';
  for (const { answer } of doubtsAbout(module, functionNode, runs, true)) if (answer === 'no') return 'graph';
  return open.length + suspected.length === 0 ? 'numbers' : 'unknown';
}

function* refusals(
  module: PyModule,
  functionNode: PyNode,
  runs: readonly Evaluation[],
): Generator<GradDoubt> {
  if (isAsync(functionNode))
    yield no('the decorator does nothing on an `async def`: it only wraps the creation of the coroutine');
  yield* differentiation(
    module,
    functionNode,
    runs.map(({ model }) => model),
  );
  if (isTrainingByName(functionNode)) yield no('its name says that it trains');
  const { trains } = effectsOf(module, functionNode);
  if (trains !== undefined) yield no(trains);
  const compiler = compilerOf(module, functionNode);
  const scripted = scriptedElsewhere(module, functionNode);
  if (scripted !== undefined)
    yield no(`${scripted} has \`torch.jit\` compile it from source, without the decorator`);
  if (compiler === 'jit') yield no('`torch.jit.script()` compiles it from source, without the decorator');
  if (compiler === 'foreign') yield no('another compiler takes it');
  if (compiler === 'compile')
    yield unknown(
      ask(
        'compiles-decorated',
      )`Does \`torch.compile()\` take \`${functionNode.name?.text}\` with the decorator, too?`,
    );
}

/** That some code, or a network that it runs, differentiates. An imported class that none of these networks is, or has, is no reason. */
export function* differentiation(
  module: PyModule,
  node: PyNode,
  models: readonly PyNode[],
): Generator<GradDoubt> {
  const mayBe = (model: PyNode) =>
    differentiatingNetwork(module, model, (other) => mayHold(module, model, other)) !== undefined;
  const runs = models.length === 0 ? 'none' : models.some(mayBe) ? 'networks' : 'networks of its file';
  for (const clause of effectsOf(module, node).differentiation(runs)) yield no(clause);
}

function iteratesOver(functionNode: PyNode): boolean {
  return [...functionNode.walk()].some(({ type }) => type === 'for_statement' || type === 'for_in_clause');
}

/** `leaves`: something may leave the function with its graph, for somebody to differentiate while the network trains. */
function* doubtsAboutMode(module: PyModule, run: Evaluation, leaves: boolean): Generator<GradDoubt> {
  const { text } = run.model;
  const asking = (mayTrain: boolean) => classAskingForModeAround(module, mayTrain, run.functionNode);
  const mode = leaves || asking(true) !== asking(false) ? runsInEvalMode(module, run) : 'yes';
  if (mode === 'no') yield no(`\`${text}\` may be in training mode when it runs`);
  if (mode === 'unknown')
    yield unknown(ask('evaluation-mode')`Does every forward of \`${text}\` here run in evaluation mode?`);
  if (choosesGradMode(module, run))
    yield no(`one branch runs \`${text}\` with gradients, and the other without`);
}

function* doubtsAboutRun(module: PyModule, run: Evaluation): Generator<GradDoubt> {
  const { text } = run.model;
  if (run.gradless.length > 0) {
    yield unknown(
      ask(
        'call-without-gradients',
      )`Does this call of \`${text}\` work without gradients, as others here do under no-grad?`,
    );
  }
  if (returnsOwnModel(module, run))
    yield unknown(
      ask(
        'built-untrained',
      )`Is the network that \`${run.functionNode.name?.text}\` builds and returns left untrained on the way?`,
    );
  const evaluated = (owner: Owner) => isEvaluated(module, run, owner);
  yield* doubtsAboutNetwork(
    module,
    run.model,
    run.functionNode,
    undefined,
    run.evals.length === 0,
    evaluated,
  );
}

/**
 * What running a network without gradients could change, whoever runs it. `part`: the code that does. `mayTrain`: the
 * network may be in training mode.
 */
export function* doubtsAboutNetwork(
  module: PyModule,
  model: PyNode,
  functionNode: PyNode,
  part = functionNode,
  mayTrain = false,
  evaluated?: (owner: Owner) => boolean,
): Generator<GradDoubt> {
  const { text } = model;
  const hook = keepingHook(module, functionNode);
  if (hook !== undefined) yield unknown(ask('kept-only-read')`Is what ${hook} keeps ${ONLY_READ}?`);
  const state = stateOfForward(module, model, part, evaluated);
  if (state !== undefined) yield unknown(stateOnlyRead(module, state));
  const derivative = derivativeNamed(part);
  if (derivative !== undefined)
    yield unknown(
      ask(
        'forward-without-gradients',
      )`Does the forward of \`${text}\`, which gives \`${derivative}\`, work without gradients?`,
    );
  const cached = cachedParametrization(module);
  if (cached !== undefined)
    yield unknown(
      ask(
        'cached-parametrization',
      )`Does \`${text}\` run outside the \`parametrize.cached()\` ${cached}, which would keep its weights without their graph?`,
    );
  const asking = classAskingForModeAround(module, mayTrain, part);
  if (asking !== undefined) yield unknown(sameWithout(module, asking));
  const network = differentiatingNetwork(module, model, (other) => mayHold(module, model, other));
  if (network !== undefined) yield unknown(anotherNetwork(text, network));
  const unseen = differentiatesUnseen(module);
  if (unseen !== undefined)
    yield unknown(askAbout(unseen, (words) => ask('runs-without')`Does this run without ${words}?`));
  const kept = keepingMethod(module, '__torch_function__', true);
  if (kept !== undefined)
    yield unknown(ask('kept-only-read')`Is what \`${'__torch_function__'}\`${kept} keeps ${ONLY_READ}?`);
  if (isNamedAnywhere(module, SAVED)) yield unknown(measuresOther(SAVED));
  yield* doubtsOfRounding(module, model);
}

/** What a network may have among its parts that computes otherwise without gradients. */
export function* doubtsOfRounding(module: PyModule, model: PyNode): Generator<GradDoubt> {
  const text = shown(model);
  const attention = hasInferenceFastPath(module)
    ? 'attention modules, here or in a file that is imported,'
    : attentionIn(module, model);
  if (attention !== undefined)
    yield unknown(
      ask(
        'rounding',
      )`May the results of \`${text}\` be rounded otherwise (${attention} take another path without gradients)?`,
    );
  const exact = roundingIn(module, model, 'values only');
  if (exact !== undefined && exact !== '')
    yield unknown(
      ask(
        'rounding',
      )`May the results of \`${text}\` be rounded otherwise (linear algebra, as of ${exact}, takes another path on the CPU without gradients)?`,
    );
}

/** By which code hears of everything that autograd saves. */
const SAVED = 'saved_tensors_hooks';

export function measuresOther(measured: string): Question {
  return ask('measures-other')`Does \`${measured}\` measure something other than what autograd keeps?`;
}

/** Other words stand for what was too much to look into. */
function isName(text: string): boolean {
  return !text.includes(' ');
}

export function sameWithout({ around }: PyModule, asking: string): Question {
  if (!isName(asking))
    return ask(
      'same-without',
    )`Do all of ${'the networks of this project'} compute the same without gradients (${around.unread ?? 'more of them may ask whether they are on than were looked into'})?`;
  return ask(
    'same-without',
  )`Does \`${asking}\`, which asks whether gradients are on, compute the same without?`;
}

export function anotherNetwork(text: string, network: Suspect): Question {
  return askAbout(network, (words) =>
    network.isHeld
      ? ask('another-network')`Does \`${text}\` never run ${words}?`
      : ask('another-network')`Is \`${text}\` something other than ${words}?`,
  );
}

/** A model may have such modules that another file makes. */
function attentionIn(module: PyModule, model: PyNode): string | undefined {
  const place = roundingIn(module, model, 'attention');
  if (place === undefined) return undefined;
  return place === '' ? 'attention modules, which many files name,' : `attention modules, as of ${place},`;
}
