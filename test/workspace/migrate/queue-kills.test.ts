import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { toyProgram } from '../../cli/toy-program.js';
import { folderWith } from '../folders.js';
import { gitHubWith } from './forge/github-double.js';
import { type Death, deadlyGit, type Program, Works } from './programs.js';
import { campaignOver, LEASE } from './queue-campaigns.js';

/** These wait for processes, and for leases to end: a busy machine takes its time. */
vi.setConfig({ testTimeout: 240_000 });

const PROGRAM = toyProgram();

test('workers are killed in every stage: others finish, and nothing is done twice', async () => {
  const deaths: readonly Death[] = [
    { repository: 'clone-begins', words: ' clone ', when: 'before' },
    { repository: 'clone-ends', words: ' clone ', when: 'after' },
    { repository: 'apply-ends', words: ' commit --quiet ', when: 'after' },
    { repository: 'apply-goes', words: ' apply --index ', when: 'after' },
    // The stage between them calls no git: who dies when the push begins has just done it.
    { repository: 'push-begins', words: ' push ', when: 'before' },
    { repository: 'push-ends', words: ' push ', when: 'after' },
  ];
  const { env } = deadlyGit(deaths);
  const verify = 'case $PWD in *verify*) mkdir $DEATHS/verify && { kill -9 $PPID; sleep 1; } || true;; esac';
  const files = {
    'plan-goes': `hold(fatal("${join(env['DEATHS'] ?? '', 'plan')}"))\n`,
    'verify-goes': 'hold()\n',
  };
  const others = Object.fromEntries(deaths.map(({ repository }) => [repository, 'hold()\n']));
  const { camp, check } = campaignOver(
    { ...others, ...files },
    `verify = '${verify}'\nverify-sandbox = 'none'\nverify-env = ['DEATHS']\n`,
  );
  const works = await Works.open(PROGRAM);
  let isOver = false;
  let killed = 0;
  /** One after the other, each with one repository in hand, as long as they are needed. */
  const staff = async () => {
    while (!isOver) {
      const worker = await works.worker({ words: [...LEASE, '--network', '1', '--work', '1'], env });
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

test('one that was only thought dead has no say any more', async () => {
  const works = await Works.open(PROGRAM);
  const { camp, check } = campaignOver({ one: 'hold()\n' }, "verify = 'sleep 1'\n");
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

test('pull requests are opened by one worker at a time, at a pace, and each once although one dies of it', async () => {
  const works = await Works.open(PROGRAM);
  const forge = await gitHubWith({ 'acme/one': { 'a.py': 'hold()\n' }, 'acme/two': { 'a.py': 'hold()\n' } });
  const urls = ['one', 'two'].map((name) => `'${forge.base}/acme/${name}.git'`);
  const camp = folderWith({
    'campaign.toml': `repositories = [${urls}]\n[forges]\n"127.0.0.1:${forge.port}" = "github+${forge.base}"\n`,
  });
  const opened: number[] = [];
  const workers = await Promise.all(
    [1, 2].map(() => works.worker({ words: [...LEASE, '-v'], env: forge.world })),
  );
  const times = (words: RegExp, { said }: Program) => said.match(words)?.length ?? 0;
  // What it says last may be about the other repository.
  const isAtIt = (worker: Program) => times(/: pr …\n/g, worker) > times(/: pr open/g, worker);
  const note = () => {
    opened.push(performance.now());
    return 'drop' as const;
  };
  const kill = async () => {
    // What it says may come later than what it asks.
    await vi.waitUntil(() => workers.some(isAtIt), 10_000);
    workers.find(isAtIt)?.child.kill('SIGKILL');
    return note();
  };
  const at = /^POST .*pulls$/;
  forge.faults.push({ at, when: 'after', reply: kill }, { at, when: 'after', reply: note });
  // The tokens are with the workers; who begins the run needs none.
  const run = works.migrate(camp, ['run', '--push', '--pr', '--prs-per-hour', '500']);
  expect(await run.ended, run.said).toBe(0);
  expect(run.said).toContain('2 repositories: 2 pr open.');
  expect(workers.filter(({ child }) => child.signalCode === 'SIGKILL')).toHaveLength(1);
  expect(forge.requests.map(({ repository }) => repository).sort()).toEqual(['acme/one', 'acme/two']);
  expect(forge.violations).toEqual([]);
  expect((opened[1] ?? 0) - (opened[0] ?? 0)).toBeGreaterThan(7000);
});

test('a repository that every worker dies of is given up, and the others are done', async () => {
  const works = await Works.open(PROGRAM);
  const { camp, pushes } = campaignOver(
    { deadly: 'hold()\n', fine: 'hold()\n' },
    "verify = 'case $PWD in *deadly*) kill -9 $PPID;; esac'\nverify-sandbox = 'none'\n",
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
