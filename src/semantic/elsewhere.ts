import type { PyNode } from '../syntax/node.js';
import { ancestryOf, methodNamed } from './definitions.js';
import { definitionOf } from './flow.js';
import { importedFrom } from './import-folders.js';
import { qualifiedName } from './imports.js';
import { isLookedAt } from './mapping-use.js';
import type { PyModule } from './module.js';
import { importedPath, roleOf } from './names.js';
import { remembered } from './remembered.js';
import { mayBring, starImports, within } from './stars.js';
import { unparenthesized } from './statements.js';
import { isUnbound } from './variables.js';

/** A definition, or a value, in another file of the project. Its node belongs to its own module. */
export interface Elsewhere {
  readonly module: PyModule;
  readonly node: PyNode;
}

/** A package that gathers more modules than this by `import *` is not searched. */
const MAX_STARS = 12;
/** Imports of imports are followed this far. */
const MAX_HOPS = 5;

/** Never a file of the project, as far as it matters here: not worth a look around. */
const PACKAGES: ReadonlySet<string> = new Set(
  'abc argparse collections copy dataclasses enum functools io itertools json logging math numpy os pathlib random re sys time torch tqdm typing warnings'.split(
    ' ',
  ),
);

/** Libraries of which more is known than a look at their source tells. */
const LIBRARIES: ReadonlySet<string> = new Set(
  'accelerate deepspeed diffusers lightning peft pytorch_lightning transformers trl'.split(' '),
);

/**
 * Whether a file lies beside a library, in the library's own repository: to an example or a benchmark there, it is what it
 * is to everybody who installs it. A package of the same name in another project is that project's own.
 */
function isOutside(module: PyModule, library: string): boolean {
  if (module.path.split('/').includes(library)) return false;
  const name = new RegExp(
    `(?<![\\w.-])name\\s*=\\s*["']?${library.replace('_', '[-_]')}["']?\\s*(?:,|$)`,
    'm',
  );
  return ['pyproject.toml', 'setup.py', 'setup.cfg'].some((file) =>
    name.test(module.around.file(file)?.text ?? ''),
  );
}

/**
 * The definition behind a dotted path of `qualifiedName`, where the path leads into the project: through packages that
 * pass a name on, by its one definition there. Undefined where any of that is not certain.
 */
export function definedElsewhere(module: PyModule, path: string): Elsewhere | undefined {
  const found = boundElsewhere(module, path);
  return found?.node.type === 'function_definition' || found?.node.type === 'class_definition'
    ? found
    : undefined;
}

/**
 * The value of a variable of another file's module: assigned once, and not changed in that file as far as that shows.
 * Other files may still change what is in it.
 */
export function valueElsewhere(module: PyModule, path: string): Elsewhere | undefined {
  const found = boundElsewhere(module, path);
  const assignment = found?.node.type === 'assignment' ? found.node : undefined;
  const target = assignment?.left;
  const value = assignment?.right;
  if (found === undefined || target === undefined || value === undefined) return undefined;
  const uses = found.module.reads(found.module.scope, target.text);
  return uses.every((use) => isLookedAt(use)) ? { module: found.module, node: value } : undefined;
}

/** What a dotted path names in the project: a `def`, a `class` or the one assignment of a name. */
export const boundElsewhere = remembered((module: PyModule, path: string): Elsewhere | undefined => {
  const { all, isSure } = find(module, path, 0);
  return isSure ? all[0] : undefined;
});

/** All that it may name, where the files on the way bind it more than once: `try: from .fast import f`. */
export const candidatesElsewhere = remembered(
  (module: PyModule, path: string): readonly Elsewhere[] => find(module, path, 0).all,
);

interface Found {
  readonly all: readonly Elsewhere[];
  /** It is the only one. */
  readonly isSure: boolean;
}

const NOTHING: Found = { all: [], isSure: false };

