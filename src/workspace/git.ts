import { join, relative } from 'node:path';
import { codeOf, Failure } from './failure.js';
import { slashed } from './places.js';

/** Enough paths for one command line on every system. */
const PATHS_PER_CALL = 200;
const LARGEST_ANSWER = 256 * 1024 * 1024;

/** Loaded when git is first asked, which most runs never do. */
function childProcess(): typeof import('node:child_process') {
  return process.getBuiltinModule('node:child_process');
}

/** Which files of a repository count as changed. */
export type Since =
  | { readonly kind: 'changed' }
  | { readonly kind: 'staged' }
  | { readonly kind: 'since'; readonly revision: string };

/** The files among these (all in the repository at `root`) whose content git could not bring back. */
export function uncommitted(root: string, files: readonly string[]): ReadonlySet<string> {
  const found = new Set<string>();
  for (let at = 0; at < files.length; at += PATHS_PER_CALL) {
    const names = files.slice(at, at + PATHS_PER_CALL).map((file) => slashed(relative(root, file)));
    const answer = ask(root, [
      ...['--literal-pathspecs', 'status', '--porcelain=v1', '-z', '--no-renames'],
      ...['--untracked-files=all', '--ignored=matching', '--', ...names],
    ]);
    const dirty = new Set(zeroSeparated(answer).map((line) => line.slice(3)));
    for (const name of names) {
      // Git names an ignored folder instead of each file in it.
      const isDirty =
        dirty.has(name) || [...dirty].some((other) => other.endsWith('/') && name.startsWith(other));
      if (isDirty) found.add(join(root, name));
    }
  }
  return found;
}

/** The files of the repository that changed, as absolute paths. */
export function changedFiles(root: string, since: Since): ReadonlySet<string> {
  return new Set(changedNames(root, since).map((name) => join(root, name)));
}

function changedNames(root: string, since: Since): readonly string[] {
  const names = ['diff', '--name-only', '-z', '--no-relative', '--no-renames', '--diff-filter=d'];
  const hasCommit = askGit(root, ['rev-parse', '--verify', '--quiet', 'HEAD']).status === 0;
  if (since.kind === 'staged') return zeroSeparated(ask(root, [...names, '--cached', '--']));
  const untracked = zeroSeparated(ask(root, ['ls-files', '-z', '--others', '--exclude-standard']));
  if (since.kind === 'changed') {
    const tracked = hasCommit ? [...names, 'HEAD', '--'] : ['ls-files', '-z', '--cached'];
    return [...zeroSeparated(ask(root, tracked)), ...untracked];
  }
  return [...zeroSeparated(ask(root, [...names, branchPoint(root, since.revision), '--'])), ...untracked];
}

/** Where the current branch left `revision`, so that what others did there since does not count. */
function branchPoint(root: string, revision: string): string {
  const commit = askGit(root, [
    'rev-parse',
    '--verify',
    '--quiet',
    '--end-of-options',
    `${revision}^{commit}`,
  ]);
  if (commit.status !== 0) {
    throw new Failure(
      'Unknown revision',
      `git knows no commit \`${revision}\` in ${root}`,
      'Give a branch, a tag or a commit; in a shallow clone, fetch it first.',
    );
  }
  const base = askGit(root, ['merge-base', commit.stdout.trim(), 'HEAD']);
  return base.status === 0 ? base.stdout.trim() : commit.stdout.trim();
}

/** What `git apply` has against a patch, or undefined when it takes it (or when there is no git to ask). */
export function objectionTo(patch: Uint8Array, root: string): string | undefined {
  const answer = childProcess().spawnSync('git', ['apply', '--check', '--whitespace=nowarn', '-'], {
    cwd: root,
    env: environment(),
    input: patch,
    encoding: 'utf8',
    maxBuffer: LARGEST_ANSWER,
  });
  if (answer.error !== undefined && codeOf(answer.error) === 'ENOENT') return undefined;
  if (answer.error !== undefined && codeOf(answer.error) !== 'EPIPE') throw answer.error;
  return answer.status === 0 ? undefined : answer.stderr.trim();
}

function ask(root: string, words: readonly string[]): string {
  const answer = askGit(root, words);
  if (answer.status === 0) return answer.stdout;
  throw new Failure(
    'Git did not answer',
    `\`git ${words.find((word) => !word.startsWith('-'))}\` in ${root} said: ${answer.stderr.trim()}`,
    'Run `git status` there to see what is wrong. `--allow-dirty` makes `apply` go on without asking git.',
  );
}

export interface Answer {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Git's answer, whatever it is. */
export function askGit(root: string, words: readonly string[]): Answer {
  const answer = childProcess().spawnSync(
    'git',
    ['-c', 'core.quotePath=false', '-c', 'core.fsmonitor=false', ...words],
    {
      cwd: root,
      env: environment(),
      encoding: 'utf8',
      maxBuffer: LARGEST_ANSWER,
    },
  );
  if (answer.error === undefined) return answer;
  if (codeOf(answer.error) === 'ENOENT') {
    return { status: null, stdout: '', stderr: 'git is not installed, or not on the PATH' };
  }
  throw answer.error;
}

/** A git hook points git at one repository; memfix asks about the repository that holds the file. */
function environment(): NodeJS.ProcessEnv {
  const { GIT_DIR: _dir, GIT_WORK_TREE: _tree, GIT_PREFIX: _prefix, ...kept } = process.env;
  return { ...kept, LC_ALL: 'C', GIT_OPTIONAL_LOCKS: '0' };
}

export function zeroSeparated(text: string): readonly string[] {
  return text.split('\0').filter((line) => line !== '');
}
