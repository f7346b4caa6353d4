import { isOfModule } from '../../library/library.js';
import { FRAMEWORKS, OPTIMIZERS, PLAIN_BASES, TORCH_JIT } from '../../library/names.js';
import { nameOf } from '../../semantic/called-name.js';
import { calledDefinition, classAround } from '../../semantic/definitions.js';
import { type Elsewhere, lineageOf, makerOf, makersElsewhere } from '../../semantic/elsewhere.js';
import { placeOf, shown } from '../../semantic/gate.js';
import { qualifiedName } from '../../semantic/imports.js';
import { membersAsked } from '../../semantic/instance.js';
import { valuesInside } from '../../semantic/literals.js';
import type { PyModule } from '../../semantic/module.js';
import { functionsNamed } from '../../semantic/project-names.js';
import { ask, type Question } from '../../semantic/question.js';
import { methodElsewhere, methodsByName, reachedFrom } from '../../semantic/reach.js';
import { rememberedFrom } from '../../semantic/remembered.js';
import { functionElsewhere } from '../../semantic/star-imports.js';
import { decoratorsOf, enclosingClass, givenTo, methodName, receiverOf } from '../../semantic/statements.js';
import { isUnbound } from '../../semantic/variables.js';
import type { PyNode } from '../../syntax/node.js';
import { ONLY_READ } from '../../torch/questions.js';
import { keepingMethod, keeps } from '../uses/escapes.js';
import { TRAINS, trainsInLibraries } from '../value/names.js';
import { isBuiltin } from '../value/origins.js';
import { isHandle } from '../value/parts.js';
import { isOfKnownPackage } from '../value/plain.js';
import { GradTrace } from '../value/trace.js';
import type { Suspect } from './differentiators.js';
import { gradUseElsewhere } from './elsewhere.js';
import { reachesGradUse } from './grad.js';
import { bare, handedFunction, handedKeeper } from './handed-function.js';
import { keptByOperator } from './kept-by-operator.js';
import { keptByOverride } from './kept-by-override.js';
import { soundsLikeOptimizer } from './optimizer-names.js';
import { differentiatingOverride } from './overrides.js';
import { strangersRunIn } from './strangers-called.js';
import { mayTakeBackward, takesAnyOf } from './taken-by-text.js';
import { takenMethod } from './taken-method.js';
import {
  askAbout,
  calledValue,
  differentiatingAttribute,
  differentiatingMethod,
  differentiatorSet,
  isHeldCallable,
  switchingNetwork,
  valueCalledOnTheWay,
} from './unknown-code.js';

/** A call whose code is elsewhere. `Suspicion`: its name says that it trains. `Opaque`: it gets what it would need for that. */
export interface Suspicion {
  readonly kind: 'trains';
  readonly words: string;
}

export interface Opaque {
  readonly kind: 'opaque';
  readonly question: Question;
}

/** What the calls of a function, or of a part of it, could do to gradients, the worst first. */
export function suspicionsOf(
  module: PyModule,
  functionNode: PyNode,
  models: ReadonlySet<string>,
  trace: GradTrace,
  part = functionNode.body ?? functionNode,
): readonly (Suspicion | Opaque)[] {
  const found: Opaque[] = [];
  for (const node of part.walk()) {
    const kept = keptByOperator(module, node, trace, keeperNamed);
    if (kept !== undefined) found.push({ kind: 'opaque', question: kept });
    const method = takenMethod(module, node, models);
    if (method !== undefined) found.push({ kind: 'opaque', question: method });
    if (node.type !== 'call') continue;
    const training = trainingCall(module, node, models);
    if (training !== undefined) return [training];
    const opaque = opaqueCall(module, node, models, trace);
    if (opaque !== undefined) found.push({ kind: 'opaque', question: opaque });
  }
  const value = valueCalledOnTheWay(module, part === functionNode.body ? functionNode : part);
  if (value !== undefined)
    found.push({ kind: 'opaque', question: anotherFunction(value.callee, value.suspect) });
  const strangers = found.length === 0 ? strangersRunIn(module, part, models) : [];
  return [...found, ...strangers.map((question) => ({ kind: 'opaque', question }) as const)];
}

