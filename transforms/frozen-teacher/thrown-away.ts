import { builtin } from '../../src/library/library.js';
import { TORCH } from '../../src/library/names.js';
import { isAnywhere, isNamedAnywhere } from '../../src/semantic/anywhere.js';
import { methodNamed } from '../../src/semantic/definitions.js';
import type { Elsewhere } from '../../src/semantic/elsewhere.js';
import { functionUses } from '../../src/semantic/function-uses.js';
import { qualifiedName } from '../../src/semantic/imports.js';
import type { PyModule } from '../../src/semantic/module.js';
import { isAlwaysAfter, mayLead } from '../../src/semantic/paths.js';
import { isNotebook } from '../../src/semantic/program.js';
import { functionsNamed } from '../../src/semantic/project-names.js';
import {
  argumentsOf,
  decoratorsOf,
  enclosingClass,
  enclosingFunction,
  hasSplat,
  isAsync,
  isCallee,
  methodName,
  ownNodes,
  receiverOf,
  statementOf,
  wholeName,
} from '../../src/semantic/statements.js';
import { usesElsewhere } from '../../src/semantic/uses-elsewhere.js';
import type { PyNode } from '../../src/syntax/node.js';
import { stateOfForward } from '../../src/torch/grad/kept-state.js';
import { isLoss } from '../../src/torch/module/layers.js';
import { isModel } from '../../src/torch/module/model-value.js';
import { moduleKind } from '../../src/torch/module/modules.js';
import { mayHaveWeights, traceGraph } from '../../src/torch/module/networks.js';
import { leavesNothing } from '../../src/torch/record/left-behind.js';
import { isHarmless } from '../../src/values/effects/calls.js';
import { calledValue, isHeldCallable } from '../../src/values/effects/unknown-code.js';
import { isReport } from '../../src/values/uses/report.js';
import { endsGraph } from '../../src/values/value/ends-graph.js';
import { classOf, definitionCalled } from './called.js';
import { fateOf } from './fate.js';
import { type Reader, readersOf } from './optimizer-steps.js';
import { hasTellingBackward } from './own-backward.js';
import { namesCheckpoint } from './sinks.js';

/** The backwards that go through a run in vain. */
export interface InVain {
  readonly backwards: readonly PyNode[];
  /** What gets a value of it and may keep that for another backward. */
  readonly keeper: PyNode | undefined;
}

/**
 * A network that is trained, but not by what becomes of this run: `fake = G(z)` of a step that trains the discriminator. Each
 * backward that goes through it fills gradients which are cleared, on every way, before an optimizer of the network steps.
 * Undefined where that does not show.
 */
export function backwardsInVain(
  module: PyModule,
  statement: PyNode,
  networks: readonly PyNode[],
): InVain | undefined {
  const owner = enclosingFunction(statement) ?? module.root;
  if (isNotebook(module) || !mayBeFollowed(owner)) return undefined;
  if (module.memo(isUnfollowed, module) || namesCheckpoint(module)) return undefined;
  const readers = networks.map((network) => readersOf(module, network));
  if (readers.some((each) => each === undefined || each.length === 0)) return undefined;
  const callers = callersOf(module, owner);
  if (callers === undefined) return undefined;
  const found = new Set<PyNode>();
  let keeper = networks.map((network) => keeperOf(module, network.parent ?? network)).find((each) => each);
  const part = { wrapped: [statement], statements: [statement], owner, models: networks };
  const leaves = !leavesNothing(module, part, (read) => {
    keeper ??= keeperOf(module, read);
    const backward = backwardOf(read);
    if (backward === undefined || !readers.every((each) => areCleared(module, backward, each, callers)))
      return false;
    found.add(backward);
    return true;
  });
  return leaves || found.size === 0 ? undefined : { backwards: [...found], keeper };
}

/** The networks that the backwards of a run fill gradients of in vain: its own, and others on the way. */
export function idleAt(
  module: PyModule,
  networks: readonly PyNode[],
  inVain: InVain | undefined,
): readonly PyNode[] {
  if (inVain === undefined) return [];
  const behind = inVain.backwards.map((backward) => idleBehind(module, backward));
  const isOnEach = (network: PyNode): boolean =>
    behind.every((each) => each.some((other) => fateOf(module, other) === fateOf(module, network)));
  return [...networks, ...behind.flat().filter(isOnEach)];
}

