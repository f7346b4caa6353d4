/**
 * `npm run prove`: holds the library table to the packages and executes the proofs of the fixtures, in a Python environment of
 * their own that is made on first use. `--library` does the first alone, names of fixtures the second.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { allRows } from '../library/library.js';
import { root } from './project.js';

const proofs = join(root, 'test', 'proof');
const requirements = join(proofs, 'requirements.txt');
const bin = process.platform === 'win32' ? 'Scripts' : 'bin';

const asked = process.argv.slice(2);
const python = environment();
const table = asked.includes('--library') || !asked.some((each) => !each.startsWith('-')) ? library() : 0;
process.exitCode =
  table || (asked.includes('--library') ? 0 : run(python, [join(proofs, 'run.py'), ...asked]));

/** Every row of the table against the packages. */
function library(): number {
  const folder = mkdtempSync(join(tmpdir(), 'memfix-library-'));
  const file = join(folder, 'rows.json');
  writeFileSync(file, JSON.stringify(allRows()));
  try {
    return run(python, [join(proofs, 'library.py'), file]);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The Python that has what the proofs need. It outlasts the checkout; other requirements get another one. */
function environment(): string {
  const base = newEnough();
  const key = createHash('sha256')
    .update(readFileSync(requirements))
    .update(base.version)
    .digest('hex')
    .slice(0, 12);
  const cache = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'memfix-prove');
  const folder = join(cache, key);
  const ready = join(cache, `${key}.ready`);
  const python = join(folder, bin, 'python');
  if (existsSync(ready)) return python;

  say(`making a Python environment in ${folder} (torch is large: this takes a few minutes, once)`);
  mkdirSync(cache, { recursive: true });
  rmSync(folder, { recursive: true, force: true });
  must('make a virtual environment', run(base.command, ['-m', 'venv', folder]));
  must('install uv', run(python, ['-m', 'pip', 'install', '--quiet', 'uv']));
  must(
    'install the requirements',
    run(python, ['-m', 'uv', 'pip', 'install', '--no-cache', '--python', python, '-r', requirements]),
  );
  const marker = `${ready}.${process.pid}`;
  mkdirSync(marker);
  renameSync(marker, ready);
  return python;
}

function newEnough(): { command: string; version: string } {
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
  return stop(`found no Python 3.10 or newer as ${candidates.join(', ')}; set MEMFIX_PYTHON to one`);
}

function run(command: string, args: readonly string[]): number {
  const { status, error } = spawnSync(command, args, { stdio: 'inherit' });
  if (error !== undefined) stop(`cannot run ${command}: ${error.message}`);
  return status ?? 1;
}

function must(what: string, status: number): void {
  if (status !== 0) stop(`could not ${what} (exit code ${status}); the lines above say why`);
}

function say(line: string): void {
  process.stderr.write(`prove: ${line}\n`);
}

function stop(why: string): never {
  say(why);
  process.exit(2);
}
