import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { toyProgram } from '../../cli/toy-program.js';
import { folderWith, put } from '../folders.js';
import { Works } from './programs.js';
import { campaignOver, LEASE } from './queue-campaigns.js';

/** These wait for processes, and for leases to end: a busy machine takes its time. */
vi.setConfig({ testTimeout: 240_000 });

const PROGRAM = toyProgram();

const some = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`r${index}`, 'hold()\n']));

test('Redis is started again in the middle, once in order and once killed: the campaign goes on', async () => {
  const works = await Works.open(PROGRAM);
  const { camp, check, pushes } = campaignOver(some(8), "verify = 'sleep 0.5'\n");
  const words = [...LEASE, '--work', '1', '--network', '1'];
  const workers = [await works.worker({ words }), await works.worker({ words })];
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
  const works = await Works.open(PROGRAM);
  const { camp, check } = campaignOver(some(4), "verify = 'sleep 1'\n");
  const worker = await works.worker({ words: [...LEASE, '--work', '1'] });
  const run = works.migrate(camp, ['run', '--push', '-v'], { env: { MEMFIX_QUEUE_PATIENCE: '1' } });
  await run.says(/verify …/);
  await works.server.stop();
  expect(await run.ended).toBe(2);
  expect(run.said).toMatch(
    /memfix: The queue cannot be reached\n.*ECONNREFUSED.*\n.*`memfix migrate resume --queue redis/,
  );
  const tooEarly = works.migrate(camp, ['resume']);
  expect([await tooEarly.ended, tooEarly.said]).toEqual([2, expect.stringContaining('cannot be reached')]);
  worker.child.kill('SIGTERM');
  expect(await worker.ended, worker.said).toBe(0);
  await works.server.start();
  await works.worker({ words: LEASE });
  const resumed = works.migrate(camp, ['resume']);
  expect(await resumed.ended, resumed.said).toBe(0);
  check();
});

test('Redis forgets everything: that is said, and resumed', async () => {
  const works = await Works.open(PROGRAM);
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
  const works = await Works.open(PROGRAM);
  const { camp, check, pushes } = campaignOver(some(3));
  const run = works.migrate(camp, ['run', '--push']);
  await until(
    () =>
      works.server.ask('smembers', works.server.ask('keys', 'memfix:run:*:queued')[0] ?? 'none').length === 3,
  );
  // A second one, of whatever kind, leaves the first one alone.
  for (const action of [['resume'], ['run', '--push'], ['plan']]) {
    const second = works.migrate(camp, action);
    expect([await second.ended, second.said]).toEqual([
      2,
      expect.stringContaining('Another process follows a run of this campaign'),
    ]);
  }
  run.child.kill('SIGKILL');
  expect(await run.ended).toBe('SIGKILL');
  // Nobody follows the run any more, and still it is not for another one to end.
  const other = works.migrate(camp, ['run', '--push']);
  expect([await other.ended, other.said]).toEqual([
    2,
    expect.stringMatching(
      /3 repositories of its last run have not come to an end[\s\S]*`memfix migrate resume --queue/,
    ),
  ]);
  await works.worker({ words: LEASE });
  await until(() => Object.values(pushes()).every((count) => count === 1));
  expect(readdirSync(join(camp, 'state'))).toEqual([]);
  const resumed = works.migrate(camp, ['resume']);
  expect(await resumed.ended, resumed.said).toBe(0);
  expect(resumed.said).toContain('3 repositories: 3 pushed.');
  check();
});

test('of two runs that are begun at once, one goes on', async () => {
  const works = await Works.open(PROGRAM);
  const { camp, check } = campaignOver(some(3));
  const runs = [1, 2].map(() => works.migrate(camp, ['run', '--push']));
  // Without a worker, none comes to its end.
  expect(await Promise.race(runs.map(({ ended }) => ended))).toBe(2);
  await works.worker({ words: LEASE });
  const codes = await Promise.all(runs.map(({ ended }) => ended));
  expect(codes.sort(), runs.map(({ said }) => said).join('\n')).toEqual([0, 2]);
  check();
});

test('a run that is on a queue is taken over by who says so, and what is stopped is free', async () => {
  const works = await Works.open(PROGRAM);
  const { camp, check } = campaignOver(some(2));
  const first = works.migrate(camp, ['run', '--push']);
  await first.says(/No worker/);
  await until(() => works.server.ask('keys', 'memfix:*:clone:*.*').length === 2);
  const second = works.migrate(camp, ['run', '--push', '--takeover']);
  expect(await first.ended).toBe(2);
  expect(first.said).toMatch(/Another process follows this run now|no longer knows this run/);
  second.child.kill('SIGINT');
  expect(await second.ended).toBe(130);
  const here = works.migrateHere(camp, ['run', '--push']);
  expect([await here.ended, here.said]).toEqual([2, expect.stringContaining('Workers are at this campaign')]);
  expect(await works.migrate(camp, ['stop']).ended).toBe(0);
  const free = works.migrateHere(camp, ['run', '--push']);
  expect(await free.ended, free.said).toBe(0);
  check();
});

test('a repository whose job is lost is given out again', async () => {
  const works = await Works.open(PROGRAM);
  const { camp, check } = campaignOver(some(2));
  const run = works.migrate(camp, ['run', '--push']);
  await until(() => jobs().length === 2);
  const [job = ''] = jobs();
  const [queue = '', id = ''] = job.split(/(?<=:clone:)/);
  expect(works.server.ask('lrem', `${queue}wait`, '0', id)).toEqual(['1']);
  expect(works.server.ask('del', job)).toEqual(['1']);
  await works.worker({ words: LEASE });
  expect(await run.ended, run.said).toBe(0);
  check();

  function jobs(): readonly string[] {
    return works.server.ask('keys', 'memfix:*:clone:*.*');
  }
});

test('a worker whose disk does not work says so, and goes on when it does', async () => {
  const works = await Works.open(PROGRAM);
  const { camp, check } = campaignOver(some(1));
  const place = folderWith();
  await works.worker({ words: ['--lease', '1s', '--dir', place] });
  rmSync(join(place, 'memfix-worker'), { recursive: true, force: true });
  put(place, { 'memfix-worker': 'a file in the place of its folder' });
  const run = works.migrate(camp, ['run', '--push']);
  expect(await run.ended, run.said).toBe(1);
  expect(run.said).toMatch(/r0: failed \(clone\): .*a part of its path is not a folder/);
  rmSync(join(place, 'memfix-worker'));
  const again = works.migrate(camp, ['run', '--push', '--failed']);
  expect(await again.ended, again.said).toBe(0);
  check();
});

test('a worker that is told to stop finishes its stage, and another goes on after it', async () => {
  const works = await Works.open(PROGRAM);
  const log = join(folderWith(), 'verified');
  const { camp, check } = campaignOver(
    some(1),
    `verify = 'sleep 1; echo once >> ${log}'\nverify-sandbox = 'none'\n`,
  );
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

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await pause(50);
}