function idleBehind(module: PyModule, backward: PyNode): readonly PyNode[] {
  const callers = callersOf(module, enclosingFunction(backward) ?? module.root);
  const found: PyNode[] = [];
  traceGraph(module, receiverOf(backward) ?? backward, {
    call: (call) => {
      for (const each of [call.function, receiverOf(call)]) {
        if (each === undefined || !/^(?:identifier|attribute)$/.test(each.type)) continue;
        if (!mayHaveWeights(module, call) || !fateOf(module, each).isTrained) continue;
        const isIdle =
          callers !== undefined && areCleared(module, backward, readersOf(module, each), callers);
        if (isIdle) found.push(each);
      }
    },
  });
  return found;
}

function areCleared(
  module: PyModule,
  backward: PyNode,
  readers: readonly Reader[] | undefined,
  callers: ReadonlySet<PyNode>,
): boolean {
  return readers?.every((reader) => isCleared(module, backward, reader, callers)) === true;
}

/** What gets the value and could keep it, with its graph, for a later backward. */
function keeperOf(module: PyModule, value: PyNode): PyNode | undefined {
  const statement = statementOf(value);
  let at = value;
  for (const around of value.ancestors()) {
    if (around === statement || isReport(module, at)) return undefined;
    if (
      around.type === 'call' &&
      receiverOf(around)?.contains(value) &&
      endsGraph(module, methodName(around) ?? '')
    )
      return undefined;
    if (around.type !== 'call' || around.arguments?.contains(value) !== true) continue;
    const callee = around.function ?? around;
    const isBuiltin = callee.type === 'identifier' && module.resolve(callee) === undefined;
    const isLibrary = isBuiltin
      ? builtin(callee.text) !== undefined
      : qualifiedName(module, callee)?.startsWith(TORCH) === true;
    if (!isLibrary && !isLoss(module, callee) && !forgets(module, around, callee)) return callee;
    at = around;
  }
  return undefined;
}

/** A network, a criterion or a function of the project that keeps nothing of what it is given. */
function forgets(module: PyModule, call: PyNode, callee: PyNode): boolean {
  const called = definitionCalled(module, call);
  if (called?.node.type === 'function_definition') return isForgetful(called);
  if (isHeldCallable(module, callee)) {
    const { suspect, functions, isFollowed } = calledValue(module, callee, call);
    if (suspect === undefined && isFollowed && functions.length > 0) return functions.every(isForgetful);
  }
  const made = classOf(module, callee);
  const isModule =
    made !== undefined &&
    moduleKind(made.module, made.node).isModule === 'yes' &&
    methodNamed(made.module, made.node, '__call__') === undefined;
  return (isModule || fateOf(module, callee).isTrained) && stateOfForward(module, callee) === undefined;
}

function isForgetful({ module, node }: Elsewhere): boolean {
  return decoratorsOf(node).length === 0 && isHarmless(module, node);
}

/** What waits for the gradients of every parameter, looks at them on their way, or at variables by their names. */
const UNFOLLOWED = [
  ...['DistributedDataParallel', 'FullyShardedDataParallel', 'fully_shard'],
  ...['register_hook', 'register_post_accumulate_grad_hook', 'register_multi_grad_hook'],
  ...['register_backward_hook', 'register_full_backward_hook', 'register_full_backward_pre_hook'],
  ...['register_module_backward_hook', 'register_module_full_backward_hook'],
  ...['register_module_full_backward_pre_hook', 'register_prehook'],
  ...['register_optimizer_step_pre_hook', 'register_optimizer_step_post_hook'],
  ...['register_step_pre_hook', 'register_step_post_hook'],
  ...['register_autograd', 'saved_tensors_hooks', 'globals'],
];

function isUnfollowed(module: PyModule): boolean {
  return (
    UNFOLLOWED.some((word) => isNamedAnywhere(module, word)) ||
    isAnywhere(module, 'modules', namesModules) ||
    functionsNamed(module, 'zero_grad')?.length !== 0 ||
    hasTellingBackward(module)
  );
}

