import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';

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

/** Where a work tree keeps what all its linked work trees share, such as `info/exclude`. */
export function commonGitFolder(root: string, read = textOf): string | undefined {
  const own = gitFolder(root, read);
  if (own === undefined) return undefined;
  const shared = read(join(own, 'commondir'));
  return shared === undefined ? own : resolve(own, shared.trim());
}

function gitFolder(root: string, read: (path: string) => string | undefined): string | undefined {
  const path = join(root, '.git');
  if (isFolder(path)) return path;
  const pointer = read(path);
  if (pointer === undefined) return existsSync(path) ? path : undefined;
  const target = /^gitdir: (.+)$/m.exec(pointer)?.[1];
  return target === undefined ? undefined : resolve(root, target);
}

export function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

/** The text of a file that may as well not be there, be a folder, or be closed to us. */
export function textOf(path: string): string | undefined {
  // To be told by an error takes ten times as long.
  if (!existsSync(path)) return undefined;
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
