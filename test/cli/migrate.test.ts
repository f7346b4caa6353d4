import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { folderWith, git, listing, put, repositoryWith } from '../workspace/folders.js';
import {
  BRANCH,
  branchesOf,
  changedOn,
  commitsOn,
  countPushes,
  daemonFor,
  freePort,
  hook,
  push,
  remotesWith,
  WORLD,
} from '../workspace/migrate/remotes.js';
import { memfix } from './command-line.js';

const HOLD = { 'a.py': 'hold()\n' };

/** A campaign over these repositories, with these lines in its file. */
function campaignOver(repositories: readonly string[], more = ''): string {
  return folderWith({ 'campaign.toml': `repositories = ${JSON.stringify(repositories)}\n${more}` });
}

const migrate = (cwd: string, ...words: readonly string[]) =>
  memfix({ cwd, env: WORLD }, 'migrate', ...words);

interface Told {
  readonly statuses: Readonly<Record<string, number>>;
  readonly repositories: readonly {
    readonly id: string;
    readonly name: string;
    readonly status: string;
    readonly failure?: { readonly stage: string; readonly title: string; readonly detail: string };
    readonly planned?: { readonly skipped: readonly { readonly path: string; readonly reason: string }[] };
  }[];
}

async function told(campaign: string): Promise<Told> {
  return JSON.parse((await migrate(campaign, 'report')).stdout);
}

const inFile = (bare: string, path: string, branch = BRANCH) => git(bare, 'show', `${branch}:${path}`);

