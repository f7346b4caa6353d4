import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { root } from '../../../src/dev/project.js';
import { RedisServer } from '../../support/redis.js';
import { folderWith } from '../folders.js';
import { BRANCH, branchesOf, commitsOn, countPushes, freePort, remotesWith, WORLD } from './remotes.js';

/** Inside the package, to find its dependencies. */
const bundle = mkdtempSync(join(root, 'node_modules', '.memfix-queue-'));

beforeAll(async () => {
  await build({
    entryPoints: [join(root, 'test', 'cli', 'toy-main.ts')],
    outdir: bundle,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
  });
});
afterAll(() => rmSync(bundle, { recursive: true, force: true }));

/** memfix as a process. */
class Program {
  readonly child: ChildProcess;
  readonly ended: Promise<number | string>;
  said = '';

  constructor(cwd: string, words: readonly string[], env: Readonly<Record<string, string>> = {}) {
    this.child = spawn(process.execPath, [join(bundle, 'toy-main.js'), ...words], {
      cwd,
      env: { ...WORLD, ...env },
    });
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
      if (this.child.exitCode !== null) throw new Error(`ended without ${words}:\n${this.said}`);
      await pause(20);
    }
  }
}

const LEASE = '1s';

async function redis(...more: readonly string[]): Promise<RedisServer> {
  return new RedisServer(folderWith(), await freePort(), more).start();
}

async function worker(url: string, ...words: readonly string[]): Promise<Program> {
  const started = new Program(folderWith(), ['worker', '--queue', url, '--lease', LEASE, ...words]);
  await started.says(/waits for work/);
  return started;
}

const HOLD = { 'a.py': 'hold()\n' };

describe('a campaign on a queue', () => {
  test('is done by three workers, each repository once', async () => {
    const server = await redis();
    const names = Array.from({ length: 12 }, (_, index) => `r${index}`);
    const remotes = remotesWith(Object.fromEntries(names.map((name) => [name, HOLD])));
    const bares = names.map((name) => join(remotes, `${name}.git`));
    const pushes = bares.map((bare) => countPushes(bare));
    const camp = folderWith({ 'campaign.toml': `repositories = ['${remotes}']\n` });
    const workers = await Promise.all([1, 2, 3].map(() => worker(server.url)));
    const run = new Program(camp, ['migrate', 'run', '--push', '--queue', server.url]);
    expect(await run.ended, run.said).toBe(0);
    expect(run.said).toContain('12 repositories: 12 pushed.');
    expect(pushes.map((count) => count())).toEqual(names.map(() => 1));
    for (const bare of bares) {
      expect(branchesOf(bare)).toEqual(['main', BRANCH]);
      expect(commitsOn(bare)).toEqual(['Fix GPU memory waste']);
    }
    expect(readdirSync(join(camp, 'patches'))).toHaveLength(12);
    expect(readFileSync(join(camp, 'repos.lock'), 'utf8').trim().split('\n')).toHaveLength(12);
    for (const each of workers) each.child.kill('SIGTERM');
    expect(await Promise.all(workers.map(({ ended }) => ended))).toEqual([0, 0, 0]);
  });
});
