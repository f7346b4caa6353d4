import { AUTOGRAD_FUNCTIONS, DIFFERENTIATION_WORDS, PLAIN_BASES, TORCH_DATA } from '../../library/names.js';
import { isModuleClass } from '../../library/paths.js';
import { summariesTogether } from '../../semantic/companions.js';
import { ancestryOf, attributeOfSelf, methodsOf } from '../../semantic/definitions.js';
import { makerOf } from '../../semantic/elsewhere.js';
import { placeOf } from '../../semantic/gate.js';
import { Gathered } from '../../semantic/gathered.js';
import { isOnlyAsked, isRunOnTheSpot } from '../../semantic/given-away.js';
import { qualifiedName } from '../../semantic/imports.js';
import { isOwnMember } from '../../semantic/instance.js';
import type { PyModule } from '../../semantic/module.js';
import { importedPath } from '../../semantic/names.js';
import { type Arity, arityOf } from '../../semantic/project-names.js';
import { classesAround, functionsAround, reachedFrom, reaching } from '../../semantic/reach.js';
import { remembered } from '../../semantic/remembered.js';
import { isGenerator } from '../../semantic/returns.js';
import { decoratorsOf, enclosingClass, wholeName } from '../../semantic/statements.js';
import { questionFor } from '../../semantic/surroundings.js';
import { readsOf } from '../../semantic/variables.js';
import type { PyNode } from '../../syntax/node.js';
import { isMethodOfLibraries, isOfKnownPackage } from '../value/plain.js';
import { type GradUse, gradUses } from './grad.js';
import {
  isAskedForPart,
  isGivenToLibrary,
  isMadePartial,
  placesNamed,
  runsWhenGoneThrough,
} from './handed-on.js';
import { runsTaken, TAKING_WORDS } from './taken-by-text.js';

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

/** Code of the project that a call may run and that differentiates. */
export interface Suspect {
  readonly name: string;
  readonly place: string;
  /** A clause about it: `which calls …`, `whose forward calls …`. */
  readonly clause: string;
  /** A forward may hold it, and is none itself. */
  readonly isHeld?: true;
  /** It stands for files that were too many to look into. */
  readonly isUnread?: true;
}

/** What runs when an object is called. */
export const CALLED: ReadonlySet<string> = new Set(['forward', '__call__']);

/**
 * The functions of other files of the project that differentiate, themselves or by what they call in other files, found as
 * they are gone through: who has found the one it looks for asks no further. Ends with undefined where too many files would have to be looked into.
 */
export const differentiators = remembered(
  (module: PyModule): Iterable<Differentiator | undefined> => new Gathered(findDifferentiators(module)),
);

/** Functions whose callers are looked for. */
const MOST_CALLED = 1024;

function* findDifferentiators(module: PyModule): Generator<Differentiator | undefined> {
  const own = differentiatorsIn(module.alone);
  const isOwn = new Set(own.map(keyOf));
  const found = new Set<string>();
  const asked = new Set<string>();
  const pending = [...own];
  function* add(files: readonly (readonly Differentiator[])[]): Generator<Differentiator> {
    for (const each of files.flat()) {
      const key = keyOf(each);
      if (found.has(key)) continue;
      found.add(key);
      pending.push(each);
      if (!isOwn.has(key)) yield each;
    }
  }
  for (const word of [...DIFFERENTIATION_WORDS, ...TAKING_WORDS]) {
    const files = summariesTogether(module, { word, beside: [] }, differentiatorsIn);
    if (files === undefined) return yield undefined;
    yield* add(files);
  }
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    const mention = { word: at.name, beside: besideCallsOf(at) };
    const question = `${questionFor(mention)} ${at.isRead}`;
    if (asked.has(question) || !isCalledByName(at)) continue;
    asked.add(question);
    const look = at.isRead ? readersIn : callersIn;
    const files = asked.size > MOST_CALLED ? undefined : summariesTogether(module, mention, look);
    if (files === undefined) return yield undefined;
    yield* add([...files, look(module.alone, at.name)].map((all) => all.map((each) => because(each, at))));
  }
}

/** With what is at the end of it: `runs \`fit\`, which calls \`loss.backward()\``. */
function because(caller: Differentiator, { words }: Differentiator): Differentiator {
  const [own = '', last] = words.split(', which ');
  const clause =
    last === undefined
      ? `which ${own}`
      : `which leads to code that ${last.replace('leads to code that ', '')}`;
  return { ...caller, words: `${caller.words}, ${clause}` };
}

function keyOf({ place, name }: Differentiator): string {
  return `${place} ${name}`;
}

