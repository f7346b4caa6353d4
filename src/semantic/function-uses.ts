import { basename } from 'node:path/posix';
import type { PyNode } from '../syntax/node.js';
import { stringValue } from './attribute-uses.js';
import { BY_TEXT } from './by-text.js';
import { classBehind } from './definitions.js';
import type { Elsewhere } from './elsewhere.js';
import { qualifiedName } from './imports.js';
import { mayBeInstance } from './instance.js';
import type { PyModule } from './module.js';
import { argumentsByName } from './parameters.js';
import { isInstallable, isProgram } from './program.js';
import { remembered } from './remembered.js';
import { argumentsOf, enclosingClass, enclosingFunction } from './statements.js';
import { usesElsewhere } from './uses-elsewhere.js';

/** Where the file names a function: calls and references, its own recursion left out. */
export const functionUses = remembered((module: PyModule, functionNode: PyNode): readonly PyNode[] => {
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
});

/**
 * What the calls of a function that the project shows give to one of its parameters; undefined where that does not show. `mayRun`: whether
 * a place counts.
 */
export function valuesGiven(
  module: PyModule,
  functionNode: PyNode,
  parameter: PyNode,
  mayRun = (_there: PyModule, _node: PyNode): boolean => true,
): readonly Elsewhere[] | undefined {
  const classNode = enclosingClass(functionNode);
  const isMaker = functionNode.name?.text === '__init__';
  const named = isMaker ? classNode?.name : functionNode.name;
  // A forward is run by calls of its objects.
  if (named === undefined || (classNode !== undefined && /^(?:forward|__call__)$/.test(named.text)))
    return undefined;
  const scope = module.resolve(named);
  const own =
    isMaker && scope !== undefined
      ? module.reads(scope, named.text)
      : functionUses(module, functionNode).map((use) => (use.parent?.attribute === use ? use.parent : use));
  const { uses, unread } = usesElsewhere(module, named, { may: () => true, byName: true });
  if (unread !== undefined) return undefined;
  const values: Elsewhere[] = [];
  for (const { module: there, node } of [...own.map((node) => ({ module, node })), ...uses]) {
    if (isAnnotation(node) || !mayRun(there, node)) continue;
    const call = node.parent;
    if (call?.type !== 'call' || call.function !== node) return undefined;
    const given = argumentsByName(there, functionNode, call);
    const value = given?.get(parameter.text) ?? (given && defaultOf(parameter));
    // Without an argument that it must have, a call is an error.
    if (given !== undefined && value === undefined && !parameter.parent?.type.includes('splat')) continue;
    if (value === undefined) return undefined;
    values.push({ module: given?.has(parameter.text) ? there : module, node: value });
  }
  return values;
}

/**
 * All that a parameter is ever given; undefined where code that the project does not show may call its function, or where
 * nobody does.
 */
export const allGiven = remembered(
  (module: PyModule, parameter: PyNode): readonly Elsewhere[] | undefined => {
    const owner = enclosingFunction(parameter);
    if (owner?.parameters?.contains(parameter) !== true) return undefined;
    const made = owner.name?.text === '__init__' ? enclosingClass(owner) : undefined;
    const isOpen = isInstallable(module) && !isProgram(module);
    if (isOpen || isReachedByText(module, made ?? owner)) return undefined;
    const given = valuesGiven(module, owner, parameter);
    return given?.length === 0 ? undefined : given;
  },
);

/** `def build() -> Net:`, `net: Net = build()`: it gives nothing. By those of parameters and fields, frameworks make objects. */
function isAnnotation(node: PyNode): boolean {
  const written = node.closest('type', 'block', 'module');
  const holder = written?.type === 'type' ? written.parent : undefined;
  if (holder?.type !== 'assignment') return holder?.type === 'function_definition';
  return holder.closest('class_definition', 'function_definition')?.type !== 'class_definition';
}

function defaultOf(parameter: PyNode): PyNode | undefined {
  const holder = parameter.parent;
  return holder !== undefined && /default/.test(holder.type) ? holder.value : undefined;
}

/** One of the values that a function hands back together. */
export interface Part {
  readonly index: number;
  readonly of: number;
}

/** Which of the values of a `return` a node stands in; undefined where it is the only one. */
export function partReturned(node: PyNode): Part | undefined {
  const value = node.closest('return_statement')?.named[0];
  if (value?.type !== 'expression_list' && value?.type !== 'tuple') return undefined;
  return { index: value.named.findIndex((each) => each.contains(node)), of: value.named.length };
}

/** Somebody may get hold of the function by a name that is computed: `getattr(steps, kind)()`. */
export function isReachedByText(module: PyModule, functionNode: PyNode): boolean {
  const name = functionNode.name?.text ?? '';
  const classNode = enclosingClass(functionNode);
  const home = basename(module.path, '.py');
  const word = classNode?.name?.text ?? home;
  const mention = { word, beside: [], needs: ['getattr'] };
  const { modules, unread } = module.around.naming(mention, (text) => /\bgetattr\s*\(/.test(text));
  const byText = module.around.summaries({ word: name, beside: [] }, mayTake);
  return (
    unread !== undefined ||
    byText?.includes(true) !== false ||
    mayTake(module.alone, name) ||
    [module, ...modules].some((there) =>
      there.at('getattr').some(({ text, parent: call }) => {
        const [object, asked] = text === 'getattr' && call?.type === 'call' ? argumentsOf(call) : [];
        if (object === undefined || (stringValue(asked) ?? name) !== name) return false;
        if (BY_TEXT.test(object.text)) return true;
        const path = qualifiedName(there, object);
        if (path !== undefined || classNode === undefined) return path?.split('.').at(-1) === home;
        const owner = classBehind(there, object);
        return owner === undefined || owner === classNode;
      }),
    )
  );
}

/** Whether a file may call a function of another by its name in what is no import: `globals()["f"]`, `import_module(home).f`. */
function mayTake(alone: PyModule, name: string): boolean {
  if (!alone.mentions(BY_TEXT)) return false;
  if (new RegExp(`["']${name}["']`).test(alone.code)) return true;
  return alone.words(name).some(({ parent }) => {
    const object = parent?.attribute?.text === name ? parent.object : undefined;
    if (object === undefined || object.type !== 'identifier') return BY_TEXT.test(object?.text ?? '');
    const scope = alone.resolve(object);
    const writes = scope === undefined ? [] : alone.writes(scope, object.text);
    return writes.some((write) => BY_TEXT.test(write.closest('assignment')?.right?.text ?? ''));
  });
}

/** The call of a function that is named here. */
export function callOf(use: PyNode): PyNode | undefined {
  const callee = use.type === 'identifier' && use.parent?.attribute === use ? use.parent : use;
  const call = callee.parent;
  return call?.type === 'call' && call.function === callee ? call : undefined;
}

/** `b` of `a, b = f()`. */
export function targetOf(call: PyNode, { index, of }: Part): PyNode | undefined {
  const assignment = call.parent;
  const left = assignment?.type === 'assignment' ? assignment.left : undefined;
  if (assignment?.right !== call || !/^(?:pattern_list|tuple_pattern)$/.test(left?.type ?? ''))
    return undefined;
  const targets = left?.named ?? [];
  const isPlain = targets.length === of && !targets.some(({ type }) => type === 'list_splat_pattern');
  return isPlain ? targets[index] : undefined;
}
