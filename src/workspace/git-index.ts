import { join, relative } from 'node:path';
import { isNotebookName } from '../text/notebook/notebook.js';
import { ask, askGit, PATHS_PER_CALL, unstaged, zeroSeparated } from './git.js';
import { realPath, repositoryRoot, slashed } from './places.js';

/** What the index has of a file: its mode, and the name of its bytes. */
export interface IndexEntry {
  readonly mode: string;
  readonly id: string;
}

/** By whole path; a file that is not in the index, or in a conflict, is left out. */
export function indexEntries(root: string, files: readonly string[]): ReadonlyMap<string, IndexEntry> {
  return blobsOf(
    root,
    files,
    ['ls-files', '--stage', '-z', '--full-name', '--'],
    /^(\d+) ([0-9a-f]+) 0\t(.*)$/s,
  );
}

/** The same of the last commit. */
export function committedEntries(root: string, files: readonly string[]): ReadonlyMap<string, IndexEntry> {
  if (askGit(root, ['rev-parse', '--verify', '--quiet', 'HEAD']).status !== 0) return new Map();
  const words = ['ls-tree', '-z', '--full-name', 'HEAD', '--'];
  return blobsOf(root, files, words, /^(\d+) blob ([0-9a-f]+)\t(.*)$/s);
}

function blobsOf(
  root: string,
  files: readonly string[],
  words: readonly string[],
  form: RegExp,
): ReadonlyMap<string, IndexEntry> {
  const found = new Map<string, IndexEntry>();
  for (let at = 0; at < files.length; at += PATHS_PER_CALL) {
    const names = files.slice(at, at + PATHS_PER_CALL).map((file) => slashed(relative(root, file)));
    for (const line of zeroSeparated(ask(root, ['--literal-pathspecs', ...words, ...names]))) {
      const [, mode = '', id = '', name = ''] = form.exec(line) ?? [];
      if (name !== '') found.set(join(root, name), { mode, id });
    }
  }
  return found;
}

/** Puts bytes that the repository has into the index, or takes the file out of it; why not, where that fails. */
export function setIndex(root: string, file: string, entry: IndexEntry | null): string | undefined {
  const name = slashed(relative(root, file));
  if (entry !== null && askGit(root, ['cat-file', '-e', entry.id]).status !== 0)
    return 'git no longer has what was staged before';
  const words = entry === null ? ['--force-remove'] : ['--cacheinfo', `${entry.mode},${entry.id},${name}`];
  const { status, stderr } = askGit(root, [
    'update-index',
    ...words,
    ...(entry === null ? ['--', name] : []),
  ]);
  return status === 0 ? undefined : stderr.trim();
}

/** What git would commit of Python files and notebooks whose work tree has something else, by their real paths. */
export function stagedBytes(cwd: string): ReadonlyMap<string, Uint8Array> {
  const root = repositoryRoot(realPath(cwd));
  const found = new Map<string, Uint8Array>();
  if (root === undefined) return found;
  const files = [...unstaged(root)].filter((file) => /\.pyi?$/.test(file) || isNotebookName(file));
  // Names are given to git line by line.
  const asked = files.filter((file) => !file.includes('\n'));
  if (asked.length === 0) return found;
  const names = asked.map((file) => `:${slashed(relative(root, file))}\n`).join('');
  const { stdout } = askGit(root, ['cat-file', '--batch'], Buffer.from(names), 'latin1');
  let at = 0;
  for (const file of asked) {
    const end = stdout.indexOf('\n', at);
    const size = / blob (\d+)$/.exec(stdout.slice(at, end))?.[1];
    at = end + 1;
    // In a conflict, or taken out of the index: there is nothing else to read.
    if (size === undefined) continue;
    const bytes = stdout.slice(at, at + Number(size));
    at += Number(size) + 1;
    if (!bytes.startsWith('version https://git-lfs')) found.set(file, Buffer.from(bytes, 'latin1'));
  }
  return found;
}