function find(module: PyModule, path: string, hops: number): Found {
  const [, dots = '', rest = ''] = /^(\.*)(.*)$/.exec(path) ?? [];
  const names = rest.split('.');
  const name = names.pop() ?? '';
  const owner = dots + names.join('.');
  if (owner === '' || name === '' || hops > MAX_HOPS || PACKAGES.has(owner.split('.', 1)[0] ?? ''))
    return NOTHING;
  const [top = ''] = names;
  if (dots === '' && LIBRARIES.has(top) && module.memo(isOutside, top)) return NOTHING;
  const place = importedFrom(module, owner);
  const text = place === undefined ? undefined : module.around.text(place);
  // What the file does not even mention can only come to it by `import *`.
  if (place === undefined || text === undefined || !(text.includes(name) || /\bimport[ \t]*\*/.test(text)))
    return NOTHING;
  const other = module.around.module(place);
  return other === undefined ? NOTHING : atTop(other, name, hops);
}

/** The same for a name at the top of a module. */
export function boundAtTop(module: PyModule, name: string): Elsewhere | undefined {
  const { all, isSure } = atTop(module, name, 0);
  return isSure ? all[0] : undefined;
}

function atTop(module: PyModule, name: string, hops: number): Found {
  return module.scope.has(name) ? boundIn(module, name, hops) : passedOn(module, name, hops);
}

function boundIn(other: PyModule, name: string, hops: number): Found {
  const writes = other.writes(other.scope, name);
  const found = writes.map((write): Found => {
    const role = roleOf(write);
    const { parent } = write;
    const isAssigned = role === 'write' && parent?.type === 'assignment' && parent.left === write;
    if (role === 'def' || role === 'class' || isAssigned)
      return parent === undefined ? NOTHING : { all: [{ module: other, node: parent }], isSure: true };
    const path = importedPath(write);
    return path === undefined ? NOTHING : find(other, path, hops + 1);
  });
  return { all: found.flatMap(({ all }) => all), isSure: found.length === 1 && found[0]?.isSure === true };
}

/** A name that comes by `from x import *`, where all that have it have the same. */
function passedOn(other: PyModule, name: string, hops: number): Found {
  const sources = other.alone.memo(starredModules, other.alone);
  if (name.startsWith('_') || sources.length > MAX_STARS) return NOTHING;
  const found = sources.map((from) =>
    find(other, `${from}${from.endsWith('.') ? '' : '.'}${name}`, hops + 1),
  );
  const all = found.flatMap((each) => each.all);
  const sure = found.filter(({ isSure }) => isSure).flatMap((each) => each.all);
  const isSure = sure.length > 0 && sure.every(({ node }) => node === sure[0]?.node);
  return isSure ? { all: sure.slice(0, 1), isSure } : { all, isSure };
}

function starredModules(module: PyModule): readonly string[] {
  return module.ownWords('import', module.root).flatMap(({ parent: statement }) => {
    const from = statement?.module_name?.text;
    return from === undefined || statement?.childOfType('wildcard_import') === undefined ? [] : [from];
  });
}

/** The dotted name of the class that made an object, where one call of an import did: `net` of `net = nets.Net()`. */
export function makerOf(module: PyModule, object: PyNode): string | undefined {
  const target = unparenthesized(object);
  const scope = target.type === 'identifier' ? module.resolve(target) : undefined;
  const [only, ...others] = scope === undefined ? [] : module.writes(scope, target.text);
  const made = only === undefined || others.length > 0 ? undefined : definitionOf(only);
  const value = target.type === 'call' ? target : made?.kind === 'value' ? made.value : undefined;
  const maker = value?.type === 'call' ? value.function : undefined;
  return maker && qualifiedName(module, maker);
}

export interface Lineage {
  /** The classes of other files of the project among the bases, and their bases. */
  readonly elsewhere: readonly Elsewhere[];
  /** Dotted names of the bases that lead out of the project, written here or there. */
  readonly imported: readonly string[];
  /** A base somewhere that is neither in the project nor a plain import. */
  readonly unknown: boolean;
}

