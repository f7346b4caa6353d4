import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { memfix } from '../../cli/command-line.js';
import { toyProgram } from '../../cli/toy-program.js';
import { folderWith, git, listing } from '../folders.js';
import { webFor } from './http-backend.js';
import { BRANCH, branchesOf, changedOn, commitsOn, countPushes, remotesWith, WORLD } from './remotes.js';

const PROGRAM = toyProgram();
const HOLD = { 'a.py': 'hold()\n' };

const campaignOver = (repositories: readonly string[], more = '') =>
  folderWith({ 'campaign.toml': `repositories = ${JSON.stringify(repositories)}\n${more}` });

const migrate = (cwd: string, ...words: readonly string[]) =>
  memfix({ cwd, env: WORLD }, 'migrate', ...words);

async function statusesIn(camp: string): Promise<readonly unknown[]> {
  const { repositories } = JSON.parse((await migrate(camp, 'report')).stdout);
  return repositories.map(({ status, failure }: { status: string; failure?: { stage: string } }) =>
    failure === undefined ? status : [status, failure.stage],
  );
}

/** One branch with one commit, pushed once. */
function expectDoneOnce(bare: string, pushes: () => number): void {
  expect(branchesOf(bare)).toEqual(['main', BRANCH]);
  expect(commitsOn(bare)).toEqual(['Fix GPU memory waste']);
  expect(git(bare, 'show', `${BRANCH}:a.py`)).toBe('release()\n');
  expect(pushes()).toBe(1);
}

describe('over http', () => {
  test.each([
    ['a clone whose pack ends in the middle', /POST .*git-upload-pack/, 'clone'],
    ['a push whose connection ends at the first word', /GET .*git-receive-pack/, 'push'],
  ])('%s fails, and is done by the next run', async (_, requests, stage) => {
    const remotes = remotesWith({ one: HOLD });
    const bare = join(remotes, 'one.git');
    const pushes = countPushes(bare);
    const web = await webFor(remotes);
    const camp = campaignOver([`${web.url}/one.git`]);
    web.cut(requests);
    expect(await migrate(camp, 'run', '--push')).toMatchObject({ code: 1 });
    expect(await statusesIn(camp)).toEqual([['failed', stage]]);
    expect(branchesOf(bare)).toEqual(['main']);
    web.cut(undefined);
    expect(await migrate(camp, 'run', '--push', '--failed')).toMatchObject({ code: 0 });
    expectDoneOnce(bare, pushes);
    expect(readdirSync(join(camp, 'mirrors')).filter((name) => /draft|lock/.test(name))).toEqual([]);
  });

  test('a push that arrived and whose answer did not is no failure, and is not repeated', async () => {
    const remotes = remotesWith({ one: HOLD });
    const bare = join(remotes, 'one.git');
    const pushes = countPushes(bare);
    const web = await webFor(remotes);
    const camp = campaignOver([`${web.url}/one.git`]);
    web.cut(/POST .*git-receive-pack/);
    expect(await migrate(camp, 'run', '--push')).toMatchObject({ code: 0 });
    expect(await statusesIn(camp)).toEqual(['pushed']);
    expect(await migrate(camp, 'resume')).toMatchObject({ code: 0 });
    expectDoneOnce(bare, pushes);
    expect(web.asked.filter((name) => /POST .*git-receive-pack/.test(name))).toHaveLength(1);
  });
});

test('credentials that the settings of git put into a URL are neither kept nor told', async () => {
  const remotes = remotesWith({ one: HOLD });
  const web = await webFor(remotes);
  const secret = web.url.replace('://', '://lovelace:s3cret@');
  const env = {
    ...WORLD,
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: `url.${secret}/.insteadOf`,
    GIT_CONFIG_VALUE_0: 'http://forge.example.invalid/',
  };
  const camp = campaignOver(['one', 'gone'].map((name) => `http://forge.example.invalid/${name}.git`));
  const { code, stderr } = await memfix(
    { cwd: camp, env },
    'migrate',
    'run',
    '--push',
    '--keep',
    'all',
    '-v',
  );
  expect([code, await statusesIn(camp)]).toEqual([1, ['pushed', ['failed', 'clone']]]);
  const files = listing(camp).map((path) => readFileSync(join(camp, path), 'latin1'));
  expect(files.length).toBeGreaterThan(10);
  expect([stderr, ...files].join('\n')).not.toMatch(/s3cret|lovelace/);
});

/** As a process of its own. */
const asProcess = (
  camp: string,
  words: readonly string[],
  {
    before = '',
    env = {},
  }: { readonly before?: string; readonly env?: Readonly<Record<string, string>> } = {},
) =>
  spawnSync('sh', ['-c', `${before} exec "$@"`, 'sh', process.execPath, PROGRAM, 'migrate', ...words], {
    cwd: camp,
    env: { ...WORLD, ...env },
    encoding: 'utf8',
  });

