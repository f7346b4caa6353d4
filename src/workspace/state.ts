import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, isAbsolute, join, relative } from 'node:path';
import { regularBytes } from './bounded.js';
import { codeOf, Failure, reasonOf } from './failure.js';
import { askGit } from './git.js';
import { isInside, repositoryRoot, slashed } from './places.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** The folder of a project that no longer exists is removed after this time, or when there are more than so many. */
const GONE_LIFE = 30 * 24 * 60 * 60 * 1000;
const KEPT_GONE = 200;
const LONGEST_PATH = 64 * 1024;

/**
 * What memfix keeps about one project: the undo journal, an unfinished session and the cache. All of it lies in the user's
 * own state folder, never in the project: there, a repository could bring its own.
 */
export class State {
  readonly folder: string;

  private constructor(
    /** The real path of the project's root. */
    readonly root: string,
    private readonly home: Home,
  ) {
    this.folder = join(home.path, 'projects', `${readable(basename(root))}-${shortHash(root)}`);
  }

  static of(root: string, env: Environment): State {
    return new State(realpathSync.native(root), homeIn(env));
  }

  /** The states of projects below a folder. */
  static below(folder: string, env: Environment): readonly State[] {
    const home = homeIn(env);
    const place = realpathSync.native(folder);
    return namesIn(join(home.path, 'projects')).flatMap((name) => {
      const root = rootIn(join(home.path, 'projects', name));
      return root !== undefined && root !== place && isInside(root, place) && existsSync(root)
        ? [new State(root, home)]
        : [];
    });
  }

  /** Why nothing of it may be used; undefined also where there is nothing yet. */
  get objection(): string | undefined {
    try {
      return (
        (this.home.isNamed ? trackedIn(this.home.path) : undefined) ?? foreignness(this.folder, this.root)
      );
    } catch (error) {
      return codeOf(error) === 'ENOENT' ? undefined : reasonOf(error);
    }
  }

  /** To be called before something is read that decides what is written. */
  check(): void {
    const { objection } = this;
    if (objection !== undefined) throw this.#failure(objection);
  }

  /** Makes the folder, for this user alone. */
  open(): void {
    const isNew = !existsSync(this.folder);
    try {
      mkdirSync(this.folder, { recursive: true, mode: 0o700 });
    } catch (error) {
      throw this.#failure(reasonOf(error));
    }
    this.check();
    try {
      this.#sign();
    } catch (error) {
      throw this.#failure(reasonOf(error));
    }
    if (isNew) prune(dirname(this.folder));
  }

  /** Says which project the folder is about. */
  #sign(): void {
    const file = join(this.folder, 'root');
    if (rootIn(this.folder) === this.root) return;
    const draft = `${file}.${process.pid}.tmp`;
    try {
      writeFileSync(draft, this.root, { mode: 0o600 });
      renameSync(draft, file);
    } catch (error) {
      rmSync(draft, { force: true });
      throw error;
    }
  }

  #failure(reason: string): Failure {
    return new Failure(
      'The state folder of memfix cannot be used',
      `${this.folder}: ${reason}`,
      'Remove the cause, or set MEMFIX_STATE_DIR to a folder that only you can write to, outside of any repository. Nothing was written.',
    );
  }
}

interface Home {
  readonly path: string;
  /** The user says where it is. */
  readonly isNamed: boolean;
}

function homeIn(env: Environment): Home {
  const named = env['MEMFIX_STATE_DIR'];
  if (named === undefined || named === '') return { path: join(usualFolder(env), 'memfix'), isNamed: false };
  if (isAbsolute(named)) return { path: named, isNamed: true };
  throw new Failure(
    'Not an absolute path',
    `MEMFIX_STATE_DIR is \`${named}\``,
    'Set it to the absolute path of the folder in which memfix may keep its own files, or unset it.',
  );
}

/** Where programs of this system keep what they remember about a user's work. */
function usualFolder(env: Environment): string {
  const at = (name: string) => {
    const value = env[name];
    return value !== undefined && isAbsolute(value) ? value : undefined;
  };
  if (process.platform === 'win32') return at('LOCALAPPDATA') ?? join(homeFolder(), 'AppData', 'Local');
  const home = () => at('HOME') ?? homeFolder();
  if (process.platform === 'darwin') return join(home(), 'Library', 'Application Support');
  return at('XDG_STATE_HOME') ?? join(home(), '.local', 'state');
}

/** Asked only where the environment does not say it, since Node loads a module for it; a user of a container may have none. */
function homeFolder(): string {
  try {
    return homedir();
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return '/';
  }
}

/** Why a folder, or what is in it, may come from someone else than this user's memfix. */
function foreignness(folder: string, root: string): string | undefined {
  const stats = lstatSync(folder);
  if (!stats.isDirectory()) return stats.isSymbolicLink() ? 'it is a link' : 'it is not a folder';
  const user = process.geteuid?.();
  if (user !== undefined && stats.uid !== user) return 'it belongs to another user';
  if (user !== undefined && (stats.mode & 0o022) !== 0) return 'other users may write to it';
  const signed = rootIn(folder) ?? '';
  return signed === '' || signed === root ? undefined : `it is about ${signed}`;
}

/** The same for what a repository could have brought with it. */
export function trackedIn(folder: string): string | undefined {
  const real = realpathSync.native(folder);
  const root = repositoryRoot(real);
  if (root === undefined) return undefined;
  const below = slashed(relative(root, real)) || '.';
  const { status, stdout } = askGit(root, ['--literal-pathspecs', 'ls-files', '-z', '--', below]);
  if (status !== 0) return `git does not say whether the repository ${root} tracks it`;
  return stdout === '' ? undefined : `the repository ${root} tracks files in it`;
}

/** The project that a folder is about; undefined where that is not said. */
function rootIn(folder: string): string | undefined {
  try {
    return regularBytes(join(folder, 'root'), LONGEST_PATH).toString('utf8');
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return undefined;
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).sort();
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return [];
  }
}

/** Called when a project is new, since only then there are more. */
function prune(projects: string): void {
  const gone = readdirSync(projects).flatMap((name) => {
    const folder = join(projects, name);
    const root = rootIn(folder);
    if (root !== undefined && existsSync(root)) return [];
    return [{ folder, time: statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? Date.now() }];
  });
  gone.sort((a, b) => b.time - a.time);
  for (const [index, { folder, time }] of gone.entries())
    if (index >= KEPT_GONE || time < Date.now() - GONE_LIFE) forget(folder);
}

/** Another memfix may be doing the same; what cannot be removed now is removed another time. */
function forget(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
  }
}

function readable(name: string): string {
  return name.replace(/[^\w.-]/g, '_').slice(0, 40);
}

/** 64 bits, computed without Node's `crypto`, which takes milliseconds to load. Whoever relies on it compares the text as well. */
export function shortHash(text: string): string {
  let [a, b] = [0x811c9dc5, 0x01000193];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    a = Math.imul(a ^ code, 0x01000193);
    b = Math.imul(b ^ code, 0x85ebca6b) + a;
  }
  return [a, b].map((each) => (each >>> 0).toString(16).padStart(8, '0')).join('');
}
