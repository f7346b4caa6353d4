import { dirname, join } from 'node:path/posix';

/**
 * The files that an import of `dotted` may read, for a file at `path`: groups of paths, one for each folder that the
 * import may start from. In one group the package wins over the file beside it, as in Python. `folders`: the file's own
 * folder and those above it, up to the project's, nearest first.
 */
export function filesImported(
  path: string,
  dotted: string,
  folders: readonly string[],
): readonly (readonly string[])[] {
  const level = /^\.*/.exec(dotted)?.[0].length ?? 0;
  const names = dotted.slice(level).split('.').filter(Boolean);
  if (level > 0) {
    let start = dirname(path);
    for (let up = 1; up < level; up++) start = dirname(start);
    return [filesAt(start, names)];
  }
  if (names.length === 0) return [];
  return folders.flatMap((folder) => [filesAt(folder, names), filesAt(join(folder, 'src'), names)]);
}

function filesAt(folder: string, names: readonly string[]): readonly string[] {
  const place = join(folder, ...names);
  return names.length === 0 ? [join(place, '__init__.py')] : [join(place, '__init__.py'), `${place}.py`];
}
