import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { campaignIn, difference, remotesIn } from './campaign.js';
import { ended, memfix, programMissing, start } from './program.js';
import type { Scenario, Trial } from './scenario.js';
import { lastWords } from './tree.js';

/** Others get what a worker had when it has been silent for so long. */
const LEASE = ['--lease', '2s', '--network', '1', '--work', '1'];

function isInstalled(program: string): boolean {
  return spawnSync(program, ['--version']).status === 0;
}

/** Workers of a queue are killed at any moment, and others come: the campaign ends as if nothing had happened. */
export const killWorkers: Scenario = {
  name: 'kill-workers',
  summary: 'kill -9 of workers at any moment, with a real Redis between them',
  tries: { short: 1, long: 200 },
  unavailable: () =>
    programMissing() ?? (isInstalled('redis-server') ? undefined : 'there is no redis-server'),
  async run(trial) {
    const remotes = await remotesIn(trial.folder, trial.random(-1));
    const redis = await redisIn(join(trial.folder, 'redis'));
    try {
      for (let attempt = trial.from; attempt < trial.from + trial.count; attempt++) {
        const campaign = campaignIn(join(trial.folder, `attempt-${attempt}`), remotes.folder);
        const setting = { cwd: campaign.folder, state: join(trial.folder, `state-${attempt}`) };
        let isOver = false;
        const run = memfix(setting, 'migrate', 'run', '--push', '--queue', redis.url).finally(() => {
          isOver = true;
        });
        await staff(trial, attempt, redis.url, () => isOver, remotes.milliseconds);
        const last = await run;
        const problem = last.status === 0 ? difference(campaign, remotes) : `it ended ${lastWords(last)}`;
        trial.counted('campaigns');
        if (problem !== undefined)
          trial.failed({ attempt, law: 'a campaign ends although workers die', detail: problem });
      }
    } finally {
      redis.child.kill('SIGKILL');
    }
  },
};

/** One worker after the other, each killed at some moment of its work; from the fourth on they live. */
async function staff(
  trial: Trial,
  attempt: number,
  queue: string,
  isOver: () => boolean,
  milliseconds: number,
): Promise<void> {
  const random = trial.random(attempt);
  for (let number = 0; !isOver(); number++) {
    const cwd = join(trial.folder, `worker-${attempt}-${number}`);
    mkdirSync(cwd);
    const child = start(
      { cwd, state: join(cwd, 'state') },
      'worker',
      '--queue',
      queue,
      '--dir',
      'work',
      ...LEASE,
    );
    trial.counted('workers');
    const end = ended(child);
    let said = '';
    child.stdout?.on('data', (chunk) => {
      said += chunk;
    });
    child.stderr?.on('data', (chunk) => {
      said += chunk;
    });
    while (!/waits for work/.test(said) && child.exitCode === null && child.signalCode === null && !isOver())
      await pause(20);
    const life = number < 3 ? random.next() * milliseconds : Infinity;
    const born = performance.now();
    while (!isOver() && performance.now() - born < life && child.exitCode === null) await pause(10);
    child.kill(isOver() ? 'SIGTERM' : 'SIGKILL');
    const { signal } = await end;
    if (signal === 'SIGKILL') trial.counted('killed');
  }
}

async function redisIn(folder: string): Promise<{ readonly child: ChildProcess; readonly url: string }> {
  mkdirSync(folder);
  const port = await freePort();
  const child = spawn(
    'redis-server',
    ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', '', '--appendonly', 'no'],
    { stdio: 'ignore' },
  );
  for (let tries = 0; tries < 500; tries++) {
    if (await answers(port)) return { child, url: `redis://127.0.0.1:${port}` };
    await pause(50);
  }
  child.kill('SIGKILL');
  throw new Error('redis-server does not start');
}

async function answers(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  socket.write('PING\r\n');
  try {
    const [reply] = await once(socket, 'data');
    return String(reply) === '+PONG\r\n';
  } catch {
    // Nobody listens yet; the caller tries again for as long as it waits.
    return false;
  } finally {
    socket.destroy();
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port is free');
  return address.port;
}
