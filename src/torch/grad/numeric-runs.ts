import { isOfModule } from '../../library/library.js';
import { calledDefinition, classAround } from '../../semantic/definitions.js';
import { qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import {
  enclosingFunction,
  givenTo,
  isCallee,
  isPlainPath,
  methodName,
  ownNodes,
  receiverOf,
  wholeName,
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
import { isPartInFile, isPartInProject, makesNetwork, runsNetwork } from './runs.js';

/** What ends as a number, a list, an array or an index, or is cut off, has no graph. */
export const NUMBERS: readonly string[] = [
  ...['.item()', '.tolist()', '.numpy()', 'argmax(', '.sample()', '.max(', 'multinomial('],
  ...['.detach()', '.data', 'make_grid(', 'save_image('],
];

/** What is called, and the object that it is called on: `encode` and `model` of `self.model.encode(x)`. */
const CALLED =
  /(?<![\w\u0080-\uffff]|\bdef[ \t]+)(?:([\w\u0080-\uffff]+)[\s\\]*\.[\s\\]*)?([\w\u0080-\uffff]+)[\s\\]*\(/g;
/** What a call is given by name: `render(rays, model)`. */
const GIVEN = /[(,=][\s\\]*(?:self\.)?([a-z]\w*)(?=[\s\\]*[,)])/g;
const DECIDES =
  /backward|autograd(?!\.Variable\()|no_?grad|inference_?mode|grad_enabled|requires_grad|optim/i;
/** What runs inside a network gives its result to whoever runs that. */
const INSIDE = /^(?:@.*\s*)*(?:async[ \t]+)?def[ \t]+(?:forward|__call__)\b/;

/** What a stretch of code, or a name, is asked. */
type Test = (text: string) => boolean;

/** The same stretches are asked about for each literal. */
function once(ask: Test): Test {
  const answers = new Map<string, boolean>();
  return (code) => {
    let answer = answers.get(code);
    if (answer === undefined) {
      answer = ask(code);
      answers.set(code, answer);
    }
    return answer;
  };
}

/**
 * Whether a function may run a network for numbers alone, going by its code: it calls something by the name of a network, or
 * something that a class made, and neither differentiates nor switches gradients off.
 */
export function mayRunForNumbers(glimpse: Glimpse): Test {
  const mayCall = glimpse.memo(mayCallNetwork);
  return once((code) => !INSIDE.test(code) && !DECIDES.test(code) && mayCall(code));
}

/** Whether some code may make numbers of what a function of the file, which runs a network, hands it. */
export function mayReadNumbers(glimpse: Glimpse): Test {
  return once((code) => {
    const running = glimpse.memo(namesRunning);
    if (running.size > 0)
      for (const [, , name = ''] of code.matchAll(CALLED)) if (running.has(name)) return true;
    return false;
  });
}

/** The functions of a file that make numbers, and may be handed what a network gives. */
function namesReading(glimpse: Glimpse): ReadonlySet<string> {
  const found = glimpse.stretchesWith(...NUMBERS).map((code) => NAMED.exec(code)?.[1] ?? '');
  return new Set(found.filter((name) => name !== '' && name !== 'forward' && !name.startsWith('__')));
}

const NAMED = /^(?:@.*\s*)*def[ \t]+(\w+)/;

/** The functions of a file that are handed what a network may give, by the names of those that make numbers of it. */
export function namesHandingOn(glimpse: Glimpse): readonly string[] {
  const may = glimpse.memo(mayRunForNumbers);
  return [...glimpse.memo(namesReading)].filter((name) => glimpse.stretchesWith(`${name}(`).some(may));
}

/** The functions of a file that may run a network and hand back what it gives. */
function namesRunning(glimpse: Glimpse): ReadonlySet<string> {
  const may = glimpse.memo(mayRunForNumbers);
  const found = glimpse
    .stretchesWith('return')
    .filter((code) => may(code))
    .map((code) => NAMED.exec(code)?.[1] ?? '');
  return new Set(found);
}

function isOutside({ type }: PyNode): boolean {
  return !/_definition$|^lambda$/.test(type);
}

/** Whether some code may call a network at all. */
export function mayCallNetwork(glimpse: Glimpse): Test {
  const isLike = glimpse.memo(likenessTest);
  const may = glimpse.memo(nameTest);
  return once((code) => {
    for (const [, object, name = ''] of code.matchAll(CALLED)) {
      if (name === 'forward' || name === 'self' || may(name)) return true;
      if (object !== undefined && glimpse.memo(ownMethods).has(name)) return true;
    }
    for (const [, name = ''] of code.matchAll(PART_CALLED)) if (may(name)) return true;
    for (const [, name = ''] of code.matchAll(ITEM_CALLED)) if (isCalledLikeNetworks(name)) return true;
    for (const [, name = ''] of code.matchAll(GIVEN)) if (isLike(name)) return true;
    return false;
  });
}

/** Whether something of this name is called like a network. */
function likenessTest(_glimpse: Glimpse): Test {
  return once(isCalledLikeNetwork);
}

/** The same, or whether a class made it. */
function nameTest(glimpse: Glimpse): Test {
  const isLike = glimpse.memo(likenessTest);
  return once((name) => isLike(name) || glimpse.memo(namesMade).has(name));
}

/** The methods of a file with networks, or with attributes that classes made, which may run them. */
function ownMethods({ text }: Glimpse): ReadonlySet<string> {
  if (!/\bModule\b[^\n]*\)[ \t]*:|\bself\.\w+[ \t]*=[ \t]*(?:\w+\.){0,9}[A-Z]\w*\(/.test(text))
    return new Set();
  return new Set([...text.matchAll(/\bdef[ \t]+(_?[a-z]\w*)\(\s*self\b/g)].map(([, name = '']) => name));
}

/** A part of something by the name of a network: `model.ae(x)`, `self.actor.act(x)`. */
const PART_CALLED = /(?<![\w.])(?:self\.)?(\w+)\.[a-z]\w*\(/g;

/** One of several by the name of networks: `self.actors[i](x)`. */
const ITEM_CALLED = /(?<![\w\u0080-\uffff])([\w\u0080-\uffff]+)\[[^\][\n]*\][\s\\]*\(/g;

/** `load_model(…)` is called like something that is done, `model(…)` like what does it. */
const DONE =
  /^_*(?:add|build|check|clone|compile|configure|convert|copy|create|delete|disable|download|dump|enable|evaluate|export|fit|free|freeze|from|get|has|init|initialize|inject|instantiate|is|load|log|make|move|prepare|print|prune|push|quantize|read|register|remove|replace|reset|restore|run|save|select|set|setup|store|summarize|switch|sync|test|to|train|unfreeze|unwrap|update|upload|validate|visualize|wrap|write)_/;

/** A capital letter begins a class: calling that makes a network, and runs none. */
function isCalledLikeNetwork(name: string): boolean {
  if (/^[A-Z]/.test(name) || DONE.test(name)) return false;
  return nameSaysModel(name) === 'yes' || /(?:^|_)(?:cnn|gru|lstm|mlp|resnet|rnn|vgg)$/.test(name);
}

/** `actors` of `self.actors[i](x)`. */
function isCalledLikeNetworks(name: string): boolean {
  return isCalledLikeNetwork(name) || isCalledLikeNetwork(name.replace(/s$/, ''));
}

/**
 * The networks that functions run without a word about their mode, where what becomes of the results is a question of its
 * own: an agent that chooses an action, a score of a dataset.
 */
export function numericRunsIn(module: PyModule, functionNode: PyNode): readonly Evaluation[] {
  return numericFunctions(module).has(functionNode) ? module.memo(runsOf, functionNode) : [];
}

/** The functions that such runs may be in. */
export function numericFunctions(module: PyModule): ReadonlySet<PyNode> {
  return module.memo(findFunctions, module);
}

function findFunctions(module: PyModule): ReadonlySet<PyNode> {
  const functions = new Set<PyNode>();
  const callers = new Set<PyNode>();
  for (const literal of NUMBERS) {
    for (const node of module.atWhere(literal, module.glimpse.memo(mayRunForNumbers))) {
      const functionNode = enclosingFunction(node);
      if (functionNode !== undefined) functions.add(functionNode);
    }
    for (const node of module.atWhere(literal, module.glimpse.memo(mayReadNumbers)))
      callers.add(enclosingFunction(node) ?? module.root);
  }
  // `predictions(model(x))`, where that makes numbers of it.
  for (const name of module.glimpse.memo(namesHandingOn))
    for (const node of module.words(name)) {
      const functionNode = isCallee(wholeName(node)) ? enclosingFunction(node) : undefined;
      if (functionNode !== undefined && module.glimpse.memo(mayRunForNumbers)(module.codeOf(functionNode)))
        functions.add(functionNode);
    }
  // `select_action(state)`, where the one that asks for it makes a number of it.
  const running = module.glimpse.memo(namesRunning);
  for (const caller of callers)
    for (const node of caller === module.root ? caller.walk(isOutside) : ownNodes(caller)) {
      if (node.type !== 'call' || !running.has(methodName(node) ?? node.function?.text ?? '')) continue;
      const called = calledDefinition(module, node);
      if (called?.type === 'function_definition' && called !== caller) functions.add(called);
    }
  return functions;
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
  if (callee?.type === 'subscript') return isItemOfNetworks(module, callee) ? callee : undefined;
  if (callee === undefined || !mayRun(module, callee, object) || makesNetwork(module, call)) return undefined;
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
  if (!isNetwork(module, object, false)) {
    // `f.classify(x)`, whatever it is called, of what may be a network of the file.
    const mayBe = object.type === 'identifier' && nameSaysModel(object.text) !== 'no';
    return mayBe && isPartInFile(module, name) && isModel(module, object) !== 'no' ? object : undefined;
  }
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
  return isCalledLikeNetworks(lastName(networks)) && isModel(module, item) !== 'no';
}

function lastName(path: PyNode): string {
  return (path.attribute ?? path).text;
}

function mayBeNetwork(module: PyModule, network: PyNode): boolean {
  return module.glimpse.memo(nameTest)(lastName(network));
}

/** Whether a call may run a network itself, or by a function that it calls, going by names alone. */
export function mayRunNetwork(module: PyModule, call: PyNode): boolean {
  const callee = call.function;
  if (callee === undefined) return false;
  if (mayBeNetwork(module, callee) || lastName(callee) === 'forward') return true;
  if (callee.type === 'subscript')
    return callee.value !== undefined && isCalledLikeNetworks(lastName(callee.value));
  const owner = callee.object ?? callee;
  if (owner.text === classAround(callee)?.self || (owner !== callee && mayBeNetwork(module, owner)))
    return true;
  if (owner !== callee && owner.type === 'identifier' && isPartInFile(module, lastName(callee))) return true;
  return givenTo(call).some((value) => isPlainPath(value) && mayBeNetwork(module, value));
}

/** The name, or the word `forward`, lets one ask; where it is known what made it, that decides. */
function isNetwork(module: PyModule, network: PyNode, isSpelled: boolean): boolean {
  const name = lastName(network);
  if (isSpelled || isCalledLikeNetwork(name)) return isModel(module, network) !== 'no';
  return module.glimpse.memo(namesMade).has(name) && hasLayers(module, network);
}
