import { row } from '../../library/library.js';
import { AUTOGRAD_FUNCTIONS, PLAIN_BASES } from '../../library/names.js';
import { isModuleClass } from '../../library/paths.js';
import { ancestryOf, attributeOfSelf, methodsOf } from '../../semantic/definitions.js';
import { placeOf } from '../../semantic/gate.js';
import { isRunOnTheSpot } from '../../semantic/given-away.js';
import { importedNames } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { type Arity, arityOf } from '../../semantic/project-names.js';
import { classesAround, functionsAround, reachedFrom, reaching } from '../../semantic/reach.js';
import { remembered } from '../../semantic/remembered.js';
import { isGenerator } from '../../semantic/returns.js';
import { decoratorsOf, enclosingClass, wholeName } from '../../semantic/statements.js';
import type { PyNode } from '../../syntax/node.js';
import { aliasOf, type GradUse, gradUses, isFunctionUse, setsFlag } from './grad.js';
import {
  isAskedForPart,
  isGivenToLibrary,
  isMadePartial,
  placesNamed,
  runsWhenGoneThrough,
} from './handed-on.js';
import { runsTaken } from './taken-by-text.js';

/** A function of the project that differentiates, or runs one of its file that does. Plain data: it outlives the scan. */
export interface Differentiator {
  readonly name: string;
  /** The class that it is a method of. */
  readonly owner: string | undefined;
  /** Its class is an `nn.Module`, or has a forward and may be one. */
  readonly isModule: boolean;
  readonly mayBeModule: boolean;
  /** Names of the classes, last part only, that its class inherits from. */
  readonly bases: readonly string[];
  /** Whole names of those of other files: their own forward may run any of its methods. */
  readonly inherits: readonly string[];
  readonly file: string;
  /** `file.py:12` */
  readonly place: string;
  readonly words: string;
  readonly arity: Arity;
  /** It is nameless and handed on, or decorated: it may be called by another name. */
  readonly isValue: boolean;
  /** It runs where it is read: a property, or what another decorator may make one. */
  readonly isRead: boolean;
  /** Going through what it gives runs it: it yields, or a library that is gone through is given it. */
  readonly isIterated: boolean;
}

/** Those of one file. */
export const differentiatorsIn = remembered((module: PyModule): readonly Differentiator[] => {
  const uses = [...gradUses(module).filter((use) => !setsFlag(use)), ...runsTaken(module)];
  const imported = importedWith(module);
  if (uses.length === 0) return imported;
  const values = [...valuesWith(module, uses), ...aliasesWith(module, uses)];
  return [...imported, ...functionsWith(module, uses), ...values];
});

/** In place of the name of a function that has none. */
export const LAMBDA = 'lambda';

/** `from torch.autograd import grad as slope`, which another file may import from here. */
function importedWith(module: PyModule): readonly Differentiator[] {
  if (!module.mentions(/\btorch\.(?:autograd|func)\b/)) return [];
  return [...importedNames(module, module.scope)].flatMap(([name, paths]) => {
    const path = paths.find((each) => row(each)?.differentiates === true);
    // By its own name, it shows wherever it is used.
    if (path === undefined || path.endsWith(`.${name}`)) return [];
    const [binding = module.root] = module.scope.bindings(name);
    return {
      ...{ ...NAMELESS, name, words: `is \`${path}\``, isIterated: false, isValue: false },
      ...{ arity: ANY_ARITY, file: module.path, place: placeOf(module, binding).replaceAll('`', '') },
    };
  });
}

const ANY_ARITY: Arity = [0, Number.POSITIVE_INFINITY];

/** The functions and lambdas that hold one of these places, or run one of their file that does. */
export function functionsWith(module: PyModule, uses: readonly GradUse[]): readonly Differentiator[] {
  const own = new Map<PyNode, GradUse>();
  for (const use of uses)
    for (const node of functionsAround(use.node)) if (!own.has(node)) own.set(node, use);
  const leading = reaching(module, own.keys());
  const members = uses.flatMap((use) => classesHolding(use).flatMap(methodsOf));
  const functions = [...new Set([...leading, ...members])].sort((a, b) => a.start - b.start);
  return functions.flatMap((node) => {
    const name = node.name?.text;
    const classNode = enclosingClass(node);
    const via = leading.has(node) ? (own.get(node) ?? firstOf(reachedFrom(module, node), own)) : undefined;
    const use = via ?? (classNode && usedByClass(uses, classNode));
    if (use === undefined) return [];
    if (node.type === 'lambda') return lambdaWith(module, node, use);
    if (name === undefined) return [];
    const { isFunction, ...kind } = kindOfClass(module, classNode);
    // Torch runs the forward of a custom function without gradients anyway.
    if (isFunction) return [];
    return {
      ...{ name, ...kind, words: use.words, arity: arityOf(node) },
      owner: classNode?.name?.text,
      file: module.path,
      place: placeOf(module, node).replaceAll('`', ''),
      isValue: decoratorsOf(node).some(({ text }) => !PLAIN_DECORATORS.test(text)),
      isRead: decoratorsOf(node).some(({ text }) => !CALLED_DECORATORS.test(text)),
      isIterated: isGenerator(module, node) || isGoneThrough(module, placesOf(module, node, name)),
    };
  });
}

