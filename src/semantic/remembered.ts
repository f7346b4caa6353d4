import type { PyNode } from '../syntax/node.js';
import type { PyModule } from './module.js';

type Key = Parameters<PyModule['memo']>[1];

/** A question about a file, or about something in it, that is answered once. */
export function remembered<T>(find: (module: PyModule) => T): (module: PyModule) => T;
export function remembered<T, K extends Key>(
  find: (module: PyModule, key: K) => T,
): (module: PyModule, key: K) => T;
export function remembered<T>(find: (module: PyModule, key: Key) => T): (module: PyModule, key: Key) => T {
  // Others hand such a question more than it asks for: `files.flatMap(evaluations)`.
  return find.length > 1 ? (module, key) => module.memo(find, key) : (module) => module.memo(find, module);
}

/** The same where it may lead back to itself: until it is answered, `meanwhile` is the answer. */
export function rememberedFrom<T, R extends readonly unknown[]>(
  meanwhile: NoInfer<T>,
  find: (module: PyModule, node: PyNode, ...rest: R) => T,
): (module: PyModule, node: PyNode, ...rest: R) => T {
  const nothingYet = () => new Map<PyNode, T>();
  return (module, node, ...rest) => {
    const known = module.memo(nothingYet, module);
    if (!known.has(node)) {
      known.set(node, meanwhile);
      known.set(node, find(module, node, ...rest));
    }
    return known.get(node) as T;
  };
}
