import { spawnSync } from 'node:child_process';
import { chmodSync, lstatSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { commit, type Files, folderWith, git, put } from '../workspace/folders.js';
import { remotesWith, WORLD } from '../workspace/migrate/remotes.js';
import { memfix } from './command-line.js';
import { toyProgram } from './toy-program.js';

/** As a process: only so are the secrets in `/proc/self/environ`, as they are where a campaign runs. */
const program = toyProgram();

const PLANTED = {
  GH_TOKEN: 'ghp_plantedGitHubToken0123456789',
  QUEUE: 'redis://:plantedRedisPassword7@127.0.0.1:6379',
  AWS_SECRET_ACCESS_KEY: 'planted/Aws+Secret=Key',
  DEPLOY_PASSWORD: 'planted "quoted" <password>',
  SIGNING_KEY: '-----BEGIN KEY-----\nplantedFirstLineOfAKey\nplantedSecondLineOfAKey\n-----END KEY-----',
};
/** In a file of whoever runs the campaign, which no environment names. */
const IN_A_FILE = 'plantedInAFileOfTheUser';

/** Every spelling that begins so is a secret. */
const SECRET = /planted/i;

type Make = (work: string) => void;

/** A remote whose only commit holds these files and whatever `make` adds, links included. */
function hostile(files: Files, make: Make = () => undefined): string {
  const bare = join(remotesWith({ it: undefined }), 'it.git');
  const work = folderWith();
  git(work, 'clone', '--quiet', bare, '.');
  put(work, { 'a.py': 'hold()\nrisk()\nrare()\n', ...files });
  make(work);
  commit(work);
  git(work, 'push', '--quiet', 'origin', 'HEAD:refs/heads/main');
  return bare;
}

const link =
  (name: string, to: string): Make =>
  (work) =>
    symlinkSync(to, join(work, name));

function campaign(remotes: Readonly<Record<string, string>>, more = ''): string {
  // Names are the last two parts of a path.
  const folder = folderWith();
  const named = Object.entries(remotes).map(([name, bare]) => {
    mkdirSync(join(folder, 'remotes', name), { recursive: true });
    symlinkSync(bare, join(folder, 'remotes', name, 'it.git'));
    return join(folder, 'remotes', name, 'it.git');
  });
  const camp = join(folder, 'camp');
  put(camp, { 'campaign.toml': `repositories = ${JSON.stringify(named)}\n${more}` });
  return camp;
}

function migrate(camp: string, ...words: readonly string[]) {
  const env = { ...WORLD, ...PLANTED };
  const answer = spawnSync(process.execPath, [program, 'migrate', ...words], {
    cwd: camp,
    encoding: 'utf8',
    env,
    timeout: 60_000,
  });
  return { code: answer.status, stdout: answer.stdout, stderr: answer.stderr };
}

interface Told {
  readonly name: string;
  readonly status: string;
  readonly failure?: { readonly title: string; readonly detail: string };
  readonly planned?: {
    readonly fixes: readonly { readonly transform: string }[];
    readonly skipped: readonly { readonly path: string; readonly reason: string }[];
  };
}

function told(camp: string): ReadonlyMap<string, Told> {
  const { repositories }: { repositories: readonly Told[] } = JSON.parse(migrate(camp, 'report').stdout);
  return new Map(repositories.map((each) => [each.name.replace(/\/it.*$/, ''), each]));
}

/** What the files below a folder hold that nobody may see; links are what they are. */
function leaksIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).flatMap((name) => {
    const path = join(folder, name);
    if (!lstatSync(path).isFile()) return [];
    const [leak] = SECRET.exec(readFileSync(path, 'latin1')) ?? [];
    return leak === undefined ? [] : [name];
  });
}