/** `sys.modules` */
function namesModules(alone: PyModule, word: string): boolean {
  return alone.words(word).some((node) => qualifiedName(alone, wholeName(node)) === 'sys.modules');
}

function mayBeFollowed(owner: PyNode): boolean {
  if (owner.type !== 'function_definition') return true;
  if (decoratorsOf(owner).length > 0 || isAsync(owner)) return false;
  return !ownNodes(owner).some(({ type }) => type === 'yield' || type === 'await');
}

/** `loss.backward()` of the value itself, all of it and once. */
function backwardOf(read: PyNode): PyNode | undefined {
  const call = read.parent?.parent;
  if (call?.type !== 'call' || receiverOf(call) !== read || methodName(call) !== 'backward') return undefined;
  const isWhole = argumentsOf(call).every(
    (each) => each.type !== 'keyword_argument' || /^(?:gradient|retain_graph)$/.test(each.name?.text ?? ''),
  );
  return isWhole && argumentsOf(call).length < 3 && !hasSplat(call) && statementOf(read).named[0] === call
    ? call
    : undefined;
}

function isCleared(
  module: PyModule,
  backward: PyNode,
  { step, clears }: Reader,
  callers: ReadonlySet<PyNode>,
): boolean {
  const around = enclosingFunction(step);
  const isHere = around === enclosingFunction(backward);
  // Whoever runs this function could do so between a clearing and its step.
  if (around !== undefined && callers.has(around)) return false;
  const near = clears.filter((each) => enclosingFunction(each) === around);
  return isAlwaysAfter(module, step, near, undefined) && (!isHere || !mayLead(module, backward, step, near));
}

/** More callers than that are not followed. */
const MAX_CALLERS = 64;

/** The functions of the project that may run this one; undefined where more may. */
function callersOf(module: PyModule, owner: PyNode): ReadonlySet<PyNode> | undefined {
  const found = new Set<PyNode>();
  const pending: Elsewhere[] = owner.type === 'function_definition' ? [{ module, node: owner }] : [];
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    const { name } = at.node;
    if (name === undefined || decoratorsOf(at.node).length > 0 || found.size > MAX_CALLERS) return undefined;
    const { uses, unread } = usesElsewhere(at.module, name, { may: () => true, byName: true });
    if (unread !== undefined) return undefined;
    const itself = namesIn(at.module, at.node);
    if (!itself.every(isCallee)) return undefined;
    if (itself.length > 0) found.add(at.node);
    const here = functionUses(at.module, at.node).map((use) => ({
      module: at?.module ?? module,
      node: use.parent?.attribute === use ? use.parent : use,
    }));
    for (const { module: there, node: callee } of [...here, ...uses]) {
      if (isOfNetwork(there, callee, at)) continue;
      if (!isCallee(callee)) return undefined;
      const caller = enclosingFunction(callee);
      if (caller === undefined || found.has(caller)) continue;
      found.add(caller);
      pending.push({ module: there, node: caller });
    }
  }
  return found;
}

/** `self.net.train` of a network, and not the `train` of what is none. */
function isOfNetwork(module: PyModule, use: PyNode, method: Elsewhere): boolean {
  const owner = enclosingClass(method.node);
  return (
    owner !== undefined &&
    use.object !== undefined &&
    moduleKind(method.module, owner).isModule === 'no' &&
    isModel(module, use.object) === 'yes'
  );
}

/** Where a function may name itself: `f`, `self.f`. */
function namesIn(module: PyModule, functionNode: PyNode): readonly PyNode[] {
  const { name } = functionNode;
  return [...functionNode.walk()].flatMap((node) => {
    if (node === name || node.type !== 'identifier' || node.text !== name?.text) return [];
    const { parent } = node;
    if (parent?.attribute === node) {
      return isOfNetwork(module, parent, { module, node: functionNode }) ? [] : [parent];
    }
    return parent?.name !== node && module.resolve(node) === module.resolve(name) ? [node] : [];
  });
}
