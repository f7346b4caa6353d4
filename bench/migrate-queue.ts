/**
 * `npx tsx bench/migrate-queue.ts [--repositories N] [--verify COMMAND] [--cli FILE]`: `memfix migrate run --push --queue`
 * over generated repositories with one worker and with three, each one stage of work at a time: how long it takes, what the
 * workers and their children cost the processor, and how often git cloned and pushed. Needs redis-server on the PATH.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const { values } = parseArgs({
  options: {
    repositories: { type: 'string', default: '60' },
    verify: { type: 'string', default: 'sleep 0.5' },
    cli: { type: 'string', default: join(root, 'dist', 'cli.js') },
  },
});
const cli = resolve(values.cli);
const scratch = mkdtempSync(join(tmpdir(), 'memfix-bench-'));
process.once('exit', () => rmSync(scratch, { recursive: true, force: true }));
/** Milliseconds. */
const REST = 1500;
const TICKS = 100;

const calls = join(scratch, 'calls');
const env = {
  ...process.env,
  PATH: `${join(scratch, 'bin')}:${process.env['PATH']}`,
  ...{ GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' },
  ...{ GIT_AUTHOR_NAME: 'Bench', GIT_AUTHOR_EMAIL: 'bench@example.invalid' },
  ...{ GIT_COMMITTER_NAME: 'Bench', GIT_COMMITTER_EMAIL: 'bench@example.invalid' },
};

generate();
const port = await freePort();
const redis = spawn('redis-server', ['--port', String(port), '--save', '', '--dir', scratch], {
  stdio: 'ignore',
});
try {
  const one = await measured(1);
  const three = await measured(3);
  const ratio = (what: 'wall' | 'work') => (three[what] / one[what]).toFixed(2);
  process.stdout.write(`3 workers / 1 worker: wall ${ratio('wall')}, processor ${ratio('work')}\n`);
} finally {
  redis.kill();
}

interface Cost {
  readonly wall: number;
  readonly work: number;
}

async function measured(count: number): Promise<Cost> {
  clean();
  const url = `redis://127.0.0.1:${port}`;
  const workers = Array.from({ length: count }, () => {
    const words = ['worker', '--queue', url, '--work', '1', '--network', '2'];
    return spawn(process.execPath, [cli, ...words], { env, stdio: ['ignore', 'ignore', 'pipe'] });
  });
  await Promise.all(workers.map(({ stderr }) => once(stderr, 'data')));
  const before = workers.map(processorOf).reduce((sum, each) => sum + each);
  const start = performance.now();
  const run = spawn(
    process.execPath,
    [cli, 'migrate', 'run', '--push', '--quiet', 'campaign', '--queue', url],
    {
      cwd: scratch,
      env,
      stdio: 'inherit',
    },
  );
  const [code] = await once(run, 'close');
  if (code !== 0) throw new Error(`the campaign ended with ${code}`);
  const wall = (performance.now() - start) / 1000;
  await pause(REST);
  const each = workers.map(processorOf);
  const work = each.reduce((sum, seconds) => sum + seconds) - before;
  for (const worker of workers) worker.kill();
  await Promise.all(workers.map((worker) => once(worker, 'close')));
  const [clones, pushes] = [' clone ', ' push '].map(
    (word) => readFileSync(calls, 'utf8').split(word).length - 1,
  );
  process.stdout.write(
    `${count}: ${wall.toFixed(1)} s, processor ${work.toFixed(1)} s (${each.map((seconds) => seconds.toFixed(1)).join(' + ')}), ` +
      `${clones} clones and ${pushes} pushes of ${values.repositories} repositories\n`,
  );
  return { wall, work };
}

/** Seconds, with those of all its children that have ended. */
function processorOf({ pid }: ChildProcess): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  return [11, 12, 13, 14].reduce((sum, index) => sum + (fields[index] ?? 0), 0) / TICKS;
}

/** Small repositories: one file to fix, of the README's example. */
function generate(): void {
  const work = join(scratch, 'work');
  for (const folder of ['work', 'remotes', 'bin', 'campaign']) mkdirSync(join(scratch, folder));
  const git = spawnSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).stdout.trim();
  writeFileSync(join(scratch, 'bin', 'git'), `#!/bin/sh\necho " $* " >> '${calls}'\nexec ${git} "$@"\n`);
  chmodSync(join(scratch, 'bin', 'git'), 0o755);
  cpSync(join(root, 'fixtures', '_demo', 'evaluate.py'), join(work, 'evaluate.py'));
  shell('git init --quiet --initial-branch=main . && git add . && git commit --quiet --message=all', work);
  shell(`git clone --quiet --bare . '${join(scratch, 'one.git')}'`, work);
  for (let index = 0; index < Number(values.repositories); index++)
    cpSync(join(scratch, 'one.git'), join(scratch, 'remotes', `r${index}.git`), { recursive: true });
}

function clean(): void {
  shell(
    'for r in remotes/*.git; do git --git-dir "$r" update-ref -d refs/heads/memfix/fixes; done; rm -rf campaign',
    scratch,
  );
  mkdirSync(join(scratch, 'campaign'));
  writeFileSync(
    join(scratch, 'campaign', 'campaign.toml'),
    `repositories = ['${join(scratch, 'remotes')}']\nverify = '${values.verify}'\n`,
  );
  writeFileSync(calls, '');
}

function shell(command: string, cwd: string): void {
  const { status, stderr } = spawnSync('sh', ['-e', '-c', command], { cwd, env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command}\n${stderr}`);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
