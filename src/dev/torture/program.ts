import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../project.js';

/** The built program; another one, such as an installed one, where `MEMFIX_PROGRAM` names it. */
const PROGRAM = process.env['MEMFIX_PROGRAM'] ?? join(root, 'dist', 'cli.js');

/** Nothing that memfix does here takes so long, on a busy machine too: what does, hangs. */
const PATIENCE_MS = 180_000;

export interface Ended {
  /** Undefined where a signal ended it. */
  readonly status: number | undefined;
  readonly signal: NodeJS.Signals | undefined;
  readonly stdout: string;
  readonly stderr: string;
  readonly milliseconds: number;
  readonly isHanging: boolean;
}

export interface Setting {
  readonly cwd: string;
  /** Where memfix keeps journals and caches. */
  readonly state: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Killed after so many milliseconds, or as soon as this is true. */
  readonly killAfter?: number | (() => boolean);
  /** Killed with this; with -9 unless it says otherwise. */
  readonly killWith?: NodeJS.Signals;
  /** Runs as this user. */
  readonly uid?: number;
}

/** Why no process can be started, if that is so. */
export function programMissing(): string | undefined {
  return existsSync(PROGRAM) ? undefined : `${PROGRAM} is not built: npm run build`;
}

/** What a process of this harness sees of the world: nothing of the user's own settings. */
export function environment({ state, env = {} }: Pick<Setting, 'state' | 'env'>): NodeJS.ProcessEnv {
  return {
    PATH: process.env['PATH'],
    HOME: state,
    TMPDIR: process.env['TMPDIR'],
    MEMFIX_STATE_DIR: join(state, 'memfix'),
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_NAME: 'Ada',
    GIT_AUTHOR_EMAIL: 'ada@example.invalid',
    GIT_COMMITTER_NAME: 'Ada',
    GIT_COMMITTER_EMAIL: 'ada@example.invalid',
    ...env,
  };
}

export function start(setting: Setting, ...words: readonly string[]): ChildProcess {
  return spawn(process.execPath, [PROGRAM, ...words], {
    cwd: setting.cwd,
    env: environment(setting),
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(setting.uid !== undefined && { uid: setting.uid, gid: setting.uid }),
  });
}

/** Runs memfix to its end, whatever that is. */
export function memfix(setting: Setting, ...words: readonly string[]): Promise<Ended> {
  return ended(start(setting, ...words), setting.killAfter, setting.killWith);
}

export function ended(
  child: ChildProcess,
  killAfter?: number | (() => boolean),
  killWith: NodeJS.Signals = 'SIGKILL',
): Promise<Ended> {
  const started = performance.now();
  let stdout = '';
  let stderr = '';
  let isHanging = false;
  child.stdout?.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr?.on('data', (chunk) => {
    stderr += chunk;
  });
  const kill = (): boolean => child.kill(killWith);
  const killer = typeof killAfter === 'number' ? setTimeout(kill, killAfter) : undefined;
  const watcher = typeof killAfter === 'function' ? setInterval(() => killAfter() && kill(), 1) : undefined;
  const patience = setTimeout(() => {
    isHanging = true;
    child.kill('SIGKILL');
  }, PATIENCE_MS);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (status, signal) => {
      clearTimeout(killer);
      clearInterval(watcher);
      clearTimeout(patience);
      resolve({
        status: status ?? undefined,
        signal: signal ?? undefined,
        stdout,
        stderr,
        milliseconds: performance.now() - started,
        isHanging,
      });
    });
  });
}

/** What is wrong with the way in which a program ended that nobody killed; 2 is an error that was reported. */
export function badEnd({ status, signal, stderr, isHanging }: Ended): string | undefined {
  if (isHanging) return `it hung: ${stderr.slice(-300)}`;
  if (signal !== undefined) return `it died of ${signal}: ${stderr.slice(-300)}`;
  if (status === undefined || status > 2) return `it exited with ${status}: ${stderr.slice(-600)}`;
  if (/\n\s+at .*:\d+:\d+\)?\n/.test(stderr)) return `it showed a stack trace: ${stderr.slice(-600)}`;
  return undefined;
}
