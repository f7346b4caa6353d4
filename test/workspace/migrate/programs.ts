import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chmodSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { RedisServer } from '../../support/redis.js';
import { folderWith } from '../folders.js';
import { freePort, WORLD } from './remotes.js';

type Env = Readonly<Record<string, string | undefined>>;

/** A memfix that runs beside the test. */
export class Program {
  readonly child: ChildProcess;
  /** Its exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>;
  said = '';

  constructor(file: string, cwd: string, words: readonly string[], env: Env = {}) {
    this.child = spawn(process.execPath, [file, ...words], { cwd, env: { ...WORLD, ...env } });
    for (const stream of [this.child.stdout, this.child.stderr])
      stream?.on('data', (chunk: Buffer) => {
        this.said += chunk.toString();
      });
    this.ended = new Promise((resolve) =>
      this.child.once('close', (code, signal) => resolve(signal ?? code ?? -1)),
    );
    onTestFinished(async () => {
      this.child.kill('SIGKILL');
      await this.ended;
    });
  }

  async says(words: RegExp): Promise<void> {
    while (!words.test(this.said)) {
      if (this.child.exitCode !== null || this.child.signalCode !== null)
        throw new Error(`ended without ${words}:\n${this.said}`);
      await pause(20);
    }
  }
}

/** Who a worker would commit as, if it were asked. */
const SOMEONE_ELSE = {
  GIT_AUTHOR_NAME: 'Robot',
  GIT_AUTHOR_EMAIL: 'robot@example.invalid',
  GIT_COMMITTER_NAME: 'Robot',
  GIT_COMMITTER_EMAIL: 'robot@example.invalid',
};

/** A queue, and what works with it. */
export class Works {
  private constructor(
    private readonly program: string,
    readonly server: RedisServer,
  ) {}

  static async open(program: string, ...more: readonly string[]): Promise<Works> {
    return new Works(program, await new RedisServer(folderWith(), await freePort(), more).start());
  }

  /** One that takes work. */
  async worker({ words = [], env = {}, queue = this.server.url }: Start = {}): Promise<Program> {
    const all = ['worker', '--queue', queue, '--dir', 'work', ...words];
    const started = new Program(this.program, folderWith(), all, { ...SOMEONE_ELSE, ...env });
    await started.says(/waits for work/);
    return started;
  }

  migrate(
    camp: string,
    words: readonly string[],
    { env = {}, queue = this.server.url }: Start = {},
  ): Program {
    return new Program(this.program, camp, ['migrate', ...words, '--queue', queue], env);
  }

  /** The same without the queue. */
  migrateHere(camp: string, words: readonly string[]): Program {
    return new Program(this.program, camp, ['migrate', ...words]);
  }
}

interface Start {
  readonly words?: readonly string[];
  readonly env?: Env;
  readonly queue?: string;
}

const REAL_GIT = spawnSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).stdout.trim();

/** A git that writes down what it is called with. */
export function writingGit(): { readonly env: Env; calls(words: string): number } {
  const folder = folderWith({
    git: `#!/bin/sh\necho " $* " >> "$GIT_CALLS"\nexec ${REAL_GIT} "$@"\n`,
    calls: '',
  });
  chmodSync(join(folder, 'git'), 0o755);
  const file = join(folder, 'calls');
  return {
    env: { PATH: `${folder}:${WORLD['PATH']}`, GIT_CALLS: file },
    calls: (words) => readFileSync(file, 'utf8').split(words).length - 1,
  };
}

/**
 * A git that kills the memfix whose shell calls it, before or after its work, once for each of these words with the name of
 * a repository: `clone/before`, in a repository that is called `clone-before`.
 */
export function deadlyGit(deaths: readonly Death[]): { readonly env: Env } {
  const cases = deaths.map(
    ({ repository, words, when }) => `*${repository}*)
  case " $* " in *"${words}"*)
    if mkdir "$DEATHS/${repository}" 2>/dev/null; then
      ${when === 'after' ? `${REAL_GIT} "$@"` : ':'}
      kill -9 "$(cut -d ' ' -f 4 "/proc/$PPID/stat")"
      exit 1
    fi;;
  esac;;`,
  );
  const folder = folderWith({
    git: `#!/bin/sh\ncase " $PWD $* " in ${cases.join('\n')}\nesac\nexec ${REAL_GIT} "$@"\n`,
    'deaths/none': '',
  });
  chmodSync(join(folder, 'git'), 0o755);
  return { env: { PATH: `${folder}:${WORLD['PATH']}`, DEATHS: join(folder, 'deaths') } };
}

export interface Death {
  readonly repository: string;
  readonly words: string;
  readonly when: 'before' | 'after';
}
