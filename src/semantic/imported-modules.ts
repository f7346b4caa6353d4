import { boundElsewhere, definedElsewhere } from './elsewhere.js';
import { importedNames } from './imports.js';
import type { PyModule } from './module.js';
import { importedPath } from './names.js';

const IMPORTED = /^[ \t]*import[ \t]+([\w.]+)/gm;

const IMPORTED_FROM = /^[ \t]*from[ \t]+([.\w]+)[ \t]+import[ \t]*(?:\(([^()]*)\)|([^\n]*))/gm;

/** Where the functions and classes stand that a file imports, by their names or with their module. */
export function* modulesBehindImports(module: PyModule): Generator<PyModule> {
  for (const [, name = ''] of module.text.matchAll(IMPORTED)) {
    const found = module.around.module(name);
    if (found !== undefined) yield found;
  }
  for (const [, from = '', inBrackets, onLine = ''] of module.text.matchAll(IMPORTED_FROM)) {
    for (const each of (inBrackets ?? onLine).replace(/#[^\n]*/g, '').split(',')) {
      const name = /\w+/.exec(each)?.[0];
      const found = name && boundElsewhere(module, from.endsWith('.') ? from + name : `${from}.${name}`);
      if (found) yield found.module;
    }
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
