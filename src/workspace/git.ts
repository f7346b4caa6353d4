import { join, relative } from 'node:path';
import { codeOf, Failure } from './failure.js';
import { gitVariables, SAFE_SETTINGS } from './git-settings.js';
import { slashed } from './places.js';

/** Enough paths for one command line on every system. */
export const PATHS_PER_CALL = 200;
const LARGEST_ANSWER = 256 * 1024 * 1024;
/** Milliseconds: a repository can name files whose reading never ends. Only its config is read in no time. */
const PATIENCE = { config: 30_000, answer: 10 * 60_000 };
/** Filters and hooks that can be turned off on one command line. */
const MOST_PROGRAMS = 1000;
/** Git looks into a submodule with that submodule's own config, whatever it is told. */
const NO_SUBMODULES = '--ignore-submodules=all';

/** Loaded when git is first asked, which most runs never do. */
function childProcess(): typeof import('node:child_process') {
  return process.getBuiltinModule('node:child_process');
}

/** One line for each file that differs from the commit or the index. */
const STATUS = ['status', '--porcelain=v1', '-z', '--no-renames', NO_SUBMODULES] as const;

/** Which files of a repository count as changed. */
export type Since =
  | { readonly kind: 'changed' }
  | { readonly kind: 'staged' }
  | { readonly kind: 'since'; readonly revision: string; readonly wholeFiles?: boolean };

