import { existsSync, lstatSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { ENVIRONMENT_MARKS, FOREIGN } from '../discover.js';
import { Failure } from '../failure.js';
import { askGit, statusOf, uncommittedCount, zeroSeparated } from '../git.js';
import { isInside, repositoryRoot, slashed } from '../places.js';

/** What of a tree a copy of it will hold. Paths are relative to the root. */
export interface Tree {
  readonly root: string;
  /** A commit that the copy can be a work tree of; without one it is a plain folder. */
  readonly commit: string | undefined;
  /** What git knows or would take: as it lies on disk, committed or not. */
  readonly files: readonly string[];
  /** Files of those that differ from the commit. */
  readonly uncommitted: number;
  /** What git ignores (without git: everything), and what becomes of it. */
  readonly copied: readonly Extra[];
  readonly linked: readonly Extra[];
  readonly left: readonly Extra[];
}

/** A file or folder that git does not keep. */
export interface Extra {
  readonly path: string;
  readonly bytes: number;
}

export interface Wishes {
  /** Read in place, through a link. */
  readonly link: readonly string[];
  /** Copied, however large. */
  readonly copy: readonly string[];
}

/** What git ignores is copied up to so much, the smallest first: outputs and caches, not data sets. */
export const MOST_COPIED = 256 * 1024 * 1024;

export function treeOf(cwd: string, wishes: Wishes): Tree {
  const repository = repositoryRoot(cwd);
  const root = realpathSync.native(repository ?? cwd);
  const commit = repository && commitOf(root);
  const known = repository === undefined ? [] : knownFiles(root);
  const ignored = repository === undefined ? readdirSync(root) : ignoredEntries(root);
  const extras = [...ignored, ...environmentsAmong(known)];
  const [link, copy] = [
    wishesIn(root, cwd, wishes.link, '--link'),
    wishesIn(root, cwd, wishes.copy, '--copy'),
  ];
  const isBelow = (path: string, names: readonly string[]) => names.some((name) => isInside(path, name));
  const rest = extras.filter((path) => !isBelow(path, link) && !isBelow(path, copy) && !isForeign(path));
  const environments = rest.filter((path) => isEnvironment(join(root, path)));
  const others = rest
    .filter((path) => !environments.includes(path))
    .map((path) => ({ path, bytes: sizeOf(join(root, path)) }))
    .sort((a, b) => a.bytes - b.bytes);
  const fits = others.filter(
    (_, index) => others.slice(0, index + 1).reduce((sum, { bytes }) => sum + bytes, 0) <= MOST_COPIED,
  );
  const asked = copy.map((path) => ({ path, bytes: sizeOf(join(root, path)) }));
  return {
    root,
    commit,
    files: known.filter((path) => !isBelow(path, link) && !isBelow(path, environments)),
    uncommitted: commit === undefined ? 0 : uncommittedCount(root),
    copied: [...fits, ...asked],
    linked: [...environments, ...link].map((path) => ({ path, bytes: 0 })),
    left: others.filter((extra) => !fits.includes(extra)),
  };
}

/** `git status` in a line; two that differ tell that something in the tree was touched. */
export function stateOf({ root, commit }: Tree): string {
  return commit === undefined ? '' : statusOf(root);
}

function commitOf(root: string): string | undefined {
  const { status, stdout } = askGit(root, ['rev-parse', '--verify', '--quiet', 'HEAD']);
  return status === 0 ? stdout.trim() : undefined;
}

/** Submodules and nested repositories come as folders, and are copied as such. */
function knownFiles(root: string): readonly string[] {
  return listed(root, ['ls-files', '-z', '--cached', '--others', '--exclude-standard']);
}

/** Git names a folder of ignored files, and some of them once more. */
function ignoredEntries(root: string): readonly string[] {
  const all = listed(root, ['ls-files', '-z', '--others', '--ignored', '--exclude-standard', '--directory']);
  const names = new Set(all);
  return all.filter((path) => {
    for (let at = dirname(path); at !== '.'; at = dirname(at)) if (names.has(at)) return false;
    return true;
  });
}

function listed(root: string, words: readonly string[]): readonly string[] {
  const { status, stdout, stderr } = askGit(root, words);
  if (status === 0) return [...new Set(zeroSeparated(stdout).map((path) => path.replace(/\/$/, '')))];
  throw new Failure(
    'Git did not answer',
    `\`git ls-files\` in ${root} said: ${stderr.trim()}`,
    'Run `git status` there to see what is wrong.',
  );
}

/** Environments that nobody told git to ignore. */
function environmentsAmong(files: readonly string[]): readonly string[] {
  return files.filter((path) => basename(path) === 'pyvenv.cfg').map((path) => dirname(path));
}

function isForeign(path: string): boolean {
  return slashed(path)
    .split('/')
    .some((part) => FOREIGN.has(part));
}

function isEnvironment(path: string): boolean {
  return [...ENVIRONMENT_MARKS].some((mark) => existsSync(join(path, mark)));
}

/** As far as it matters: a folder that is too large is not measured to its end. */
function sizeOf(path: string): number {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return 0;
  if (!stats.isDirectory()) return stats.size;
  let sum = 0;
  for (const name of readdirSync(path)) {
    if (sum > MOST_COPIED) break;
    if (!FOREIGN.has(name)) sum += sizeOf(join(path, name));
  }
  return sum;
}

function wishesIn(root: string, cwd: string, names: readonly string[], option: string): readonly string[] {
  return names.map((name) => {
    const path = resolve(realpathSync.native(cwd), name);
    const isThere = statSync(path, { throwIfNoEntry: false }) !== undefined;
    if (isThere && path !== root && isInside(path, root)) return relative(root, path);
    throw new Failure(
      'Not in the tree',
      `\`${option} ${name}\`: ${isThere ? `it is not below ${root}` : 'it does not exist'}`,
      `Name a file or folder below ${basename(root)}/, as seen from where you are.`,
    );
  });
}