function firstOf(reached: Iterable<PyNode>, own: ReadonlyMap<PyNode, GradUse>): GradUse | undefined {
  for (const each of reached) {
    const use = own.get(each);
    if (use !== undefined) return use;
  }
  return undefined;
}

const CLASSLESS = {
  isFunction: false,
  isModule: false,
  mayBeModule: false,
  bases: [],
  inherits: [],
} as const;

const NAMELESS = { name: LAMBDA, owner: undefined, isRead: false, ...CLASSLESS } as const;

function lambdaWith(module: PyModule, lambda: PyNode, { words }: GradUse): readonly Differentiator[] {
  if (isGivenToLibrary(module, lambda)) return [];
  return [
    {
      ...{ ...NAMELESS, words, arity: arityOf(lambda) },
      file: module.path,
      place: placeOf(module, lambda).replaceAll('`', ''),
      isValue: !isRunOnTheSpot(module, lambda),
      isIterated: isGoneThrough(module, [lambda]),
    },
  ];
}

/** `(f(x) for x in data)`, `map(partial(f, net), data)`, `partial(f, net)`: nameless, and of any arguments. */
export function valuesWith(module: PyModule, uses: readonly GradUse[]): readonly Differentiator[] {
  return uses.flatMap((use) => {
    const { node, words } = use;
    const isIterated = isGoneThrough(module, [node]);
    const isHeld = isFunctionUse(use) && aliasOf(use)?.type !== 'identifier';
    const isValue = (isHeld || isMadePartial(module, node)) && !isGivenToLibrary(module, wholeName(node));
    if (!isIterated && !isValue) return [];
    return {
      ...{ ...NAMELESS, words, isIterated, isValue },
      arity: ANY_ARITY,
      file: module.path,
      place: placeOf(module, node).replaceAll('`', ''),
    };
  });
}

/** `DataLoader(data, batch_size=config.train.size)` has a part of another `train`: a plain function has none. */
function placesOf(module: PyModule, node: PyNode, name: string): readonly PyNode[] {
  const places = placesNamed(module, name);
  return decoratorsOf(node).length > 0 ? places : places.filter((place) => !isAskedForPart(place));
}

function isGoneThrough(module: PyModule, places: readonly PyNode[]): boolean {
  return places.some((place) => runsWhenGoneThrough(module, place));
}

/** What another file calls by its name: `slope = partial(torch.autograd.grad)`, of a file or in the body of a class. */
function aliasesWith(module: PyModule, uses: readonly GradUse[]): readonly Differentiator[] {
  return uses.flatMap((use) => {
    const { node, words } = use;
    const target = aliasOf(use);
    if (target?.type !== 'identifier' || [...functionsAround(node)].length > 0) return [];
    const classNode = enclosingClass(target);
    const { isFunction, ...kind } = kindOfClass(module, classNode);
    return {
      ...{ ...NAMELESS, ...kind, words, name: target.text, isIterated: false, isValue: false },
      ...{ owner: classNode?.name?.text, arity: ANY_ARITY },
      ...{ file: module.path, place: placeOf(module, node).replaceAll('`', '') },
    };
  });
}

/** The classes that hold it for their methods: `diff = staticmethod(torch.autograd.grad)`, `self.diff = partial(…)`. */
function classesHolding(use: GradUse): readonly PyNode[] {
  const alias = aliasOf(use);
  const own = alias && attributeOfSelf(alias);
  return own === undefined ? classesAround(use.node) : [own.classNode];
}

function usedByClass(uses: readonly GradUse[], classNode: PyNode): GradUse | undefined {
  return uses.find((use) => classesHolding(use).includes(classNode));
}

function kindOfClass(module: PyModule, classNode: PyNode | undefined) {
  if (classNode === undefined) return CLASSLESS;
  const { classes, imported, unknown } = ancestryOf(module, classNode);
  const last = imported.map((path) => path.slice(path.lastIndexOf('.') + 1));
  const has = (name: string) =>
    classes.some((each) => methodsOf(each).some((method) => method.name?.text === name));
  const mayBeModule =
    unknown || imported.some((path) => isModuleClass(path) || !PLAIN_BASES.has(path)) || has('eval');
  return {
    isFunction: imported.some((path) => AUTOGRAD_FUNCTIONS.has(path)),
    isModule: imported.some(isModuleClass) || (mayBeModule && has('forward')),
    mayBeModule,
    bases: [...classes.slice(1).map((each) => each.name?.text ?? ''), ...last],
    inherits: imported,
  };
}

/** What a decorator of these leaves is called by the function's own name. */
const PLAIN_DECORATORS =
  /^(?:staticmethod|classmethod|property|(?:abc\.)?abstractmethod|(?:\w+\.)*no_grad\(\))$/;

/** What a decorator of these leaves runs where it is called, not where it is read. */
const CALLED_DECORATORS = /^(?:staticmethod|classmethod|(?:abc\.)?abstractmethod|(?:\w+\.)*no_grad\(\))$/;