/** One of these a file must have that gets the function: its module or a package around it, or the class where others have such methods. */
function besideCallsOf({ name, owner, place }: Differentiator): readonly string[] {
  if (owner !== undefined) return isMethodOfLibraries(name) ? [owner] : [];
  return place
    .replace(/(?:\/__init__)?\.py:\d+$/, '')
    .split('/')
    .filter((part) => /^\w+$/.test(part));
}

/** What Python or torch calls has no callers that say its name. */
function isCalledByName({ name, owner }: Differentiator): boolean {
  return name !== LAMBDA && !(owner !== undefined && (CALLED.has(name) || /^__\w+__$/.test(name)));
}

/** Those of one file. */
export const differentiatorsIn = remembered((module: PyModule): readonly Differentiator[] => {
  const uses = [...gradUses(module), ...runsTaken(module)];
  if (uses.length === 0) return [];
  return [...functionsWith(module, uses), ...valuesWith(module, uses)];
});

const LAMBDA = 'lambda';

/** The functions of a file that use what another one imports or has by this name. `if args.test:` runs nothing. */
function callersIn(alone: PyModule, name: string): readonly Differentiator[] {
  return usersIn(alone, name, (attribute) => isOfImport(alone, attribute) && !isOnlyAsked(attribute));
}

/** The same of a property, which runs where it is read. */
function readersIn(alone: PyModule, name: string): readonly Differentiator[] {
  return usersIn(alone, name, (attribute) => isOfImport(alone, attribute));
}

function usersIn(
  alone: PyModule,
  name: string,
  runs: (attribute: PyNode) => boolean,
): readonly Differentiator[] {
  const uses = alone.words(name).flatMap((node): readonly GradUse[] => {
    const words = `runs \`${name}\``;
    const { parent } = node;
    if (parent?.type === 'attribute' && parent.attribute === node)
      return runs(parent) ? [{ node, words }] : [];
    const bound = node.closest('aliased_import', 'block', 'module')?.alias ?? node;
    if (node.type !== 'identifier' || importedPath(bound) === undefined) return [];
    return readsOf(alone, bound).map((read) => ({ node: read, words }));
  });
  if (uses.length === 0) return [];
  return [...functionsWith(alone, uses), ...valuesWith(alone, uses)];
}

/** `helpers.f`, or `f` of an object that a class of the project may have made. */
function isOfImport(module: PyModule, attribute: PyNode): boolean {
  const object = attribute.object;
  const path = qualifiedName(module, attribute) ?? (object && makerOf(module, object));
  if (path !== undefined) return !isOfKnownPackage(path);
  const name = attribute.attribute?.text ?? '';
  if (isModeOfModule(module, attribute)) return false;
  // What the class around it has is not elsewhere.
  if (object === undefined || isOwnMember(module, object, name)) return false;
  return !isMethodOfLibraries(name) || inheritsOfProject(module, attribute);
}

/** `self.train` of a class whose base, in another file, may have it. */
function inheritsOfProject(module: PyModule, attribute: PyNode): boolean {
  const own = attributeOfSelf(attribute);
  const isOther = (path: string) =>
    !isModuleClass(path) && !PLAIN_BASES.has(path) && !path.startsWith(TORCH_DATA) && !isOfKnownPackage(path);
  return own !== undefined && ancestryOf(module, own.classNode).imported.some(isOther);
}

/** `self.training` of a module: torch sets it on each object, so that no method of that name is behind it. */
function isModeOfModule(module: PyModule, attribute: PyNode): boolean {
  const own = attribute.attribute?.text === 'training' ? attributeOfSelf(attribute) : undefined;
  return own !== undefined && ancestryOf(module, own.classNode).imported.some(isModuleClass);
}

/** The functions and lambdas that hold one of these places, or run one of their file that does. */
function functionsWith(module: PyModule, uses: readonly GradUse[]): readonly Differentiator[] {
  const own = new Map<PyNode, GradUse>();
  for (const use of uses)
    for (const node of functionsAround(use.node)) if (!own.has(node)) own.set(node, use);
  const leading = reaching(module, own.keys());
  const members = uses.flatMap(({ node }) => classesAround(node).flatMap(methodsOf));
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
function valuesWith(module: PyModule, uses: readonly GradUse[]): readonly Differentiator[] {
  return uses.flatMap(({ node, words }) => {
    const isIterated = isGoneThrough(module, [node]);
    const isValue = isMadePartial(module, node) && !isGivenToLibrary(module, wholeName(node));
    if (!isIterated && !isValue) return [];
    return {
      ...{ ...NAMELESS, words, isIterated, isValue },
      arity: [0, Number.POSITIVE_INFINITY] as const,
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

/** An alias in the body of the class: `diff = staticmethod(torch.autograd.grad)`. */
function usedByClass(uses: readonly GradUse[], classNode: PyNode): GradUse | undefined {
  return uses.find(({ node }) => classesAround(node).includes(classNode));
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