/** The files among these (all in the repository at `root`) whose content git could not bring back. */
export function uncommitted(root: string, files: readonly string[]): ReadonlySet<string> {
  const found = new Set<string>();
  for (let at = 0; at < files.length; at += PATHS_PER_CALL) {
    const names = files.slice(at, at + PATHS_PER_CALL).map((file) => slashed(relative(root, file)));
    const answer = ask(root, [
      ...['--literal-pathspecs', ...STATUS, '--untracked-files=all', '--ignored=matching', '--', ...names],
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

/** The files, among these where some are named, that are not as they are in the index. */
export function unstaged(root: string, files?: readonly string[]): ReadonlySet<string> {
  const found = zeroSeparated(
    ask(root, [
      'diff',
      '--name-only',
      '-z',
      '--no-relative',
      '--no-ext-diff',
      '--no-textconv',
      NO_SUBMODULES,
    ]),
  );
  const dirty = new Set(found.map((name) => join(root, name)));
  return files === undefined ? dirty : new Set(files.filter((file) => dirty.has(file)));
}

/** What the last commit has under these names: whether some bytes are the very same. */
export function committedBlobs(
  root: string,
  names: readonly string[],
): ReadonlyMap<string, (bytes: Uint8Array) => boolean> {
  const { createHash } = process.getBuiltinModule('node:crypto');
  const found = new Map<string, (bytes: Uint8Array) => boolean>();
  for (let at = 0; at < names.length; at += PATHS_PER_CALL) {
    const some = names.slice(at, at + PATHS_PER_CALL);
    const words = ['--literal-pathspecs', 'ls-tree', '-z', '--full-name', 'HEAD', '--', ...some];
    const { status, stdout } = askGit(root, words);
    for (const line of status === 0 ? zeroSeparated(stdout) : []) {
      const [, id = '', name = ''] = /^\d+ blob ([0-9a-f]+)\t(.*)$/s.exec(line) ?? [];
      const algorithm = id.length === 64 ? 'sha256' : 'sha1';
      found.set(
        name,
        (bytes) => createHash(algorithm).update(`blob ${bytes.length}\0`).update(bytes).digest('hex') === id,
      );
    }
  }
  return found;
}

/** What the last commit has under a name, as it is in the repository; undefined where it has nothing there. */
export function committedText(root: string, name: string): string | undefined {
  const { status, stdout } = askGit(root, ['cat-file', 'blob', `HEAD:${name}`]);
  return status === 0 ? stdout : undefined;
}

/** Puts files into the index as they are now. Those under a filter, which does not run here, are left to the user and named. */
export function stage(root: string, files: readonly string[]): readonly string[] {
  const names = files.map((file) => slashed(relative(root, file)));
  const attributes = zeroSeparated(ask(root, ['check-attr', '-z', 'filter', '--', ...names]));
  const filtered = names.filter((name) => {
    const at = attributes.findIndex((word, index) => index % 3 === 0 && word === name);
    return !['unspecified', 'unset'].includes(attributes[at + 2] ?? '');
  });
  const plain = names.filter((name) => !filtered.includes(name));
  for (let at = 0; at < plain.length; at += PATHS_PER_CALL)
    ask(root, ['--literal-pathspecs', 'add', '--', ...plain.slice(at, at + PATHS_PER_CALL)]);
  return filtered.map((name) => join(root, name));
}

/** The lines of each file, as it is now, that are new since `revision`: from and to, both included. Of other files all are. */
export function changedLines(root: string, revision: string): ReadonlyMap<string, readonly LineRange[]> {
  const words = ['diff', '--unified=0', '--no-color', '--no-relative'];
  const prefixes = ['--src-prefix=a/', '--dst-prefix=b/', '--no-ext-diff', '--no-textconv', NO_SUBMODULES];
  const from = [...prefixes, branchPoint(root, revision), '--'];
  // A partial clone may lack the texts by which git tells what was renamed.
  const renamed = askGit(root, [...words, '--find-renames', '--diff-filter=MR', ...from]);
  const patch =
    renamed.status === 0 ? renamed.stdout : ask(root, [...words, '--no-renames', '--diff-filter=M', ...from]);
  const changed = new Map<string, LineRange[]>();
  let ranges: LineRange[] = [];
  let left = 0;
  for (const line of patch.split('\n')) {
    // Lines of a file may look like anything.
    if (left > 0 && /^[-+\\]/.test(line)) {
      if (!line.startsWith('\\')) left--;
      continue;
    }
    // A file that was only renamed has no other line.
    const file = /^\+\+\+ (?:"b\/(.*)"|b\/(.*?))\t?$/.exec(line) ?? /^rename to (?:"(.*)"|(.*))$/.exec(line);
    if (file !== null) {
      ranges = [];
      changed.set(join(root, file[2] ?? unquoted(file[1] ?? '')), ranges);
    }
    const hunk = /^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line);
    if (hunk === null) continue;
    const [from, count] = [Number(hunk[2]), Number(hunk[3] ?? 1)];
    left = Number(hunk[1] ?? 1) + count;
    // Where lines were taken out, the two around the gap are new neighbours.
    ranges.push(count === 0 ? [from, from + 1] : [from, from + count - 1]);
  }
  return changed;
}

export type LineRange = readonly [from: number, to: number];

const ESCAPED = new Map(Object.entries({ a: '\x07', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' }));

/** A name with control characters, quotes or backslashes, which git quotes as C does. */
function unquoted(name: string): string {
  return name.replace(/\\([0-7]{3}|.)/g, (_, code: string) =>
    code.length === 3 ? String.fromCharCode(Number.parseInt(code, 8)) : (ESCAPED.get(code) ?? code),
  );
}

/** The files of the repository that changed, as absolute paths. */
export function changedFiles(root: string, since: Since): ReadonlySet<string> {
  return new Set(changedNames(root, since).map((name) => join(root, name)));
}

function changedNames(root: string, since: Since): readonly string[] {
  const names = [
    ...['diff', '--name-only', '-z', '--no-relative', '--no-renames', '--diff-filter=d'],
    ...['--no-ext-diff', '--no-textconv', NO_SUBMODULES],
  ];
  const hasCommit = askGit(root, ['rev-parse', '--verify', '--quiet', 'HEAD']).status === 0;
  if (since.kind === 'staged') return zeroSeparated(ask(root, [...names, '--cached', '--']));
  const untracked = zeroSeparated(ask(root, ['ls-files', '-z', '--others', '--exclude-standard']));
  if (since.kind === 'changed') {
    const tracked = hasCommit ? [...names, 'HEAD', '--'] : ['ls-files', '-z', '--cached'];
    return [...zeroSeparated(ask(root, tracked)), ...untracked];
  }
  // First by commits, then by files: the old content, which a partial clone may not have, is not looked at.
  const base = branchPoint(root, since.revision);
  const steps = hasCommit ? [[base, 'HEAD'], ['HEAD']] : [[base]];
  const tracked = steps.flatMap((step) => zeroSeparated(ask(root, [...names, ...step, '--'])));
  return [...tracked, ...untracked];
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
  const { status, stderr } = askGit(root, ['apply', '--check', '--whitespace=nowarn', '-'], patch);
  return status === 0 || stderr === MISSING ? undefined : stderr.trim();
}

/** The files of a work tree that differ from its commit, in git's own format; two that differ say that something was touched. */
export function statusOf(root: string): string {
  return askGit(root, STATUS).stdout;
}

/** The same with each new file instead of its folder: how many there are. */
export function uncommittedCount(root: string): number {
  return zeroSeparated(askGit(root, [...STATUS, '--untracked-files=all']).stdout).length;
}

export function ask(root: string, words: readonly string[]): string {
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

const UTF8: BufferEncoding = 'utf8';
const MISSING = 'git is not installed, or not on the PATH';

/** Git's answer, whatever it is. No program runs that the repository names, and no other machine is asked. */
export function askGit(root: string, words: readonly string[], input?: Uint8Array, encoding = UTF8): Answer {
  const listing = ['config', '-z', '--name-only', '--get-regexp', '^(filter|hook)\\.'];
  const listed = spawned(root, listing, PATIENCE.config);
  // 1: there is none.
  if (listed.status !== 0 && listed.status !== 1) return listed;
  const settings = [
    'core.quotePath=false',
    ...SAFE_SETTINGS,
    ...turnedOff(zeroSeparated(listed.stdout), root),
  ];
  const all = [...settings.flatMap((setting) => ['-c', setting]), ...words];
  return spawned(root, all, PATIENCE.answer, input, encoding);
}

/**
 * Settings by which no filter and no hook of these runs. The user's own do not run either: git-lfs, for one, asks the
 * repository's config for programs. Files under a filter are compared as they lie on disk, unless git knows by their
 * dates that they are as they were.
 */
function turnedOff(names: readonly string[], root: string): readonly string[] {
  const programs = new Set(names.flatMap((name) => /^(?:filter|hook)\..*(?=\.[^.]*$)/s.exec(name) ?? []));
  // Git takes what is before the first equals sign for the name of a setting.
  const isOdd = [...programs].some((name) => name.includes('=') || name.includes('\uFFFD'));
  if (isOdd || programs.size > MOST_PROGRAMS) {
    throw new Failure(
      'Git could run programs of the repository',
      `the git config of ${root} defines filters or hooks that cannot be turned off: ${isOdd ? 'their names are odd' : `more than ${MOST_PROGRAMS}`}`,
      'Look at its .git/config, and remove what you did not put there.',
    );
  }
  return [...programs].flatMap((program) =>
    program.startsWith('hook.')
      ? [`${program}.enabled=false`, `${program}.event=`]
      : [`${program}.clean=`, `${program}.smudge=`, `${program}.process=`, `${program}.required=false`],
  );
}

function spawned(
  root: string,
  words: readonly string[],
  patience: number,
  input?: Uint8Array,
  encoding = UTF8,
): Answer {
  const answer = childProcess().spawnSync('git', words, {
    cwd: root,
    env: environment(),
    encoding,
    maxBuffer: LARGEST_ANSWER,
    timeout: patience,
    ...(input && { input }),
  });
  const code = answer.error === undefined ? undefined : codeOf(answer.error);
  if (code === 'ENOENT') return { status: null, stdout: '', stderr: MISSING };
  if (code === 'ETIMEDOUT')
    return { status: null, stdout: '', stderr: `it took longer than ${patience / 1000} s` };
  // Git that objects may do so before it has read everything.
  if (answer.error !== undefined && code !== 'EPIPE') throw answer.error;
  return answer;
}

/** What git lacks here it does not fetch: the address, and the program that is asked, are the repository's. */
function environment(): Readonly<Record<string, string | undefined>> {
  return { ...gitVariables(process.env), GIT_NO_LAZY_FETCH: '1', GIT_ALLOW_PROTOCOL: 'none' };
}

export function zeroSeparated(text: string): readonly string[] {
  return text.split('\0').filter((line) => line !== '');
}
