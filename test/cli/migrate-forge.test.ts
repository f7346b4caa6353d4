import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { type Duplex, pipeline } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { folderWith, git, listing, put } from '../workspace/folders.js';
import type { ForgeDouble } from '../workspace/migrate/forge/double.js';
import { gitHubWith } from '../workspace/migrate/forge/github-double.js';
import { gitLabWith } from '../workspace/migrate/forge/gitlab-double.js';
import { BRANCH, commitsOn, countPushes, hook } from '../workspace/migrate/remotes.js';
import { memfix } from './command-line.js';

const HOLD = { 'a.py': 'hold()\nfine()\nrisk()\n' };

/** A forge whose rules nobody may break until the test ends. */
async function strict(started: Promise<ForgeDouble>): Promise<ForgeDouble> {
  const forge = await started;
  onTestFinished(() => expect(forge.violations).toEqual([]));
  return forge;
}

/** The call that opens a pull or merge request. */
const OPENING = /^POST .*(?:pulls|merge_requests)$/;

const FORGES = [
  ['GitHub', gitHubWith, 'github', 'acme'],
  ['GitLab', gitLabWith, 'gitlab', 'acme/ml'],
] as const;

/** A campaign over repositories of a forge, with these lines in its file. */
function campaignOn(forge: ForgeDouble, kind: string, names: readonly string[], more = ''): string {
  const urls = names.map((name) => `${forge.base}/${name}.git`);
  const forges = `[forges]\n"127.0.0.1:${forge.port}" = "${kind}+${forge.base}"\n`;
  return folderWith({ 'campaign.toml': `repositories = ${JSON.stringify(urls)}\n${more}\n${forges}` });
}

const migrate = (forge: ForgeDouble, cwd: string, ...words: readonly string[]) =>
  memfix({ cwd, env: forge.world }, 'migrate', ...words);

function withoutToken(forge: ForgeDouble, cwd: string, ...words: readonly string[]) {
  const env = Object.fromEntries(Object.entries(forge.world).filter(([name]) => !name.includes('TOKEN')));
  return memfix({ cwd, env }, 'migrate', ...words);
}

interface Told {
  readonly statuses: Readonly<Record<string, number>>;
  readonly repositories: readonly {
    readonly name: string;
    readonly url: string;
    readonly proposed?: { readonly state: string; readonly checks: string; readonly isFound: boolean };
    readonly failure?: Readonly<Record<'stage' | 'title' | 'detail' | 'next', string>>;
  }[];
}

async function told(camp: string): Promise<Told> {
  return JSON.parse((await memfix({ cwd: camp }, 'migrate', 'report')).stdout);
}

