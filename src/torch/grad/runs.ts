import { isOfModule, ofTensor } from '../../library/library.js';
import { calledDefinition, methodsOf } from '../../semantic/definitions.js';
import type { Elsewhere } from '../../semantic/elsewhere.js';
import { readsReached } from '../../semantic/flow.js';
import type { PyModule } from '../../semantic/module.js';
import { argumentsByParameter } from '../../semantic/parameters.js';
import { functionElsewhere, starredFunction } from '../../semantic/star-imports.js';
import { enclosingClass, isCallee, ownNodes } from '../../semantic/statements.js';
import { isSetAt, isWhole } from '../../semantic/word-places.js';
import type { PyNode } from '../../syntax/node.js';
import { isGradOff } from '../../values/effects/mode.js';

/** How many functions of the file are followed to where a network runs. */
const MAX_CALLS = 3;

/** How far is looked for what runs a network: in the file, or in the project. */
export interface Reach {
  /** Whether networks have a method or a part of this name. */
  isPart(module: PyModule, name: string): boolean;
  /** The function that a call runs. */
  called(module: PyModule, call: PyNode): Elsewhere | undefined;
}

export const IN_FILE: Reach = { isPart: isPartInFile, called: calledHere };
export const IN_PROJECT: Reach = {
  isPart: isPartInProject,
  called: (module, call) =>
    calledHere(module, call) ??
    (call.function && (functionElsewhere(module, call.function) ?? starredFunction(module, call.function))),
};

function calledHere(module: PyModule, call: PyNode): Elsewhere | undefined {
  const node = calledDefinition(module, call);
  return node?.type === 'function_definition' ? { module, node } : undefined;
}

/**
 * Whether a call runs a network, which is written so, or a part of it, with gradients or without: `model(x)`,
 * `model.forward(x)`, `model.encode(x)`, `model.encoder(x)`, `self.step(batch)`, `loss_of(model, batch)`.
 */
export function runsNetwork(module: PyModule, call: PyNode, model: string, reach: Reach, depth = 0): boolean {
  const callee = call.function;
  if (callee === undefined) return false;
  if (isForward(call, model)) return true;
  if (callee.text.startsWith(`${model}.`) && model !== 'self')
    return mayBePart(partNamed(callee)) && reach.isPart(module, partNamed(callee));
  if (depth >= MAX_CALLS || !mayGet(call, model)) return false;
  const definition = reach.called(module, call);
  if (definition === undefined || isGradOff(definition.module, definition.node)) return false;
  const inside = nameInside(definition.module, definition.node, call, model);
  return (
    inside !== undefined &&
    ownNodes(definition.node).some(
      (node) =>
        node.type === 'call' &&
        !isGradOff(definition.module, node) &&
        runsNetwork(definition.module, node, inside, reach, depth + 1),
    )
  );
}

/** `encoder` of `model.encoder`, `layers` of `model.layers[0]`. */
function partNamed(callee: PyNode): string {
  let at: PyNode | undefined = callee;
  while (at?.type === 'subscript') at = at.value;
  return at?.attribute?.text ?? '';
}

/** `model(…)`, `model.forward(…)` or `model.__call__(…)`. */
export function isForward(call: PyNode, model: string): boolean {
  const callee = call.function?.text;
  return callee === model || callee === `${model}.forward` || callee === `${model}.__call__`;
}

/** Whether a call may hand the network on, or is one of the object that has it. */
function mayGet(call: PyNode, model: string): boolean {
  if (model.startsWith('self.') && call.function?.text.startsWith('self.') === true) return true;
  return call.arguments?.text.includes(model) === true;
}

/** What the network is called in a function of the file that a call runs. */
function nameInside(module: PyModule, definition: PyNode, call: PyNode, model: string): string | undefined {
  const isOfSelf = model.startsWith('self.') && call.function?.text.startsWith('self.');
  if (isOfSelf === true && enclosingClass(definition) !== undefined) return model;
  const given = argumentsByParameter(module, definition, call) ?? new Map<string, PyNode>();
  return [...given].find(([, value]) => value.text === model)?.[0];
}