describe('a campaign', () => {
  test('goes from init to pushed branches, and does nothing twice', async () => {
    const remotes = remotesWith({
      one: HOLD,
      two: { 'b.py': 'hold(1)\nrisk()\n' },
      calm: { 'c.py': 'x = 1\n' },
    });
    const [one, two, calm] = ['one', 'two', 'calm'].map((name) => join(remotes, `${name}.git`));
    const cwd = folderWith();
    const begun = await migrate(cwd, 'init', 'camp', `file://${one}`, two ?? '', calm ?? '');
    expect(begun).toMatchObject({ code: 0, stderr: expect.stringContaining('3 repositories.') });
    const camp = join(cwd, 'camp');

    const planned = await migrate(camp, 'plan');
    expect(planned).toMatchObject({ code: 0, stdout: '' });
    expect(planned.stderr).toContain('3 repositories: 2 planned, 1 no change.');
    expect(readdirSync(join(camp, 'patches'))).toHaveLength(2);
    expect(readFileSync(join(camp, 'repos.lock'), 'utf8').trim().split('\n')).toHaveLength(3);

    expect((await migrate(camp, 'run')).stderr).toContain('3 repositories: 2 committed, 1 no change.');
    for (const bare of [one, two, calm]) expect(branchesOf(bare ?? '')).toEqual(['main']);

    const pushes = countPushes(two ?? '');
    expect(await migrate(camp, 'run', '--push')).toMatchObject({ code: 0 });
    expect(inFile(one ?? '', 'a.py')).toBe('release()\n');
    expect(inFile(two ?? '', 'b.py')).toBe('release(1)\nrisk()\n');
    expect(commitsOn(two ?? '')).toEqual(['Fix GPU memory waste']);
    expect(branchesOf(calm ?? '')).toEqual(['main']);

    for (const words of [['run', '--push'], ['resume'], ['run', '--failed', '--push']])
      expect(await migrate(camp, ...words)).toMatchObject({ code: 0 });
    expect(pushes()).toBe(1);
    expect((await migrate(camp, 'status')).stdout).toMatch(
      /two: pushed: 1 fix in 1 file[\s\S]*drop-hold +2 fixes +in 2/,
    );
  });

  test('makes the same commit again where its mirror is gone, without verifying it again', async () => {
    const remotes = remotesWith({ one: HOLD });
    const verified = join(folderWith(), 'verified');
    const camp = campaignOver(
      [join(remotes, 'one.git')],
      `verify = 'echo once >> ${verified}'\nverify-sandbox = 'none'\n`,
    );
    const commitNow = async () => (await migrate(camp, 'report', '--csv')).stdout.split(',').at(-3);
    await migrate(camp, 'run', '--keep', 'none');
    expect([
      existsSync(join(camp, 'trees')) && readdirSync(join(camp, 'trees')),
      readdirSync(join(camp, 'mirrors')),
    ]).toEqual([[], []]);
    const before = await commitNow();
    expect(before).toMatch(/^[0-9a-f]{40}$/);
    expect(await migrate(camp, 'run', '--push')).toMatchObject({ code: 0 });
    expect(git(join(remotes, 'one.git'), 'rev-parse', BRANCH).trim()).toBe(before);
    expect(readFileSync(verified, 'utf8')).toBe('once\n');
  });

  test('has one commit for each transform, where it says so', async () => {
    const remotes = remotesWith({ one: { 'a.py': 'hold()\nrare()\n', 'b.py': 'rare()\n' } });
    const bare = join(remotes, 'one.git');
    const more =
      'select = ["all"]\ncommits = "transform"\nmessage = "{transform}: {count} in {files} of {repository}"\n';
    const camp = campaignOver([bare], more);
    expect(await migrate(camp, 'run', '--push')).toMatchObject({ code: 0 });
    const name = bare.split('/').slice(-2).join('/').replace('.git', '');
    expect(commitsOn(bare)).toEqual([
      `drop-hold: 1 fix in 1 file of ${name}`,
      `rare-word: 2 fixes in 2 files of ${name}`,
    ]);
    expect(inFile(bare, 'a.py', `${BRANCH}~1`)).toBe('release()\nrare()\n');
    expect(inFile(bare, 'a.py')).toBe('release()\ncommon()\n');
  });

  test('keeps to the commits it was planned on until it is told to update', async () => {
    const remotes = remotesWith({ one: HOLD });
    const bare = join(remotes, 'one.git');
    const camp = campaignOver([bare]);
    await migrate(camp, 'plan');
    push(bare, { 'new.py': 'hold(2)\n' });
    await migrate(camp, 'run');
    expect((await migrate(camp, 'status')).stdout).toContain('1 fix in 1 file');
    await migrate(camp, 'plan', '--update');
    expect((await migrate(camp, 'status')).stdout).toContain('2 fixes in 2 files');
    await migrate(camp, 'run', '--push');
    expect(changedOn(bare)).toEqual(['a.py', 'new.py']);
  });

  test('plans anew when its settings change', async () => {
    const remotes = remotesWith({ one: { 'a.py': 'hold()\nrisk()\n' } });
    const bare = join(remotes, 'one.git');
    const camp = campaignOver([bare]);
    await migrate(camp, 'run');
    put(camp, { 'campaign.toml': `repositories = [${JSON.stringify(bare)}]\nunsafe-fixes = true\n` });
    await migrate(camp, 'run', '--push');
    expect(inFile(bare, 'a.py')).toBe('release()\ncalm()\n');
    expect(commitsOn(bare)).toHaveLength(1);
  });

  test('can be told which repositories', async () => {
    const names = ['a1', 'a2', 'b1', 'b2'];
    const remotes = remotesWith(Object.fromEntries(names.map((name) => [name, HOLD])));
    const camp = campaignOver(names.map((name) => join(remotes, `${name}.git`)));
    const planned = async () =>
      (await told(camp)).repositories
        .filter(({ status }) => status === 'planned')
        .map(({ name }) => name.slice(-2));
    await migrate(camp, 'plan', '--repos', '*/a*', '--limit', '1');
    expect(await planned()).toEqual(['a1']);
    await migrate(camp, 'plan', '--limit', '1');
    await migrate(camp, 'resume');
    expect(await planned()).toEqual(['a1', 'a2']);
    await migrate(camp, 'plan', '--shard', '1/2');
    expect(await planned()).toEqual(['a1', 'a2', 'b1']);
    await migrate(camp, 'plan', '--shard', '2/2');
    expect(await planned()).toEqual(names);
  });
});

test('leaves a page to look at, and writes one on demand', async () => {
  const remotes = remotesWith({ one: HOLD, two: HOLD });
  const camp = campaignOver([remotes]);
  const { stderr } = await migrate(camp, 'plan');
  expect(stderr).toContain('Look at report.html');
  const page = readFileSync(join(camp, 'report.html'), 'utf8');
  expect(page).toMatch(
    /^<!doctype html>[\s\S]*default-src 'none'[\s\S]*"lines":\["-hold\(\)","\+release\(\)"\]/,
  );
  const { stdout } = await migrate(camp, 'report', '--html', '--repos', '*/two');
  expect([page, stdout].map((html) => html.match(/^<script type="application\/json">/gm)?.length)).toEqual([
    3, 2,
  ]);
  expect(await migrate(camp, 'report', '--html', '--csv')).toMatchObject({ code: 2 });
});

