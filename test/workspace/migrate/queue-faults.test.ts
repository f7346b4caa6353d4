import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { folderWith, git } from '../folders.js';
import { Bundle, type Death, deadlyGit, Works } from './programs.js';
import { BRANCH, branchesOf, commitsOn, countPushes, remotesWith } from './remotes.js';

/** These wait for processes, and for leases to end: a busy machine takes its time. */
vi.setConfig({ testTimeout: 240_000 });

const bundle = new Bundle();
beforeAll(() => bundle.build());
afterAll(() => bundle.remove());

/** Others get what a worker had when it has been silent for so long. */
const LEASE = ['--lease', '2s'];

/** Bare repositories with something to fix, and a campaign over them. */
function campaignOver(files: Readonly<Record<string, string>>, more = '') {
  const names = Object.keys(files);
  const remotes = remotesWith(Object.fromEntries(names.map((name) => [name, { 'a.py': files[name] ?? '' }])));
  const counts = new Map(names.map((name) => [name, countPushes(join(remotes, `${name}.git`))]));
  const pushes = () => Object.fromEntries([...counts].map(([name, count]) => [name, count()]));
  return {
    camp: folderWith({ 'campaign.toml': `repositories = ['${remotes}']\n${more}` }),
    pushes,
    /** That each was pushed once, with one commit on one branch. */
    check() {
      expect(pushes()).toEqual(Object.fromEntries(names.map((name) => [name, 1])));
      for (const bare of names.map((name) => join(remotes, `${name}.git`))) {
        expect(branchesOf(bare)).toEqual(['main', BRANCH]);
        expect(commitsOn(bare)).toEqual(['Fix GPU memory waste']);
        expect(git(bare, 'show', `${BRANCH}:a.py`)).toMatch(/^release\(/);
      }
    },
  };
}

const some = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`r${index}`, 'hold()\n']));

test('workers are killed in every stage: others finish, and nothing is done twice', async () => {
  const deaths: readonly Death[] = [
    { repository: 'clone-begins', words: ' clone ', when: 'before' },
    { repository: 'clone-ends', words: ' clone ', when: 'after' },
    { repository: 'apply-ends', words: ' commit --quiet ', when: 'after' },
    { repository: 'commit-ends', words: ' update-ref ', when: 'after' },
    { repository: 'push-begins', words: ' push ', when: 'before' },
    { repository: 'push-ends', words: ' push ', when: 'after' },
  ];
  const { env } = deadlyGit(deaths);
  const verify = 'case $PWD in *verify*) mkdir $DEATHS/verify && { kill -9 $PPID; sleep 1; } || true;; esac';
  const files = { 'plan-goes': 'hold(fatal)\n', 'verify-goes': 'hold()\n' };
  const others = Object.fromEntries(deaths.map(({ repository }) => [repository, 'hold()\n']));
  const { camp, check } = campaignOver({ ...others, ...files }, `verify = '${verify}'\n`);
  const works = await Works.open(bundle);
  const world = { ...env, KILL_AT: 'detect', KILL_ONCE: join(env['DEATHS'] ?? '', 'plan') };
  let isOver = false;
  let killed = 0;
  /** One after the other, each with one repository in hand, as long as they are needed. */
  const staff = async () => {
    while (!isOver) {
      const worker = await works.worker({ words: [...LEASE, '--network', '1', '--work', '1'], env: world });
      if ((await Promise.race([worker.ended, run.ended])) === 'SIGKILL') killed++;
    }
  };
  const run = works.migrate(camp, ['run', '--push']);
  void run.ended.then(() => {
    isOver = true;
  });
  await Promise.all([staff(), staff()]);
  expect(await run.ended, run.said).toBe(0);
  expect(killed).toBe(8);
  check();
});

test('Redis is started again in the middle, once in order and once killed: the campaign goes on', async () => {
  const works = await Works.open(bundle);
  const { camp, check, pushes } = campaignOver(some(8), "verify = 'sleep 0.2'\n");
  const workers = [await works.worker({ words: LEASE }), await works.worker({ words: LEASE })];
  const run = works.migrate(camp, ['run', '--push']);
  const pushed = () => Object.values(pushes()).filter((count) => count > 0).length;
  await until(() => pushed() >= 2);
  await works.server.stop('SIGTERM');
  await run.says(/is away; waiting for it/);
  await works.server.start();
  await until(() => pushed() >= 5);
  await works.server.stop('SIGKILL');
  await works.server.start();
  expect(await run.ended, run.said).toBe(0);
  check();
  expect(workers.map(({ child }) => child.exitCode)).toEqual([null, null]);
});

