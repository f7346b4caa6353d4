import { isOfModule } from '../../library/library.js';
import { calledDefinition, classAround } from '../../semantic/definitions.js';
import { valuesGiven } from '../../semantic/function-uses.js';
import { qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { remembered } from '../../semantic/remembered.js';
import { starredFunction } from '../../semantic/star-imports.js';
import {
  enclosingFunction,
  isCallee,
  isPlainPath,
  methodName,
  ownNodes,
  receiverOf,
  wholeName,
} from '../../semantic/statements.js';
import { waysGiven } from '../../semantic/variables.js';
import { namesMade, namesOfModules } from '../../syntax/bound-name.js';
import type { PyNode } from '../../syntax/node.js';
import { isGradOff } from '../../values/effects/mode.js';
import { importsOtherFramework } from '../framework.js';
import { hasLayers } from '../module/layers.js';
import { isModel, nameSaysModel } from '../module/model-value.js';
import { moduleKind } from '../module/modules.js';
import { type Evaluation, switchesToEvaluation } from './evaluation.js';
import {
  isCalledLikeNetwork,
  isCalledLikeNetworks,
  mayReadNumbers,
  mayRunForNumbers,
  mayRunForOwnNumbers,
  NUMBERS,
  namesHandingOn,
  nameTest,
  once,
  returningTest,
  runTest,
  someCall,
  type Test,
} from './numeric-cues.js';
import { isPartInFile, isPartInProject, makesNetwork } from './runs.js';

function isOutside({ type }: PyNode): boolean {
  return !/_definition$|^lambda$/.test(type);
}

/**
 * The networks that functions run without a word about their mode, where what becomes of the results is a question of its
 * own: an agent that chooses an action, a score of a dataset.
 */
export function numericRunsIn(module: PyModule, functionNode: PyNode): readonly Evaluation[] {
  return numericFunctions(module).has(functionNode) ? runsWithoutSwitch(module, functionNode) : [];
}

/** All of them in a function without a switch to evaluation mode: those with one are found by it. */
export const runsWithoutSwitch = remembered(
  (module: PyModule, functionNode: PyNode): readonly Evaluation[] => {
    const calls = ownNodes(functionNode).filter(({ type }) => type === 'call');
    if (calls.some((call) => switchesToEvaluation(call) && !isOwnObject(receiverOf(call)))) return [];
    const byNetwork = new Map<string, Evaluation & { forwards: PyNode[] }>();
    for (const call of calls) {
      const model = networkRunBy(module, call);
      if (model === undefined || isGradOff(module, call)) continue;
      const trains = calls.filter(
        (each) => methodName(each) === 'train' && receiverOf(each)?.text === model.text,
      );
      const run = byNetwork.get(model.text) ?? {
        ...{ functionNode, model, evals: [], trains, forwards: [], gradless: [] },
      };
      run.forwards.push(call);
      byNetwork.set(model.text, run);
    }
    return [...byNetwork.values()];
  },
);

/** Whether some code may run a network: as its cue, but the project is asked which methods do. What it rules out is not parsed. */
export const mayRunHere = remembered((module: PyModule): Test => {
  return once(runTest(module.glimpse, (name) => isPartInProject(module, name)));
});

/** The functions that such runs may be in. */
export const numericFunctions = remembered((module: PyModule): ReadonlySet<PyNode> => {
  const functions = new Set<PyNode>();
  const callers = new Set<PyNode>();
  const mayRun = mayRunHere(module);
  const [mayRunAny, mayRunOwn, mayRead] = [mayRunForNumbers, mayRunForOwnNumbers, mayReadNumbers].map(
    (test) => module.glimpse.memo(test),
  ) as [Test, Test, Test];
  // `select_action(state)`, where the one that asks for it makes a number of it.
  const isRunning = returningTest(module.glimpse, (code) => mayRunAny(code) && mayRun(code));
  const isReading = once((code) => mayRead(code) && someCall(code, ({ name }) => isRunning(name)));
  for (const literal of NUMBERS) {
    for (const node of module.atWhere(literal, (code) => mayRunOwn(code) && mayRun(code))) {
      const functionNode = enclosingFunction(node);
      if (functionNode !== undefined) functions.add(functionNode);
    }
    for (const node of module.atWhere(literal, isReading))
      callers.add(enclosingFunction(node) ?? module.root);
  }
  // `predictions(model(x))`, where that makes numbers of it.
  for (const name of module.glimpse.memo(namesHandingOn))
    for (const node of module.wordsWhere(name, mayRun)) {
      const functionNode = isCallee(wholeName(node)) ? enclosingFunction(node) : undefined;
      if (functionNode !== undefined && mayRunAny(module.codeOf(functionNode))) functions.add(functionNode);
    }
  for (const caller of callers)
    for (const node of caller === module.root ? caller.walk(isOutside) : ownNodes(caller)) {
      if (node.type !== 'call' || !isRunning(methodName(node) ?? node.function?.text ?? '')) continue;
      const called = calledDefinition(module, node);
      if (called?.type === 'function_definition' && called !== caller) functions.add(called);
    }
  return functions;
});

/** `self.eval()`: what the object has and runs goes by other names. */
function isOwnObject(receiver: PyNode | undefined): boolean {
  return receiver !== undefined && receiver.text === classAround(receiver)?.self;
}

/** The network that a call runs, as written: `net` of `net(x)`, `net.forward(x)` and `net.encode(x)`. */
export const networkRunBy = remembered((module: PyModule, call: PyNode): PyNode | undefined => {
  const callee = call.function;
  const object = callee?.type === 'attribute' ? callee.object : undefined;
  if (callee?.type === 'subscript') return isItemOfNetworks(module, callee) ? callee : undefined;
  if (callee === undefined || !mayRun(module, callee, object)) return undefined;
  if (qualifiedName(module, callee) !== undefined || makesNetwork(module, call)) return undefined;
  const isSpelled = object !== undefined && methodName(call) === 'forward';
  const network = isSpelled ? object : callee;
  if (!isPlainPath(network)) return undefined;
  const around = classAround(call);
  if (network.text === around?.self)
    return moduleKind(module, around.classNode).isModule === 'no' ? undefined : network;
  if (!isSpelled && calledDefinition(module, call) !== undefined && object?.text === around?.self)
    return ownNetwork(module, call, object);
  if (isNetwork(module, network, isSpelled) && !runsFunction(module, call, callee)) return network;
  // `model.encode(x)`, `model.encoder(x)`.
  const name = methodName(call) ?? '';
  if (object === undefined || object.text === around?.self || !isPlainPath(object) || isOfModule(name))
    return undefined;
  // What made the object is a longer way to go.
  const isPart = isPartInFile(module, name);
  if (!isPart && !isPartInProject(module, name)) return undefined;
  if (isNetwork(module, object, false)) return object;
  // `f.classify(x)`, whatever it is called, of what may be a network of the file.
  const mayBe = object.type === 'identifier' && nameSaysModel(object.text) !== 'no';
  return isPart && mayBe && mayBeOfTorch(module, object) ? object : undefined;
});

/** One of the project, in this file or by `from helpers import *`: what it is called says nothing of what it does. */
function runsFunction(module: PyModule, call: PyNode, callee: PyNode): boolean {
  return calledDefinition(module, call) !== undefined || starredFunction(module, callee) !== undefined;
}

/** `self` of `self.value(x)`, where that runs layers of the network that it is a method of. */
function ownNetwork(module: PyModule, call: PyNode, object: PyNode | undefined): PyNode | undefined {
  const around = classAround(call);
  if (object === undefined || object.text !== around?.self) return undefined;
  const isOfNetwork = moduleKind(module, around.classNode).isModule === 'yes';
  return isOfNetwork && isPartInFile(module, methodName(call) ?? '') ? object : undefined;
}

/** Going by names alone, before anything is followed: most calls run no network. */
function mayRun(module: PyModule, callee: PyNode, object: PyNode | undefined): boolean {
  if (mayBeNetwork(module, callee) || lastName(callee) === 'forward') return true;
  if (object === undefined) return callee.text === classAround(callee)?.self;
  if (object.text === classAround(callee)?.self) return isPartInFile(module, lastName(callee));
  if (!isPlainPath(object)) return false;
  const name = lastName(callee);
  return mayBeNetwork(module, object) || (object.type === 'identifier' && isPartInFile(module, name));
}

/** `self.actors[i]`, by an index that says the same wherever it stands. */
function isItemOfNetworks(module: PyModule, item: PyNode): boolean {
  const networks = item.value;
  const index = item.named[1];
  if (networks === undefined || !isPlainPath(networks) || item.named.length !== 2) return false;
  if (!/^(?:identifier|integer|string)$/.test(index?.type ?? '')) return false;
  return isCalledLikeNetworks(lastName(networks)) && mayBeOfTorch(module, item);
}

export function lastName(path: PyNode): string {
  return (path.attribute ?? path).text;
}

export function mayBeNetwork(module: PyModule, network: PyNode): boolean {
  return module.glimpse.memo(nameTest)(lastName(network));
}

/** The name, or the word `forward`, lets one ask; where it is known what made it, that decides. */
export function isNetwork(module: PyModule, network: PyNode, isSpelled: boolean): boolean {
  const name = lastName(network);
  if (isSpelled || isCalledLikeNetwork(name) || module.glimpse.memo(namesOfModules).has(name))
    return mayBeOfTorch(module, network);
  return module.glimpse.memo(namesMade).has(name) && isGivenLayers(module, network, 0);
}

/** How many functions hand it on. */
const MAX_GIVEN = 3;

/** By what made it, or what all callers of the function that has it as a parameter give. */
function isGivenLayers(module: PyModule, network: PyNode, hops: number): boolean {
  if (hasLayers(module, network)) return true;
  const [way, ...others] = network.type === 'identifier' ? waysGiven(module, network) : [];
  const owner = way?.kind === 'parameter' ? enclosingFunction(way.node) : undefined;
  if (way === undefined || owner === undefined || others.length > 0 || hops === MAX_GIVEN) return false;
  const given = valuesGiven(module, owner, way.node) ?? [];
  return given.length > 0 && given.every((each) => isGivenLayers(each.module, each.node, hops + 1));
}

/** Beside another framework, a network of unknown making is as likely one of that. */
function mayBeOfTorch(module: PyModule, network: PyNode): boolean {
  const answer = isModel(module, network);
  return answer === 'yes' || (answer === 'unknown' && !importsOtherFramework(module));
}