describe('repositories', () => {
  test('that are odd', async () => {
    const remotes = remotesWith({
      empty: undefined,
      notebooks: { 'a.ipynb': '{"cells": ["hold()"]}\n' },
      crlf: {
        '.gitattributes': '*.py text eol=crlf\n*.bin filter=lfs\n',
        'a.bin': 'version https://git-lfs.github.com/spec/v1\n',
        'a.py': 'x = 1\r\nhold()\r\n',
        // A blob with LF, which a checkout would give CRLF.
        'b.py': 'hold()\n',
      },
    });
    // As a tree that was committed with other attributes: its blob has CRLF, which git would now take away.
    const crlf = join(remotes, 'crlf.git');
    const blob = Buffer.from('x = 1\r\nhold()\r\n');
    const work = folderWith();
    git(work, 'clone', '--quiet', crlf, '.');
    writeFileSync(join(work, 'raw'), blob);
    const hash = git(work, 'hash-object', '-w', '--no-filters', 'raw').trim();
    git(work, 'update-index', '--cacheinfo', `100644,${hash},a.py`);
    git(work, 'commit', '--quiet', '--message', 'CRLF');
    git(work, 'push', '--quiet', 'origin', 'HEAD:main');
    const camp = campaignOver(['empty', 'notebooks', 'crlf'].map((name) => join(remotes, `${name}.git`)));
    expect(await migrate(camp, 'run', '--push')).toMatchObject({ code: 0 });
    expect((await told(camp)).repositories.map(({ status }) => status)).toEqual([
      'empty',
      'no change',
      'pushed',
    ]);
    expect(changedOn(crlf)).toEqual(['a.py', 'b.py']);
    expect(inFile(crlf, 'b.py')).toBe('release()\n');
    expect(inFile(crlf, 'a.py')).toBe('x = 1\r\nrelease()\r\n');
  });

  test('with names that are no UTF-8, and links that lead out', async () => {
    const outside = folderWith(HOLD);
    const remotes = remotesWith({ one: { 'ok.py': 'hold()\n', 'ümlaut.py': 'hold()\n' } });
    const bare = join(remotes, 'one.git');
    const work = folderWith();
    git(work, 'clone', '--quiet', bare, '.');
    const odd = Buffer.concat([Buffer.from(`${work}/`), Buffer.from([0xff]), Buffer.from('.py')]);
    writeFileSync(odd, 'hold()\n');
    symlinkSync(join(outside, 'a.py'), join(work, 'link.py'));
    git(work, 'add', '--all');
    git(work, 'commit', '--quiet', '--message', 'odd');
    git(work, 'push', '--quiet', 'origin', 'HEAD:main');
    const camp = campaignOver([bare]);
    expect(await migrate(camp, 'run', '--push')).toMatchObject({ code: 0 });
    expect(git(bare, '-c', 'core.quotePath=false', 'diff', '--name-only', 'main', BRANCH)).toBe(
      'ok.py\nümlaut.py\n',
    );
    expect(git(bare, 'ls-tree', '-r', '--name-only', BRANCH).split('\n')).toHaveLength(5);
    expect((await told(camp)).repositories[0]?.planned?.skipped.map(({ reason }) => reason).sort()).toEqual([
      'it is a symlink out of the project',
      'its name is not valid UTF-8',
    ]);
    expect(readFileSync(join(outside, 'a.py'), 'utf8')).toBe('hold()\n');
  });

  test('come from lists and folders of checkouts, each once; a branch appears in a checkout', async () => {
    const checkout = repositoryWith(HOLD);
    const name = checkout.split('/').at(-1) ?? '';
    const remotes = remotesWith({ one: HOLD, two: HOLD });
    const list = folderWith({
      'list.txt': `# ours\n${join(remotes, 'one.git')}  # first\n\n${join(remotes, 'two.git')}/\r\n${checkout}\n`,
    });
    const camp = campaignOver([join(list, 'list.txt'), remotes]);
    expect(await migrate(camp, 'run', '--push', '--repos', `*${name}`)).toMatchObject({ code: 0 });
    expect((await told(camp)).repositories.map(({ status }) => status)).toEqual(['new', 'new', 'pushed']);
    expect(git(checkout, 'show', `${BRANCH}:a.py`)).toBe('release()\n');
    expect(git(checkout, 'status', '--porcelain')).toBe('');
  });

  test('are cloned and pushed through a git daemon; a clone that is cut off is one failure', async () => {
    const remotes = remotesWith({ one: HOLD, two: HOLD });
    const daemon = await daemonFor(remotes);
    const proxy = await cutting(daemon, 'fetch');
    const camp = campaignOver([`git://127.0.0.1:${proxy.port}/one.git`, `git://127.0.0.1:${daemon}/two.git`]);
    expect(await migrate(camp, 'run', '--push')).toMatchObject({ code: 1 });
    expect((await told(camp)).repositories).toMatchObject([
      { status: 'failed', failure: { stage: 'clone' } },
      { status: 'pushed' },
    ]);
    // `resume` leaves failures, `--failed` tries nothing else.
    expect((await migrate(camp, 'resume')).stderr).toContain('1 failed');
    proxy.heal();
    expect(await migrate(camp, 'run', '--push', '--failed')).toMatchObject({ code: 0 });
    expect(inFile(join(remotes, 'one.git'), 'a.py')).toBe('release()\n');
    expect(readdirSync(join(camp, 'mirrors')).filter((name) => /draft|lock/.test(name))).toEqual([]);
  });

  test('keep no credentials on disk or in messages', async () => {
    const port = await freePort();
    const cwd = folderWith();
    const url = `http://lovelace:s3cret@127.0.0.1:${port}/o/n.git`;
    await migrate(cwd, 'init', 'camp', url);
    const camp = join(cwd, 'camp');
    put(camp, { 'list.txt': `${url.replace('n.git', 'm.git')}\n` });
    put(camp, {
      'campaign.toml': readFileSync(join(camp, 'campaign.toml'), 'utf8').replace(']', '  "list.txt"]'),
    });
    const { code, stdout, stderr } = await migrate(camp, 'plan', '-v');
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain('the user name or password in 1 URL is left out');
    expect(stderr).toContain('2 failed');
    const said = [
      stderr,
      ...listing(camp)
        .filter((path) => path !== 'list.txt')
        .map((path) => readFileSync(join(camp, path), 'latin1')),
    ];
    expect(said.join('\n')).not.toMatch(/s3cret|lovelace/);
  });
});

