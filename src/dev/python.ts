/** Python environments that the checkout's own tools run in: made on first use, kept in the user's cache. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { inTurn } from './turns.js';

const bin = process.platform === 'win32' ? 'Scripts' : 'bin';

export interface Wanted {
  /** The folder in the cache, and how messages begin. */
  readonly name: string;
  /** A requirements file; other requirements get another environment. */
  readonly requirements: string;
  /** What is said before it takes its time. */
  readonly warning: string;
}

/** The Python of an environment that has what is required. It outlasts the checkout. */
export function environment(wanted: Wanted): string {
  const base = newEnough(wanted);
  const key = createHash('sha256')
    .update(readFileSync(wanted.requirements))
    .update(base.version)
    .digest('hex')
    .slice(0, 12);
  const cache = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), wanted.name);
  const folder = join(cache, key);
  const ready = join(cache, `${key}.ready`);
  const python = join(folder, bin, 'python');
  if (existsSync(ready)) return python;

  mkdirSync(cache, { recursive: true });
  const lock = join(cache, `${key}.lock`);
  return inTurn(lock, () => {
    if (existsSync(ready)) return python;
    say(wanted, `making a Python environment in ${folder} (${wanted.warning})`);
    rmSync(folder, { recursive: true, force: true });
    must(wanted, 'make a virtual environment', run(wanted, base.command, ['-m', 'venv', folder]));
    must(wanted, 'install uv', run(wanted, python, ['-m', 'pip', 'install', '--quiet', 'uv']));
    must(
      wanted,
      'install the requirements',
      run(wanted, python, [
        ...['-m', 'uv', 'pip', 'install', '--quiet', '--no-cache', '--python', python],
        ...['-r', wanted.requirements],
      ]),
    );
    const marker = `${ready}.${process.pid}`;
    mkdirSync(marker);
    renameSync(marker, ready);
    return python;
  });
}

function newEnough(wanted: Wanted): { command: string; version: string } {
  const candidates = [process.env['MEMFIX_PYTHON'], 'python3', 'python'].filter((each) => each !== undefined);
  for (const command of candidates) {
    const asked = spawnSync(
      command,
      ['-c', 'import sys; print("%d.%d %s" % (*sys.version_info[:2], sys.platform))'],
      { encoding: 'utf8' },
    );
    const [, major, minor] = /^(\d+)\.(\d+) /.exec(asked.stdout ?? '') ?? [];
    if (Number(major) === 3 && Number(minor) >= 10) return { command, version: asked.stdout.trim() };
  }
  throw new Error(
    `${wanted.name}: found no Python 3.10 or newer as ${candidates.join(', ')}; set MEMFIX_PYTHON to one`,
  );
}

/** Standard output is the caller's own. */
function run({ name }: Wanted, command: string, args: readonly string[]): number {
  const { status, error } = spawnSync(command, args, { stdio: ['ignore', 2, 2] });
  if (error !== undefined) throw new Error(`${name}: cannot run ${command}: ${error.message}`);
  return status ?? 1;
}

function must({ name }: Wanted, what: string, status: number): void {
  if (status !== 0)
    throw new Error(`${name}: could not ${what} (exit code ${status}); the lines above say why`);
}

function say({ name }: Wanted, line: string): void {
  process.stderr.write(`${name}: ${line}\n`);
}
