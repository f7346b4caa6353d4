import { chmodSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { commit, folderWith, git, put } from '../workspace/folders.js';
import {
  BRANCH,
  branchesOf,
  commitsOn,
  hook,
  push,
  remotesWith,
  WORLD,
} from '../workspace/migrate/remotes.js';
import { memfix } from './command-line.js';

const HOLD = { 'a.py': 'hold()\n' };

const migrate = (cwd: string, ...words: readonly string[]) =>
  memfix({ cwd, env: WORLD }, 'migrate', ...words);

interface Told {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly base?: { readonly commit: string; readonly branch: string | null } | null;
  readonly failure?: {
    readonly stage: string;
    readonly title: string;
    readonly detail: string;
    readonly next: string;
  };
}

async function told(camp: string): Promise<readonly Told[]> {
  return JSON.parse((await migrate(camp, 'report')).stdout).repositories;
}

const stagesOf = (repositories: readonly Told[]) =>
  repositories.map(({ status, failure }) =>
    failure === undefined ? status : `${status} (${failure.stage})`,
  );

/** A campaign over one repository, and that repository. */
function campaign(files: Readonly<Record<string, string>> = HOLD, more = ''): { bare: string; camp: string } {
  const bare = join(remotesWith({ one: files }), 'one.git');
  const text = `repositories = [${JSON.stringify(`file://${bare}`)}]\n${more}`;
  return { bare, camp: folderWith({ 'campaign.toml': text }) };
}

function protect(bare: string): () => void {
  hook(bare, 'pre-receive', 'echo this branch is protected; exit 1');
  return () => hook(bare, 'pre-receive', 'exit 0');
}

describe('a failed push', () => {
  test.each([
    ['run --failed', ['run', '--failed']],
    ['run', ['run']],
    ['plan', ['plan']],
    ['plan --failed', ['plan', '--failed']],
    ['pr --failed', ['pr', '--failed']],
  ])('stays a failure after `%s`, which does not come to the push', async (_, words) => {
    const { bare, camp } = campaign();
    const allow = protect(bare);
    await migrate(camp, 'run', '--push');
    expect(await migrate(camp, ...words)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/`memfix migrate run --push (?:--pr )?--failed` tries again/),
    });
    const [repository] = await told(camp);
    expect(repository).toMatchObject({
      status: 'failed',
      failure: { stage: 'push', detail: expect.stringContaining('this branch is protected') },
    });
    allow();
    expect(await migrate(camp, 'run', '--push', '--failed')).toMatchObject({ code: 0 });
    expect(stagesOf(await told(camp))).toEqual(['pushed']);
  });

  test('is forgotten when what it was about has changed', async () => {
    const { bare, camp } = campaign({ 'a.py': 'hold()\nrisk()\n' });
    protect(bare);
    await migrate(camp, 'run', '--push');
    put(camp, { 'campaign.toml': `repositories = [${JSON.stringify(bare)}]\nunsafe-fixes = true\n` });
    expect(await migrate(camp, 'plan')).toMatchObject({ code: 0 });
    expect(stagesOf(await told(camp))).toEqual(['planned']);
  });

  test('is still told where trying it again was stopped, and `resume` goes on with that', async () => {
    const { bare, camp } = campaign();
    const allow = protect(bare);
    await migrate(camp, 'run', '--push');
    const stop = new AbortController();
    const began = join(camp, 'began');
    hook(bare, 'pre-receive', `echo > '${began}'; sleep 100`);
    const run = memfix(
      { cwd: camp, env: WORLD, signal: stop.signal },
      'migrate',
      'run',
      '--push',
      '--failed',
    );
    while (!existsSync(began)) await pause(20);
    stop.abort();
    expect(await run).toMatchObject({ code: 130 });
    expect(stagesOf(await told(camp))).toEqual(['failed (push)']);
    allow();
    expect(await migrate(camp, 'resume')).toMatchObject({ code: 0 });
    expect(stagesOf(await told(camp))).toEqual(['pushed']);
  });
});

/** Makes a run fail, and answers with what removes the cause. */
type Cause = (place: { readonly bare: string; readonly camp: string }) => () => void;