/** The same for what the function runs in its own file. */
export function trainingCallReached(module: PyModule, functionNode: PyNode): Suspicion | undefined {
  for (const via of reachedFrom(module, functionNode)) {
    const found = module.memo(findTrainingCall, via);
    if (found !== undefined)
      return { ...found, words: `it runs \`${via.name?.text ?? 'lambda'}\`, and ${found.words}` };
  }
  return undefined;
}

function findTrainingCall(module: PyModule, functionNode: PyNode): Suspicion | undefined {
  for (const node of (functionNode.body ?? functionNode).walk()) {
    const found = node.type === 'call' ? trainingCall(module, node) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A call that trains by its name, or is handed an optimizer. */
export function trainingCall(
  module: PyModule,
  call: PyNode,
  models: ReadonlySet<string> = new Set(),
): Suspicion | undefined {
  const callee = call.function;
  if (callee === undefined || calledDefinition(module, call) !== undefined) return undefined;
  const elsewhere = gradUseElsewhere(module, callee);
  if (elsewhere !== undefined)
    return {
      kind: 'trains',
      words: `it calls \`${shown(callee)}\`, which ${elsewhere.use.words} in ${elsewhere.path}`,
    };
  const name = nameOf(callee);
  const optimizer = givenTo(call).find((given) => soundsLikeOptimizer(module, bare(given)));
  if (optimizer !== undefined && !isFollowed(module, call, callee))
    return { kind: 'trains', words: `it hands \`${optimizer.text}\` to \`${shown(callee)}\`` };
  const path = qualifiedName(module, callee);
  if (!TRAINS.test(name) || (path !== undefined && isOfKnownPackage(path))) return undefined;
  if (name === 'train' && isModeSwitch(module, call, models)) return undefined;
  // `zero_grad()` does the same in both modes.
  if (name !== 'train' && isOfModule(name) && differentiatingMethod(module, call) === undefined)
    return undefined;
  if (isHarmlessMethod(module, call, models)) return undefined;
  return {
    kind: 'trains',
    words: `it calls \`${shown(callee)}\`, which needs gradients by its name`,
  };
}

/** `model.finetune(x)` of a network: the project has methods of this name, and none of them differentiates. */
function isHarmlessMethod(module: PyModule, call: PyNode, models: ReadonlySet<string>): boolean {
  const receiver = receiverOf(call);
  const name = methodName(call);
  if (receiver === undefined || name === undefined || /^(?:fit|train)$/.test(name)) return false;
  if (!models.has(receiver.text) && !membersAsked(module, receiver).has('eval')) return false;
  const named = functionsNamed(module, name) ?? [];
  return named.some(({ owner }) => owner !== undefined) && differentiatingMethod(module, call) === undefined;
}

/** What the call runs is known: Python's, torch's, or code of the project that does not differentiate. */
function isFollowed(module: PyModule, call: PyNode, callee: PyNode): boolean {
  if (isBuiltin(module, callee) || functionElsewhere(module, callee) !== undefined) return true;
  const path = qualifiedName(module, callee);
  if (path !== undefined) return isOfKnownPackage(path);
  const named = functionsNamed(module, nameOf(callee)) ?? [];
  return named.length > 0 && differentiatingMethod(module, call) === undefined;
}

/** `model.train()`, `model.train(was_training)` of an object that is put into evaluation mode as well. */
function isModeSwitch(module: PyModule, call: PyNode, models: ReadonlySet<string>): boolean {
  const receiver = receiverOf(call);
  const given = givenTo(call);
  if (receiver === undefined || given.length > 1) return false;
  const isFlag = /^(?:true|false|not_operator)$/.test(bare(given[0] ?? call).type);
  return isFlag || models.has(receiver.text) || membersAsked(module, receiver).has('eval');
}

function opaqueCall(
  module: PyModule,
  call: PyNode,
  models: ReadonlySet<string>,
  trace: GradTrace,
): Question | undefined {
  const callee = call.function;
  if (callee === undefined || models.has(callee.text)) return undefined;
  const other = (suspect: Suspect): Question => anotherFunction(callee, suspect);
  const handed = handedFunction(module, call) ?? handedKeeper(module, call, trace, isHarmlessFunction);
  if (handed !== undefined) return handed;
  if (mayTakeBackward(module, call, trace))
    return ask('runs-without')`Does \`${shown(call)}\` give something other than \`backward\`?`;
  const own = calledDefinition(module, call);
  if (own !== undefined) {
    const override = differentiatingOverride(module, call, own);
    if (override !== undefined) return other(override);
    return keptByOverride(module, call, own, models, trace, isHarmless);
  }
  const path = qualifiedName(module, callee);
  if (path?.startsWith(OPTIMIZERS))
    return ask(
      'idle-optimizer',
    )`Does the \`${shown(callee)}\` made here wait with its steps until the function has ended?`;
  if (path?.startsWith(TORCH_JIT))
    return ask('compiled-without-gradients')`Does what \`${shown(callee)}\` compiles work without gradients?`;
  if (path !== undefined && isOfKnownPackage(path)) {
    const set = differentiatorSet(module, callee);
    return set && other(set);
  }
  if (isBuiltin(module, callee)) return undefined;
  const given = givenTo(call).map(bare);
  const self = classAround(call)?.self;
  const network = given
    .flatMap(valuesInside)
    .find(
      (each) =>
        models.has(each.text) || (each.text === self && self !== undefined) || isNetworkOf(each, models),
    );
  const graph = given.find((each) => trace.of(each) === 'graph');
  const any = takesAnyOf(module, callee);
  if (any !== undefined) {
    // Where it is asked of the loss itself, that is all.
    if (trace.of(any) === 'graph') return undefined;
    const read = network ?? graph ?? (models.has(any.text) ? any : undefined);
    if (read !== undefined)
      return ask(
        'only-reads',
      )`Does \`${shown(callee)}\` only read \`${shown(read)}\`, without keeping or differentiating it?`;
  }
  const name = nameOf(callee);
  const receiver = receiverOf(call);
  const isOfNetwork = receiver !== undefined && models.has(receiver.text);
  const makers = makersElsewhere(module, path);
  const found =
    functionElsewhere(module, callee) ?? makers.find((each) => !isHarmlessFunction(each)) ?? makers[0];
  if (found !== undefined && (network ?? graph) !== undefined && !isHarmlessFunction(found)) {
    const place = placeOf(found.module, found.node);
    return ask(
      'only-reads',
    )`Does \`${shown(callee)}\` (${place}) only read \`${shown(network ?? graph ?? callee)}\`, without keeping or differentiating it?`;
  }
  // A method of a network may keep what it computes, whatever it is given.
  if (found !== undefined && !isOfNetwork) return undefined;
  if (isOfNetwork) {
    if (/^(?:train|eval)$/.test(name)) {
      const switching = switchingNetwork(module, receiver);
      return switching && anotherNetwork(receiver, switching);
    }
    const method = isOfModule(name) ? undefined : differentiatingMethod(module, call);
    if (method !== undefined) return other(method);
    // What a forward keeps is asked of the network.
    const keeper =
      isOfModule(name) || name === 'forward' ? undefined : keepingMethod(module, name, graph !== undefined);
    return keeper === undefined
      ? undefined
      : ask('kept-only-read')`Is what \`${shown(callee)}\` keeps${keeper} ${ONLY_READ}?`;
  }
  if (path !== undefined && (network !== undefined || call.parent?.type === 'expression_statement'))
    return ask(
      'runs-without-training',
    )`Does \`${shown(callee)}\`, which is of another project, run without training ${network === undefined ? 'anything' : `\`${shown(network)}\``}?`;
  if (receiver === undefined || path !== undefined || isHeldCallable(module, callee)) {
    const { suspect, functions, isFollowed } = calledValue(module, callee, call);
    if (suspect !== undefined) return other(suspect);
    const isForEffect = call.parent?.type === 'expression_statement';
    const keeps = functions.some((each) => !isHarmless(each.module, each.node));
    const mayCall = path !== undefined && !isFollowed && keeperNamed(module, '__call__') !== undefined;
    if (graph !== undefined && (keeps || mayCall || (isForEffect && !isFollowed)))
      return ask(
        'kept-only-read',
      )`Is \`${shown(graph)}\`, which \`${shown(callee)}\` may keep, ${ONLY_READ}?`;
    if (network !== undefined && isUnbound(module, callee) && !isFollowed)
      return ask(
        'runs-without-training',
      )`Does \`${shown(callee)}\`, which comes from elsewhere, run without training \`${shown(network)}\`?`;
    if (path === undefined) return undefined;
  }
  // A method of a tensor, a list or another plain thing that this function made.
  const isPlain = receiver !== undefined && path === undefined && !isHandle(module, receiver, self);
  if (isPlain) return undefined;
  const method = differentiatingMethod(module, call) ?? differentiatingAttribute(module, call);
  if (method !== undefined) return other(method);
  const keeper = graph && receiver !== undefined ? keeperNamed(module, name) : undefined;
  if (keeper !== undefined && graph !== undefined)
    return ask(
      'kept-only-read',
    )`Is \`${shown(graph)}\`, which \`${shown(callee)}\` may keep (${keeper}), ${ONLY_READ}?`;
  const isOfLibrary = receiver !== undefined && mayBeOfLibrary(module, receiver, name);
  if (isOfLibrary && trainsInLibraries(name, given.length))
    return ask(
      'runs-without-training',
    )`Does \`${shown(callee)}\`, which comes from elsewhere, run without training anything?`;
  const base = receiver?.text === self ? foreignBase(module, call) : undefined;
  if (base !== undefined && isOfLibrary)
    return ask(
      'runs-without-training',
    )`Does \`${shown(callee)}\`, inherited from \`${base}\`, run without training anything?`;
  return undefined;
}