describe('a campaign over hostile repositories', () => {
  test('writes and says nothing that is secret, and goes on to the next', () => {
    const home = folderWith({
      'secret.toml': `password = "${IN_A_FILE}"\n`,
      'broken.toml': `${IN_A_FILE}\n`,
      'pyproject.toml': `[tool.memfix]\n${IN_A_FILE} = 1\n`,
      'requirements.txt': `transformers==4.40 # ${IN_A_FILE}\n${IN_A_FILE}\n`,
      'secret.py': `hold("${IN_A_FILE}")\n`,
    });
    const extending = (path: string) => hostile({ 'memfix.toml': `extend = "${path}"\n` });
    const camp = campaign(
      {
        environment: extending('/proc/self/environ'),
        passwords: extending('/etc/passwd'),
        'a-file': extending(join(home, 'secret.toml')),
        'a-broken-file': extending(join(home, 'broken.toml')),
        upwards: extending('../../../../../../../../proc/self/environ'),
        'linked-config': hostile({}, link('memfix.toml', join(home, 'secret.toml'))),
        'linked-environment': hostile({}, link('memfix.toml', '/proc/self/environ')),
        'linked-link': hostile(
          { 'memfix.toml': 'extend = "base.toml"\n' },
          link('base.toml', join(home, 'broken.toml')),
        ),
        'linked-pyproject': hostile({}, link('pyproject.toml', join(home, 'pyproject.toml'))),
        'linked-requirements': hostile({}, link('requirements.txt', join(home, 'requirements.txt'))),
        'linked-source': hostile({}, link('b.py', join(home, 'secret.py'))),
        'endless-rules': hostile({}, link('.gitignore', '/dev/zero')),
        'endless-pyproject': hostile({}, link('pyproject.toml', '/dev/zero')),
        'endless-requirements': hostile({}, link('requirements.txt', '/dev/zero')),
        calm: hostile({}),
      },
      // What the code of a repository prints may be anything, whatever environment it is given.
      `verify = "tr '\\\\0' '\\\\n' < /proc/$PPID/environ; echo $(basename $PWD); ! test -e memfix.toml"\n`,
    );
    const { code, stdout, stderr } = migrate(camp, 'run', '--keep', 'all');
    expect(code).toBe(1);
    expect(stdout + stderr).not.toMatch(SECRET);
    const found = told(camp);
    const failed = [...found.values()].filter(({ status }) => status === 'failed');
    expect(failed.map(({ name, failure }) => [name.replace(/\/.*/, ''), failure?.title])).toEqual([
      ['environment', 'Config leads out of its repository'],
      ['passwords', 'Config leads out of its repository'],
      ['a-file', 'Config leads out of its repository'],
      ['a-broken-file', 'Config leads out of its repository'],
      ['upwards', 'Config leads out of its repository'],
      ['linked-config', 'Config could not be read'],
      ['linked-environment', 'Config could not be read'],
      ['linked-link', 'Config could not be read'],
    ]);
    const skipped = (name: string) => found.get(name)?.planned?.skipped;
    const out = 'it is a symlink out of the project';
    const device = 'it is a device, not a file';
    expect(skipped('linked-pyproject')).toEqual([{ path: 'pyproject.toml', reason: out }]);
    expect(skipped('linked-source')).toEqual([{ path: 'b.py', reason: out }]);
    expect(skipped('endless-rules')).toEqual([{ path: '.gitignore', reason: device }]);
    expect(skipped('endless-pyproject')).toEqual([{ path: 'pyproject.toml', reason: device }]);
    expect(skipped('calm')).toEqual([]);
    expect(found.get('calm')?.status).toBe('committed');
    expect(readdirSync(join(camp, 'logs')).length).toBeGreaterThan(5);
    for (const words of [['report'], ['report', '--csv'], ['report', '--html'], ['status']])
      expect(migrate(camp, ...words).stdout).not.toMatch(SECRET);
    expect(leaksIn(camp)).toEqual([]);
  });

  test('takes from their configs only what makes it stricter', async () => {
    const loose = [
      'unsafe-fixes = true',
      'extend-select = ["rare-word"]',
      '[transforms.rare-word]',
      'depth = 9',
    ].join('\n');
    const strict = 'select = ["calm-risk", "rare-word"]\nexclude = ["b.py"]\n';
    const camp = campaign({
      loose: hostile({ 'memfix.toml': `${loose}\n` }),
      strict: hostile({ 'memfix.toml': strict, 'b.py': 'risk()\n' }),
      ignoring: hostile({ 'memfix.toml': 'ignore = ["drop-hold"]\n' }),
      plain: hostile({}),
    });
    const fixes = () =>
      [...told(camp).values()].map(({ planned }) => planned?.fixes.map(({ transform }) => transform));
    expect(migrate(camp, 'plan').code).toBe(0);
    expect(fixes()).toEqual([['drop-hold'], [], [], ['drop-hold']]);
    expect(told(camp).get('loose')?.planned?.skipped).toEqual([
      {
        path: 'memfix.toml',
        reason:
          'it is read without `unsafe-fixes`, `extend-select`, `transforms`: the config of a repository may only make things stricter',
      },
    ]);
    const asked = 'unsafe-fixes = true\nextend-select = ["rare-word"]\n';
    put(camp, { 'campaign.toml': readFileSync(join(camp, 'campaign.toml'), 'utf8') + asked });
    expect(migrate(camp, 'plan').code).toBe(0);
    expect(fixes()).toEqual([
      ['calm-risk', 'drop-hold', 'rare-word'],
      ['calm-risk', 'rare-word'],
      ['calm-risk', 'rare-word'],
      ['calm-risk', 'drop-hold', 'rare-word'],
    ]);
  });

  test('keeps what it holds of them from other users and from git', async () => {
    const camp = campaign({ one: hostile({}) }, 'verify = "true"\n');
    git(camp, 'init', '--quiet');
    // As an earlier memfix left it.
    mkdirSync(join(camp, 'state'));
    chmodSync(join(camp, 'state'), 0o755);
    put(camp, { '.gitignore': '/mirrors/\nmine' });
    const before = process.umask(0o022);
    try {
      expect((await memfix({ cwd: camp, env: WORLD }, 'migrate', 'run', '--keep', 'all')).code).toBe(0);
    } finally {
      process.umask(before);
    }
    for (const name of ['fixes', 'logs', 'mirrors', 'patches', 'runs', 'state', 'trees'])
      expect([name, (statSync(join(camp, name)).mode & 0o777).toString(8)]).toEqual([name, '700']);
    const shown = git(camp, 'status', '--porcelain', '--untracked-files=all').trim().split('\n');
    expect(shown.map((line) => line.slice(3))).toEqual(['.gitignore', 'campaign.toml', 'repos.lock']);
    expect(readFileSync(join(camp, '.gitignore'), 'utf8')).toMatch(/^\/mirrors\/\nmine\n/);
  });
});
