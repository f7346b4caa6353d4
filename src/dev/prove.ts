/**
 * `npm run prove`: holds the library table to the packages and executes the proofs of the fixtures, in a Python environment of
 * their own that is made on first use. `--library` does the first alone, names of fixtures the second.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { allRows } from '../library/library.js';
import { root } from './project.js';
import { environment } from './python.js';

const proofs = join(root, 'test', 'proof');

const asked = process.argv.slice(2);
const python = environment({
  name: 'memfix-prove',
  requirements: join(proofs, 'requirements.txt'),
  warning: 'torch is large: this takes a few minutes, once',
});
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

function run(command: string, args: readonly string[]): number {
  const { status, error } = spawnSync(command, args, { stdio: 'inherit' });
  if (error !== undefined) throw new Error(`cannot run ${command}: ${error.message}`);
  return status ?? 1;
}
