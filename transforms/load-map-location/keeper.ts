import { ancestryOf } from '../../src/semantic/definitions.js';
import type { PyModule } from '../../src/semantic/module.js';
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

/** By the method that loads. */
export function keeperOf(alone: PyModule, method: PyNode): Keeper {
  const classNode = method.closest('class_definition');
  const name = classNode?.name?.text ?? '';
  if (classNode === undefined) return { name, knows: undefined };
  const { classes, imported, unknown } = ancestryOf(alone, classNode);
  const isNoModule = imported.every((path) => PLAIN_BASES.has(path) || path.startsWith(OPTIMIZERS));
  if (unknown || !isNoModule) return { name, knows: undefined };
  const has = (each: string) => classes.some((node) => alone.scopeOf(node).has(each));
  // What an instance gets otherwise are methods, and never what is called by itself.
  const isOpen =
    has('__getattr__') || has('__getattribute__') || /\bsetattr\(|__dict__/.test(alone.codeOf(classNode));
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

/** What a function asks of a variable that only modules have, where it is given a value once. */
function askedFor(module: PyModule, variable: PyNode): readonly string[] {
  if (!isSetOnce(module, variable)) return [];
  const around = enclosingFunction(variable) ?? module.root;
  return [...ownNodes(around)].flatMap((node) => {
    const callee = node.type === 'call' ? node.function : undefined;
    if (callee?.text === variable.text) return ['__call__'];
    const method = callee?.object?.text === variable.text ? (methodName(node) ?? '') : '';
    return OF_MODULES.has(method) ? [method] : [];
  });
}

function isSetOnce(module: PyModule, variable: PyNode): boolean {
  if (variable.type === 'identifier') {
    const scope = module.resolve(variable);
    return scope !== undefined && module.writes(scope, variable.text).length === 1;
  }
  if (variable.type !== 'attribute') return false;
  const name = variable.attribute?.text ?? '';
  return [...module.code.matchAll(new RegExp(`\\.${name}\\s*(?:=(?!=)|,[^=\\n()]*=(?!=))`, 'g'))].length <= 1;
}