describe('a verify command', () => {
  test('runs in the fixed tree; what it writes is not committed', async () => {
    const remotes = remotesWith({ one: HOLD });
    const bare = join(remotes, 'one.git');
    const verify =
      'grep -q release a.py && git status --porcelain | grep -qx "M  a.py" && echo x > junk && echo y > a.py';
    const camp = campaignOver([bare], `verify = ${JSON.stringify(verify)}\n`);
    expect(await migrate(camp, 'run', '--push', '--keep', 'all')).toMatchObject({ code: 0 });
    expect(changedOn(bare)).toEqual(['a.py']);
    expect(inFile(bare, 'a.py')).toBe('release()\n');
    const [tree = ''] = readdirSync(join(camp, 'trees'));
    expect(readFileSync(join(camp, 'trees', tree, 'junk'), 'utf8')).toBe('x\n');
  });

  test.each([
    ['fails', 'grep -q hold a.py && exit 0; echo no luck; exit 3', /exit 3 .*\nno luck/],
    ['hangs', 'grep -q hold a.py || sleep 100', /timed out \(10 s\)/],
  ])('that %s keeps the fixes from being committed', async (_, verify, detail) => {
    const remotes = remotesWith({ one: HOLD, calm: { 'c.py': '' } });
    const bare = join(remotes, 'one.git');
    const settings = (command: string) =>
      `repositories = ["${bare}", "${remotes}/calm.git"]\nverify = "${command}"\n[limits]\nverify-timeout = "10s"\n`;
    const camp = folderWith({ 'campaign.toml': settings(verify) });
    expect(await migrate(camp, 'run', '--push')).toMatchObject({ code: 1 });
    const { repositories } = await told(camp);
    expect(repositories).toMatchObject([
      { status: 'failed', failure: { stage: 'verify' } },
      { status: 'no change' },
    ]);
    expect(repositories[0]?.failure?.detail).toMatch(detail);
    expect(branchesOf(bare)).toEqual(['main']);
    expect(readdirSync(join(camp, 'trees'))).toEqual([repositories[0]?.id]);
    put(camp, { 'campaign.toml': settings('true') });
    expect(await migrate(camp, 'run', '--push', '--failed')).toMatchObject({ code: 0 });
    expect(branchesOf(bare)).toEqual(['main', BRANCH]);
    expect(readdirSync(join(camp, 'trees'))).toEqual([]);
  });
});

