import { builtin, cutsGraph } from '../../src/library/library.js';
import { OPTIMIZERS, TORCH } from '../../src/library/names.js';
import { isAnywhere } from '../../src/semantic/anywhere.js';
import type { Elsewhere } from '../../src/semantic/elsewhere.js';
import { functionUses } from '../../src/semantic/function-uses.js';
import { qualifiedName } from '../../src/semantic/imports.js';
import type { PyModule } from '../../src/semantic/module.js';
import { isAlwaysAfter, mayLead } from '../../src/semantic/paths.js';
import { isNotebook } from '../../src/semantic/program.js';
import {
  argumentsOf,
  decoratorsOf,
  enclosingFunction,
  isAsync,
  isCallee,
  keywordValue,
  methodName,
  ownNodes,
  receiverOf,
  statementOf,
} from '../../src/semantic/statements.js';
import { usesElsewhere } from '../../src/semantic/uses-elsewhere.js';
import type { PyNode } from '../../src/syntax/node.js';
import { stateOfForward } from '../../src/torch/grad/kept-state.js';
import { mayHaveWeights, traceGraph } from '../../src/torch/module/networks.js';
import { leavesNothing } from '../../src/torch/record/left-behind.js';
import { fateOf } from './fate.js';
import { isLoss } from './inputs.js';

/**
 * A network that is trained, but not by what becomes of this run: `fake = G(z)` of a step that trains the discriminator. Each
 * backward that goes through it fills gradients which are cleared, on every way, before an optimizer of the network steps.
 * These backwards; none where that does not show.
 */
export function backwardsInVain(
  module: PyModule,
  statement: PyNode,
  networks: readonly PyNode[],
): readonly PyNode[] {
  const owner = enclosingFunction(statement) ?? module.root;
  if (isNotebook(module) || !mayBeFollowed(owner)) return [];
  if (UNFOLLOWED.some((word) => isAnywhere(module, word, hasWord))) return [];
  const readers = networks.map((network) => readersOf(module, network));
  if (readers.some((each) => each === undefined || each.length === 0)) return [];
  const callers = callersOf(module, owner);
  if (callers === undefined) return [];
  const found = new Set<PyNode>();
  let isKept = networks.some((network) => mayBeKept(module, network.parent ?? network));
  const part = { wrapped: [statement], statements: [statement], owner, models: networks };
  const leaves = !leavesNothing(module, part, (read) => {
    isKept ||= mayBeKept(module, read);
    const backward = backwardOf(read);
    if (backward === undefined || !readers.every((each) => areCleared(module, backward, each, callers)))
      return false;
    found.add(backward);
    return true;
  });
  return leaves || isKept ? [] : [...found];
}