/** No file may be longer than so many KiB, and who tries is told, as on a full disk. */
const upTo = (size: number) => `trap '' XFSZ; ulimit -f ${size * 2};`;

test('where there is no room for a clone, the others are done, and it is when there is room', async () => {
  const remotes = remotesWith({ large: { ...HOLD, 'data.bin': randomBytes(300_000) }, small: HOLD });
  const [large, small] = ['large', 'small'].map((name) => join(remotes, `${name}.git`)) as [string, string];
  const counts = [large, small].map(countPushes) as [() => number, () => number];
  const camp = campaignOver([large, small]);
  const full = asProcess(camp, ['run', '--push'], { before: upTo(100) });
  expect([full.status, full.signal]).toEqual([1, null]);
  expect(await statusesIn(camp)).toEqual([['failed', 'clone'], 'pushed']);
  expect(full.stderr).toContain('large: failed (clone): The repository cannot be cloned');
  expect(asProcess(camp, ['run', '--push', '--failed']).status).toBe(0);
  expectDoneOnce(large, counts[0]);
  expectDoneOnce(small, counts[1]);
});

test('where there is no room to write down what was done, nothing is pushed, and nothing is lost', async () => {
  const bare = join(remotesWith({ one: HOLD }), 'one.git');
  const pushes = countPushes(bare);
  const camp = campaignOver([bare]);
  expect(asProcess(camp, ['plan']).status).toBe(0);
  const full = asProcess(camp, ['run', '--push'], { before: upTo(0) });
  expect([full.status, full.signal]).toEqual([2, null]);
  expect(full.stderr).toContain('cannot be written');
  expect(branchesOf(bare)).toEqual(['main']);
  expect(await statusesIn(camp)).toEqual(['planned']);
  expect(asProcess(camp, ['run', '--push']).status).toBe(0);
  expectDoneOnce(bare, pushes);
});

test('20,000 files', async () => {
  const bare = join(remotesWith({ one: HOLD }), 'one.git');
  const lines = [
    'commit refs/heads/main',
    'committer Ada <ada@example.invalid> 0 +0000',
    'data 0',
    'from refs/heads/main^0',
  ];
  for (let index = 0; index < 20_000; index++)
    lines.push(
      `M 100644 inline pkg${index % 100}/m${index}.py`,
      'data <<END',
      index % 5000 === 7 ? 'hold()' : 'x = 1',
      'END',
    );
  const { status } = spawnSync('git', ['--git-dir', bare, 'fast-import', '--quiet'], {
    input: `${lines.join('\n')}\n`,
  });
  expect(status).toBe(0);
  const pushes = countPushes(bare);
  const camp = campaignOver([bare]);
  expect(asProcess(camp, ['run', '--push']).status).toBe(0);
  expectDoneOnce(bare, pushes);
  expect(changedOn(bare)).toEqual([
    'a.py',
    'pkg7/m10007.py',
    'pkg7/m15007.py',
    'pkg7/m5007.py',
    'pkg7/m7.py',
  ]);
  expect(existsSync(join(camp, 'trees')) && readdirSync(join(camp, 'trees'))).toEqual([]);
});

/** A process whose clock is off by so many days. */
const off = (days: number) => {
  const shift = `const D = Date, s = ${days * 86_400_000}; globalThis.Date = class extends D {
    constructor(...a) { a.length === 0 ? super(D.now() + s) : super(...a); }
    static now() { return D.now() + s; } };`;
  return {
    env: { NODE_OPTIONS: `--import data:text/javascript;base64,${Buffer.from(shift).toString('base64')}` },
  };
};

test.each([
  ['back', 4000, -4000],
  ['ahead', -4000, 4000],
])('a clock that jumps %s changes nothing', async (_, first, then) => {
  const bare = join(remotesWith({ one: HOLD }), 'one.git');
  const pushes = countPushes(bare);
  const camp = campaignOver([bare]);
  expect(asProcess(camp, ['plan'], off(first)).status).toBe(0);
  expect(asProcess(camp, ['run'], off(then)).status).toBe(0);
  expect(asProcess(camp, ['run', '--push'], off(first)).status).toBe(0);
  expect(asProcess(camp, ['run', '--push'], off(then)).status).toBe(0);
  expect(asProcess(camp, ['resume'], off(0)).status).toBe(0);
  expectDoneOnce(bare, pushes);
  // The date is the plan's, whenever the commit was made.
  const year = new Date(Date.now() + first * 86_400_000).getUTCFullYear();
  expect(Number(git(bare, 'log', '-1', '--format=%cd', '--date=format:%Y', BRANCH))).toBe(year);
});
