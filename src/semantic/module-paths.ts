import { basename, dirname, join } from 'node:path/posix';

/**
 * The one file that an import of `dotted` in the file at `path` reads, among those that are there. `folders`: the file's
 * own folder and those above it, up to the project's, nearest first; an absolute import may start from any of them, or
 * from `src/` in it, and from above one that it names itself. `isThere` is asked for files and folders. Where it could be more than one file, that depends on how Python is started, and there is no telling.
 */
export function fileImported(
  path: string,
  dotted: string,
  folders: readonly string[],
  isThere: (file: string) => boolean,
): string | undefined {
  const places = placesOf(path, dotted, folders, isThere);
  const found = new Set(places.flatMap((place) => filesAt(place).find(isThere) ?? []));
  const [only] = found;
  return found.size === 1 && only !== path ? only : undefined;
}

/** The one file that a relative path in code may mean: seen from the file's own folder, or from one above it. */
export function fileNamed(
  name: string,
  folders: readonly string[],
  isThere: (file: string) => boolean,
): string | undefined {
  if (!/^[^\\:*?"<>|\0~$]+$/.test(name) || name.startsWith('/')) return undefined;
  const found = new Set(folders.map((folder) => join(folder, name)).filter(isThere));
  const [only] = found;
  return found.size === 1 ? only : undefined;
}

/** Where the module could be, without `.py` or `/__init__.py`. */
function placesOf(
  path: string,
  dotted: string,
  folders: readonly string[],
  isThere: (file: string) => boolean,
): readonly string[] {
  const level = /^\.*/.exec(dotted)?.[0].length ?? 0;
  const names = dotted.slice(level).split('.').filter(Boolean);
  if (level === 0) {
    const [first] = names;
    if (first === undefined) return [];
    const roots = folders
      .flatMap((folder) => [folder, below(folder, 'src')])
      .filter((root) => isThere(below(root, first)) || isThere(below(root, `${first}.py`)));
    if (roots.length > 0) return roots.map((root) => below(root, names.join('/')));
    // A checkout may be the package itself, for who starts in the folder above it.
    const rest = names.slice(1).join('/');
    return folders.filter((each) => basename(each) === first).map((each) => below(each, rest));
  }
  let start = dirname(path);
  for (let up = 1; up < level; up++) start = dirname(start);
  return [names.length === 0 ? `${start}/` : below(start, names.join('/'))];
}

/** The package wins over the file beside it, as in Python. */
function filesAt(place: string): readonly string[] {
  return place.endsWith('/') ? [join(place, '__init__.py')] : [`${place}/__init__.py`, `${place}.py`];
}

/** Without a look at every part of the path, for folders and names that have no dots among their parts. */
function below(folder: string, name: string): string {
  if (folder === '.') return name;
  return folder.endsWith('/') ? folder + name : `${folder}/${name}`;
}
