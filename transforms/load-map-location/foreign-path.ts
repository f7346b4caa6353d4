import { boundElsewhere } from '../../src/semantic/elsewhere.js';
import type { PyModule } from '../../src/semantic/module.js';
import { importedPath } from '../../src/semantic/names.js';
import { mayBring, starImports, within } from '../../src/semantic/stars.js';
import { isOfKnownLoading } from './loading-class.js';

/** Imports of imports are followed this far. */
const MAX_HOPS = 5;

const OF_EVERY_FILE: ReadonlySet<string> = new Set(['__dict__', '__doc__', '__file__', '__name__']);

/**
 * Whether an import asks a file or folder of the project for what is not there, beside other things that are: then it is not anywhere, and
 * an error all that the import gives.
 */
export function lacks(module: PyModule, dots: string, path: string): boolean {
  const names = path.split('.');
  return names.slice(1).some((name, at) => {
    const from = names.slice(0, at + 1).join('.');
    const asked = namesFrom(module, from);
    if (!asked.includes(name) || isThere(module, within(dots + from, name))) return false;
    return (
      asked.some((other) => isThere(module, within(dots + from, other))) &&
      !mayGive(module, dots + from, name)
    );
  });
}

/** Whether a file has something by name that may be of a package of which nobody knows how that loads. */
export function importsForeign(file: PyModule): boolean {
  return file.words('import').some(({ parent: statement }) => {
    const from = statement?.type === 'import_from_statement' ? statement.module_name : undefined;
    if (statement === undefined || from === undefined) return false;
    if (statement.childOfType('wildcard_import') !== undefined) return isForeign(file, from.text);
    return statement.named
      .slice(1)
      .some((each) => isForeign(file, within(from.text, (each.name ?? each).text)));
  });
}

/** The names that `from … import …` asks for, anywhere in the file. */
function namesFrom(module: PyModule, from: string): readonly string[] {
  return module.words('import').flatMap(({ parent: statement }) => {
    if (statement?.type !== 'import_from_statement' || statement.module_name?.text !== from) return [];
    return statement.named.slice(1).map((each) => (each.name ?? each).text);
  });
}

function isThere(module: PyModule, path: string): boolean {
  return boundElsewhere(module, path) !== undefined || module.around.text(path) !== undefined;
}

/** Whether a file may have a name that no statement of it binds to something of the project. */
export function mayGive(module: PyModule, owner: string, name: string): boolean {
  if (module.around.text(owner) === undefined) return false;
  const home = module.around.module(owner);
  if (home === undefined || homeOfName(home, name, 0) !== 'nowhere') return true;
  return starImports(home).length > 0 || home.mentions(BINDS_BY_TEXT);
}

const BINDS_BY_TEXT = /__getattr__|__path__|\b(?:exec|globals|locals|setattr|vars)\(|\bsys\.modules\b/;

export function isForeign(module: PyModule, path: string): boolean {
  return homeOf(module, path, 0) !== 'project';
}

/** Where an import leads. A folder of the project may have the name of a package, and nothing of it; what it imports may be of others. */
type Home = 'project' | 'package' | 'nowhere';

function homeOf(module: PyModule, path: string, hops: number): Home {
  if (isOfKnownLoading(path) || module.around.text(path) !== undefined) return 'project';
  if (hops > MAX_HOPS) return 'package';
  for (let at = path; /\w/.test(at); ) {
    if (boundElsewhere(module, at) !== undefined) return 'project';
    const [, owner = '', name = ''] = /^(?:(\.+|.*)\.)?(\w*)$/.exec(at) ?? [];
    at = /^\.*$/.test(owner) ? at.slice(0, -name.length) : owner;
    if (at !== '' && module.around.text(at) !== undefined) {
      const home = module.around.module(at);
      return home === undefined ? 'package' : homeOfName(home, name, hops + 1);
    }
  }
  return path.startsWith('.') ? 'project' : 'package';
}

/** Of a name at the top of a file. */
export function homeOfName(module: PyModule, name: string, hops: number): Home {
  if (OF_EVERY_FILE.has(name)) return 'project';
  const ways = module.scope.has(name)
    ? module.writes(module.scope, name).map((write) => importedPath(write))
    : starImports(module).flatMap(({ from }) => (mayBring(module, from, name) ? within(from, name) : []));
  const homes = ways.map((path) => (path === undefined ? 'project' : homeOf(module, path, hops)));
  if (homes.includes('package')) return 'package';
  return homes.includes('project') ? 'project' : 'nowhere';
}