const rewritten: Cause = ({ bare, camp }) => {
  // The commit that was planned on is gone from the remote and from here.
  rmSync(join(camp, 'mirrors'), { recursive: true, force: true });
  const work = folderWith({ ...HOLD, 'b.py': '' });
  git(work, 'init', '--quiet', '--initial-branch=main');
  commit(work);
  git(work, 'push', '--quiet', '--force', bare, 'HEAD:refs/heads/main');
  git(bare, 'reflog', 'expire', '--expire=now', '--all');
  git(bare, 'gc', '--quiet', '--prune=now');
  return () => undefined;
};

const moved: Cause = ({ bare }) => {
  renameSync(bare, `${bare}.away`);
  return () => renameSync(`${bare}.away`, bare);
};

const badConfig: Cause = ({ bare }) => {
  push(bare, { 'memfix.toml': 'selct = ["all"]\n' });
  return () => push(bare, { 'memfix.toml': 'select = ["all"]\n' });
};

const failingCommand: Cause = ({ camp }) => {
  const file = join(camp, 'campaign.toml');
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, `${text}verify = "grep nothing a.py"\n`);
  return () => writeFileSync(file, `${text}verify = "grep release a.py"\n`);
};

const readOnly =
  (part: string): Cause =>
  ({ camp }) => {
    const folder = join(camp, part);
    put(camp, { [`${part}/x`]: '' });
    chmodSync(folder, 0o500);
    onTestFinished(() => chmodSync(folder, 0o700));
    return () => chmodSync(folder, 0o700);
  };

/** The command that a failure names last. */
function hinted({ failure }: Told): readonly string[] {
  const [, words = ''] = /.*`memfix migrate ([^`]+)`/s.exec(failure?.next ?? '') ?? [];
  return words.split(' ');
}

const isRoot = process.getuid?.() === 0;

describe('after a failure, the command that it names goes on', () => {
  test.each<readonly [string, readonly string[], readonly string[], string, Cause, string]>([
    ['a clone, in plan', [], ['plan'], 'clone', moved, 'planned'],
    ['a clone, in run', [], ['run'], 'clone', moved, 'committed'],
    ['a clone, in run --push', [], ['run', '--push'], 'clone', moved, 'pushed'],
    ['a commit that is gone', ['plan'], ['run', '--push'], 'clone', rewritten, 'planned'],
    ['settings of the repository', [], ['run'], 'plan', badConfig, 'planned'],
    ['a verify command', [], ['run', '--push'], 'verify', failingCommand, 'pushed'],
    ['a push', [], ['run', '--push'], 'push', ({ bare }) => protect(bare), 'pushed'],
    ...(isRoot ? [] : ([['a full disk', [], ['run'], 'plan', readOnly('patches'), 'committed']] as const)),
  ])('%s', async (_, before, words, stage, cause, status) => {
    const place = campaign();
    if (before.length > 0) await migrate(place.camp, ...before);
    const remove = cause(place);
    expect(await migrate(place.camp, ...words)).toMatchObject({ code: 1 });
    const [failed] = await told(place.camp);
    expect(failed?.failure).toMatchObject({ stage });
    expect((await migrate(place.camp, 'status')).stdout).toContain(`: ${failed?.failure?.next}\n`);
    remove();
    if (failed === undefined) throw new Error('no repository');
    expect(await migrate(place.camp, ...hinted(failed))).toMatchObject({ code: 0 });
    expect(stagesOf(await told(place.camp))).toEqual([status]);
  });

  test('also from outside the folder of the campaign', async () => {
    const { bare, camp } = campaign();
    const allow = protect(bare);
    const cwd = join(camp, '..');
    const place = camp.slice(cwd.length + 1);
    const { stderr } = await migrate(cwd, 'run', place, '--push');
    const [, words = ''] = /; `memfix migrate ([^`]+)` tries again/.exec(stderr) ?? [];
    expect(words).toBe(`run ${place} --push --failed`);
    allow();
    expect(await migrate(cwd, ...words.split(' '))).toMatchObject({ code: 0 });
    expect(commitsOn(bare)).toHaveLength(1);
  });
});

