import { LIBRARIES } from '../library/packages.js';
import type { PyNode } from '../syntax/node.js';
import type { PyModule } from './module.js';
import { isInstallable, isProgram, readsArguments } from './program.js';
import type { Mention } from './surroundings.js';
import { ofPython, ofTorch, takesObjects, writesObjects } from './unpickled.js';

/** What a file imports. Plain data, kept with the file. */
interface Importing {
  readonly path: string;
  /** Its path, as an import spells it: `.lib.nets` for `lib/nets.py` and for `lib/nets/__init__.py`. */
  readonly place: string;
  readonly isProgram: boolean;
  readonly imports: readonly Import[];
  /** It may get hold of more than that: by a text, by settings, or out of a file that torch has written. */
  readonly takesMore: boolean;
  /** The same out of what Python's own writer of objects has written. */
  readonly takesPickles: boolean;
  /** It changes where imports are looked for. */
  readonly movesPath: boolean;
}

/** `from .lib import nets` of `tools/train.py`: `.tools.lib`, and below that `nets`. */
interface Import {
  readonly dotted: string;
  readonly names: readonly string[];
}

/** What imports, or makes objects of, what is named in a text or a file of settings. */
export const TAKES_MORE =
  /\b(?:__import__|builtins|importlib|import_module|runpy|(?:import|from) imp|pkgutil|zipimport|SourceFileLoader|pydoc|entry_points|pkg_resources|mock|monkeypatch|unittest|pytest|doctest|DictConfigurator|dictConfig|fileConfig|hydra|LightningCLI|jsonargparse|hyperpyyaml|gin|mmcv|mmengine|detectron2|allennlp|fairseq|trust_remote_code|jsonpickle|get_ipython|unsafe_load|UnsafeLoader)\b|\b(?:hub\.load|yaml\.Loader)\b|(?<![.\w])(?<!\bdef\s+)(?:eval|exec|execfile)\s*\(|[(,=]\s*(?:eval|exec)\s*(?:[,)]|$)|^[ \t]*%(?:run|load|cd)\b/m;

const MOVES_PATH = /\bsys\.path\b|\baddsitedir\b|\bfrom sys import\b|\bos\.chdir\b/;

/** Python or a test runner loads these unasked. */
const UNASKED = /(?:^|\/)(?:conftest|sitecustomize|usercustomize)\.py$/;

/**
 * `around.summaries`, of the files that can be in one process with the one that is scanned: all that some file imports, by
 * however many steps, which so comes to it. Objects of no other file can meet those of this one.
 */
export function summariesTogether<T>(
  module: PyModule,
  mention: Mention,
  look: (alone: PyModule, word: string) => T,
): readonly T[] | undefined {
  const home = module.around.home() ?? module;
  return module.around.summaries(mention, look, home.memo(findCompanions, home));
}

/** The same with this file before the others. */
export function everywhere<T>(
  module: PyModule,
  word: string,
  look: (alone: PyModule, word: string) => T,
  beside: readonly string[] = [],
): readonly T[] | undefined {
  const others = summariesTogether(module, { word, beside }, look);
  return others && [look(module.alone, word), ...others];
}

/** Whether a program of the project runs this file, which then is all that does: what nobody there makes, nobody makes. */
export function isRunByProgram(module: PyModule): boolean {
  const home = module.around.home() ?? module;
  return home.memo(findProgram, home);
}

function findProgram(module: PyModule): boolean {
  const own = importingOf(module.alone);
  const others = module.around.summaries({ word: 'import', beside: [] }, importingOf);
  if (others === undefined || (!own.isProgram && isInstallable(module))) return false;
  const all = [own, ...others.filter(({ path }) => path !== own.path)];
  return [...new Tree(all).importersOf(own)].some((user) => user.isProgram);
}

type May = (path: string) => boolean;

const ALL: May = () => true;

function findCompanions(module: PyModule): May {
  const own = importingOf(module.alone);
  const others = module.around.summaries({ word: 'import', beside: [] }, importingOf);
  if (others === undefined || (!own.isProgram && isInstallable(module))) return ALL;
  const all = [own, ...others.filter(({ path }) => path !== own.path)];
  const tree = new Tree(all);
  const users = [...tree.importersOf(own)];
  if (!users.some((user) => user.isProgram)) return ALL;
  const unasked = all.filter(({ path }) => UNASKED.test(path));
  const met = new Set(
    users.flatMap((user) => (tree.leadsTo(user, own) ? [...tree.reached(user, unasked)] : [])),
  );
  if ([...met].some(({ takesMore }) => takesMore)) return ALL;
  if ([...met].some(({ takesPickles }) => takesPickles) && writesObjects(module)) return ALL;
  const known = new Set(all.map(({ path }) => path));
  const paths = new Set([...met].map(({ path }) => path));
  // A file that imports nothing is in none of the lists.
  const wanted = new Set([...met].flatMap(({ imports }) => imports.flatMap(lastNames)));
  return (path) => paths.has(path) || (!known.has(path) && wanted.has(placeOf(path).split('.').at(-1) ?? ''));
}

function lastNames({ dotted, names }: Import): readonly string[] {
  return [...dotted.split('.'), ...names];
}

/** The files of a project, by what imports name. */
class Tree {
  readonly #byPlace = new Map<string, Importing[]>();
  readonly #byLast = new Map<string, Importing[]>();

  constructor(private readonly all: readonly Importing[]) {
    for (const file of all) {
      put(this.#byPlace, file.place, file);
      put(this.#byLast, file.place.slice(file.place.lastIndexOf('.') + 1), file);
    }
  }

  /** All that may come to a file, whichever of several an import means. */
  importersOf(own: Importing): ReadonlySet<Importing> {
    const importers = new Map<Importing, Importing[]>();
    for (const file of this.all)
      for (const each of this.#next(file, undefined))
        importers.set(each, [...(importers.get(each) ?? []), file]);
    const found = new Set([own]);
    for (const file of found) for (const each of importers.get(file) ?? []) found.add(each);
    return found;
  }

  leadsTo(first: Importing, own: Importing): boolean {
    return this.reached(first, []).has(own);
  }

  /** What runs where a program starts with this file. */
  reached(first: Importing, more: readonly Importing[]): ReadonlySet<Importing> {
    const found = new Set([first, ...more]);
    let start: Importing | undefined = first;
    for (const file of found) {
      // Then any file of the name may be meant, from the beginning on.
      if (file.movesPath && start !== undefined) {
        start = undefined;
        for (const each of [...found]) for (const next of this.#next(each, undefined)) found.add(next);
      }
      for (const next of this.#next(file, start)) found.add(next);
    }
    return found;
  }

  /** `start`: the file whose folder imports are looked for in first; undefined where that is not known. */
  #next(file: Importing, start: Importing | undefined): readonly Importing[] {
    const found = file.imports.flatMap((each) => this.#meant(file, start, each));
    return [...found, ...[file, ...found].flatMap(({ place }) => this.#around(place))];
  }

  #meant(file: Importing, start: Importing | undefined, { dotted, names }: Import): readonly Importing[] {
    const isStar = names.includes('*');
    const below = (place: string): readonly Importing[] => [
      ...(this.#byPlace.get(place) ?? []),
      ...names.flatMap((name) => this.#byPlace.get(`${place}.${name}`) ?? []),
      ...(isStar ? this.all.filter((each) => parentOf(each.place) === place) : []),
    ];
    if (dotted.startsWith('.')) return below(dotted === '.' ? '' : dotted);
    const folders = start === undefined ? [] : [file, start].flatMap(({ place }) => foldersOf(place));
    const near = [...new Set(folders)].flatMap((folder) => below(`${folder}.${dotted}`));
    if (near.length > 0) return near;
    // `lib.nets` may be `nets` of a project in a folder `lib`; `torch.utils` is no `utils` of a project.
    const isOfLibrary = LIBRARIES.has(dotted.replace(/\..*/, ''));
    const rest = (at: string): string => (isOfLibrary ? '' : at.replace(/^[^.]*\.?/, ''));
    for (let at = dotted; at !== ''; at = rest(at)) {
      const last = [at.slice(at.lastIndexOf('.') + 1), ...names].flatMap(
        (name) => this.#byLast.get(name) ?? [],
      );
      const places = new Set(last.flatMap(({ place }) => [place, parentOf(place)]));
      const found = [...places].filter((place) => place.endsWith(`.${at}`)).flatMap(below);
      if (found.length > 0) return found;
    }
    return [];
  }

  /** The packages around a file. */
  #around(place: string): readonly Importing[] {
    return foldersOf(place).flatMap((folder) => this.#byPlace.get(folder) ?? []);
  }
}

function put<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const known = map.get(key);
  if (known === undefined) map.set(key, [value]);
  else known.push(value);
}

function parentOf(place: string): string {
  return place.slice(0, Math.max(0, place.lastIndexOf('.')));
}

/** The folder of a file, and those around it. */
function foldersOf(place: string): readonly string[] {
  const names = place.split('.');
  return names.slice(1).map((_, at) => names.slice(0, at + 1).join('.'));
}

function importingOf(alone: PyModule): Importing {
  const place = placeOf(alone.path);
  return {
    path: alone.path,
    place: place.replace(/\.__init__$/, ''),
    isProgram: isProgram(alone) || readsArguments(alone),
    imports: [...alone.words('import').flatMap((node) => importedBy(node, place)), ...importedByText(alone)],
    takesMore: alone.mentions(TAKES_MORE) || takesObjects(alone, ofTorch),
    takesPickles: takesObjects(alone, ofPython),
    movesPath: alone.mentions(MOVES_PATH),
  };
}

function importedBy({ parent: statement }: PyNode, place: string): readonly Import[] {
  const each = (statement?.named ?? []).map((name) => (name.name ?? name).text);
  if (statement?.type === 'import_statement') return each.map((dotted) => ({ dotted, names: [] }));
  if (statement?.type !== 'import_from_statement') return [];
  const from = statement.module_name?.text ?? '';
  const names = /import\s*\*/.test(statement.text) ? ['*'] : each.slice(1);
  const level = /^\.*/.exec(from)?.[0].length ?? 0;
  const folder = place.split('.').slice(0, -level).join('.');
  const rest = from.slice(level);
  const dotted = level === 0 ? from : rest === '' ? folder || '.' : `${folder}.${rest}`;
  return [{ dotted, names }];
}

/** `register(entry_point='envs.maze:Maze')`: what a text may name is taken for imported. */
function importedByText({ text }: PyModule): readonly Import[] {
  return [...text.matchAll(NAMING_TEXT)].map(([, , dotted = '', name = '']) => ({
    dotted: dotted.replaceAll(':', '.'),
    names: [name],
  }));
}

const NAMING_TEXT = /(['"])(\w+(?:[.:]\w+)*)[.:](\w+)\1/g;

/** A path, as an import spells it. */
function placeOf(path: string): string {
  return `.${path.replace(/\.\w+$/, '').replaceAll('/', '.')}`;
}
