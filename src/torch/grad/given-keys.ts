import { builtin, isOfModule, row } from '../../library/library.js';
import { attributeValues } from '../../semantic/attributes.js';
import { ancestryOf, calledDefinition, classAround } from '../../semantic/definitions.js';
import { qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import {
  argumentsOf,
  argumentValue,
  enclosingFunction,
  givenTo,
  isCallee,
  isTarget,
  ownNodes,
} from '../../semantic/statements.js';
import { isUnbound } from '../../semantic/variables.js';
import type { PyNode } from '../../syntax/node.js';
import { keepsGiven } from '../../values/value/names.js';
import { mayBeProjectObject, operatorCalls } from '../../values/value/operators.js';
import { isMethodOfLibraries, isOfKnownPackage, isPlainAttribute } from '../../values/value/plain.js';
import { calledBehind, nameBehind } from './called-values.js';
import { mayHaveGraph } from './forward-stores.js';
import { outlivingNames } from './outliving.js';

/** What may get hold of what has a graph by the calls of a forward, where the file does not show what they run. */
export function keysGiven(module: PyModule, method: PyNode): readonly string[] {
  const operators = [...method.walk()].flatMap((node) =>
    operatorCalls(module, node).filter(({ given }) => hasGraphInside(module, given)),
  );
  return [
    ...new Set(operators.map(({ name }) => `operator ${name}`)),
    ...ownNodes(method).flatMap((node) => keysOfCall(module, node)),
  ];
}

/**
 * The names of what some code runs or reads in other objects and other files: `lookup` of `self.table.lookup(0)`, `row` of
 * `self.table.row`, which may be a property; `__init__ Net` of `super().__init__` in a class that only has one where it is a base beside others.
 */
export function namesRun(module: PyModule, code: PyNode): readonly string[] {
  return ownNodes(code).flatMap((node) => {
    const callee = node.type === 'call' ? node.function : undefined;
    if (callee !== undefined && calledDefinition(module, node) !== undefined) return [];
    const place =
      callee ?? (node.type === 'attribute' && !isCallee(node) && !isTarget(node) ? node : undefined);
    if (place === undefined || isUnbound(module, place)) return [];
    const path = qualifiedName(module, place);
    if (path === undefined ? place.type !== 'attribute' : isOfKnownPackage(path)) return [];
    const name = nameBehind(module, place);
    const below = ofKnownBases(module, place);
    if (below !== undefined) return [`${name} ${below}`];
    if (path !== undefined || !(isMethodOfLibraries(name) || isPlainAttribute(name))) return [name];
    return place.object && !isOfModule(name) && mayBeProjectObject(module, place.object) ? [name] : [];
  });
}

/** The class in which `super().__init__` is written, where it has torch's own bases only: then a base beside it may be meant, and no other. */
function ofKnownBases(module: PyModule, place: PyNode): string | undefined {
  const classNode = place.object?.function?.text === 'super' ? classAround(place)?.classNode : undefined;
  if (classNode === undefined) return undefined;
  const { imported, unknown } = ancestryOf(module, classNode);
  return unknown || !imported.every(isOfKnownPackage) ? undefined : classNode.name?.text;
}

/** `i * 2` of `rows[i * 2]` has none where `i` has none. */
function hasGraphInside(module: PyModule, given: PyNode): boolean {
  const isMade = /^(?:binary_operator|unary_operator|parenthesized_expression|tuple|list|slice)$/.test(
    given.type,
  );
  return isMade ? given.named.some((each) => hasGraphInside(module, each)) : mayHaveGraph(module, given);
}

function keysOfCall(module: PyModule, call: PyNode): readonly string[] {
  const callee = call.type === 'call' ? call.function : undefined;
  if (callee === undefined || calledDefinition(module, call) !== undefined) return [];
  const keys = keysOf(module, call, callee);
  return keys.length > 0 && givenTo(call).some((each) => mayHaveGraph(module, each)) ? keys : [];
}

function keysOf(module: PyModule, call: PyNode, callee: PyNode): readonly string[] {
  const path = qualifiedName(module, callee);
  const known = path === undefined && isUnbound(module, callee) ? builtin(callee.text) : row(path ?? '');
  // `checkpoint(self.rule, x)`, `map(self.rule, parts)`
  if (known?.runs) return calledBehind(module, argumentsOf(call)[0] ?? call).keys;
  if (isUnbound(module, callee) || (path !== undefined && isOfKnownPackage(path))) return [];
  const name = nameBehind(module, callee);
  if (path !== undefined)
    return [`function ${name}`, `new ${name}`, `value ${name}`, ...filledKeys(module, call, name)];
  if (callee.type !== 'attribute') return calledBehind(module, callee).keys;
  // What a forward runs is looked at for each network.
  if (name === 'forward' || name === 'backward') return [];
  if (name.startsWith('__')) return name === '__init__' ? basesInFiles(module, call) : [];
  // `self.log(y)` of `self.log = Log()`
  const made = (attributeValues(module, callee) ?? []).flatMap(({ function: maker }) =>
    maker === undefined || isOfKnownPackage(qualifiedName(module, maker) ?? '') ? [] : [maker],
  );
  const as = keepsGiven(name) ? 'layer' : 'object';
  const objects = made.map((maker) => `${as} ${nameBehind(module, maker)}`);
  if (!isMethodOfLibraries(name)) return [...calledBehind(module, callee).keys, ...objects];
  const mayBeOther = !isOfModule(name) && callee.object && mayBeProjectObject(module, callee.object);
  return mayBeOther ? [`function ${name}`, ...objects] : objects;
}

/** `note(self.kept, y)`: what is not made here, and which of the arguments it is. */
function filledKeys(module: PyModule, call: PyNode, name: string): readonly string[] {
  const owner = enclosingFunction(call) ?? call;
  return argumentsOf(call).flatMap((each, at) => {
    const isOutside = outlivingNames(module, owner, argumentValue(each)).length > 0;
    return isOutside ? [`fills ${name} ${at} ${each.name?.text ?? ''}`] : [];
  });
}

/** `super().__init__(y)` of a class whose base is in another file. */
function basesInFiles(module: PyModule, call: PyNode): readonly string[] {
  const classNode = classAround(call)?.classNode;
  const imported = classNode ? ancestryOf(module, classNode).imported : [];
  return imported.flatMap((path) => (isOfKnownPackage(path) ? [] : [`new ${path.split('.').at(-1)}`]));
}
