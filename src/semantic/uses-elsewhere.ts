import { basename, dirname } from 'node:path/posix';
import type { PyNode } from '../syntax/node.js';
import { ancestryOf, attributeOfSelf, classBehind, methodNamed } from './definitions.js';
import { boundAtTop, boundElsewhere, type Elsewhere, lineageOf, makerOf } from './elsewhere.js';
import { importedFrom } from './import-folders.js';
import { hasStarImport, qualifiedName } from './imports.js';
import type { PyModule } from './module.js';
import { importedPath, roleOf } from './names.js';
import { starImports } from './stars.js';
import type { Mention } from './surroundings.js';

/** A place in another file of the project that uses a name of this one. Its node belongs to its own module. */
export interface UseElsewhere extends Elsewhere {
  /** It is this one; otherwise one of the same name, as far as that shows. */
  readonly isCertain: boolean;
}

export interface UsesElsewhere {
  readonly uses: readonly UseElsewhere[];
  /** The files that could not be looked into, as a sentence names them. */
  readonly unread: string | undefined;
}

/** Names of modules that one thing may be imported from. */
const MAX_NAMES = 8;

const NOWHERE: UsesElsewhere = { uses: [], unread: undefined };

/** How to look for uses. */
export interface Look {
  /** A look at the text of a file: false only where what is asked about cannot be in it. */
  may(text: string): boolean;
  /** One of these such a text has in any case: rare, so that few files are read. */
  readonly literals?: readonly string[];
  /** Whether objects that come from anywhere count by the name of their attribute; otherwise files that name the class. */
  readonly byName: boolean;
}

/**
 * Where other files use what a `def`, a `class` or an assignment binds to this name: at the top of the module, or as a
 * method. What leaves the project, or goes by another name on the way, is not seen: uses are evidence, their absence is none.
 */
export function usesElsewhere(module: PyModule, name: PyNode, look: Look): UsesElsewhere {
  const scope = module.resolve(name);
  if (scope?.kind === 'class' && scope.parent === module.scope)
    return attributeUsesElsewhere(module, scope.node, name.text, look);
  if (scope !== module.scope || name.parent === undefined) return NOWHERE;
  const modules = new Set<PyModule>();
  let unread: string | undefined;
  // Packages that pass the name on are further places to import it from.
  const names = new Set<string>();
  for (let more = importNames(module, name); more.length > 0 && names.size < MAX_NAMES; ) {
    for (const each of more) names.add(each);
    const found = module.around.naming(
      { word: name.text, beside: more, ...needed(look) },
      (text, path) => isPackage(path) || look.may(text),
    );
    unread ??= found.unread;
    const fresh = found.modules.filter((there) => !modules.has(there));
    for (const there of fresh) modules.add(there);
    more = fresh.flatMap(({ path }) => (isPackage(path) ? [moduleName(path)] : []));
    more = more.filter((each) => !names.has(each));
  }
  const meant = { module, node: name.parent };
  return { uses: [...modules].flatMap((there) => [...namedIn(there, name.text, meant)]), unread };
}

/** Where other files read or call an attribute of a class of this module, by any object that may be of the class. */
export function attributeUsesElsewhere(
  module: PyModule,
  classNode: PyNode,
  name: string,
  look: Look,
): UsesElsewhere {
  const className = classNode.name?.text ?? '';
  const mention = { word: name, beside: look.byName ? [] : [className], ...needed(look) };
  const { modules, unread } = module.around.naming(mention, look.may);
  const uses = modules.flatMap((there) =>
    there.words(`.${name}`).flatMap((node): UseElsewhere[] => {
      const attribute = node.parent;
      const object = attribute?.object;
      if (node.text !== name || attribute?.type !== 'attribute' || object === undefined) return [];
      const answer = isOfClass(there, object, name, classNode);
      return answer === 'no' ? [] : [{ module: there, node: attribute, isCertain: answer === 'yes' }];
    }),
  );
  return { uses, unread };
}

function needed({ literals }: Look): Pick<Mention, 'needs'> {
  return literals === undefined ? {} : { needs: literals };
}

/** What an import that leads here has in it: the module's name, or that of a package around it that passes the name on. */
function importNames(module: PyModule, name: PyNode): readonly string[] {
  const names = [moduleName(module.path)];
  let folder = dirname(module.path);
  for (let dots = '.'; /[^.]/.test(basename(folder)); dots += '.') {
    const text = module.around.text(dots);
    const mayPass = text?.includes(name.text) === true || /\bimport[ \t]*\*/.test(text ?? '');
    const around = mayPass ? module.around.module(dots) : undefined;
    if (around !== undefined && boundAtTop(around, name.text)?.node === name.parent)
      names.push(basename(folder));
    folder = dirname(folder);
  }
  return [...new Set([...names, ...module.memo(starImporters, module)])];
}