test('Redis is gone: that is said, and resumed when it is back', async () => {
  const works = await Works.open(bundle);
  const { camp, check, pushes } = campaignOver(some(4), "verify = 'sleep 0.2'\n");
  await works.worker({ words: LEASE });
  const run = works.migrate(camp, ['run', '--push'], { env: { MEMFIX_QUEUE_PATIENCE: '1' } });
  await until(() => Object.values(pushes()).some((count) => count > 0));
  await works.server.stop();
  expect(await run.ended).toBe(2);
  expect(run.said).toMatch(
    /memfix: The queue cannot be reached\n.*ECONNREFUSED.*\n.*`memfix migrate resume --queue redis/,
  );
  const tooEarly = works.migrate(camp, ['resume']);
  expect([await tooEarly.ended, tooEarly.said]).toEqual([2, expect.stringContaining('cannot be reached')]);
  await works.server.start();
  const resumed = works.migrate(camp, ['resume']);
  expect(await resumed.ended, resumed.said).toBe(0);
  check();
});

test('Redis forgets everything: that is said, and resumed', async () => {
  const works = await Works.open(bundle);
  const { camp, check } = campaignOver(some(2), "verify = 'sleep 1'\n");
  await works.worker({ words: LEASE });
  const run = works.migrate(camp, ['run', '--push', '-v']);
  await run.says(/verify …/);
  works.server.ask('flushall');
  expect(await run.ended).toBe(2);
  expect(run.said).toContain('The queue no longer knows this run');
  const resumed = works.migrate(camp, ['resume']);
  expect(await resumed.ended, resumed.said).toBe(0);
  check();
});

test('who began it is killed: the workers go on, and it is taken up again', async () => {
  const works = await Works.open(bundle);
  const { camp, check, pushes } = campaignOver(some(3));
  const run = works.migrate(camp, ['run', '--push']);
  await until(
    () =>
      works.server.ask('smembers', works.server.ask('keys', 'memfix:run:*:queued')[0] ?? 'none').length === 3,
  );
  run.child.kill('SIGKILL');
  expect(await run.ended).toBe('SIGKILL');
  await works.worker({ words: LEASE });
  await until(() => Object.values(pushes()).every((count) => count === 1));
  expect(readdirSync(camp)).not.toContain('state');
  const resumed = works.migrate(camp, ['resume']);
  expect(await resumed.ended, resumed.said).toBe(0);
  expect(resumed.said).toContain('3 repositories: 3 pushed.');
  check();
});

test('a worker that is told to stop finishes its stage, and another goes on after it', async () => {
  const works = await Works.open(bundle);
  const log = join(folderWith(), 'verified');
  const { camp, check } = campaignOver(some(1), `verify = 'sleep 1; echo once >> ${log}'\n`);
  const first = await works.worker({ words: LEASE });
  const run = works.migrate(camp, ['run', '--push', '-v']);
  await run.says(/verify …/);
  first.child.kill('SIGTERM');
  expect(await first.ended, first.said).toBe(0);
  expect(run.said).not.toMatch(/commit …/);
  expect(readFileSync(log, 'utf8')).toBe('once\n');
  await works.worker({ words: LEASE });
  expect(await run.ended, run.said).toBe(0);
  expect(readFileSync(log, 'utf8')).toBe('once\n');
  check();
});

test('one that was only thought dead has no say any more', async () => {
  const works = await Works.open(bundle);
  const { camp, check } = campaignOver(some(1), "verify = 'sleep 1'\n");
  const first = await works.worker({ words: LEASE });
  const run = works.migrate(camp, ['run', '--push', '-v']);
  await run.says(/verify …/);
  first.child.kill('SIGSTOP');
  const second = await works.worker({ words: LEASE });
  await run.says(/verify …[\s\S]*verify …/);
  first.child.kill('SIGCONT');
  expect(await run.ended, run.said).toBe(0);
  expect([first.said, second.said]).toEqual([
    expect.not.stringContaining('pushed'),
    expect.stringContaining('pushed'),
  ]);
  check();
});

test('a repository that every worker dies of is given up, and the others are done', async () => {
  const works = await Works.open(bundle);
  const { camp, pushes } = campaignOver(
    { deadly: 'hold()\n', fine: 'hold()\n' },
    "verify = 'case $PWD in *deadly*) kill -9 $PPID;; esac'\n",
  );
  const run = works.migrate(camp, ['run', '--push']);
  let isOver = false;
  let killed = 0;
  void run.ended.then(() => {
    isOver = true;
  });
  while (!isOver) {
    const worker = await works.worker({ words: ['--lease', '1s', '--network', '1', '--work', '1'] });
    if ((await Promise.race([worker.ended, run.ended])) === 'SIGKILL') killed++;
  }
  expect([await run.ended, run.said]).toEqual([
    1,
    expect.stringContaining('deadly: failed (verify): Workers die of it'),
  ]);
  expect(pushes()).toEqual({ deadly: 0, fine: 1 });
  expect(killed).toBeLessThanOrEqual(5);
});

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await pause(50);
}