describe('sources', () => {
  test('an organisation is asked once, page by page; archived ones and forks are left out', async () => {
    const forge = await strict(
      gitHubWith({ 'acme/one': HOLD, 'acme/two': HOLD, 'acme/three': HOLD, 'other/four': HOLD }, [
        { path: 'acme/old', archived: true },
        { path: 'acme/copy', fork: true },
      ]),
    );
    const cwd = folderWith();
    const word = `github+${forge.base}/org/acme`;
    const begun = await migrate(forge, cwd, 'init', 'camp', word);
    expect(begun).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('3 repositories (left out: 1 archived, 1 fork)'),
    });
    expect(forge.calls).toEqual(Array(3).fill('GET orgs/acme/repos'));
    const camp = join(cwd, 'camp');
    expect(await migrate(forge, camp, 'run', '--push')).toMatchObject({ code: 0 });
    expect((await told(camp)).statuses).toEqual({ pushed: 3 });
    expect(forge.calls).toHaveLength(3);

    put(camp, { 'campaign.toml': `repositories = ['${word}']\n[sources]\narchived = true\nforks = true\n` });
    expect((await migrate(forge, camp, 'status')).stderr).toContain('has not been asked yet');
    expect((await migrate(forge, camp, 'plan', '--limit', '1', '--repos', 'acme/one')).code).toBe(0);
    expect((await told(camp)).repositories.map(({ name }) => name)).toEqual(
      ['copy', 'old', 'one', 'three', 'two'].map((name) => `acme/${name}`),
    );
    expect(await migrate(forge, camp, 'plan', '--update', '--shard', '1/2')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('leave out `--shard`'),
    });
    const before = forge.calls.length;
    await migrate(forge, camp, 'plan', '--update', '--repos', 'acme/one');
    expect(forge.calls.length).toBe(before + 3);
  });

  test('a group is asked with its subgroups; empty projects are left out; ssh where that is wanted', async () => {
    const forge = await strict(
      gitLabWith({ 'acme/ml/one': HOLD, 'acme/ml/deep/two': HOLD, 'acme/web/three': HOLD }, [
        { path: 'acme/ml/void', empty: true },
      ]),
    );
    const camp = folderWith({
      'campaign.toml': `repositories = ['list.txt']\n[sources]\nprotocol = "ssh"\n`,
      'list.txt': `gitlab+${forge.base}/group/acme/ml\n`,
    });
    // Nothing can be cloned from there by ssh; the list is what counts.
    await migrate(forge, camp, 'plan', '--limit', '1', '--repos', '*/one');
    expect((await told(camp)).repositories.map(({ url }) => url)).toEqual([
      'git@127.0.0.1:acme/ml/deep/two.git',
      'git@127.0.0.1:acme/ml/one.git',
    ]);
  });

  test('people and topics of GitLab', async () => {
    const forge = await strict(gitLabWith({ 'ada/one': HOLD, 'grace/two': HOLD }));
    for (const [word, count] of [
      ['user/ada', '1 repository.'],
      ['topic/cuda', '2 repositories.'],
    ])
      expect(
        await migrate(forge, folderWith(), 'init', 'camp', `gitlab+${forge.base}/${word}`),
      ).toMatchObject({
        code: 0,
        stderr: expect.stringContaining(count ?? ''),
      });
  });

  test('searches and topics; one that finds too much, or nothing, is an error that helps', async () => {
    const forge = await strict(gitHubWith({ 'acme/vision': HOLD, 'acme/speech': HOLD, 'b/vision-2': HOLD }));
    const ask = async (what: string) => {
      const { code, stderr } = await migrate(forge, folderWith(), 'init', 'camp', what);
      return [code, stderr.replaceAll('\n', ' ')];
    };
    expect(await ask(`github+${forge.base}/search/vision`)).toEqual([
      0,
      expect.stringContaining('2 repositories.'),
    ]);
    expect(await ask(`github+${forge.base}/topic/cuda`)).toEqual([
      0,
      expect.stringContaining('3 repositories.'),
    ]);
    expect(await ask(`github+${forge.base}/topic/everything`)).toEqual([
      2,
      expect.stringMatching(/4321 repositories.*no more than the first 1000.*Narrow it/),
    ]);
    expect(await ask(`github+${forge.base}/search/nowhere`)).toEqual([
      2,
      expect.stringContaining('no repository'),
    ]);
    expect(await ask(`github+${forge.base}/org/nobody`)).toEqual([
      2,
      expect.stringContaining('answered 404'),
    ]);
    expect(await ask('github:orgs/acme')).toEqual([2, expect.stringContaining('Did you mean `org`?')]);
    expect(await ask('gitlab:search/acme')).toEqual([2, expect.stringContaining('`gitlab:group/…`')]);
    expect(await ask('github+http://git.example.org/org/acme')).toEqual([
      2,
      expect.stringContaining('is not encrypted'),
    ]);
  });
});