describe('`--repos`', () => {
  const names = ['vision', 'speech'];
  const camp = () => {
    const remotes = remotesWith(Object.fromEntries(names.map((name) => [name, HOLD])));
    return folderWith({
      'campaign.toml': `repositories = ${JSON.stringify(names.map((name) => join(remotes, `${name}.git`)))}\n`,
    });
  };

  test.each([['plan'], ['run'], ['status'], ['report'], ['report', '--html'], ['export', '--sourcegraph']])(
    'that matches nothing is an error of `%s`',
    async (...words) => {
      const { code, stdout, stderr } = await migrate(camp(), ...words, '--repos', 'visoin*');
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).toMatch(/`visoin\*` matches none of the 2 repositories[\s\S]*`\*` matches anything/);
    },
  );

  test('has to match with each of its patterns, whatever the shard', async () => {
    const folder = camp();
    expect(await migrate(folder, 'plan', '--repos', '*/vision,*/speach')).toMatchObject({ code: 2 });
    expect((await told(folder)).map(({ status }) => status)).toEqual(['new', 'new']);
    expect(await migrate(folder, 'plan', '--repos', '*/vision', '--shard', '2/2')).toMatchObject({ code: 0 });
    expect((await told(folder)).map(({ status }) => status)).toEqual(['new', 'new']);
  });
});

describe('a remote whose HEAD names a branch that does not exist', () => {
  const dangling = () => {
    const place = campaign();
    git(place.bare, 'symbolic-ref', 'HEAD', 'refs/heads/master');
    return place;
  };

  test.each(['shallow', 'partial'])('is not empty: its only branch is taken (%s)', async (clone) => {
    const { bare, camp } = dangling();
    put(camp, { 'campaign.toml': `repositories = [${JSON.stringify(bare)}]\nclone = "${clone}"\n` });
    expect(await migrate(camp, 'run', '--push')).toMatchObject({ code: 0 });
    expect(await told(camp)).toMatchObject([{ status: 'pushed', base: { branch: 'main' } }]);
    expect(git(bare, 'show', `${BRANCH}:a.py`)).toBe('release()\n');
  });

  test('is a failure where it has several, which are named, and one of which can be chosen', async () => {
    const { bare, camp } = dangling();
    git(bare, 'branch', 'develop', 'main');
    expect(await migrate(camp, 'plan')).toMatchObject({ code: 1 });
    const [failed] = await told(camp);
    expect(failed).toMatchObject({
      status: 'failed',
      failure: { stage: 'clone', detail: expect.stringContaining('its branches are develop, main') },
    });
    const text = readFileSync(join(camp, 'campaign.toml'), 'utf8');
    put(camp, { 'campaign.toml': `${text}[base-branches]\n"*/one" = "develop"\n` });
    if (failed === undefined) throw new Error('no repository');
    expect(await migrate(camp, ...hinted(failed))).toMatchObject({ code: 0 });
    expect(await told(camp)).toMatchObject([{ status: 'planned', base: { branch: 'develop' } }]);
  });

  test('is empty where it has none', async () => {
    const bare = join(remotesWith({ one: undefined }), 'one.git');
    const camp = folderWith({ 'campaign.toml': `repositories = [${JSON.stringify(bare)}]\n` });
    expect(await migrate(camp, 'plan')).toMatchObject({ code: 0 });
    expect(stagesOf(await told(camp))).toEqual(['empty']);
  });
});

test('a campaign can name the branches that its fixes are made upon', async () => {
  const { bare, camp } = campaign();
  git(bare, 'branch', 'develop', 'main');
  push(bare, { 'b.py': 'hold()\n' });
  await migrate(camp, 'plan');
  expect(await told(camp)).toMatchObject([{ base: { branch: 'main' }, planned: { files: 2 } }]);
  const name = (branch: string) =>
    put(camp, {
      'campaign.toml': `repositories = [${JSON.stringify(bare)}]\n[base-branches]\n"*" = "${branch}"\n`,
    });
  name('develop');
  expect(await migrate(camp, 'run', '--push')).toMatchObject({ code: 0 });
  expect(await told(camp)).toMatchObject([{ base: { branch: 'develop' }, planned: { files: 1 } }]);
  expect(branchesOf(bare)).toEqual(['develop', 'main', BRANCH]);
  expect(readdirSync(join(camp, 'trees'))).toEqual([]);
  name('a..b');
  expect(await migrate(camp, 'plan')).toMatchObject({ code: 2 });
});
