import { CACHING } from '../../library/names.js';
import { qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { returnsOf } from '../../semantic/returns.js';
import { calleeOf, decoratorsOf } from '../../semantic/statements.js';
import type { PyNode } from '../../syntax/node.js';
import { isOfKnownPackage } from '../../values/value/plain.js';
import { nameBehind } from './called-values.js';
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
