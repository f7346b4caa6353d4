import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { type Files, folderWith, git, put, repositoryWith } from '../workspace/folders.js';
import { remotesWith, WORLD } from '../workspace/migrate/remotes.js';
import { memfix } from './command-line.js';
import { toyProgram } from './toy-program.js';

const PROGRAM = toyProgram();

const URLS = [
  'https://github.com/acme/one.git',
  'git@github.com:acme/two.git',
  'https://gitlab.com/g/h/three',
];
const FILES = {
  'a.py': 'hold()\nrisk()\nrare()\n',
  'old.py': 'hold()\nreturn\n',
  'sub/b.py': 'hold(1)\r\n',
  '.gitignore': '*.log\n',
};

const campaignWith = (lines: string, urls: readonly string[] = URLS) =>
  folderWith({ 'campaign.toml': `repositories = ${JSON.stringify(urls)}\n${lines}` });

const migrate = (cwd: string, ...words: readonly string[]) =>
  memfix({ cwd, env: WORLD }, 'migrate', ...words);

/** Runs it as the tools do, in a checkout. What is changed then, as a patch; nothing where it failed. */
function outcomeOf(
  script: string,
  env: Readonly<Record<string, string>> = {},
  files: Files = FILES,
): string | undefined {
  const checkout = repositoryWith(files);
  const { status, stderr } = spawnSync('sh', ['-c', script], {
    cwd: checkout,
    env: { ...WORLD, MEMFIX: `${process.execPath} ${PROGRAM}`, ...env },
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  git(checkout, 'add', '--all');
  return status === 0 ? git(checkout, 'diff', '--cached', '--no-color') : undefined;
}

/** The patch that a campaign with these settings makes of the same files. */
async function patchOf(lines: string, files: Files = FILES): Promise<string> {
  const bare = join(remotesWith({ one: files }), 'one.git');
  const camp = campaignWith(lines, [bare]);
  await migrate(camp, 'run', '--push');
  return git(bare, 'diff', '--no-color', 'main', 'memfix/fixes');
}

describe('for Sourcegraph', () => {
  test('a batch spec that is valid, and that publishes nothing', async () => {
    const camp = campaignWith('branch = "tidy/memory"\nmessage = "Tidy: {count}"\n');
    const { code, stdout, stderr } = await migrate(camp, 'export', '--sourcegraph');
    expect([code, stderr]).toEqual([0, '']);
    const spec = parse(stdout);
    expect(problemsOf(spec)).toEqual([]);
    expect(spec.on).toEqual([
      { repository: 'github.com/acme/one' },
      { repository: 'github.com/acme/two' },
      { repository: 'gitlab.com/g/h/three' },
    ]);
    expect(spec.changesetTemplate).toMatchObject({ branch: 'tidy/memory', published: false });
    expect(spec.changesetTemplate.commit.message).toMatch(/^Fix GPU memory waste\n\nMade by memfix \d/);
  });

  test('the checks of this test see what is wrong with a spec', () => {
    expect(problemsOf({ name: 'a b', on: [{ repository: 1 }], steps: [{ run: 'x' }], odd: 1 })).toEqual([
      'odd is unknown',
      'name',
      'on',
      'steps',
      'changesetTemplate is missing',
    ]);
  });

  test('its step takes from a config only what the campaign takes', async () => {
    const config = 'unsafe-fixes = true\nextend-select = ["rare-word"]\nexclude = ["sub"]\n';
    const files = { ...FILES, 'memfix.toml': config };
    const { stdout } = await migrate(campaignWith(''), 'export', '--sourcegraph');
    const expected = await patchOf('', files);
    expect(new Set(expected.match(/^\+\w.*$/gm))).toEqual(new Set(['+release()']));
    expect(expected).not.toContain('sub/b.py');
    expect(outcomeOf(parse(stdout).steps[0].run, {}, files)).toBe(expected);
  });

  test('its step changes what the campaign changes', async () => {
    const lines = 'extend-select = ["rare-word"]\nunsafe-fixes = true\n';
    const { stdout } = await migrate(campaignWith(lines), 'export', '--sourcegraph');
    const expected = await patchOf(lines);
    expect(expected).toContain('+common()');
    expect(outcomeOf(parse(stdout).steps[0].run)).toBe(expected);
  });
});

describe('for multi-gitter', () => {
  test('a script and a configuration for each server', async () => {
    const camp = campaignWith('[pull-request]\nlabels = ["memory"]\n');
    const { code, stderr } = await migrate(camp, 'export', '--multi-gitter', '--output', 'out');
    expect(code).toBe(0);
    expect(readdirSync(join(camp, 'out')).sort()).toEqual([
      'github.com.yaml',
      'gitlab.com.yaml',
      'memfix.sh',
    ]);
    expect(stderr).toContain(
      `multi-gitter run ${join(camp, 'out', 'memfix.sh')} --config out/github.com.yaml`,
    );
    const [github, gitlab] = ['github', 'gitlab'].map((name) =>
      parse(readFileSync(join(camp, 'out', `${name}.com.yaml`), 'utf8')),
    );
    expect(github).toMatchObject({
      platform: 'github',
      repo: ['acme/one', 'acme/two'],
      branch: 'memfix/fixes',
      draft: true,
      labels: ['memory'],
      'conflict-strategy': 'skip',
    });
    expect(gitlab).toMatchObject({ platform: 'gitlab', project: ['g/h/three'] });
    for (const key of [...Object.keys(github), ...Object.keys(gitlab)]) expect(OPTIONS).toContain(key);
  });

  const scriptFor = async (lines: string) => {
    const camp = campaignWith(lines);
    await migrate(camp, 'export', '--multi-gitter', '--quiet');
    return join(camp, 'multi-gitter', 'memfix.sh');
  };

  test('the script runs as a program, and changes what the campaign changes', async () => {
    const lines = 'ignore = ["calm-risk"]\n';
    expect(outcomeOf(await scriptFor(lines))).toBe(await patchOf(lines));
  });

  test.each([
    [
      'succeeds, whatever it writes',
      "verify = 'echo x > new.py; echo y >> a.py; grep -q release a.py'\n",
      true,
    ],
    ['fails', "verify = 'grep -q hold a.py'\n", false],
    ['compiles', "verify = 'compileall'\n", true],
  ])('a verify command that %s', async (_, lines, isFine) => {
    expect(outcomeOf(await scriptFor(lines))).toBe(isFine ? await patchOf('') : undefined);
  });
});

test('what cannot be exported is said', async () => {
  const bare = join(remotesWith({ one: FILES }), 'one.git');
  const local = campaignWith('', [bare]);
  const mixed = campaignWith('', [bare, ...URLS]);
  expect(await migrate(local, 'export', '--sourcegraph')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Repositories left out'),
  });
  const { code, stdout, stderr } = await migrate(mixed, 'export', '--sourcegraph');
  expect([code, parse(stdout).on.length, stderr]).toEqual([0, 3, expect.stringContaining('1 repository')]);
  expect(await migrate(mixed, 'export')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('for what'),
  });

  await migrate(local, 'plan');
  const [file = ''] = readdirSync(join(local, 'fixes'));
  const [offer] = JSON.parse(readFileSync(join(local, 'fixes', file), 'utf8')).offers;
  const decided = { ...offer, verdict: 'reject' };
  put(local, { [`decisions/${file.replace('.json', '.jsonl')}`]: `${JSON.stringify(decided)}\n` });
  expect(await migrate(local, 'export', '--multi-gitter')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Decisions cannot be exported'),
  });
});

