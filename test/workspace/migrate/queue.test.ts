import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { root } from '../../../src/dev/project.js';
import { toyProgram } from '../../cli/toy-program.js';
import { certificateIn } from '../../support/redis.js';
import { folderWith, git, listing, put } from '../folders.js';
import { Program, Works, writingGit } from './programs.js';
import { BRANCH, branchesOf, commitsOn, countPushes, remotesWith } from './remotes.js';
import { decide } from './reviewing.js';

/** These wait for processes, and for leases to end: a busy machine takes its time. */
vi.setConfig({ testTimeout: 240_000 });

const PROGRAM = toyProgram();

const HOLD = { 'a.py': 'hold()\n' };

/** Bare repositories with something to fix, and a campaign over them. */
function campaignOver(names: readonly string[], more = '') {
  const remotes = remotesWith(Object.fromEntries(names.map((name) => [name, HOLD])));
  const bares = names.map((name) => join(remotes, `${name}.git`));
  const pushes = bares.map((bare) => countPushes(bare));
  return {
    bares,
    pushes: () => pushes.map((count) => count()),
    camp: folderWith({ 'campaign.toml': `repositories = ['${remotes}']\n${more}` }),
  };
}

async function reportOf(works: Works, camp: string): Promise<string> {
  expect(await works.migrateHere(camp, ['report', '-o', 'report.json']).ended).toBe(0);
  return join(camp, 'report.json');
}

