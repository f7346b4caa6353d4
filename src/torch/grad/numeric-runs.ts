import { isOfModule } from '../../library/library.js';
import { calledDefinition, classAround } from '../../semantic/definitions.js';
import { qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import {
  enclosingFunction,
  givenTo,
  isPlainPath,
  methodName,
  ownNodes,
  receiverOf,
} from '../../semantic/statements.js';
import { namesMade } from '../../syntax/bound-name.js';
import type { Glimpse } from '../../syntax/glimpse.js';
import type { PyNode } from '../../syntax/node.js';
import { reachesGradUse } from '../../values/effects/grad.js';
import { isGradOff } from '../../values/effects/mode.js';
import { hasLayers } from '../module/layers.js';
import { isModel, nameSaysModel } from '../module/model-value.js';
import { moduleKind } from '../module/modules.js';
import { type Evaluation, switchesToEvaluation } from './evaluation.js';
import { isPartInFile, isPartInProject, runsNetwork } from './runs.js';

/** What ends as a number, a list, an array or an index, or is cut off, has no graph. */
export const NUMBERS: readonly string[] = [
  ...['.item()', '.tolist()', '.numpy()', 'argmax(', '.sample()'],
  ...['.detach()', '.data', 'make_grid(', 'save_image('],
];

const CALLED = /(?<![\w\u0080-\uffff])([\w\u0080-\uffff]+)[\s\\]*\(/g;
/** What a call is given by name: `render(rays, model)`. */
const GIVEN = /[(,=][\s\\]*(?:self\.)?([a-z]\w*)(?=[\s\\]*[,)])/g;
const DECIDES =
  /backward|autograd(?!\.Variable\()|no_?grad|inference_?mode|grad_enabled|requires_grad|optim/i;
/** What runs inside a network gives its result to whoever runs that. */
const INSIDE = /^(?:@.*\s*)*(?:async[ \t]+)?def[ \t]+(?:forward|__call__)\b/;

/**
 * Whether a function may run a network for numbers alone, going by its code: it calls something by the name of a network, or
 * something that a class made, and neither differentiates nor switches gradients off.
 */
export function mayRunForNumbers(glimpse: Glimpse): (code: string) => boolean {
  const mayCall = mayCallNetwork(glimpse);
  return (code) => !INSIDE.test(code) && !DECIDES.test(code) && mayCall(code);
}

/** Whether some code may make numbers of what a function of the file, which runs a network, hands it. */
export function mayReadNumbers(glimpse: Glimpse): (code: string) => boolean {
  return (code) => {
    for (const [, name = ''] of code.matchAll(CALLED)) if (glimpse.memo(namesRunning).has(name)) return true;
    return false;
  };
}

/** The functions of a file that may run a network and hand back what it gives. */
function namesRunning(glimpse: Glimpse): ReadonlySet<string> {
  const may = mayRunForNumbers(glimpse);
  const found = glimpse
    .stretchesWith('return')
    .filter((code) => may(code))
    .map((code) => /^(?:@.*\s*)*def[ \t]+(\w+)/.exec(code)?.[1] ?? '');
  return new Set(found);
}

function isOutside({ type }: PyNode): boolean {
  return !/_definition$|^lambda$/.test(type);
}

/** Whether some code may call a network at all. */
export function mayCallNetwork(glimpse: Glimpse): (code: string) => boolean {
  return (code) => {
    for (const [, name = ''] of code.matchAll(CALLED))
      if (
        name === 'forward' ||
        isCalledLikeNetwork(name) ||
        glimpse.memo(namesMade).has(name) ||
        glimpse.memo(ownMethods).has(name)
      )
        return true;
    for (const [, name = ''] of code.matchAll(PART_CALLED))
      if (isCalledLikeNetwork(name) || glimpse.memo(namesMade).has(name)) return true;
    for (const [, name = ''] of code.matchAll(GIVEN)) if (isCalledLikeNetwork(name)) return true;
    return false;
  };
}

/** The methods of a file with networks, or with attributes that classes made, which may run them. */
function ownMethods({ text }: Glimpse): ReadonlySet<string> {
  if (!/\bModule\b[^\n]*\)[ \t]*:|\bself\.\w+[ \t]*=[ \t]*(?:\w+\.){0,9}[A-Z]\w*\(/.test(text))
    return new Set();
  return new Set([...text.matchAll(/\bdef[ \t]+([a-z]\w*)\(\s*self\b/g)].map(([, name = '']) => name));
}

/** A part of something by the name of a network: `model.ae(x)`, `self.actor.act(x)`. */
const PART_CALLED = /(?<![\w.])(?:self\.)?(\w+)\.[a-z]\w*\(/g;

/** `load_model(…)` is called like something that is done, `model(…)` like what does it. */
const DONE =
  /^_*(?:add|build|check|clone|compile|configure|convert|copy|create|delete|disable|download|dump|enable|evaluate|export|fit|free|freeze|from|get|has|init|initialize|inject|instantiate|is|load|log|make|move|prepare|print|prune|push|quantize|read|register|remove|replace|reset|restore|run|save|select|set|setup|store|summarize|switch|sync|test|to|train|unfreeze|unwrap|update|upload|validate|visualize|wrap|write)_/;

/** A capital letter begins a class: calling that makes a network, and runs none. */
function isCalledLikeNetwork(name: string): boolean {
  return !/^[A-Z]/.test(name) && !DONE.test(name) && nameSaysModel(name) === 'yes';
}

/**
 * The networks that functions run without a word about their mode, where what becomes of the results is a question of its
 * own: an agent that chooses an action, a score of a dataset.
 */
export function numericRuns(module: PyModule): readonly Evaluation[] {
  return module.memo(findRuns, module);
}

function findRuns(module: PyModule): readonly Evaluation[] {
  const functions = new Set<PyNode>();
  const callers = new Set<PyNode>();
  for (const literal of NUMBERS) {
    for (const node of module.atWhere(literal, mayRunForNumbers(module.glimpse))) {
      const functionNode = enclosingFunction(node);
      if (functionNode !== undefined) functions.add(functionNode);
    }
    for (const node of module.atWhere(literal, mayReadNumbers(module.glimpse)))
      callers.add(enclosingFunction(node) ?? module.root);
  }
  // `select_action(state)`, where the one that asks for it makes a number of it.
  for (const caller of callers)
    for (const node of caller === module.root ? caller.walk(isOutside) : ownNodes(caller)) {
      const called = node.type === 'call' ? calledDefinition(module, node) : undefined;
      if (called?.type === 'function_definition' && called !== caller) functions.add(called);
    }
  return [...functions].flatMap((functionNode) => runsOf(module, functionNode));
}

function runsOf(module: PyModule, functionNode: PyNode): readonly Evaluation[] {
  const calls = [...ownNodes(functionNode)].filter(({ type }) => type === 'call');
  // Those with a switch are found by it.
  if (calls.some(switchesToEvaluation)) return [];
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
}

/** The network that a call runs, as written: `net` of `net(x)`, `net.forward(x)` and `net.encode(x)`. */
export function networkRunBy(module: PyModule, call: PyNode): PyNode | undefined {
  const callee = call.function;
  const object = callee?.type === 'attribute' ? callee.object : undefined;
  if (callee === undefined || !mayRun(module, callee, object)) return undefined;
  if (qualifiedName(module, callee) !== undefined) return undefined;
  const isSpelled = object !== undefined && methodName(call) === 'forward';
  const network = isSpelled ? object : callee;
  if (!isPlainPath(network)) return undefined;
  const around = classAround(call);
  if (network.text === around?.self)
    return moduleKind(module, around.classNode).isModule === 'no' ? undefined : network;
  if (!isSpelled && calledDefinition(module, call) !== undefined && object?.text === around?.self)
    return ownNetwork(module, call, object);
  if (isNetwork(module, network, isSpelled) && calledDefinition(module, call) === undefined) return network;
  // `model.encode(x)`, `model.encoder(x)`.
  const name = methodName(call) ?? '';
  if (object === undefined || object.text === around?.self || !isPlainPath(object) || isOfModule(name))
    return undefined;
  if (!isNetwork(module, object, false)) return undefined;
  return isPartInFile(module, name) || isPartInProject(module, name) ? object : undefined;
}

/** How many functions are followed to where a network runs. */
const MAX_CALLS = 3;

/**
 * The network that a function of the file runs for whoever calls it: one that it is given (`render(rays, model)`), or one of
 * the object that it is a method of (`self.sample(z)`, which runs `self.generator`).
 */
export function networkRunThrough(module: PyModule, call: PyNode, depth = 0): PyNode | undefined {
  const callee = call.function;
  const definition = depth < MAX_CALLS ? calledDefinition(module, call) : undefined;
  if (callee === undefined || definition?.type !== 'function_definition' || isGradOff(module, definition))
    return undefined;
  // What evaluates or differentiates is looked at itself.
  const calls = [...ownNodes(definition)].filter(({ type }) => type === 'call');
  if (calls.some(switchesToEvaluation) || reachesGradUse(module, definition)) return undefined;
  const given = givenTo(call).find(
    (value) =>
      isPlainPath(value) &&
      mayBeNetwork(module, value) &&
      isNetwork(module, value, false) &&
      runsNetwork(module, call, value.text, isPartInFile),
  );
  const self = classAround(call)?.self;
  if (given !== undefined || self === undefined || callee.object?.text !== self) return given;
  for (const inner of calls) {
    if (isGradOff(module, inner)) continue;
    const model = networkRunBy(module, inner) ?? networkRunThrough(module, inner, depth + 1);
    if (model?.text.startsWith(`${self}.`)) return model;
  }
  return undefined;
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
  return isPlainPath(object) && mayBeNetwork(module, object);
}

function lastName(path: PyNode): string {
  return (path.attribute ?? path).text;
}

function mayBeNetwork(module: PyModule, network: PyNode): boolean {
  const name = lastName(network);
  return isCalledLikeNetwork(name) || module.glimpse.memo(namesMade).has(name);
}

/** The name, or the word `forward`, lets one ask; where it is known what made it, that decides. */
function isNetwork(module: PyModule, network: PyNode, isSpelled: boolean): boolean {
  const name = lastName(network);
  if (isSpelled || isCalledLikeNetwork(name)) return isModel(module, network) !== 'no';
  return module.glimpse.memo(namesMade).has(name) && hasLayers(module, network);
}