/** Of the networks behind what is differentiated there, as written, those whose gradients nobody reads either. */
export function idleAt(module: PyModule, backward: PyNode): readonly string[] {
  const callers = callersOf(module, enclosingFunction(backward) ?? module.root);
  const found: string[] = [];
  traceGraph(module, receiverOf(backward) ?? backward, {
    call: (call) => {
      for (const each of [call.function, receiverOf(call)]) {
        if (each === undefined || !/^(?:identifier|attribute)$/.test(each.type)) continue;
        if (!mayHaveWeights(module, call) || !fateOf(module, each).isTrained) continue;
        const isIdle =
          callers !== undefined && areCleared(module, backward, readersOf(module, each), callers);
        if (isIdle) found.push(each.text);
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

/** Whether something that gets the value could keep it, with its graph, for a later backward. */
function mayBeKept(module: PyModule, value: PyNode): boolean {
  const statement = statementOf(value);
  for (const around of value.ancestors()) {
    if (around === statement) return false;
    if (around.type === 'call' && receiverOf(around)?.contains(value) && cutsGraph(methodName(around) ?? ''))
      return false;
    if (around.type !== 'call' || around.arguments?.contains(value) !== true) continue;
    const callee = around.function ?? around;
    const isBuiltin = callee.type === 'identifier' && module.resolve(callee) === undefined;
    const isLibrary = isBuiltin
      ? builtin(callee.text) !== undefined
      : qualifiedName(module, callee)?.startsWith(TORCH) === true;
    const isNetwork = () => fateOf(module, callee).isTrained && stateOfForward(module, callee) === undefined;
    if (!isLibrary && !isLoss(module, callee) && !isNetwork()) return true;
  }
  return false;
}

/** What runs a forward again, or waits for the gradients of every parameter. */
const UNFOLLOWED = [
  'checkpoint',
  'DistributedDataParallel',
  'register_full_backward_hook',
  'register_hook',
  'FullyShardedDataParallel',
  'fully_shard',
];

function hasWord(alone: PyModule, word: string): boolean {
  return alone.words(word).length > 0;
}

function mayBeFollowed(owner: PyNode): boolean {
  if (owner.type !== 'function_definition') return true;
  if (decoratorsOf(owner).length > 0 || isAsync(owner)) return false;
  return ![...ownNodes(owner)].some(({ type }) => type === 'yield' || type === 'await');
}

/** `loss.backward()` of the value itself, and nothing more. */
function backwardOf(read: PyNode): PyNode | undefined {
  const call = read.parent?.parent;
  if (call?.type !== 'call' || receiverOf(call) !== read || methodName(call) !== 'backward') return undefined;
  return argumentsOf(call).length === 0 && statementOf(read).named[0] === call ? call : undefined;
}

/** A step of an optimizer of the network, and what clears the gradients that it reads. */
interface Reader {
  readonly step: PyNode;
  readonly clears: readonly PyNode[];
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

/** The functions of the file that may run this one; undefined where more may. */
function callersOf(module: PyModule, owner: PyNode): ReadonlySet<PyNode> | undefined {
  const found = new Set<PyNode>();
  const pending = owner.type === 'function_definition' ? [owner] : [];
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    const name = at.name;
    if (name === undefined || decoratorsOf(at).length > 0) return undefined;
    const { uses, unread } = usesElsewhere(module, name, { may: () => true, byName: true });
    if (unread !== undefined || uses.some(({ node }) => enclosingFunction(node) !== undefined))
      return undefined;
    // Its own recursion.
    if ([...at.walk()].some((node) => node !== name && node.type === 'identifier' && node.text === name.text))
      return undefined;
    for (const use of functionUses(module, at)) {
      const callee = use.parent?.attribute === use ? use.parent : use;
      if (callee === undefined || !isCallee(callee)) return undefined;
      const caller = enclosingFunction(use);
      if (caller === undefined || found.has(caller)) continue;
      found.add(caller);
      pending.push(caller);
    }
  }
  return found;
}

/** Undefined where something else may read the gradients of a network. */
function readersOf(module: PyModule, network: PyNode): readonly Reader[] | undefined {
  const fate = fateOf(module, network);
  const found: Reader[] = [];
  for (const doubt of fate.doubts) {
    if (doubt.answer !== 'no') continue;
    const readers = doubt.trainer?.module === module ? readersBy(module, doubt.trainer, network) : undefined;
    if (readers === undefined) return undefined;
    found.push(...readers);
  }
  return found;
}

/** The steps of the optimizer that is made with such parameters, where all that is done with it shows. */
function readersBy(
  module: PyModule,
  { node: parameters }: Elsewhere,
  network: PyNode,
): readonly Reader[] | undefined {
  const assignment = statementOf(parameters).named[0];
  const optimizer = assignment?.type === 'assignment' ? assignment.left : undefined;
  const made = assignment?.right;
  const scope = optimizer?.type === 'identifier' ? module.resolve(optimizer) : undefined;
  if (optimizer === undefined || scope === undefined || made?.type !== 'call') return undefined;
  if (!(qualifiedName(module, made.function ?? made) ?? '').startsWith(OPTIMIZERS)) return undefined;
  if (module.writes(scope, optimizer.text).length !== 1) return undefined;
  const { uses, unread } = usesElsewhere(module, optimizer, { may: () => true, byName: false });
  if (uses.length > 0 || unread !== undefined) return undefined;
  const steps: PyNode[] = [];
  const clears: PyNode[] = [];
  for (const read of module.reads(scope, optimizer.text)) {
    const call = read.parent?.type === 'attribute' && isCallee(read.parent) ? read.parent.parent : undefined;
    const name = call && methodName(call);
    if (call !== undefined && name === 'step' && argumentsOf(call).length === 0) steps.push(call);
    else if (call !== undefined && name === 'zero_grad' && dropsGradients(call)) clears.push(call);
    else if (!isHarmless(module, read, name)) return undefined;
  }
  const own = network.type === 'identifier' ? module.resolve(network) : undefined;
  if (own !== undefined)
    for (const read of module.reads(own, network.text)) {
      const call =
        read.parent?.type === 'attribute' && isCallee(read.parent) ? read.parent.parent : undefined;
      if (call !== undefined && methodName(call) === 'zero_grad' && dropsGradients(call)) clears.push(call);
    }
  return steps.map((step) => ({ step, clears }));
}

/** `zero_grad()`; what `set_to_none=False` leaves are zeros, which a step takes for gradients. */
function dropsGradients(call: PyNode): boolean {
  const given = argumentsOf(call);
  return given.length === 0 || (given.length === 1 && keywordValue(call, 'set_to_none')?.type === 'true');
}

function isHarmless(module: PyModule, read: PyNode, method: string | undefined): boolean {
  if (method !== undefined) return method === 'state_dict' || method === 'load_state_dict';
  const callee = read.parent?.type === 'argument_list' ? read.parent.parent?.function : undefined;
  const path = callee && qualifiedName(module, callee);
  return path !== undefined && /^torch\.optim\.lr_scheduler\.[A-Z]\w*$/.test(path);
}