function anotherFunction(callee: PyNode, suspect: Suspect): Question {
  return askAbout(suspect, (words) => ask('another-function')`Is \`${shown(callee)}\` never ${words}?`);
}

function anotherNetwork(receiver: PyNode, suspect: Suspect): Question {
  return askAbout(
    suspect,
    (words) => ask('another-network')`Is \`${shown(receiver)}\` something other than ${words}?`,
  );
}

/** The method is none of the project's as far as that shows, and the object none that a package made which memfix knows. */
function mayBeOfLibrary(module: PyModule, receiver: PyNode, name: string): boolean {
  const maker = makerOf(module, receiver);
  if (maker !== undefined && isOfKnownPackage(maker)) return false;
  return (functionsNamed(module, name)?.length ?? 0) === 0;
}

/** A base of the class around a call that neither the project nor torch has. */
function foreignBase(module: PyModule, call: PyNode): string | undefined {
  const classNode = classAround(call)?.classNode;
  if (classNode === undefined) return undefined;
  return lineageOf(module, classNode).imported.find(
    (path) => !isOfKnownPackage(path) && !PLAIN_BASES.has(path) && !FRAMEWORKS.test(path),
  );
}

/** The method of this name, of a class of the project, that keeps what it is given. */
function keeperNamed(
  module: PyModule,
  name: string,
  is: (there: PyModule, method: PyNode) => boolean = () => true,
): string | undefined {
  const isKeeper = (there: PyModule, method: PyNode): boolean =>
    is(there, method) && !isHarmless(there, method);
  const own = methodsByName(module, name).find((method) => isKeeper(module, method));
  if (own !== undefined) return `\`${enclosingClass(own)?.name?.text}.${name}\``;
  return methodElsewhere(module, name, isKeeper);
}

