import { boundElsewhere, definedElsewhere } from './elsewhere.js';
import { importedNames } from './imports.js';
import type { PyModule } from './module.js';
import { importedPath } from './names.js';
import { remembered } from './remembered.js';

const IMPORTED = /^[ \t]*import[ \t]+([\w.]+)/gm;

const IMPORTED_FROM = /^[ \t]*from[ \t]+([.\w]+)[ \t]+import[ \t]*(?:\(([^()]*)\)|([^\n]*))/gm;

/** The files where the functions and classes stand that a file imports, by their names or with their module: each once. */
export const modulesBehindImports = remembered((module: PyModule): ReadonlySet<PyModule> => {
  const modules = new Set<PyModule>();
  for (const [, name = ''] of module.text.matchAll(IMPORTED)) {
    const found = module.around.module(name);
    if (found !== undefined) modules.add(found);
  }
  for (const [, from = '', inBrackets, onLine = ''] of module.text.matchAll(IMPORTED_FROM)) {
    for (const each of (inBrackets ?? onLine).replace(/#[^\n]*/g, '').split(',')) {
      const name = /\w+/.exec(each)?.[0];
      if (name === undefined) continue;
      const path = from.endsWith('.') ? from + name : `${from}.${name}`;
      // A name that is from further away is handed on by the file that it is imported from.
      const found =
        boundElsewhere(module, path)?.module ?? module.around.module(path) ?? module.around.module(from);
      if (found !== undefined) modules.add(found);
    }
  }
  return modules;
});

/** From a file to what it imports, so many times: each file once, the nearest first. */
export function* modulesWithin(module: PyModule, hops: number): Generator<PyModule> {
  const reached = new Set([module]);
  let ring: readonly PyModule[] = [module];
  for (let hop = 0; hop < hops; hop++) {
    ring = ring
      .flatMap((here) => [...modulesBehindImports(here)])
      .filter((there) => !reached.has(there) && reached.add(there));
    yield* ring;
  }
}

/** The file, and those of the project that it imports classes from. */
export function* modulesAround(module: PyModule): Generator<PyModule> {
  yield module;
  const seen = new Set<PyModule>();
  for (const name of importedNames(module, module.scope).keys()) {
    const [binding] = /^[A-Z]/.test(name) ? module.writes(module.scope, name) : [];
    const path = binding && importedPath(binding);
    const found = path === undefined ? undefined : definedElsewhere(module, path);
    if (found?.node.type !== 'class_definition' || seen.has(found.module)) continue;
    seen.add(found.module);
    yield found.module;
  }
}
