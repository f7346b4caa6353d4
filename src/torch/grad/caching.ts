import { CACHING } from '../../library/names.js';
import { qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { returnsOf } from '../../semantic/returns.js';
import { argumentsOf, calleeOf, decoratorsOf } from '../../semantic/statements.js';
import type { PyNode } from '../../syntax/node.js';
import { computes } from '../../values/effects/lazy-code.js';
import { isLive } from '../../values/effects/live-value.js';
import { isOfKnownPackage } from '../../values/value/plain.js';
import { calledBehind, nameBehind } from './called-values.js';
import { mayHaveGraph } from './forward-stores.js';

/** `@lru_cache`: what a function computed once, maybe with a graph, is there for all who ask later. */
export function cachesGraph(module: PyModule, functionNode: PyNode): boolean {
  return (
    decoratorsOf(functionNode).some((each) => caches(module, each)) && returnsGraph(module, functionNode)
  );
}

/** A decorator of Python that keeps what the function gave. */
function caches(module: PyModule, decorator: PyNode): boolean {
  const path = qualifiedName(module, calleeOf(decorator));
  return path !== undefined && CACHING.has(path);
}

function returnsGraph(module: PyModule, functionNode: PyNode): boolean {
  return returnsOf(functionNode).some((value) => value !== undefined && mayHaveGraph(module, value));
}

/** `self.rows = lru_cache(None)(self.make)`, `self.rows = defaultdict(lambda: self.weight.exp())`: what keeps what a function computes. */
export function cachesByCall(module: PyModule, call: PyNode): boolean {
  const { function: callee } = call;
  if (callee === undefined) return false;
  const isCache = caches(module, calleeOf(callee));
  if (!isCache && qualifiedName(module, callee) !== DEFAULT_TABLE) return false;
  return argumentsOf(call).some((each) => {
    const { functions } = calledBehind(module, each);
    // `cache(partial(make, self.weight))`
    return isLive(module, each) || functions.some((made) => computes(module, made));
  });
}

const DEFAULT_TABLE = 'collections.defaultdict';

/** The decorators and the class of a class that are of the project: what they put in the place of its methods. */
export function keysOfDressers(module: PyModule, classNode: PyNode): readonly string[] {
  const metaclasses = (classNode.superclasses?.named ?? []).flatMap((each) =>
    each.type === 'keyword_argument' && each.name?.text === 'metaclass' ? (each.value ?? []) : [],
  );
  return [...decoratorsOf(classNode).map(calleeOf), ...metaclasses].flatMap((callee) => {
    const path = qualifiedName(module, callee);
    if (path !== undefined && isOfKnownPackage(path)) return [];
    return [`dressed ${nameBehind(module, callee)}`];
  });
}

/** The decorators that are functions of the project: what they make of a function may keep what it gave. */
export function keysOfDecorators(module: PyModule, functionNode: PyNode): readonly string[] {
  return decoratorsOf(functionNode).flatMap((decorator) => {
    const callee = calleeOf(decorator);
    const path = qualifiedName(module, callee);
    if (path !== undefined && isOfKnownPackage(path)) return [];
    const isNamed = callee.type === 'identifier' ? module.resolve(callee) !== undefined : path !== undefined;
    return isNamed ? [`made ${nameBehind(module, callee)}`] : [];
  });
}
