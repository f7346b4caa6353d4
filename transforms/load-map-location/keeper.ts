import { givesModule, row } from '../../src/library/library.js';
import { PLAIN_BASES, TORCH, WRAPS_MODULE } from '../../src/library/names.js';
import { attributeValuesInProject } from '../../src/semantic/attributes.js';
import { caughtHere } from '../../src/semantic/catching.js';
import { ancestryOf, classAround } from '../../src/semantic/definitions.js';
import { type Elsewhere, makerOf } from '../../src/semantic/elsewhere.js';
import { reachingDefinitions } from '../../src/semantic/flow.js';
import { allGiven } from '../../src/semantic/function-uses.js';
import { calledPath } from '../../src/semantic/imports.js';
import type { PyModule } from '../../src/semantic/module.js';
import { roleOf } from '../../src/semantic/names.js';
import { isAlwaysAfter, isAlwaysFollowed } from '../../src/semantic/paths.js';
import {
  argumentsOf,
  enclosingFunction,
  methodName,
  ownNodes,
  receiverOf,
} from '../../src/semantic/statements.js';
import { waysReaching, writesOf } from '../../src/semantic/variables.js';
import type { PyNode } from '../../src/syntax/node.js';
import { isModel } from '../../src/torch/module/model-value.js';
import { moduleKind } from '../../src/torch/module/modules.js';

/** A class of the project with a way of its own to load; plain data, kept with its file. */
export interface Keeper {
  readonly name: string;
  /** What its instances can do, of what modules can. Undefined where it may be a module, or nobody knows. */
  readonly knows: readonly string[] | undefined;
}

/** What a module has, and an optimizer of torch or a class of one's own has only where it says so. */
const OF_MODULES: ReadonlySet<string> = new Set(
  '__call__ apply buffers children cuda eval modules named_children named_modules named_parameters parameters requires_grad_ to train'.split(
    ' ',
  ),
);
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
  if (isMadeNetwork(module, value)) return true;
  return askedFor(module, value).some((each) => !knows.includes(each));
}

/** Whether a value is a network, and no optimizer: by what made it, or because its function uses it as one. */
export function isNetwork(module: PyModule, value: PyNode): boolean {
  return isMadeNetwork(module, value) || askedFor(module, value).length > 0;
}

/**
 * Whether its function runs it, or has its parameters: others that load, as averages of weights, are only moved as modules are. What a
 * parameter is given, in the whole project, may be used so by whoever gives it.
 */
export function isUsedAsNetwork(module: PyModule, value: PyNode): boolean {
  if (
    askedFor(module, value, valuesBefore, askedOrWrapped).some((asked) => asked !== 'to' && asked !== 'cuda')
  )
    return true;
  const [way, ...others] = value.type === 'identifier' ? waysReaching(module, value) : [];
  if (way?.kind !== 'parameter' || others.length > 0) return false;
  const given = allGiven(module, way.node);
  return (
    given?.every((each) => each.node.type === 'identifier' && isUsedAsNetwork(each.module, each.node)) ===
    true
  );
}

/** What a variable held before it was moved, or wrapped as networks are: `net = net.to(device)`, `net = DataParallel(net)`. */
function valuesBefore(module: PyModule, variable: PyNode, hops = 0): readonly PyNode[] | undefined {
  const values = valuesAt(module, variable);
  const [only, ...others] = values ?? [];
  if (only?.type !== 'call' || others.length > 0 || hops > MAX_MOVES) return values;
  const isWrapped = WRAPS_MODULE.has(calledPath(module, only) ?? '');
  const moved = isWrapped
    ? argumentsOf(only)[0]
    : givesModule(methodName(only) ?? '')
      ? receiverOf(only)
      : undefined;
  return moved?.text === variable.text ? valuesBefore(module, moved, hops + 1) : values;
}

const MAX_MOVES = 8;