/**
 * The definition in another file of the project that a name without a binding in its own file comes from, by
 * `from x import *`. Where several bring it, the last one counts; undefined where one of those may and does not show it.
 */
export function starredDefinition(module: PyModule, name: string): Elsewhere | undefined {
  if (name.startsWith('_')) return undefined;
  for (const { from, isSure } of starImports(module)) {
    if (!mayBring(module, from, name)) continue;
    return isSure ? definedElsewhere(module, within(from, name)) : undefined;
  }
  return undefined;
}

/** A class's bases across the files of the project. By itself, a file knows of what it imports only the name. */
export const lineageOf = remembered((module: PyModule, classNode: PyNode): Lineage => {
  const elsewhere: Elsewhere[] = [];
  const imported: string[] = [];
  let unknown = false;
  const pending: Elsewhere[] = [{ module, node: classNode }];
  for (let at = pending.shift(); at !== undefined; at = pending.shift()) {
    const ancestry = ancestryOf(at.module, at.node);
    const starred = ancestry.others.map((base) =>
      isUnbound(at.module, base) ? starredDefinition(at.module, base.text) : undefined,
    );
    unknown ||= starred.some((each) => each?.node.type !== 'class_definition');
    for (const found of starred)
      if (found !== undefined && !elsewhere.some(({ node }) => node === found.node)) {
        elsewhere.push(found);
        pending.push(found);
      }
    for (const path of ancestry.imported) {
      const found = definedElsewhere(at.module, path);
      if (found?.node.type !== 'class_definition') imported.push(path);
      else if (!elsewhere.some(({ node }) => node === found.node)) {
        elsewhere.push(found);
        pending.push(found);
      }
    }
  }
  return { elsewhere, imported, unknown };
});

/** The definition in another file that an expression names. */
export function namedElsewhere(module: PyModule, expression: PyNode): Elsewhere | undefined {
  const path = qualifiedName(module, expression);
  return path === undefined ? undefined : definedElsewhere(module, path);
}

/** A name of a file of the project of which nothing more is known, such as the file itself: `models` of `getattr(models, name)`. */
export function leadsInside(module: PyModule, path: string): boolean {
  if (definedElsewhere(module, path) ?? valueElsewhere(module, path)) return false;
  for (let at = path; ; at = at.slice(0, at.lastIndexOf('.'))) {
    if (module.around.text(at) !== undefined) return true;
    if (!at.includes('.')) return false;
  }
}

/** What making an object of a class of another file of the project runs. */
export function makersElsewhere(module: PyModule, path: string | undefined): readonly Elsewhere[] {
  const found = path === undefined ? undefined : definedElsewhere(module, path);
  if (found?.node.type !== 'class_definition') return [];
  return MAKERS.flatMap((name) => {
    const node = methodNamed(found.module, found.node, name);
    return node === undefined ? [] : [{ module: found.module, node }];
  });
}

const MAKERS = ['__init__', '__new__', '__post_init__'];

/** The path leads into the project, though perhaps not to a definition: a module around it is a file there. */
export function mayBeOfProject(module: PyModule, path: string): boolean {
  for (let at = path; at.includes('.'); ) {
    at = at.slice(0, at.lastIndexOf('.'));
    if (at === '' || /^\.+$/.test(at)) return true;
    if (module.around.text(at) !== undefined) return true;
  }
  return path.startsWith('.');
}

/** `.missing.Net`: a file of the project by where the path leads, which is not among those that are there. */
export function isMissing(module: PyModule, path: string): boolean {
  for (let at = path.slice(0, path.lastIndexOf('.')); /\w/.test(at); at = at.slice(0, at.lastIndexOf('.'))) {
    const text = module.around.text(at);
    const [next = '', inside] = path.slice(at.length + 1).split('.');
    if (text !== undefined)
      return inside !== undefined && !new RegExp(`\\b${next}\\b|import \\*|__(?:getattr|path)__`).test(text);
  }
  return path.startsWith('.');
}