describe('a campaign on a queue', () => {
  test('is done by three workers, nothing twice, and leaves nothing in Redis', async () => {
    const works = await Works.open(PROGRAM);
    const names = Array.from({ length: 9 }, (_, index) => `r${index}`);
    const { bares, pushes, camp } = campaignOver(names);
    const { env, calls } = writingGit();
    const workers = await Promise.all([1, 2, 3].map(() => works.worker({ env })));
    const run = works.migrate(camp, ['run', '--push']);
    expect(await run.ended, run.said).toBe(0);
    expect(run.said).toContain('3 workers at redis://127.0.0.1:');
    expect(run.said).toContain('9 repositories: 9 pushed.');
    expect(pushes()).toEqual(names.map(() => 1));
    expect([calls(' clone '), calls(' push ')]).toEqual([9, 9]);
    for (const bare of bares) {
      expect(branchesOf(bare)).toEqual(['main', BRANCH]);
      expect(commitsOn(bare)).toEqual(['Fix GPU memory waste']);
      expect(git(bare, 'log', '-1', '--format=%an <%ae>', BRANCH)).toBe('Ada <ada@example.invalid>\n');
    }
    expect(readdirSync(join(camp, 'patches'))).toHaveLength(9);
    expect(readdirSync(join(camp, 'fixes'))).toHaveLength(9);
    expect(readFileSync(join(camp, 'repos.lock'), 'utf8').trim().split('\n')).toHaveLength(9);
    for (const each of workers) each.child.kill('SIGTERM');
    expect(await Promise.all(workers.map(({ ended }) => ended))).toEqual([0, 0, 0]);
    expect(works.server.ask('keys', 'memfix:run*')).toEqual([]);
    // The same folder, without a queue: there is nothing left to do.
    const here = works.migrateHere(camp, ['run', '--push']);
    expect([await here.ended, pushes()]).toEqual([0, names.map(() => 1)]);
  });

  test('goes on where a run on one machine left off, and makes the same commit', async () => {
    const works = await Works.open(PROGRAM);
    const { bares, camp } = campaignOver(['one']);
    const here = works.migrateHere(camp, ['run']);
    expect(await here.ended, here.said).toBe(0);
    const mirror = join(camp, 'mirrors', readdirSync(join(camp, 'mirrors'))[0] ?? '');
    await works.worker();
    const run = works.migrate(camp, ['run', '--push']);
    expect(await run.ended, run.said).toBe(0);
    expect(git(bares[0] ?? '', 'rev-parse', BRANCH)).toBe(git(mirror, 'rev-parse', BRANCH));
  });

  test('lets each worker do only its stages', async () => {
    const works = await Works.open(PROGRAM);
    const verified = join(folderWith(), 'verified');
    const { pushes, camp } = campaignOver(
      ['one', 'two'],
      `verify = 'echo "$WHO" >> ${verified}'\nverify-sandbox = 'none'\nverify-env = ['WHO']\n`,
    );
    const run = works.migrate(camp, ['run', '--push']);
    await run.says(/No worker of memfix/);
    await works.worker({ words: ['--stages', 'push'], env: { WHO: 'pusher' } });
    const maker = await works.worker({
      words: ['--stages', 'clone,plan,apply,verify,commit'],
      env: { WHO: 'maker' },
    });
    expect(await run.ended, run.said).toBe(0);
    expect([pushes(), readFileSync(verified, 'utf8')]).toEqual([[1, 1], 'maker\nmaker\n']);
    expect(maker.said).not.toContain('pushed');
  });

  test('tries again what may pass, and brings back what does not', async () => {
    const works = await Works.open(PROGRAM);
    const { bares, camp } = campaignOver(['away', 'broken']);
    const [away = '', broken = ''] = bares;
    const verify = 'echo once >> log; cat log; grep -q hold a.py';
    put(camp, {
      'campaign.toml': `repositories = ['file://${away}', 'file://${broken}']\nverify = '${verify}'\n`,
    });
    renameSync(away, `${away}.gone`);
    await works.worker({ words: ['--lease', '10s'] });
    const run = works.migrate(camp, ['run', '--push']);
    await run.says(/broken: failed \(verify\)/);
    renameSync(`${away}.gone`, away);
    expect(await run.ended, run.said).toBe(1);
    expect(run.said).toMatch(/away: failed \(verify\)/);
    const { repositories } = JSON.parse(readFileSync(await reportOf(works, camp), 'utf8'));
    for (const { failure, id } of repositories) {
      const log = join(camp, 'logs', `${id}.log`);
      expect(failure).toMatchObject({ stage: 'verify', detail: expect.stringContaining('once') });
      expect([failure.next, readFileSync(log, 'utf8')]).toEqual([
        expect.stringContaining(log),
        expect.stringMatching(/^# memfix: .*\nonce\n$/),
      ]);
    }
  });

  test('keeps to what people decide, also while workers are at it', async () => {
    const works = await Works.open(PROGRAM);
    const remotes = remotesWith({ one: { 'a.py': 'hold(1)\nhold(2)\n' } });
    const bare = join(remotes, 'one.git');
    const settings = `repositories = ['${remotes}']\nverify = 'sleep 2'\n`;
    const camp = folderWith({ 'campaign.toml': settings });
    await works.worker({ words: ['--lease', '2s'] });
    expect(await works.migrate(camp, ['plan']).ended).toBe(0);
    decide(camp, 'reject', ({ line }) => line === 1);
    const run = works.migrate(camp, ['run', '--push', '-v']);
    await run.says(/verify …/);
    decide(camp, 'reject', ({ line }) => line === 2);
    decide(camp, null, ({ line }) => line === 1);
    expect(await run.ended, run.said).toBe(0);
    // What was committed by then is not pushed; it is planned anew.
    expect(run.said).toMatch(/push …[\s\S]*plan …[\s\S]*push …/);
    expect(git(bare, 'show', `${BRANCH}:a.py`)).toBe('release(1)\nhold(2)\n');
    expect(commitsOn(bare)).toHaveLength(1);
  });

  test('is shown live, stopped, and followed again', async () => {
    const works = await Works.open(PROGRAM);
    const { pushes, camp } = campaignOver(['one', 'two'], "verify = 'sleep 30'\n");
    const [one, two] = await Promise.all(
      [1, 2].map(() => works.worker({ words: ['--work', '1', '--network', '1'] })),
    );
    const run = works.migrate(camp, ['run', '--push', '-v']);
    await run.says(/verify …[\s\S]*verify …/);
    const live = works.migrate(camp, ['status']);
    expect(await live.ended).toBe(0);
    expect(live.said).toMatch(/one: planned: 1 fix in 1 file/);
    expect(live.said).toMatch(/one: verify … \(.+-\d+-\w+\)/);
    expect(live.said).toMatch(/clone +0 +2 +0 +0/);
    expect(live.said).toContain('2 workers: ');

    run.child.kill('SIGINT');
    expect(await run.ended).toBe(130);
    expect(run.said).toMatch(
      /The workers go on\. `memfix migrate resume --queue redis:\/\/127\.0\.0\.1:\d+`/,
    );
    const here = works.migrateHere(camp, ['run', '--push']);
    expect([await here.ended, here.said]).toEqual([
      2,
      expect.stringContaining('Workers are at this campaign'),
    ]);

    const stop = works.migrate(camp, ['stop']);
    expect([await stop.ended, stop.said]).toEqual([0, expect.stringContaining('2 repositories had not')]);
    one?.child.kill('SIGTERM');
    two?.child.kill('SIGTERM');
    await Promise.all([one?.says(/Stopping/), two?.says(/Stopping/)]);
    expect(works.server.ask('hgetall', 'memfix:runs')).toEqual([]);
    expect(pushes()).toEqual([0, 0]);

    put(camp, { 'campaign.toml': readFileSync(join(camp, 'campaign.toml'), 'utf8').replace(/verify.*/, '') });
    await works.worker();
    const resumed = works.migrate(camp, ['resume']);
    expect(await resumed.ended, resumed.said).toBe(0);
    expect(pushes()).toEqual([1, 1]);
  });
});

describe('the Redis of a queue', () => {
  test('needs its password, which nobody hears of', async () => {
    const works = await Works.open(PROGRAM, '--requirepass', 's3cret-word');
    const { camp, pushes } = campaignOver(['one'], "verify = 'env; cat /proc/$PPID/cmdline || true'\n");
    const queue = works.server.url.replace('//', '//default:s3cret-word@');
    const env = { QUEUE_URL: queue };
    const worker = await works.worker({ env, queue: 'env:QUEUE_URL', words: ['-v'] });
    const run = works.migrate(camp, ['run', '--push', '-v'], { env, queue: 'env:QUEUE_URL' });
    expect(await run.ended, run.said).toBe(0);
    expect(pushes()).toEqual([1]);
    const [log = ''] = readdirSync(join(camp, 'logs'));
    expect(readFileSync(join(camp, 'logs', log), 'utf8')).toContain('MEMFIX_MIGRATE');
    const none = works.migrate(camp, ['status']);
    const wrong = works.migrate(camp, ['status'], { queue: queue.replace('word', 'world') });
    expect([await none.ended, none.said]).toEqual([
      2,
      expect.stringMatching(/cannot be reached[\s\S]*NOAUTH/),
    ]);
    expect([await wrong.ended, wrong.said]).toEqual([
      2,
      expect.stringMatching(/cannot be reached[\s\S]*WRONGPASS/),
    ]);
    const files = listing(camp).map((path) => readFileSync(join(camp, path), 'latin1'));
    expect([worker.said, run.said, none.said, wrong.said, ...files].join('\n')).not.toContain('s3cret');
  });

  test('may want TLS, and is who it says', async () => {
    const { cert, key } = certificateIn(folderWith());
    const tls = ['--tls-cert-file', cert, '--tls-key-file', key, '--tls-ca-cert-file', cert];
    const works = await Works.open(PROGRAM, ...tls, '--tls-auth-clients', 'no');
    const { camp, pushes } = campaignOver(['one']);
    const env = { NODE_EXTRA_CA_CERTS: cert };
    await works.worker({ env });
    const doubted = works.migrate(camp, ['run', '--push']);
    expect([await doubted.ended, doubted.said]).toEqual([2, expect.stringMatching(/rediss:.*certificate/)]);
    const run = works.migrate(camp, ['run', '--push'], { env });
    expect([await run.ended, pushes()]).toEqual([0, [1]]);
  });

  test('is told apart from what is none', async () => {
    const { camp } = campaignOver(['one']);
    const ask = async (queue: string) => {
      const run = new Program(PROGRAM, camp, ['migrate', 'run', '--queue', queue]);
      return [await run.ended, run.said.replaceAll(/\s+/g, ' ')];
    };
    expect(await ask('redis://127.0.0.1:1')).toEqual([
      2,
      expect.stringMatching(/127\.0\.0\.1:1: .*ECONNREFUSED/),
    ]);
    expect(await ask('http://:hush@host')).toEqual([2, expect.not.stringContaining('hush')]);
    expect(await ask('env:NOT_THERE')).toEqual([2, expect.stringContaining('NOT_THERE is not set')]);
    expect(existsSync(join(camp, 'runs'))).toBe(false);
  });

  test('needs packages that memfix comes without', async () => {
    const { camp } = campaignOver(['one']);
    const folder = folderWith();
    cpSync(dirname(PROGRAM), join(folder, 'memfix'), { recursive: true });
    const there = join(root, 'node_modules');
    mkdirSync(join(folder, 'node_modules'));
    for (const name of readdirSync(there).filter((each) => each !== 'ioredis' && !each.startsWith('.')))
      symlinkSync(join(there, name), join(folder, 'node_modules', name));
    put(folder, { 'package.json': '{ "name": "memfix", "version": "0.0.0", "type": "module" }\n' });
    const file = join(folder, 'memfix', 'toy-main.js');
    const run = new Program(file, camp, ['migrate', 'run', '--queue', 'redis://127.0.0.1:1']);
    expect([await run.ended, run.said]).toEqual([2, expect.stringContaining('npm install bullmq ioredis')]);
    const here = new Program(file, camp, ['migrate', 'plan']);
    expect([await here.ended, here.said]).toEqual([0, expect.stringContaining('1 planned')]);
  });

  test('has workers of one folder each, which are told what is wrong', async () => {
    const works = await Works.open(PROGRAM);
    const cwd = folderWith();
    const ask = async (...words: readonly string[]) => {
      const worker = new Program(PROGRAM, cwd, ['worker', '--queue', works.server.url, ...words]);
      return [await worker.ended, worker.said.replaceAll(/\s+/g, ' ')];
    };
    const first = new Program(PROGRAM, cwd, ['worker', '--queue', works.server.url, '--dir', '.']);
    await first.says(/waits for work/);
    expect(await ask('--dir', '.')).toEqual([2, expect.stringContaining(`process ${first.child.pid} on`)]);
    first.child.kill('SIGKILL');
    await first.ended;
    expect(await ask('--stages', 'clone,paln')).toEqual([2, expect.stringContaining('Did you mean `plan`?')]);
    expect(await ask('--lease', 'soon')).toEqual([2, expect.stringContaining('such as 30s')]);
    expect(await ask('--work', '0')).toEqual([2, expect.stringContaining('from 1 to 256')]);
    const next = new Program(PROGRAM, cwd, ['worker', '--queue', works.server.url, '--dir', '.']);
    await next.says(/waits for work/);
    next.child.kill('SIGINT');
    expect([await next.ended, listing(cwd)]).toEqual([0, []]);
  });

  test('keeps versions of memfix apart', async () => {
    const works = await Works.open(PROGRAM);
    works.server.ask('hset', 'memfix:runs', 'another', '9.9.9');
    const refused = new Program(PROGRAM, folderWith(), ['worker', '--queue', works.server.url]);
    expect([await refused.ended, refused.said]).toEqual([
      2,
      expect.stringContaining('begun with memfix 9.9.9'),
    ]);
    expect(refused.said).toContain('Install memfix@9.9.9 here');
  });
});