function mayBePart(name: string): boolean {
  return name !== '' && !isOfModule(name) && !name.startsWith('__');
}

/** `net = net(10)`: what the call gives is used as a network, so it makes one, and runs none. */
export function makesNetwork(module: PyModule, call: PyNode): boolean {
  const assignment =
    call.parent?.type === 'assignment' && call.parent.right === call ? call.parent : undefined;
  const target = assignment?.left?.type === 'identifier' ? assignment.left : undefined;
  const scope = target && module.resolve(target);
  if (target === undefined || scope === undefined) return false;
  return readsReached(module, scope, target.text, [target]).some((read) => {
    if (isCallee(read)) return true;
    const name =
      read.parent?.type === 'attribute' && read.parent.object === read ? read.parent.attribute : undefined;
    return name !== undefined && isOfModule(name.text) && ofTensor(name.text) === undefined;
  });
}

/** Whether networks of the file have a method of this name that runs them, or a part of this name. */
export function isPartInFile(module: PyModule, name: string): boolean {
  return module.alone.memo(hasPart, name);
}

/** The same of the project. */
export function isPartInProject(module: PyModule, name: string): boolean {
  if (isPartInFile(module, name)) return true;
  const mention = { word: name, beside: [], needs: [`def ${name}`, `self.${name}`] };
  return module.around.summaries(mention, hasPart)?.includes(true) ?? false;
}

/** `def` and the space behind it. */
const LONGEST_DEF = 80;

function hasPart(alone: PyModule, name: string): boolean {
  const { text } = alone;
  if (!text.includes('forward') && !text.includes('Module')) return false;
  // Only where a function is defined, or an attribute set.
  const mayMake = (offset: number): boolean =>
    isWhole(text, offset, name) &&
    (text.startsWith('self.', offset - 5)
      ? isSetAt(text, offset, name)
      : /\bdef[\s\\]+$/.test(text.slice(Math.max(0, offset - LONGEST_DEF), offset)));
  return alone.atPlaces(name, mayMake).some((node) => {
    const { parent } = node;
    const classNode = node.closest('class_definition');
    if (parent === undefined || classNode === undefined || !mayBeNetwork(classNode)) return false;
    if (parent.type === 'function_definition' && parent.name === node)
      return (
        enclosingClass(parent) === classNode && runsLayers(alone, parent, methodsOf(classNode), new Set())
      );
    const assignment = parent.parent;
    return (
      parent.text === `self.${name}` &&
      assignment?.type === 'assignment' &&
      assignment.left === parent &&
      assignment.right?.type === 'call'
    );
  });
}

/** Calls layers of its object, itself or by other methods of the class, and not under no-grad. */
function runsLayers(alone: PyModule, method: PyNode, methods: readonly PyNode[], seen: Set<PyNode>): boolean {
  seen.add(method);
  return ownNodes(method).some((call) => {
    const called = call.type === 'call' ? /^self(?:\.(\w+))*\(/.exec(call.text) : null;
    if (called === null || isOfModule(called[1] ?? '') || OF_COLLECTIONS.test(called[0])) return false;
    if (isGradOff(alone, call)) return false;
    const own = methods.filter(({ name }) => called[0] === `self.${name?.text}(`);
    return own.length === 0 || own.some((each) => !seen.has(each) && runsLayers(alone, each, methods, seen));
  });
}

/** `self.memory.append(…)`: of a list or a dictionary, which runs nothing. */
const OF_COLLECTIONS =
  /^self(?:\.\w+)+\.(?:append|appendleft|clear|extend|get|index|insert|items|keys|pop|popleft|popitem|remove|reverse|sort|values)\($/;

/** It has a forward, or inherits from a module: some have only parts that are run by their names. */
function mayBeNetwork(classNode: PyNode): boolean {
  return (
    methodsOf(classNode).some((method) => method.name?.text === 'forward') ||
    /\bModule\b/.test(classNode.superclasses?.text ?? '')
  );
}
