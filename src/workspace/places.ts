import { existsSync, realpathSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';

/** `folder` and every folder above it, nearest first. */
export function* upward(folder: string): Generator<string> {
  for (let at = folder; ; at = dirname(at)) {
    yield at;
    if (dirname(at) === at) return;
  }
}

export function isInside(path: string, folder: string): boolean {
  const from = relative(folder, path);
  return from === '' || (from !== '..' && !from.startsWith(`..${sep}`) && !isAbsolute(from));
}

/** With forward slashes, as patches, patterns and reports want it. */
export function slashed(path: string): string {
  return sep === '/' ? path : path.replaceAll(sep, '/');
}

/** How a file is called in reports: relative inside the working folder, whole outside it. */
export function shownFrom(cwd: string, path: string): string {
  if (path.startsWith(cwd + sep)) return slashed(path.slice(cwd.length + 1));
  return slashed(isInside(path, cwd) ? relative(cwd, path) || '.' : path);
}

/** The deepest folder that holds all of these folders. */
export function commonFolder(folders: readonly string[]): string | undefined {
  const [first, ...others] = folders;
  if (first === undefined) return undefined;
  for (const folder of upward(first)) if (others.every((other) => isInside(other, folder))) return folder;
  return undefined;
}

/** The root of the git work tree that holds a folder, found without starting git. */
export function repositoryRoot(folder: string): string | undefined {
  for (const at of upward(folder)) if (existsSync(join(at, '.git'))) return at;
  return undefined;
}

/**
 * The real path of the folder beyond which nothing is read on behalf of what is in `folder`: the root of its repository;
 * without one, the working folder where that holds it.
 */
export function projectRoot(folder: string, cwd: string): string {
  const [place, working] = [realPath(folder), realPath(cwd)];
  return repositoryRoot(place) ?? (isInside(place, working) ? working : place);
}

/** Of what is not there, such as the folder of a text on standard input, the path itself. */
export function realPath(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}

/** What a file belongs to: its repository; without one, the working folder, or its own folder where that is elsewhere. */
export function rootOf(file: string, cwd: string): string {
  return repositoryRoot(dirname(file)) ?? (isInside(file, cwd) ? cwd : dirname(file));
}

/** Why the file at `target`, its real path, is not that of the project in which it is called `path`; undefined where it is. */
export function leadsAway(path: string, target: string, cwd: string): string | undefined {
  if (path === target) return undefined;
  const root = realpathSync.native(rootOf(path, cwd));
  return rootOf(target, root) === root ? undefined : 'it is a symlink out of the project';
}

const VENDORED = /(?:^|[\\/])(?:third[-_]?party|3rd[-_]?party|_?vendor(?:ed)?)[\\/]/i;

/** Whether a path leads through a folder for the code of others, which is theirs to change. */
export function isVendored(path: string): boolean {
  return VENDORED.test(path);
}

export function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