describe('a push', () => {
  test('leaves a branch of that name alone', async () => {
    const remotes = remotesWith({ one: HOLD });
    const bare = join(remotes, 'one.git');
    git(bare, 'branch', BRANCH, 'main');
    const camp = campaignOver([bare]);
    const { code, stderr } = await migrate(camp, 'run', '--push');
    expect([code, stderr]).toEqual([0, expect.stringContaining('branch exists')]);
    expect(git(bare, 'rev-parse', BRANCH)).toBe(git(bare, 'rev-parse', 'main'));
    git(bare, 'branch', '-D', BRANCH);
    expect((await migrate(camp, 'run', '--push')).stderr).toContain('1 pushed');
  });

  test('that comes a moment too late leaves the branch, too', async () => {
    const remotes = remotesWith({ one: HOLD });
    const bare = join(remotes, 'one.git');
    hook(bare, 'pre-receive', `unset GIT_QUARANTINE_PATH; git update-ref refs/heads/${BRANCH} main`);
    const camp = campaignOver([bare]);
    expect((await migrate(camp, 'run', '--push')).stderr).toContain('1 branch exists');
    expect(git(bare, 'rev-parse', BRANCH)).toBe(git(bare, 'rev-parse', 'main'));
  });

  test('that the remote refuses is a failure, with its words', async () => {
    const remotes = remotesWith({ one: HOLD });
    const bare = join(remotes, 'one.git');
    hook(bare, 'pre-receive', 'echo this branch is protected; exit 1');
    const camp = campaignOver([bare]);
    expect(await migrate(camp, 'run', '--push')).toMatchObject({ code: 1 });
    const [repository] = (await told(camp)).repositories;
    expect(repository).toMatchObject({
      status: 'failed',
      failure: { stage: 'push', title: 'The push was rejected' },
    });
    expect(repository?.failure?.detail).toContain('this branch is protected');
    hook(bare, 'pre-receive', 'exit 0');
    expect(await migrate(camp, 'run', '--push', '--failed')).toMatchObject({ code: 0 });
    expect(commitsOn(bare)).toHaveLength(1);
  });
});

test('a repository that another run holds is passed over; one that a dead run held is taken', async () => {
  const remotes = remotesWith({ one: HOLD });
  const camp = campaignOver([join(remotes, 'one.git')]);
  const [repository] = (await told(camp)).repositories;
  const lock = `mirrors/${repository?.id}.lock`;
  put(camp, { [lock]: `${process.ppid} ${hostname()}\n` });
  expect(await migrate(camp, 'plan')).toMatchObject({ code: 1, stderr: expect.stringContaining('holds it') });
  expect((await told(camp)).statuses).toEqual({ new: 1 });
  put(camp, { [lock]: `${2 ** 22 + 1} ${hostname()}\n` });
  expect(await migrate(camp, 'plan')).toMatchObject({ code: 0 });
  expect(existsSync(join(camp, lock))).toBe(false);
  // In a container, the next process has the number of the dead one; and git leaves locks of its own.
  put(camp, {
    [lock]: `${process.pid} ${hostname()} 1\n`,
    [`mirrors/${repository?.id}/refs/heads/${BRANCH}.lock`]: '',
  });
  expect(await migrate(camp, 'run')).toMatchObject({ code: 0 });
});

test('stops when it is told to, in the middle of a verify command, and goes on from there', async () => {
  const remotes = remotesWith({ one: HOLD });
  const stop = new AbortController();
  const camp = campaignOver(
    [join(remotes, 'one.git')],
    "verify = 'echo > ../../began; sleep 100'\nverify-sandbox = 'none'\n",
  );
  const run = memfix({ cwd: camp, env: WORLD, signal: stop.signal }, 'migrate', 'run', '--push');
  while (!existsSync(join(camp, 'began'))) await pause(20);
  stop.abort();
  expect(await run).toMatchObject({
    code: 130,
    stderr: `The verify command runs without a sandbox, with your rights.
Stopped; \`memfix migrate resume\` goes on.
`,
  });
  expect((await told(camp)).statuses).toEqual({ planned: 1 });
  put(camp, { 'campaign.toml': `repositories = ['${remotes}']\nverify = 'true'\n` });
  expect(await migrate(camp, 'resume')).toMatchObject({ code: 0 });
  expect(inFile(join(remotes, 'one.git'), 'a.py')).toBe('release()\n');
});