/** What `multi-gitter run` takes, of what we write. */
const OPTIONS = [
  ...['platform', 'base-url', 'repo', 'project', 'branch', 'commit-message', 'pr-title', 'pr-body', 'draft'],
  ...['labels', 'reviewers', 'conflict-strategy', 'fetch-depth', 'concurrent'],
];

/** What the published schema of batch specs has against one, of the parts that we write. */
function problemsOf(spec: Record<string, unknown>): readonly string[] {
  const isText = (value: unknown): value is string => typeof value === 'string';
  const has = (value: unknown, required: readonly string[], optional: readonly string[] = []) =>
    typeof value === 'object' &&
    value !== null &&
    required.every((key) => key in value) &&
    Object.keys(value).every((key) => [...required, ...optional].includes(key));
  const every = (value: unknown, isGood: (item: never) => boolean) =>
    Array.isArray(value) && (value as never[]).every(isGood);
  const checks: Readonly<Record<string, (value: never) => boolean>> = {
    version: (value) => value === 2,
    name: (value) => isText(value) && /^[\w.-]+$/.test(value),
    description: isText,
    on: (value) =>
      every(value, (item: { repository: unknown }) => has(item, ['repository']) && isText(item.repository)),
    steps: (value) =>
      every(
        value,
        (item: { run: unknown; container: unknown }) =>
          has(item, ['run', 'container']) && isText(item.run) && isText(item.container),
      ),
    changesetTemplate: (value: { commit: { message: unknown }; title: unknown; published: unknown }) =>
      has(value, ['title', 'branch', 'commit'], ['body', 'published']) &&
      has(value.commit, ['message'], ['author']) &&
      isText(value.commit.message) &&
      isText(value.title) &&
      [true, false, 'draft'].includes(value.published as boolean),
  };
  const known = Object.keys(checks);
  return [
    ...Object.keys(spec)
      .filter((key) => !known.includes(key))
      .map((key) => `${key} is unknown`),
    ...known.filter((key) => key in spec && checks[key]?.(spec[key] as never) === false),
    ...['name', 'changesetTemplate'].filter((key) => !(key in spec)).map((key) => `${key} is missing`),
  ];
}
