import type { PyNode } from '../syntax/node.js';
import type { Elsewhere } from './elsewhere.js';
import { mayBeInstance } from './instance.js';
import type { PyModule } from './module.js';
import { argumentsByParameter } from './parameters.js';
import { enclosingClass } from './statements.js';
import { usesElsewhere } from './uses-elsewhere.js';

/** Where the file names a function: calls and references, its own recursion left out. */
export function functionUses(module: PyModule, functionNode: PyNode): readonly PyNode[] {
  return module.memo(findUses, functionNode);
}

function findUses(module: PyModule, functionNode: PyNode): readonly PyNode[] {
  const name = functionNode.name;
  if (name === undefined) return [];
  const outside = (node: PyNode): boolean => !functionNode.contains(node);
  const classNode = enclosingClass(functionNode);
  if (classNode !== undefined) {
    return module.words(`.${name.text}`).filter((node) => {
      const object = node.parent?.type === 'attribute' ? node.parent.object : undefined;
      const isUse = node.text === name.text && object !== undefined && outside(node);
      return isUse && mayBeInstance(module, object, classNode);
    });
  }
  const scope = module.resolve(name);
  return scope === undefined ? [] : module.reads(scope, name.text).filter(outside);
}

/** What the calls of a function that the project shows give to one of its parameters; undefined where that does not show. */
export function valuesGiven(
  module: PyModule,
  functionNode: PyNode,
  parameter: PyNode,
): readonly Elsewhere[] | undefined {
  const classNode = enclosingClass(functionNode);
  const isMaker = functionNode.name?.text === '__init__';
  const named = isMaker ? classNode?.name : functionNode.name;
  if (named === undefined) return undefined;
  const scope = module.resolve(named);
  const own =
    isMaker && scope !== undefined
      ? module.reads(scope, named.text)
      : functionUses(module, functionNode).map((use) => (use.parent?.attribute === use ? use.parent : use));
  const { uses, unread } = usesElsewhere(module, named, { may: () => true, byName: true });
  if (unread !== undefined) return undefined;
  const values: Elsewhere[] = [];
  for (const { module: there, node } of [...own.map((node) => ({ module, node })), ...uses]) {
    const call = node.parent;
    if (call?.type !== 'call' || call.function !== node) return undefined;
    const given = argumentsByParameter(there, functionNode, call);
    const value = given?.get(parameter.text) ?? (given && defaultOf(parameter));
    if (value === undefined) return undefined;
    values.push({ module: given?.has(parameter.text) ? there : module, node: value });
  }
  return values;
}

function defaultOf(parameter: PyNode): PyNode | undefined {
  const holder = parameter.parent;
  return holder !== undefined && /default/.test(holder.type) ? holder.value : undefined;
}
