import { spawn } from 'node:child_process';
import { codeOf, Failure } from '../failure.js';
import { scrubbed } from './source.js';

/** What one call of git needs besides its words. */
export interface GitCall {
  readonly cwd?: string;
  readonly input?: Uint8Array | string;
  readonly env?: Readonly<Record<string, string>>;
  /** Seconds; for calls that talk to another machine. */
  readonly timeout?: number;
}

export interface GitAnswer {
  /** Null when it was ended. */
  readonly status: number | null;
  readonly stdout: string;
  /** Without credentials. */
  readonly stderr: string;
}

/**
 * Bytes as they are in the repository, no hook, no submodule, no upkeep behind our back. What belongs to one
 * repository, such as `GIT_DIR`, is for whoever started us.
 */
const SETTINGS = [
  ...['core.hooksPath=/dev/null', 'core.fsmonitor=false', 'core.autocrlf=false', 'gc.auto=0'],
  ...['maintenance.auto=false', 'submodule.recurse=false', 'fetch.recurseSubmodules=false'],
  ...['i18n.commitEncoding=utf-8', 'advice.detachedHead=false', 'push.followTags=false'],
].flatMap((setting) => ['-c', setting]);
const OF_ONE_REPOSITORY = new Set([
  ...['GIT_DIR', 'GIT_WORK_TREE', 'GIT_PREFIX', 'GIT_INDEX_FILE', 'GIT_COMMON_DIR', 'GIT_NAMESPACE'],
  ...['GIT_OBJECT_DIRECTORY', 'GIT_ALTERNATE_OBJECT_DIRECTORIES'],
]);

/** Git for one repository: it asks nobody anything, and its processes carry a mark. */
export class Git {
  readonly #env: Readonly<Record<string, string | undefined>>;

  constructor(
    env: Readonly<Record<string, string | undefined>>,
    private readonly signal: AbortSignal,
    mark: string,
  ) {
    this.#env = {
      ...Object.fromEntries(Object.entries(env).filter(([name]) => !OF_ONE_REPOSITORY.has(name))),
      GIT_TERMINAL_PROMPT: '0',
      GCM_INTERACTIVE: 'never',
      GIT_SSH_COMMAND: env['GIT_SSH_COMMAND'] ?? 'ssh -o BatchMode=yes',
      GIT_LFS_SKIP_SMUDGE: '1',
      GIT_OPTIONAL_LOCKS: '0',
      LC_ALL: 'C',
      [MARK]: mark,
    };
  }

  /** Git's answer, whatever it is. */
  ask(words: readonly string[], { cwd, input, env, timeout }: GitCall = {}): Promise<GitAnswer> {
    this.signal.throwIfAborted();
    return new Promise((resolve, reject) => {
      const child = spawn('git', [...SETTINGS, ...words], { cwd, env: { ...this.#env, ...env } });
      const end = () => void child.kill();
      const timer = timeout === undefined ? undefined : setTimeout(end, timeout * 1000);
      const done = () => {
        clearTimeout(timer);
        this.signal.removeEventListener('abort', end);
      };
      this.signal.addEventListener('abort', end);
      const out: Buffer[] = [];
      const errors: Buffer[] = [];
      child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
      child.stderr.on('data', (chunk: Buffer) => errors.push(chunk));
      // A git that ends early does not read its input; its exit status tells why.
      child.stdin.on('error', () => undefined);
      child.stdin.end(input);
      child.on('error', (error) => {
        done();
        reject(codeOf(error) === 'ENOENT' ? noGit() : error);
      });
      child.on('close', (status) => {
        done();
        if (this.signal.aborted) return reject(this.signal.reason);
        const stderr = scrubbed(Buffer.concat(errors).toString()).trim();
        resolve({ status, stdout: Buffer.concat(out).toString(), stderr });
      });
    });
  }

  /** What git prints; a git that fails is a failure with this title. */
  async tell(title: string, words: readonly string[], call: GitCall = {}): Promise<string> {
    const answer = await this.ask(words, call);
    if (answer.status === 0) return answer.stdout;
    throw gitFailure(title, answer, call);
  }
}

/** The variable that git and verify commands carry: by it, those of a killed run are known. */
export const MARK = 'MEMFIX_MIGRATE';

export function gitFailure(title: string, { status, stderr }: GitAnswer, { timeout }: GitCall = {}): Failure {
  const how = status === null && timeout !== undefined ? `git took longer than ${timeout} s` : 'git failed';
  return new Failure(
    title,
    stderr === '' ? how : stderr,
    'Remove the cause, then `memfix migrate run --failed` tries it again.',
  );
}

function noGit(): Failure {
  return new Failure('Git is missing', 'there is no program `git` on the PATH', 'Install git.');
}