/** The names of the files that pass on all that this one has, by `from x import *`, or by that of one that does. */
function starImporters(module: PyModule): readonly string[] {
  const names = new Set([moduleName(module.path)]);
  // Those that are added are looked at as well.
  for (const word of names)
    for (const { name, from } of module.around.summaries({ word, beside: [] }, lookAtStars) ?? [])
      if (from.includes(word)) names.add(name);
  return [...names];
}

/** The last names of what a file imports with a star. */
function lookAtStars(alone: PyModule): { readonly name: string; readonly from: readonly string[] } {
  const from = starImports(alone).map((each) => each.from.split('.').at(-1) ?? '');
  return { name: moduleName(alone.path), from };
}

function* namedIn(there: PyModule, name: string, meant: Elsewhere): Generator<UseElsewhere> {
  for (const node of there.at(name)) {
    if (node.text !== name) continue;
    const attribute = node.parent?.attribute === node ? node.parent : undefined;
    if (attribute !== undefined) {
      const answer = leadsTo(there, qualifiedName(there, attribute), meant);
      if (answer !== 'no') yield { module: there, node: attribute, isCertain: answer === 'yes' };
      continue;
    }
    const bound = node.closest('aliased_import', 'block', 'module')?.alias ?? node;
    if (roleOf(bound) === 'import') {
      const answer = leadsTo(there, importedPath(bound), meant);
      if (answer !== 'no') yield* readsOf(there, bound, answer === 'yes');
    } else if (roleOf(node) === 'read' && there.resolve(node) === undefined && hasStarImport(there)) {
      if (boundAtTop(there, name)?.node === meant.node) yield { module: there, node, isCertain: true };
    }
  }
}

function* readsOf(there: PyModule, bound: PyNode, isCertain: boolean): Generator<UseElsewhere> {
  const scope = there.resolve(bound);
  if (scope === undefined) return;
  const isOnly = there.writes(scope, bound.text).length === 1;
  for (const node of there.reads(scope, bound.text))
    yield { module: there, node, isCertain: isCertain && isOnly };
}

/** Where imports do not tell, a module of the same name may be this one. */
function leadsTo(there: PyModule, path: string | undefined, meant: Elsewhere): 'yes' | 'no' | 'unknown' {
  if (path === undefined) return 'no';
  const found = boundElsewhere(there, path);
  if (found !== undefined) return found.node === meant.node ? 'yes' : 'no';
  const owner = path.slice(0, path.lastIndexOf('.'));
  const place = owner === '' ? undefined : importedFrom(there, owner);
  if (place !== undefined && there.around.module(place) === meant.module) return 'yes';
  return owner.split('.').at(-1) === moduleName(meant.module.path) ? 'unknown' : 'no';
}

function moduleName(path: string): string {
  return isPackage(path) ? basename(dirname(path)) : basename(path, '.py');
}

function isPackage(path: string): boolean {
  return basename(path) === '__init__.py';
}

/** Whether an object may be an instance of the class, or the class itself, and has the attribute from there. */
function isOfClass(there: PyModule, object: PyNode, name: string, meant: PyNode): 'yes' | 'no' | 'unknown' {
  const own = classBehind(there, object);
  if (own !== undefined) return inherits({ module: there, node: own }, name, meant);
  const path = makerOf(there, object) ?? qualifiedName(there, object);
  if (path === undefined) return 'unknown';
  const found = boundElsewhere(there, path);
  if (found?.node === meant) return 'yes';
  // What is of another package is not of this class; a function may give out any object.
  if (found === undefined) return path.split('.').at(-1) === meant.name?.text ? 'unknown' : 'no';
  return found.node.type === 'class_definition' ? inherits(found, name, meant) : 'unknown';
}

function inherits({ module, node }: Elsewhere, name: string, meant: PyNode): 'yes' | 'no' | 'unknown' {
  if (ancestryOf(module, node).classes.includes(meant)) return 'yes';
  if (methodNamed(module, node, name) !== undefined) return 'no';
  const { elsewhere, unknown } = lineageOf(module, node);
  if (elsewhere.some((base) => base.node === meant)) return 'yes';
  return unknown ? 'unknown' : 'no';
}

/** Where other files use what a store holds: an attribute of a class of this file, or a variable of the module. */
export function usesOfStore(module: PyModule, store: PyNode, look: Look): UsesElsewhere {
  let root = store;
  while (root.type === 'subscript') root = root.value ?? root.children[0] ?? root;
  if (root.type === 'attribute') {
    const own = attributeOfSelf(root);
    return own === undefined ? NOWHERE : attributeUsesElsewhere(module, own.classNode, own.name, look);
  }
  const scope = module.resolve(root);
  const [written] = scope === module.scope ? module.writes(scope, root.text) : [];
  return written === undefined ? NOWHERE : usesElsewhere(module, written, look);
}