describe.each(FORGES)('behind a proxy, %s', (_, forgeWith, kind) => {
  const source = (forge: ForgeDouble) =>
    `${kind}+${forge.base}/${kind === 'github' ? 'org/acme' : 'group/acme/ml'}`;
  const repositories = { [kind === 'github' ? 'acme/one' : 'acme/ml/one']: HOLD };
  const ask = (forge: ForgeDouble, env: Readonly<Record<string, string>>) =>
    memfix({ cwd: folderWith(), env: { ...forge.world, ...env } }, 'migrate', 'init', 'camp', source(forge));

  test('it is asked by way of the proxy, except where that is not wanted', async () => {
    const forge = await strict(forgeWith(repositories));
    const proxy = await tunnelling();
    const direct = await ask(forge, { http_proxy: proxy.address, no_proxy: 'example.org,127.0.0.1' });
    expect(direct).toMatchObject({ code: 0, stderr: expect.stringContaining('1 repository.') });
    expect(proxy.tunnels).toEqual([]);
    for (const env of [{ http_proxy: proxy.address }, { ALL_PROXY: proxy.address.replace('http://', '') }]) {
      expect(await ask(forge, env)).toMatchObject({
        code: 0,
        stderr: expect.stringContaining('1 repository.'),
      });
      expect(new Set(proxy.tunnels.splice(0))).toEqual(new Set([`127.0.0.1:${forge.port}`]));
    }
  });

  test('a proxy without an address is said to be one', async () => {
    const forge = await strict(forgeWith(repositories));
    expect(await ask(forge, { https_proxy: 'http://' })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('The proxy in the environment has no address'),
    });
    expect(forge.calls).toEqual([]);
  });
});