test('a terminal shows what is being done, and is left with a line for each repository', async () => {
  const remotes = remotesWith({ one: HOLD });
  const camp = campaignOver([join(remotes, 'one.git')]);
  const { stderr } = await memfix(
    { cwd: camp, env: WORLD, terminals: ['stderr'] },
    'migrate',
    'plan',
    '--color',
    'never',
  );
  expect(stderr).toMatch(
    /0\/1 repositories\n[^\n]*one: clone …\n\x1b\[2A\x1b\[J0\/1 repositories\n[^\n]*one: plan …/,
  );
  expect(stderr).toMatch(/\x1b\[\dA\x1b\[J[^\n]*one: planned: 1 fix in 1 file\n/);
});

test('is told what is wrong with a campaign or a command line', async () => {
  const remotes = remotesWith({ one: HOLD });
  const bare = join(remotes, 'one.git');
  const ask = async (more: string, ...words: readonly string[]) => {
    const { code, stderr } = await migrate(
      campaignOver([bare], more),
      ...(words.length === 0 ? ['plan'] : words),
    );
    return [code, stderr.replaceAll('\n', ' ')];
  };
  expect(await ask('brnch = "x"')).toEqual([2, expect.stringContaining('Did you mean `branch`?')]);
  expect(await ask('branch = "a..b"')).toEqual([2, expect.stringContaining('no name that git takes')]);
  expect(await ask('message = "{wat}"')).toEqual([2, expect.stringContaining('`{wat}`')]);
  expect(await ask('message = "{transform}"')).toEqual([2, expect.stringContaining('`{transform}`')]);
  expect(await ask('select = ["drop-hole"]')).toEqual([
    2,
    expect.stringContaining('Did you mean `drop-hold`?'),
  ]);
  expect(await ask('[limits]\nnetwork = 0')).toEqual([2, expect.stringContaining('from 1 to 256')]);
  expect(await ask('[limits]\nverify-timeout = "soon"')).toEqual([2, expect.stringContaining('"10m"')]);
  for (const size of ['much', '10MB'])
    expect(await ask(`[limits]\nplan-memory = "${size}"`)).toEqual([2, expect.stringContaining('"2GB"')]);
  expect(await ask('', 'plan', '--push')).toEqual([2, expect.stringContaining('`--push` means nothing')]);
  expect(await ask('', 'paln')).toEqual([2, expect.stringContaining('Did you mean `plan`?')]);
  expect(await ask('', 'plan', '--shard', '3/2')).toEqual([2, expect.stringContaining('such as 2/8')]);
  expect(await ask('', 'resume')).toEqual([2, expect.stringContaining('Nothing to resume')]);
  expect(await ask('', 'init', '.', bare)).toEqual([2, expect.stringContaining('There is a campaign')]);
  expect(await migrate(folderWith(), 'init', 'c', 'ext::sh -c true')).toMatchObject({ code: 2 });
  expect(await migrate(folderWith(), 'init', 'c', './gone')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('there is nothing at'),
  });
  expect(await migrate(folderWith(), 'plan')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('No campaign here'),
  });
});

/** A way to a server that ends in the middle of an answer, where the request is one of these; until it is healed. */
async function cutting(to: number, request: string): Promise<{ port: number; heal(): void }> {
  const { connect } = await import('node:net');
  let isHealed = false;
  const server = createServer((client) => {
    const there = connect(to, '127.0.0.1');
    let asked = '';
    client.on('data', (chunk: Buffer) => {
      asked += chunk.toString('latin1');
      there.write(chunk);
    });
    there.on('data', (chunk: Buffer) => {
      if (isHealed || !asked.includes(`command=${request}`)) client.write(chunk);
      else {
        client.write(chunk.subarray(0, chunk.length / 2));
        client.destroy();
      }
    });
    for (const [one, other] of [
      [client, there],
      [there, client],
    ] as const) {
      one.on('error', () => other.destroy());
      one.on('close', () => other.destroy());
    }
  }).listen(0, '127.0.0.1');
  server.unref();
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    port: address.port,
    heal: () => {
      isHealed = true;
    },
  };
}