/** A function of another file of the project that is as free of suspicion as one of this file would have to be. */
function isHarmlessFunction(found: Elsewhere): boolean {
  if (decoratorsOf(found.node).length > 0) return false;
  return isHarmless(found.module, found.node);
}

/** What reaches attributes and functions by text. */
const REFLECTION: ReadonlySet<string> = new Set(['getattr', 'exec', 'globals', 'vars', '__dict__']);

/** All of its parameters may be results of a network, and none may be kept. One that runs itself on the way is not taken apart. */
export const isHarmless = rememberedFrom(false, (module, functionNode): boolean => {
  if ([...functionNode.walk()].some(({ type, text }) => type === 'identifier' && REFLECTION.has(text)))
    return false;
  if (reachesGradUse(module, functionNode)) return false;
  if (trainingCallReached(module, functionNode) !== undefined) return false;
  if (keeps(module, functionNode)) return false;
  const networks = new Set<string>();
  const trace = new GradTrace(module, functionNode, networks, 'graph');
  return suspicionsOf(module, functionNode, networks, trace).length === 0;
});

function isNetworkOf(node: PyNode, models: ReadonlySet<string>): boolean {
  return (
    node.type === 'attribute' && node.attribute?.text === 'module' && models.has(node.object?.text ?? '')
  );
}
