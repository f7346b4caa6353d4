import type { PyModule } from './module.js';

/** A question about a file, or about something in it, that is answered once. */
export function remembered<T>(find: (module: PyModule) => T): (module: PyModule) => T;
export function remembered<T, K extends Parameters<PyModule['memo']>[1]>(
  find: (module: PyModule, key: K) => T,
): (module: PyModule, key: K) => T;
export function remembered<T>(
  find: (module: PyModule, key: Parameters<PyModule['memo']>[1]) => T,
): (module: PyModule, key?: Parameters<PyModule['memo']>[1]) => T {
  return (module, key = module) => module.memo(find, key);
}