/** By what made it; what a parameter gets, in the whole project, counts where nobody else can call the function. */
function isMadeNetwork(module: PyModule, value: PyNode): boolean {
  if (isModel(module, value) === 'yes' || isOwnNetwork(module, value)) return true;
  const [write, ...others] = writesOf(module, value);
  if (write === undefined || others.length > 0 || roleOf(write) !== 'parameter') return false;
  return allGiven(module, write)?.every((each) => isModel(each.module, each.node) === 'yes') === true;
}

/** `self`, in a class of modules. */
function isOwnNetwork(module: PyModule, value: PyNode): boolean {
  const around = classAround(value);
  return around?.self === value.text && moduleKind(module, around.classNode).isModule === 'yes';
}

/** What a function asks of a value that only modules have, whenever it comes to this place. */
function askedFor(
  module: PyModule,
  variable: PyNode,
  held = valuesAt,
  asks: typeof askedBy = askedBy,
): readonly string[] {
  if (variable.type === 'attribute' && attributeValuesInProject(module, variable)?.length !== 1) return [];
  const values = variable.type === 'identifier' ? held(module, variable) : [];
  const around = enclosingFunction(variable) ?? module.root;
  return ownNodes(around).flatMap((node) => {
    const [asked, of] = asks(node, variable, module);
    if (asked === undefined || of === undefined || !isSurelyBeside(module, node, variable)) return [];
    return variable.type !== 'identifier' || areSame(values, held(module, of)) ? [asked] : [];
  });
}

/** What a variable may hold where it stands. */
export function valuesAt(module: PyModule, variable: PyNode): readonly PyNode[] | undefined {
  return reachingDefinitions(module, variable)?.map((found) =>
    found.kind === 'value' ? found.value : found.node,
  );
}

export function areSame(
  values: readonly PyNode[] | undefined,
  others: readonly PyNode[] | undefined,
): boolean {
  if (values === undefined || others === undefined || values.length === 0) return false;
  return values.length === others.length && values.every((each) => others.includes(each));
}

function askedBy(node: PyNode, variable: PyNode, _module: PyModule): readonly [asked?: string, of?: PyNode] {
  const callee = node.type === 'call' ? node.function : undefined;
  if (callee?.text === variable.text) return ['__call__', callee];
  const object = callee?.object?.text === variable.text ? callee.object : undefined;
  const method = methodName(node) ?? '';
  return object !== undefined && OF_MODULES.has(method) ? [method, object] : [];
}

/** The same, and `DataParallel(net)`, which runs what it is given. */
function askedOrWrapped(node: PyNode, variable: PyNode, module: PyModule): ReturnType<typeof askedBy> {
  const [first] = node.type === 'call' ? argumentsOf(node) : [];
  const isWrapped = first?.text === variable.text && WRAPS_MODULE.has(calledPath(module, node) ?? '');
  return isWrapped ? ['__call__', first] : askedBy(node, variable, module);
}

/** Whether a function that evaluates a place also evaluates a node, before or after it, and no error of that is caught. */
export function isSurelyBeside(module: PyModule, node: PyNode, place: PyNode): boolean {
  if (caughtHere(node, /./) !== undefined) return false;
  return (
    isAlwaysAfter(module, place, [node], undefined) || isAlwaysFollowed(module, place, [node], undefined)
  );
}

/** Nothing is saved by it, and no load of weights stands beside it that would look odd without. */
export function isOnlyForOptimizers(module: PyModule, call: PyNode, loads: readonly Elsewhere[]): boolean {
  const isOptimizer = ({ module: home, node }: Elsewhere): boolean => {
    const receiver = receiverOf(node);
    return receiver !== undefined && row(makerOf(home, receiver) ?? '')?.is === 'optimizer';
  };
  if (!loads.every(isOptimizer) || module.mentions(/\bdistributed\b|\blocal_rank\b|\brank\b/i)) return false;
  const around = enclosingFunction(call) ?? module.root;
  return !module.at('load_state_dict').some((node) => {
    const taker = node.closest('call');
    return around.contains(node) && taker !== undefined && !isOptimizer({ module, node: taker });
  });
}
