import { OPTIMIZERS, PARTIAL, TORCH_DATA } from '../../library/names.js';
import { isAnywhere } from '../../semantic/anywhere.js';
import { attributeValues, makersOf } from '../../semantic/attributes.js';
import {
  attributeOfSelf,
  calledDefinition,
  classAround,
  definitionBehind,
  methodsOf,
} from '../../semantic/definitions.js';
import { callGiven, isOnlyAsked, isParsed, isVariable, pathsOf } from '../../semantic/given-away.js';
import { calledPath, qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { argumentsByParameter } from '../../semantic/parameters.js';
import { isGenerator } from '../../semantic/returns.js';
import {
  argumentsOf,
  enclosingClass,
  isAsync,
  methodName,
  receiverOf,
  wholeName,
} from '../../semantic/statements.js';
import { plainString } from '../../semantic/strings.js';
import { filledWith } from '../../semantic/tables.js';
import { isUnbound, readsOf, waysGiven } from '../../semantic/variables.js';
import type { PyNode } from '../../syntax/node.js';

/** Whether the code of a file uses a name, or an attribute of that name, otherwise than by calling it. */
export function usedAsValue(module: PyModule, name: string): boolean {
  return placesNamed(module, name).some((value) => isUsed(module, value));
}

function isUsed(module: PyModule, value: PyNode): boolean {
  if (isOnlyAsked(value) || isParsed(module, value)) return false;
  const user = value.parent;
  if (user?.type === 'call' && user.function === value) return false;
  if (isAskedForPart(value)) return false;
  // `del self.train`
  if (value.closest('delete_statement', 'call', 'block')?.type === 'delete_statement') return false;
  // Python indexes no function.
  if (user?.type === 'subscript' && user.value === value) return false;
  const target = /^(?:pattern_list|tuple_pattern)$/.test(user?.type ?? '') ? user : value;
  return !(target?.parent?.type === 'assignment' && target.parent.left === target);
}

/** `config.train.size`: something else than the function, which `train.__get__(net)` gives. */
export function isAskedForPart(value: PyNode): boolean {
  const user = value.parent;
  if (user?.type !== 'attribute' || user.object !== value) return false;
  return !/^__(?:call|func|get|wrapped)__$/.test(user.attribute?.text ?? '');
}

/** What a file does with a function, or an attribute of its name, otherwise than to call it. Plain data: it outlives the scan. */
export interface HandedOn {
  /** It stores it, or gives it to code that was not followed. */
  readonly isValue: boolean;
  /** Methods that it gives it to, which only run it, unless others of their name take their place. */
  readonly methods: readonly string[];
  /** Methods of objects of the project that get it first, `optimizer.step(closure)`. */
  readonly steps: readonly Step[];
  /** Classes that have set `self.train` when they were made, and of whose objects it takes that. */
  readonly owners: readonly string[];
}

export function handedOn(alone: PyModule, name: string): HandedOn {
  const methods: string[] = [];
  const steps: Step[] = [];
  const kept = placesNamed(alone, name).filter((value) => isKept(alone, value, { methods, steps }, 0));
  const owners = kept.map((value) => ownerSetting(alone, value)?.name?.text);
  return {
    isValue: owners.includes(undefined),
    methods,
    steps,
    owners: owners.filter((owner) => owner !== undefined),
  };
}

/** The class of an object whose attribute this is, where its `__init__` sets it in any case: `self.train = train`. */
function ownerSetting(alone: PyModule, attribute: PyNode): PyNode | undefined {
  const own = attributeOfSelf(attribute);
  const { self = '' } = classAround(attribute) ?? {};
  const scope = own && attribute.object && alone.resolve(attribute.object);
  if (own === undefined || scope === undefined || alone.writes(scope, self).length > 1) return undefined;
  const maker = methodsOf(own.classNode).find((method) => method.name?.text === '__init__');
  const isSet = maker?.body?.named.some((statement) => {
    const left = statement.named[0]?.type === 'assignment' ? statement.named[0].left : undefined;
    const targets = left?.type === 'pattern_list' ? left.named : [left];
    const isBefore = !maker.contains(attribute) || statement.end <= attribute.start;
    return isBefore && targets.some((target) => target?.text === attribute.text);
  });
  return isSet ? own.classNode : undefined;
}

/** `del data.train`, `setattr(data, "train", learn)` */
export function movesByName(alone: PyModule, name: string): boolean {
  if (new RegExp(`["']${name}["']`).test(alone.code) && REFLECTS.test(alone.code)) return true;
  return alone
    .words(name)
    .some((node) => node.closest('delete_statement', 'call', 'block')?.type === 'delete_statement');
}

const REFLECTS = /\b(?:[gsd]etattr|attrgetter|methodcaller|vars|delattr|__\w*(?:dict|attr)\w*__)\b/;

/** Whether a file of the project gives an object what another one has, by names that are computed. */
export function copiesMembers(module: PyModule): boolean {
  return ['setattr', '__dict__', 'vars', 'type', 'new_class', '__bases__'].some((word) =>
    isAnywhere(module, word, copiesIn),
  );
}

function copiesIn(alone: PyModule, word: string): boolean {
  return alone.words(word).some((node) => {
    const self = classAround(node)?.self;
    // `type(name, bases, {})`
    if (word === 'type') return node.parent?.type === 'call' && argumentsOf(node.parent).length === 3;
    if (word === 'new_class' || word === '__bases__') return true;
    if (word === 'setattr') {
      const [object, key] = node.parent?.type === 'call' ? argumentsOf(node.parent) : [];
      return key !== undefined && object?.text !== self && plainString(key) === undefined;
    }
    const held = word === 'vars' ? node.parent : wholeName(node);
    const isUpdated = held?.parent?.attribute?.text === 'update';
    return isUpdated && /__dict__|\bvars\(/.test(held.parent?.parent?.named[1]?.text ?? '');
  });
}

/** A method that gets a function first, and the classes of the objects that it is called on, by file and name: `lbfgs.Search`. */
interface Step {
  readonly method: string;
  readonly classes: readonly string[];
}

/** Who gets a function, and may only run it. */
interface Runners {
  readonly methods: string[];
  readonly steps: Step[];
}

/** Whether somebody may have the function, or what is made of it, after this use, other than those that are put into `runners`. */
function isKept(module: PyModule, value: PyNode, runners: Runners, hops: number): boolean {
  if (!isUsed(module, value) || isGivenToLibrary(module, value)) return false;
  const call = callGiven(value);
  const called = call && hops < MAX_HOPS ? calledDefinition(module, call) : undefined;
  const step = call && called === undefined ? stepOf(module, call, value) : undefined;
  if (step !== undefined) return runners.steps.push(step) === 0;
  if (
    call === undefined ||
    called?.type !== 'function_definition' ||
    isGenerator(module, called) ||
    isAsync(called)
  )
    return true;
  const given = [...(argumentsByParameter(module, called, call) ?? [])].find(([, each]) => each === value);
  if (given === undefined) return true;
  if (enclosingClass(called) !== undefined) runners.methods.push(called.name?.text ?? '');
  return isParameterKept(module, called, given[0], runners, hops + 1);
}

/** A call of a method of objects of the project that gets the function first. */
function stepOf(module: PyModule, call: PyNode, value: PyNode): Step | undefined {
  const method = methodName(call);
  if (method === undefined || pathsOf(module, call.function ?? call).length > 0) return undefined;
  if (argumentsOf(call)[0] !== value) return undefined;
  const made = madeBehind(module, receiverOf(call));
  const others = made.filter((each) => !(method === 'step' && isOptimizer(module, each)));
  const classes = others.flatMap((each) => classMade(module, each) ?? []);
  return made.length > 0 && classes.length === others.length ? { method, classes } : undefined;
}

function isOptimizer(module: PyModule, made: PyNode | undefined): boolean {
  return made?.type === 'call' && calledPath(module, made)?.startsWith(OPTIMIZERS) === true;
}

/** `lbfgs.Search` of `Search(weights)` */
function classMade(module: PyModule, made: PyNode | undefined): string | undefined {
  const isEntered = made?.parent?.type === 'as_pattern';
  const callee = made?.type === 'call' && !isEntered ? made.function : undefined;
  const path = callee && qualifiedName(module, callee);
  if (path !== undefined) return path.split('.').slice(-2).join('.');
  const own = callee && definitionBehind(module, callee);
  return own?.type === 'class_definition' ? classNamed(module, own) : undefined;
}

/** A class of a file, as imports name it. */
export function classNamed({ path }: PyModule, { name }: PyNode): string {
  return `${/([^\\/]+?)(?:[\\/]__init__)?\.\w+$/.exec(path)?.[1]}.${name?.text}`;
}

export function isParameterKept(
  module: PyModule,
  functionNode: PyNode,
  name: string,
  runners: Runners,
  hops: number,
): boolean {
  return module
    .reads(module.scopeOf(functionNode), name)
    .some((read) => read.closest(...OWN_TIME) !== functionNode || isKept(module, read, runners, hops));
}

/** What runs at another time than the code around it. */
const OWN_TIME = ['function_definition', 'lambda', 'generator_expression'] as const;

/** Where a file may speak of a function of this name, or of an attribute: not where it binds, imports or passes by the name. */
export function placesNamed(module: PyModule, name: string): readonly PyNode[] {
  return module.words(name).flatMap((node) => {
    const place = node.parent;
    if (node.type !== 'identifier' || node.text !== name || place === undefined) return [];
    // `from work import f as g`
    if (place.parent?.type === 'aliased_import') return readsOf(module, place.parent.alias);
    if (/import|^dotted_name$|^(?:function|class)_definition$|global/.test(place.type)) return [];
    if (/parameter/.test(place.type) && place.value !== node) return [];
    if (place.type === 'keyword_argument' && place.name === node) return [];
    const value = place.type === 'attribute' && place.attribute === node ? place : node;
    return value === node && isVariable(module, node) ? [] : [value];
  });
}

/** `mp.spawn(worker)`, `optimizer.step(closure)`, `study.optimize(partial(f, net))`: what a library runs, no other code of the project gets. */
export function isGivenToLibrary(module: PyModule, value: PyNode): boolean {
  const call = callGiven(value);
  const callee = call?.function;
  if (call === undefined || callee === undefined) return false;
  const paths = pathsOf(module, callee);
  if (paths.length > 0) {
    if (paths.some((path) => GIVES_FUNCTION.test(path))) return isGivenToLibrary(module, call);
    return paths.every((path) => RUNS_IT.test(path));
  }
  const makers = makersBehind(module, receiverOf(call));
  if (makers.length === 0) return false;
  return makers.every((path) =>
    methodName(call) === 'step' ? path?.startsWith(OPTIMIZERS) : path !== undefined && RUNS_IT.test(path),
  );
}

/** What made an object, also by `with Pool() as pool`. */
function makersBehind(module: PyModule, object: PyNode | undefined): readonly (string | undefined)[] {
  if (object?.type === 'attribute') return makersOf(module, object);
  return madeBehind(module, object).map((made) =>
    made?.type === 'call' ? calledPath(module, made) : undefined,
  );
}

/** The values that an object may be; undefined for one that does not show. */
function madeBehind(module: PyModule, object: PyNode | undefined): readonly (PyNode | undefined)[] {
  if (object?.type === 'subscript') return filledWith(module, object) ?? [undefined];
  if (object?.type === 'attribute') return attributeValues(module, object) ?? [undefined];
  if (object?.type !== 'identifier') return object === undefined ? [] : [object];
  return waysGiven(module, object).map((way) =>
    way.kind === 'value' || way.kind === 'with' ? way.value : undefined,
  );
}

/** Packages that run what they are given, and hand it to nobody. */
export const RUNNERS = [
  ...['multiprocessing', 'threading', 'concurrent', 'fire', 'click', 'typer', 'hydra', 'atexit', 'signal'],
  ...['inspect', 'optuna', 'ray', 'wandb', 'hyperopt', 'skopt', 'submitit', 'absl', 'tyro', 'timeit'],
  'cProfile',
];
const RUNS_IT = new RegExp(`^(?:torch\\.multiprocessing|torch\\.distributed|${RUNNERS.join('|')})\\.`);

/** What these give is the function, or runs it. */
const GIVES_FUNCTION =
  /^functools\.(?:partial|wraps)$|^inspect\.unwrap$|^ray\.(?:put|remote|tune\.with_\w+)$/;

const MAX_HOPS = 3;

/** Parts of one expression. */
const PARTS =
  /^(?:argument_list|keyword_argument|parenthesized_expression|conditional_expression|list|tuple|dictionary|pair|list_splat|attribute|expression_list)$/;

/**
 * Whether what stands at a place runs only when somebody goes through what it is a part of: `map(f, data)`,
 * `(f(x) for x in data)`, `DataLoader(data, collate_fn=partial(f, net))`, also by a variable.
 */
export function runsWhenGoneThrough(module: PyModule, place: PyNode, hops = 0): boolean {
  // Whether it has run where the climb stands: its result goes on, not itself.
  let hasRun = false;
  for (let node = place, above = node.parent; above !== undefined; node = above, above = node.parent) {
    if (above.type === 'lambda') hasRun = false;
    else if (above.type === 'generator_expression') return !isConsumed(module, above);
    else if (above.type === 'call') {
      if (above.function === node) hasRun = true;
      else if (!hasRun && goesThrough(module, above)) return !isConsumed(module, above);
    } else if (above.type === 'assignment') {
      return !hasRun && above.right === node && hops < MAX_HOPS && readsGoThrough(module, above, hops);
    } else if (!PARTS.test(above.type)) return false;
  }
  return false;
}

function readsGoThrough(module: PyModule, assignment: PyNode, hops: number): boolean {
  const target = assignment.left;
  const reads =
    target?.type === 'attribute'
      ? module.words(`.${target.attribute?.text}`).flatMap(({ parent }) => parent ?? [])
      : readsOf(module, target);
  return reads.some((read) => runsWhenGoneThrough(module, read, hops + 1));
}

/** What such a call gives runs what it was given, one item after the other. */
function goesThrough(module: PyModule, call: PyNode): boolean {
  const callee = call.function;
  if (callee === undefined) return false;
  if (isUnbound(module, callee)) return /^(?:map|filter|iter)$/.test(callee.text);
  const path = qualifiedName(module, callee) ?? '';
  return path.startsWith(TORCH_DATA) || path.startsWith('itertools.');
}

const EAGER = /^(?:all|any|dict|frozenset|len|list|max|min|next|set|sorted|sum|tuple)$/;

/** Somebody goes through it on the spot. */
function isConsumed(module: PyModule, lazy: PyNode): boolean {
  const callee =
    callGiven(lazy)?.function ?? (lazy.parent?.type === 'call' ? lazy.parent.function : undefined);
  if (callee !== undefined && isUnbound(module, callee)) return EAGER.test(callee.text);
  if (callee !== undefined && (qualifiedName(module, callee) ?? '').startsWith('torch.'))
    return !goesThrough(module, callee.parent ?? callee);
  return lazy.parent?.type === 'for_statement' || lazy.parent?.type === 'for_in_clause';
}

/** `partial(f, net)`, also by a variable: a function that takes fewer arguments than its own code says. */
export function isMadePartial(module: PyModule, place: PyNode): boolean {
  const callee = callGiven(wholeName(place))?.function;
  if (callee === undefined) return false;
  if (qualifiedName(module, callee) === PARTIAL) return true;
  return waysGiven(module, callee).some(
    (way) => way.kind === 'value' && qualifiedName(module, way.value) === PARTIAL,
  );
}
