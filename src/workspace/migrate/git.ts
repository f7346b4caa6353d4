import { Failure } from '../failure.js';
import { gitVariables, SAFE_SETTINGS } from '../git-settings.js';
import { redacted } from '../secrets.js';
import { endShells, inShell, quoted } from './shell.js';

/** What one call of git needs besides its words. */
export interface GitCall {
  /** Where it runs: with a git folder, the work tree. */
  readonly folder?: string;
  /** Without one git runs outside any repository: none that lies around has a say. */
  readonly gitFolder?: string;
  /** The file that it reads. */
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Seconds; for calls that talk to another machine. */
  readonly timeout?: number;
}

export interface GitStep {
  /** Of the failure, where it fails. */
  readonly title: string;
  readonly words: readonly string[];
}

export interface GitAnswer {
  /** Null when it was ended. */
  readonly status: number | null;
  readonly stdout: string;
  /** Without credentials. */
  readonly stderr: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Bytes as they are in the repository, no submodule, and no upkeep that nobody asked for. */
const SETTINGS = [
  ...[...SAFE_SETTINGS, 'core.autocrlf=false', 'gc.auto=0', 'maintenance.auto=false'],
  ...['fetch.recurseSubmodules=false', 'i18n.commitEncoding=utf-8', 'advice.detachedHead=false'],
  ...['push.followTags=false', 'init.defaultRefFormat=files', 'commit.gpgSign=false'],
  ...['core.logAllRefUpdates=false'],
]
  .map((setting) => `-c ${setting}`)
  .join(' ');
/** Has ssh fail instead of asking, unless the user has a command of their own for it; asked once in each shell. */
const SSH = `[ -n "$GIT_SSH" ] || export GIT_SSH_COMMAND="\${GIT_SSH_COMMAND:-$(GIT_DIR=/dev/null git config core.sshCommand 2>/dev/null || echo ssh -o BatchMode=yes)}"`;
/** What a shell answers when there is no such program. */
const NOT_FOUND = 127;

/** Git for one repository: it asks nobody anything, and its processes carry a mark. */
export class Git {
  constructor(
    private readonly env: Environment,
    private readonly signal: AbortSignal,
    private readonly mark: string,
  ) {}

  /** Git's answer, whatever it is. */
  ask(words: readonly string[], call: GitCall = {}): Promise<GitAnswer> {
    return this.#answer(this.#command(words, call), call.timeout);
  }

  async #answer(command: string, timeout: number | undefined): Promise<GitAnswer> {
    this.signal.throwIfAborted();
    const halt = new AbortController();
    const end = () => halt.abort();
    const timer = timeout === undefined ? undefined : setTimeout(end, timeout * 1000);
    this.signal.addEventListener('abort', end);
    try {
      const { status, stdout, stderr } = await inShell(worldOf(this.env), `${SSH}; ${command}`, halt.signal);
      this.signal.throwIfAborted();
      if (status === NOT_FOUND) throw noGit();
      return { status, stdout: stdout.toString(), stderr: redacted(stderr.toString()).trim() };
    } finally {
      clearTimeout(timer);
      this.signal.removeEventListener('abort', end);
    }
  }

  #command(words: readonly string[], { folder, gitFolder, input = '/dev/null', env }: GitCall): string {
    const place = {
      GIT_DIR: gitFolder ?? '/dev/null',
      ...(gitFolder !== undefined && folder !== undefined && { GIT_WORK_TREE: folder }),
    };
    const set = Object.entries({ ...env, ...place, [MARK]: this.mark }).map(
      ([name, value]) => `${name}=${quoted(value)}`,
    );
    const at = folder === undefined ? [] : ['-C', quoted(folder)];
    return [...set, 'git', ...at, SETTINGS, ...words.map(quoted), `<${quoted(input)}`].join(' ');
  }

  /** One after the other, at one request, as long as each succeeds; for what prints nothing. */
  async inTurn(steps: readonly GitStep[], call: GitCall = {}): Promise<void> {
    const answer = await this.#answer(
      steps.map(({ words }) => `${this.#command(words, call)} && echo`).join(' && '),
      call.timeout,
    );
    const failed = steps[answer.stdout.length];
    if (failed !== undefined) throw gitFailure(failed.title, answer, call);
  }

  /** What git prints; a git that fails is a failure with this title. */
  async tell(title: string, words: readonly string[], call: GitCall = {}): Promise<string> {
    const answer = await this.ask(words, call);
    if (answer.status === 0) return answer.stdout;
    throw gitFailure(title, answer, call);
  }
}

/** Ends what waits to start git in an environment. */
export async function restGit(env: Environment): Promise<void> {
  await endShells(worldOf(env));
}

const worlds = new WeakMap<Environment, Environment>();

/** What git sees of an environment; the same object for the same one. */
function worldOf(env: Environment): Environment {
  const { GIT_INDEX_FILE: _, ...variables } = gitVariables(env);
  const world = worlds.get(env) ?? {
    ...variables,
    GCM_INTERACTIVE: 'never',
    GIT_LFS_SKIP_SMUDGE: '1',
    GIT_NO_REPLACE_OBJECTS: '1',
  };
  worlds.set(env, world);
  return world;
}

/** The variable that git and verify commands carry: by it, those of a killed run are known. */
export const MARK = 'MEMFIX_MIGRATE';

export function gitFailure(title: string, { status, stderr }: GitAnswer, { timeout }: GitCall = {}): Failure {
  const how = status === null && timeout !== undefined ? `git took longer than ${timeout} s` : 'git failed';
  return new Failure(title, stderr === '' ? how : stderr, 'Remove the cause.');
}

function noGit(): Failure {
  return new Failure('Git is missing', 'there is no program `git` on the PATH', 'Install git.');
}