/** A proxy that writes down where it was asked to go. */
async function tunnelling(): Promise<{ readonly address: string; readonly tunnels: string[] }> {
  const tunnels: string[] = [];
  const server = createServer().on('connect', ({ url = '' }, client: Duplex) => {
    tunnels.push(url);
    const target = new URL(`tcp://${url}`);
    const onward = connect(Number(target.port), target.hostname, () => {
      client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      pipeline(client, onward, client, () => {});
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return { address: `http://127.0.0.1:${address.port}`, tunnels };
}

describe.each(FORGES)('pull requests on %s', (_, forgeWith, kind, owner) => {
  const one = `${owner}/one`;
  const two = `${owner}/two`;

  test('are drafts with a body, opened once, found again, and followed', async () => {
    const forge = await strict(forgeWith({ [one]: HOLD, [two]: HOLD }));
    const wishes = 'labels = ["memory"]\nreviewers = ["ada", "grace"]\n';
    const camp = campaignOn(forge, kind, [one, two], `verify = "true"\n[pull-request]\n${wishes}`);
    expect(await migrate(forge, camp, 'run', '--push')).toMatchObject({ code: 0 });
    expect(forge.requests).toEqual([]);
    const { code, stderr } = await migrate(forge, camp, 'run', '--push', '--pr');
    expect([code, stderr]).toEqual([0, expect.stringContaining('2 repositories: 2 pr open.')]);
    expect(forge.requests).toMatchObject(
      [one, two].map((repository) => ({
        ...{ repository, branch: BRANCH, into: 'main', isDraft: true, sha: forge.tip(repository, BRANCH) },
        ...{ labels: ['memory'], reviewers: ['ada', 'grace'] },
        title: expect.stringContaining('Fix GPU memory waste: 1 fix in 1 file'),
      })),
    );
    const [{ body = '', sha = '' } = {}] = forge.requests;
    const base = git(forge.bare(one), 'rev-parse', 'main').trim();
    for (const words of [
      '**`drop-hold`**, 1 fix: A toy called drop-hold. In `a.py`.',
      'results stay the same to the last bit (bit-identical); the code proves every precondition.',
      '`true` succeeded on this branch',
      '`a.py:2`, `spare-fine`: left alone because the caller needs it.',
      '`a.py:3`, `calm-risk`: Is `risk` read only here?',
      `git checkout ${base}\n`,
      `git diff ${sha} `,
    ])
      expect(body).toContain(words);

    for (const words of [
      ['run', '--push', '--pr'],
      ['resume'],
      ['pr'],
      ['run', '--push', '--pr', '--failed'],
    ])
      expect(await migrate(forge, camp, ...words)).toMatchObject({ code: 0 });
    expect(forge.requests).toHaveLength(2);

    forge.checks.set(forge.requests[1]?.sha ?? '', kind === 'github' ? 'failure' : 'failed');
    const [first] = forge.requests;
    if (first !== undefined) first.state = 'merged';
    expect((await migrate(forge, camp, 'status')).stdout).toContain('one: pr open');
    const { stdout } = await migrate(forge, camp, 'status', '--update');
    expect(stdout).toMatch(
      /one: merged: http.*\n.*two: pr open: http.* \(draft, checks failing\), 1 fix in 1 file/,
    );
  });

  test('are only opened for what is pushed', async () => {
    const forge = await strict(forgeWith({ [one]: HOLD }));
    const camp = campaignOn(forge, kind, [one]);
    expect(await migrate(forge, camp, 'run', '--pr')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('`--push --pr`'),
    });
    await migrate(forge, camp, 'run');
    expect(await migrate(forge, camp, 'pr')).toMatchObject({ code: 0 });
    expect([forge.requests, forge.tip(one, BRANCH)]).toEqual([[], undefined]);
    await migrate(forge, camp, 'run', '--push');
    expect((await migrate(forge, camp, 'pr')).stderr).toContain('1 pr open');
  });

  const oneOpen = async (forge: ForgeDouble, camp: string, pushes: () => number) => {
    expect(forge.requests.filter(({ state }) => state === 'open')).toHaveLength(1);
    expect((await told(camp)).statuses).toEqual({ 'pr open': 1 });
    expect(commitsOn(forge.bare(one))).toHaveLength(1);
    expect(pushes()).toBe(1);
  };

  test.each([
    ['a connection that is dropped after it was opened', { when: 'after', reply: 'drop' }],
    ['a server that stumbles before', { when: 'before', reply: { status: 500, data: {} } }],
    ['a gateway that loses the answer', { when: 'after', reply: { status: 502, data: {} } }],
  ] as const)('survive %s', async (_name, fault) => {
    const forge = await strict(forgeWith({ [one]: HOLD }));
    const pushes = countPushes(forge.bare(one));
    forge.faults.push({ at: OPENING, ...fault });
    const camp = campaignOn(forge, kind, [one]);
    expect(await migrate(forge, camp, 'run', '--push', '--pr')).toMatchObject({ code: 0 });
    await oneOpen(forge, camp, pushes);
    const posts = forge.calls.filter((line) => OPENING.test(line));
    expect(posts).toHaveLength(fault.when === 'before' ? 2 : 1);
  });

  test('that arrived, and were closed at once, are not opened a second time', async () => {
    const forge = await strict(forgeWith({ [one]: HOLD }));
    const closed = () => {
      const [request] = forge.requests;
      if (request !== undefined) request.state = 'closed';
      return 'drop' as const;
    };
    forge.faults.push({ at: OPENING, when: 'after', reply: closed });
    const camp = campaignOn(forge, kind, [one]);
    expect((await migrate(forge, camp, 'run', '--push', '--pr')).stderr).toContain('1 pr closed');
    expect(forge.requests).toHaveLength(1);
  });

  test('are looked for again where looking for them failed, before they are sent again', async () => {
    const forge = await strict(forgeWith({ [one]: HOLD }));
    const stumble = () => {
      const down = { status: 502, data: {} };
      forge.faults.push({ at: /^GET .*(?:pulls|merge_requests)$/, when: 'before', reply: down });
      return 'drop' as const;
    };
    forge.faults.push({ at: OPENING, when: 'after', reply: stumble });
    const camp = campaignOn(forge, kind, [one]);
    expect(await migrate(forge, camp, 'run', '--push', '--pr')).toMatchObject({ code: 0 });
    expect(forge.calls.filter((line) => OPENING.test(line))).toHaveLength(1);
  });

  test('that are there already are an outcome', async () => {
    const forge = await strict(forgeWith({ [one]: HOLD }));
    const pushes = countPushes(forge.bare(one));
    const camp = campaignOn(forge, kind, [one]);
    await migrate(forge, camp, 'run', '--push');
    const theirs = {
      state: 'open',
      repository: one,
      branch: BRANCH,
      into: 'main',
      title: 'Mine',
      body: '',
    } as const;
    const sha = forge.tip(one, BRANCH) ?? '';
    // Of an earlier campaign, with another commit: that is another change.
    forge.requests.push({
      id: 1,
      ...theirs,
      state: 'merged',
      isDraft: false,
      labels: [],
      reviewers: [],
      sha: '0',
    });
    forge.requests.push({ id: 2, ...theirs, isDraft: false, labels: [], reviewers: [], sha });
    const { code, stderr } = await migrate(forge, camp, 'pr');
    expect([code, stderr]).toEqual([0, expect.stringMatching(/one: pr open: .*2 \(found\)/)]);
    await oneOpen(forge, camp, pushes);
    expect(forge.calls.filter((line) => line.startsWith('POST'))).toEqual([]);
  });

  test('are opened again by nobody where theirs was closed', async () => {
    const forge = await strict(forgeWith({ [one]: HOLD }));
    const camp = campaignOn(forge, kind, [one]);
    await migrate(forge, camp, 'run', '--push', '--pr');
    const [request] = forge.requests;
    if (request !== undefined) request.state = 'closed';
    expect((await migrate(forge, camp, 'pr')).stderr).toContain('1 pr closed');
    // As if the campaign had been killed before it wrote down that it opened it.
    const [state = ''] = readdirSync(join(camp, 'state'));
    const { proposed: _proposed, ...record } = JSON.parse(readFileSync(join(camp, 'state', state), 'utf8'));
    put(camp, { [`state/${state}`]: JSON.stringify(record) });
    expect((await migrate(forge, camp, 'run', '--push', '--pr')).stderr).toContain('1 pr closed');
    expect(forge.requests).toHaveLength(1);
  });

  test('wait for a token that expired in the middle of a campaign', async () => {
    const forge = await strict(forgeWith({ [one]: HOLD, [two]: HOLD, [`${owner}/zero`]: HOLD }));
    const camp = campaignOn(forge, kind, [one, two, `${owner}/zero`], '[limits]\nnetwork = 1\nwork = 1\n');
    await migrate(forge, camp, 'run', '--push');
    const stale = forge.world;
    const expire = () => {
      forge.renewToken();
      return undefined;
    };
    forge.faults.push({ at: /^POST .*(?:pulls|merge_requests)$/, when: 'after', reply: expire });
    const { code, stderr } = await memfix({ cwd: camp, env: stale }, 'migrate', 'pr');
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/passed over: The token for .* is refused.*resume/),
    ]);
    expect((await told(camp)).statuses).toEqual({ 'pr open': 1, pushed: 2 });
    expect(await migrate(forge, camp, 'resume')).toMatchObject({ code: 0 });
    expect(forge.requests.map(({ repository }) => repository)).toEqual([one, two, `${owner}/zero`]);
  });

  test('come after a push that the token was too old for', async () => {
    const forge = await strict(forgeWith({ [one]: HOLD }));
    const pushes = countPushes(forge.bare(one));
    const camp = campaignOn(forge, kind, [one]);
    await migrate(forge, camp, 'run');
    const stale = forge.world;
    forge.renewToken();
    expect(await memfix({ cwd: camp, env: stale }, 'migrate', 'run', '--push', '--pr')).toMatchObject({
      code: 1,
    });
    expect((await told(camp)).repositories[0]?.failure).toMatchObject({ stage: 'push' });
    expect(await migrate(forge, camp, 'run', '--push', '--pr', '--failed')).toMatchObject({ code: 0 });
    await oneOpen(forge, camp, pushes);
  });

  test('come at a pace that outlasts a run, and keep nothing else waiting', async () => {
    const names = ['one', 'three', 'two'].map((name) => `${owner}/${name}`);
    const forge = await strict(forgeWith(Object.fromEntries(names.map((name) => [name, HOLD]))));
    const camp = campaignOn(forge, kind, names, '[limits]\nnetwork = 1\nwork = 1\n');
    const untilItWaits = (...words: readonly string[]) => {
      const stop = new AbortController();
      const arePushed = async () => {
        while ((await told(camp)).statuses['pushed'] !== 2) await pause(50);
        stop.abort();
      };
      const hears = (text: string) => void (text.includes('Waiting for the pace') && arePushed());
      return memfix({ cwd: camp, env: forge.world, signal: stop.signal, hears }, 'migrate', ...words);
    };
    const { code, stderr } = await untilItWaits('run', '--push', '--pr', '--prs-per-hour', '1');
    expect([code, stderr]).toEqual([
      130,
      expect.stringMatching(/Waiting for the pace until .* \(3[56]\d\d s\)/),
    ]);
    expect((await told(camp)).statuses).toEqual({ 'pr open': 1, pushed: 2 });
    expect(await untilItWaits('resume')).toMatchObject({ code: 130 });
    expect(forge.requests).toHaveLength(1);
    // As if it had been yesterday, before the machine was started.
    put(camp, { 'pulls.log': `${new Date(Date.now() - 86_400_000).toISOString()}\tb\t5.0\tone\n` });
    expect(await migrate(forge, camp, 'resume', '--prs-per-hour', '2')).toMatchObject({ code: 0 });
    expect(forge.requests).toHaveLength(3);
  });

  test('are not begun without a token', async () => {
    const forge = await strict(forgeWith({ [one]: HOLD }));
    const camp = campaignOn(forge, kind, [one]);
    const asked = await withoutToken(forge, camp, 'run', '--push', '--pr');
    expect(asked).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/There is no token for 127.*Set .*MEMFIX_TOKEN_127_0_0_1_\d+/s),
    });
    expect(forge.calls).toEqual([]);
    expect(await migrate(forge, camp, 'run', '--push', '--pr')).toMatchObject({ code: 0 });
    expect(forge.requests).toHaveLength(1);
  });

  test('come after a branch that was protected', async () => {
    const forge = await strict(forgeWith({ [one]: HOLD }));
    hook(forge.bare(one), 'pre-receive', 'echo this branch is protected; exit 1');
    const camp = campaignOn(forge, kind, [one]);
    expect(await migrate(forge, camp, 'run', '--push', '--pr')).toMatchObject({ code: 1 });
    expect((await told(camp)).repositories[0]?.failure).toMatchObject({
      stage: 'push',
      detail: expect.stringContaining('this branch is protected'),
    });
    expect(await withoutToken(forge, camp, 'run', '--push', '--pr', '--failed')).toMatchObject({ code: 2 });
    expect((await told(camp)).statuses).toEqual({ failed: 1 });
    hook(forge.bare(one), 'pre-receive', 'exit 0');
    const pushes = countPushes(forge.bare(one));
    expect(await migrate(forge, camp, 'run', '--push', '--pr', '--failed')).toMatchObject({ code: 0 });
    await oneOpen(forge, camp, pushes);
  });

  test('wait as long as the forge says', async () => {
    const forge = await strict(forgeWith({ [one]: HOLD, [two]: HOLD }));
    const camp = campaignOn(forge, kind, [one, two]);
    await migrate(forge, camp, 'run', '--push');
    forge.limit = { calls: 3, seconds: 2 };
    expect(await migrate(forge, camp, 'pr')).toMatchObject({ code: 0 });
    expect(forge.requests).toHaveLength(2);
    forge.limit = undefined;
    const asleep = () => forge.close(2, 'secondary');
    forge.faults.push(
      { at: /^GET/, when: 'before', reply: asleep },
      { at: /^GET/, when: 'before', reply: asleep },
    );
    expect(await migrate(forge, camp, 'status', '--update')).toMatchObject({ code: 0 });
  });

  test('are opened once also where a reviewer is refused', async () => {
    const forge = await strict(forgeWith({ [one]: HOLD }));
    const wish = (name: string) => `[pull-request]\nreviewers = ["${name}"]\ndraft = false\n`;
    const camp = campaignOn(forge, kind, [one], wish('stranger'));
    expect(await migrate(forge, camp, 'run', '--push', '--pr')).toMatchObject({ code: 1 });
    expect((await told(camp)).repositories[0]?.failure).toMatchObject({ stage: 'pr' });
    const text = readFileSync(join(camp, 'campaign.toml'), 'utf8');
    put(camp, { 'campaign.toml': text.replace('stranger', 'ada') });
    const { next = '' } = (await told(camp)).repositories[0]?.failure ?? {};
    expect(next).toMatch(/Then run `memfix migrate pr --failed`\.$/);
    expect(await migrate(forge, camp, 'pr', '--failed')).toMatchObject({ code: 0 });
    expect(forge.requests).toMatchObject([{ reviewers: ['ada'], isDraft: false }]);
  });

  test('leave no token on disk or in what is said', async () => {
    const forge = await strict(forgeWith({ [one]: HOLD, [two]: HOLD }));
    const leak = 'env > ../../environment.txt';
    const camp = campaignOn(forge, kind, [one, two], `verify = "${leak}"\nverify-sandbox = "none"\n`);
    // A helper that keeps whatever it is told.
    const env = {
      ...{ ...forge.world, GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'credential.helper' },
      GIT_CONFIG_VALUE_0: `store --file=${camp}/stored`,
    };
    const said: string[] = [];
    const run = async (...words: readonly string[]) => {
      const { stdout, stderr } = await memfix({ cwd: camp, env }, 'migrate', ...words);
      said.push(stdout, stderr);
    };
    forge.faults.push({ at: /^POST/, when: 'before', reply: { status: 403, data: { message: 'no' } } });
    await run('run', '--push', '--pr', '--keep', 'all', '-v');
    await run('run', '--push', '--pr', '--failed', '--keep', 'all', '-v');
    await run('status', '--update', '-v');
    await run('report');
    expect((await told(camp)).statuses).toEqual({ 'pr open': 2 });
    const files = listing(camp);
    expect(files).toContain('environment.txt');
    const everything = [...said, ...files.map((path) => readFileSync(join(camp, path), 'latin1'))].join('\n');
    expect(everything.includes(forge.token)).toBe(false);
    for (const user of ['oauth2', 'x-access-token'])
      expect(everything.includes(Buffer.from(`${user}:${forge.token}`).toString('base64'))).toBe(false);
  });
});

test('a forge that stays down leaves its repositories as they are, for `resume`', async () => {
  const forge = await strict(gitLabWith({ 'acme/one': HOLD }));
  const camp = campaignOn(forge, 'gitlab', ['acme/one']);
  const down = { at: /^GET/, when: 'before', reply: { status: 503, data: {} } } as const;
  forge.faults.push(down, down, down, down);
  const { code, stderr } = await migrate(forge, camp, 'run', '--push', '--pr');
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(/one: passed over: .* cannot be asked now: .* answered 503/),
  ]);
  expect((await told(camp)).statuses).toEqual({ pushed: 1 });
  expect(await migrate(forge, camp, 'resume')).toMatchObject({ code: 0 });
  expect(forge.requests).toHaveLength(1);
});
