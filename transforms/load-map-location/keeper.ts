import { attributeValuesInProject } from '../../src/semantic/attributes.js';
import { caughtHere } from '../../src/semantic/catching.js';
import { ancestryOf } from '../../src/semantic/definitions.js';
import type { PyModule } from '../../src/semantic/module.js';
import { isAlwaysAfter, isAlwaysFollowed } from '../../src/semantic/paths.js';
import { enclosingFunction, methodName, ownNodes } from '../../src/semantic/statements.js';
import type { PyNode } from '../../src/syntax/node.js';
import { PLAIN_BASES, TORCH } from '../../src/torch/catalog.js';
import { isModel } from '../../src/torch/module/model-value.js';

/** A class of the project with a way of its own to load; plain data, kept with its file. */
export interface Keeper {
  readonly name: string;
  /** What its instances can do, of what modules can. Undefined where it may be a module, or nobody knows. */
  readonly knows: readonly string[] | undefined;
}

/** What a module has, and an optimizer of torch or a class of one's own has only where it says so. */
const OF_MODULES: ReadonlySet<string> = new Set([
  '__call__',
  'cuda',
  'modules',
  'named_parameters',
  'parameters',
]);
const OPTIMIZERS = `${TORCH}optim.`;

/** By the method that loads, or by the class. */
export function keeperOf(alone: PyModule, node: PyNode): Keeper {
  const classNode = node.closest('class_definition');
  const name = classNode?.name?.text ?? '';
  if (classNode === undefined) return { name, knows: undefined };
  const { classes, imported, unknown } = ancestryOf(alone, classNode);
  const isNoModule = imported.every((path) => PLAIN_BASES.has(path) || path.startsWith(OPTIMIZERS));
  if (unknown || !isNoModule) return { name, knows: undefined };
  const has = (each: string) => classes.some((node) => alone.scopeOf(node).has(each));
  // What an instance gets otherwise are methods, and never what is called by itself.
  const isOpen =
    has('__getattr__') ||
    has('__getattribute__') ||
    ['setattr', '__dict__', 'vars'].some((word) => alone.atWithin(word, classNode).length > 0);
  return { name, knows: [...OF_MODULES].filter((each) => has(each) || (isOpen && each !== '__call__')) };
}

/** Whether a value is no instance of a class: it is a network, or its function asks of it what the class does not have. */
export function isOther(module: PyModule, value: PyNode, { knows }: Keeper): boolean {
  if (knows === undefined) return false;
  if (isModel(module, value) === 'yes') return true;
  return askedFor(module, value).some((each) => !knows.includes(each));
}

/** Whether a value is a network, and no optimizer: by what made it, or because its function uses it as one. */
export function isNetwork(module: PyModule, value: PyNode): boolean {
  return isModel(module, value) === 'yes' || askedFor(module, value).length > 0;
}

/** What a function asks of a variable that only modules have, whenever it comes to this place, where it is given a value once. */
function askedFor(module: PyModule, variable: PyNode): readonly string[] {
  if (!isSetOnce(module, variable)) return [];
  const around = enclosingFunction(variable) ?? module.root;
  return [...ownNodes(around)].flatMap((node) => {
    const asked = askedBy(node, variable);
    return asked !== undefined && isSurelyBeside(module, node, variable) ? [asked] : [];
  });
}

function askedBy(node: PyNode, variable: PyNode): string | undefined {
  const callee = node.type === 'call' ? node.function : undefined;
  if (callee?.text === variable.text) return '__call__';
  const method = callee?.object?.text === variable.text ? methodName(node) : undefined;
  return method !== undefined && OF_MODULES.has(method) ? method : undefined;
}

/** Whether a function that evaluates a place also evaluates a node, before or after it, and no error of that is caught. */
export function isSurelyBeside(module: PyModule, node: PyNode, place: PyNode): boolean {
  if (caughtHere(node, /./) !== undefined) return false;
  return (
    isAlwaysAfter(module, place, [node], undefined) || isAlwaysFollowed(module, place, [node], undefined)
  );
}

function isSetOnce(module: PyModule, variable: PyNode): boolean {
  if (variable.type === 'attribute') return attributeValuesInProject(module, variable)?.length === 1;
  const scope = variable.type === 'identifier' ? module.resolve(variable) : undefined;
  return scope !== undefined && module.writes(scope, variable.text).length === 1;
}
