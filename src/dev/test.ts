/**
 * `npm test`: everything. `npm test -- <id>…`: the fixtures of these transforms, under the parser that users get, and the
 * types. `npm run record -- <id>…`: the same, and writes what the fixtures give.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fixturesFolder, ONLY } from './fixtures.js';
import { root } from './project.js';

const EVERYTHING = [
  'npm run --silent typecheck',
  'npm run --silent lint',
  'npm run --silent docs -- --check',
  'npm run --silent build',
  'vitest run',
];

/** Both remember what the last run saw of each file. */
const FIXTURES = 'vitest run --experimental.fsModuleCache test/transforms.test.ts';
const TYPES = 'tsc --noEmit --incremental --tsBuildInfoFile node_modules/.cache/types.tsbuildinfo';

const words = process.argv.slice(2);
const isRecording = words[0] === '--record';
const ids = isRecording ? words.slice(1) : words;
const missing = ids.filter((id) => !existsSync(join(fixturesFolder, id)));

if (missing.length > 0) fail(`No fixtures: ${missing.join(', ')}`, 'Name folders of fixtures/.');
else if (isRecording && ids.length === 0) fail('Nothing to record', 'Name it: npm run record -- <id>');
else process.exitCode = ids.length === 0 ? await everything() : await fixturesOf(ids);

async function everything(): Promise<number> {
  for (const command of EVERYTHING) {
    const status = await run(command);
    if (status !== 0) return status;
  }
  return 0;
}

async function fixturesOf(chosen: readonly string[]): Promise<number> {
  const env = { [ONLY]: chosen.join(), ...(isRecording && { UPDATE_FIXTURES: '1' }) };
  const [laws, types] = await Promise.all([run(FIXTURES, env), run(TYPES)]);
  return laws || types;
}

/** npm has put the programs of node_modules on the PATH. */
function run(command: string, env: Readonly<Record<string, string>> = {}): Promise<number> {
  const child = spawn(command, {
    cwd: root,
    env: { ...process.env, ...env },
    shell: true,
    stdio: 'inherit',
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve(code ?? 1));
  });
}

function fail(title: string, next: string): void {
  process.stderr.write(`${title}\n  ${next}\n`);
  process.exitCode = 2;
}
