import { OPTIMIZERS, PARTIAL, TORCH_DATA } from '../../library/names.js';
import { makersOf } from '../../semantic/attributes.js';
import { calledDefinition } from '../../semantic/definitions.js';
import { callGiven, isOnlyAsked, isParsed, isVariable, pathsOf } from '../../semantic/given-away.js';
import { calledPath, qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { argumentsByParameter } from '../../semantic/parameters.js';
import { isGenerator } from '../../semantic/returns.js';
import { enclosingClass, isAsync, methodName, receiverOf, wholeName } from '../../semantic/statements.js';
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
  // `train.__get__(net)`
  if (user?.type === 'attribute' && user.object === value)
    return /^__(?:call|func|get|wrapped)__$/.test(user.attribute?.text ?? '');
  // Python indexes no function.
  if (user?.type === 'subscript' && user.value === value) return false;
  return !(user?.type === 'assignment' && user.left === value);
}

/** What a file does with a function, or an attribute of its name, otherwise than to call it. Plain data: it outlives the scan. */
export interface HandedOn {
  /** It stores it, or gives it to code that was not followed. */
  readonly isValue: boolean;
  /** Methods that it gives it to, which only run it, unless others of their name take their place. */
  readonly methods: readonly string[];
}

export function handedOn(alone: PyModule, name: string): HandedOn {
  const methods: string[] = [];
  const isValue = placesNamed(alone, name).some((value) => isKept(alone, value, methods, 0));
  return { isValue, methods };
}

/** Whether somebody may have the function, or what is made of it, after this use. `methods`: gets those that only run it. */
function isKept(module: PyModule, value: PyNode, methods: string[], hops: number): boolean {
  if (!isUsed(module, value) || isGivenToLibrary(module, value)) return false;
  const call = callGiven(value);
  const called = call && hops < MAX_HOPS ? calledDefinition(module, call) : undefined;
  if (
    call === undefined ||
    called?.type !== 'function_definition' ||
    isGenerator(module, called) ||
    isAsync(called)
  )
    return true;
  const given = [...(argumentsByParameter(module, called, call) ?? [])].find(([, each]) => each === value);
  if (given === undefined) return true;
  if (enclosingClass(called) !== undefined) methods.push(called.name?.text ?? '');
  return module
    .reads(module.scopeOf(called), given[0])
    .some((read) => read.closest(...OWN_TIME) !== called || isKept(module, read, methods, hops + 1));
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
  if (object?.type !== 'identifier') return object === undefined ? [] : makersOf(module, object);
  return waysGiven(module, object).map((way) => {
    const made = way.kind === 'value' || way.kind === 'with' ? way.value : undefined;
    return made?.type === 'call' ? calledPath(module, made) : undefined;
  });
}

/** Packages that run what they are given, and hand it to nobody. */
const RUNNERS = [
  ...['multiprocessing', 'threading', 'concurrent', 'fire', 'click', 'typer', 'hydra', 'atexit', 'signal'],
  ...['inspect', 'optuna', 'ray', 'wandb', 'hyperopt', 'skopt', 'submitit', 'absl', 'tyro', 'timeit'],
  'cProfile',
];
const RUNS_IT = new RegExp(`^(?:torch\\.multiprocessing|torch\\.distributed|${RUNNERS.join('|')})\\.`);

/** Whether a file of the project has the name of one of these packages, and is it. */
export function hasOwnRunner(module: PyModule): boolean {
  return RUNNERS.some((name) => module.around.text(name) !== undefined);
}

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
