import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { toy } from '../support/toy.js';
import { type Files, folderWith, put, repositoryWith } from '../workspace/folders.js';
import { memfix } from './command-line.js';

const transforms = [
  toy('new-word', 'oldword', (edit, node) => void edit.replace(node, 'newword'), {
    requires: { transformers: '4.46' },
  }),
];

const FILES: Files = {
  'requirements.txt': 'torch\ntransformers>=4.40,<4.46\n',
  'train.py': 'oldword()\n',
  'apps/new/requirements.txt': 'transformers==4.50\n',
  'apps/new/train.py': 'oldword()\n',
};

const REFUSAL =
  'train.py:1:1: new-word [left alone] oldword costs memory; left alone because the fix needs transformers 4.46 or newer, ' +
  'and requirements.txt:2 says `transformers >=4.40,<4.46`\n';

const check = (cwd: string, ...words: readonly string[]) =>
  memfix({ cwd, transforms }, 'check', '--output-format', 'concise', '-v', ...words);

describe('a fix that needs a newer version than the project asks for', () => {
  test('is refused with the line that says so; other projects of the repository are not concerned', async () => {
    const { stdout } = await check(repositoryWith(FILES));
    expect(stdout).toBe(`apps/new/train.py:1:1: new-word [safe] oldword costs memory\n${REFUSAL}`);
  });

  test('is not applied', async () => {
    const cwd = repositoryWith(FILES);
    expect((await memfix({ cwd, transforms }, 'diff', '--unsafe-fixes')).stdout).toMatch(
      /^diff --git a\/apps.*/,
    );
    expect((await memfix({ cwd, transforms }, 'diff', 'train.py')).stdout).toBe('');
  });

  test('is offered where `target-versions` says that it may be', async () => {
    const cwd = folderWith({ ...FILES, 'memfix.toml': '[target-versions]\ntransformers = "4.46"\n' });
    expect((await check(cwd, 'train.py')).stdout).toBe(
      'train.py:1:1: new-word [safe] oldword costs memory\n',
    );
    put(cwd, { 'memfix.toml': '[target-versions]\ntransformers = "4.45"\n' });
    expect((await check(cwd, 'apps/new')).stdout).toContain('and `target-versions` says `transformers 4.45`');
  });

  test('is refused for a text on standard input by the name it goes by', async () => {
    const setting = { cwd: folderWith(FILES), transforms, stdin: 'oldword()\n' };
    const at = async (name: string) =>
      (await memfix(setting, 'check', '-', '--stdin-filename', name, '--output-format', 'concise')).stdout;
    expect(await at('train.py')).toBe('');
    expect(await at('apps/new/other.py')).toBe(
      'apps/new/other.py:1:1: new-word [safe] oldword costs memory\n',
    );
    expect(await at('not/there.py')).toBe('');
  });

  test('is judged again when the project asks for another version, and only then', async () => {
    const cwd = repositoryWith(FILES);
    await wait(2100);
    const looked: string[] = [];
    const [counted = transforms[0]] = transforms.map((each) => ({
      ...each,
      detect(...given: Parameters<typeof each.detect>) {
        looked.push(given[0].path);
        return each.detect(...given);
      },
    }));
    const again = async () => {
      const setting = { cwd, transforms: counted === undefined ? [] : [counted], build: '1' };
      const { stdout } = await memfix(setting, 'check', '--output-format', 'concise');
      return [stdout, ...looked.splice(0)];
    };
    const inApp = 'apps/new/train.py:1:1: new-word [safe] oldword costs memory\n';
    const here = 'train.py:1:1: new-word [safe] oldword costs memory\n';
    expect(await again()).toEqual([inApp, 'apps/new/train.py', 'train.py']);
    expect(await again()).toEqual([inApp]);
    put(cwd, { 'requirements.txt': 'torch\ntransformers>=4.46\n' });
    expect(await again()).toEqual([inApp + here, 'train.py']);
    put(cwd, { 'apps/new/environment.yml': 'dependencies:\n  - transformers=4.40\n' });
    expect(await again()).toEqual([here, 'apps/new/train.py']);
    expect(await again()).toEqual([here]);
  });
});

describe('--target-version', () => {
  test('wins over everything that the project says', async () => {
    const cwd = folderWith({ ...FILES, 'memfix.toml': '[target-versions]\ntransformers = "4.45"\n' });
    const { stdout } = await check(cwd, 'train.py', '--target-version', 'torch=2.6,transformers=4.50');
    expect(stdout).toBe('train.py:1:1: new-word [safe] oldword costs memory\n');
    expect((await check(cwd, 'apps/new', '--target-version', 'transformers=4.45')).stdout).toContain(
      'and `--target-version` says `transformers 4.45`',
    );
  });

  test.each([
    ['troch=2.6', 'knows no package `troch`. Known: python, accelerate'],
    ['torch', 'names no version: write `torch=2.4`'],
    ['torch=new', 'names no version: write `torch=2.4`'],
    ['torch==2.4', 'names no version: write `torch=2.4`'],
  ])('%s is an error', async (words, expected) => {
    const answer = await check(folderWith(FILES), '--target-version', words);
    expect(answer.code).toBe(2);
    expect(answer.stderr).toContain(expected);
  });
});

describe('a version that nothing pins', () => {
  const old = [
    toy('new-word', 'oldword', (edit, node) => void edit.replace(node, 'newword'), {
      requires: { torch: '2.0', transformers: '4.46' },
    }),
    toy('other-word', 'plainword', (edit, node) => void edit.replace(node, 'newword'), {
      requires: { torch: '2.2' },
    }),
  ];
  const SAID = 'Nothing pins torch: 2.2 or newer is assumed (`--target-version torch=…` to change).\n';

  test('is assumed, and said once where a fix counts on it', async () => {
    const cwd = folderWith({ 'a.py': 'plainword()\n', 'b.py': 'plainword()\n' });
    const setting = { cwd, transforms: old };
    const answer = await memfix(setting, 'check', '--output-format', 'concise');
    expect(answer.stdout).toContain('a.py:1:1: other-word [safe]');
    expect(answer.stderr).toBe(
      `${SAID}2 safe findings in 2 files: 2 free memory. Run \`memfix apply\` to fix 2. Without git, add \`--allow-no-vcs\`.\n`,
    );
    expect((await memfix(setting, 'check', '-q')).stderr).toBe('');
    const diff = await memfix(setting, 'diff');
    expect(diff.stdout).not.toContain('Nothing pins');
    expect(diff.stderr).toContain(SAID);
    const verbose = await memfix(setting, 'check', '-v', 'a.py');
    expect(verbose.stdout).toContain(
      'counts on: torch 2.2 or newer: nothing pins torch: 2.2 or newer is assumed',
    );
    expect((await memfix(setting, 'apply', '--allow-no-vcs')).stderr).toContain(SAID);
    expect((await memfix(setting, 'check')).stderr).toBe('No findings in 2 files.\n');
  });

  test('is a field of the JSON', async () => {
    const cwd = folderWith({ 'a.py': 'plainword()\n' });
    const json = async (...words: readonly string[]) =>
      JSON.parse(
        (await memfix({ cwd, transforms: old }, 'check', '--output-format', 'json', ...words)).stdout,
      );
    expect(await json()).toMatchObject({
      assumed: [{ package: 'torch', atLeast: '2.2' }],
      findings: [{ premises: [{ package: 'torch', atLeast: '2.2', assumed: '2.2' }] }],
    });
    expect(await json('--target-version', 'torch=2.6')).toMatchObject({
      assumed: [],
      findings: [{ premises: [{ because: '`--target-version` says `torch 2.6`', assumed: null }] }],
    });
  });

  test('is the newest that a fix counts on, where its transform needs less', async () => {
    const { ampApi } = await import('../../transforms/amp-api.js');
    const cwd = folderWith({
      'a.py': 'import torch\n\nscaler = torch.cuda.amp.GradScaler()\n',
      'requirements.txt': 'torch>=2.4\n',
    });
    const { stdout } = await memfix({ cwd, transforms: [ampApi] }, 'check', '--output-format', 'json');
    expect(JSON.parse(stdout).findings[0]).toMatchObject({
      safety: 'safe',
      premises: [{ atLeast: '2.3', because: 'requirements.txt:1 says `torch >=2.4`' }],
    });
  });

  test('and that a fix needs newer than assumed leaves it unsafe', async () => {
    const { stdout } = await memfix({ cwd: folderWith({ 'a.py': 'oldword()\n' }), transforms: old }, 'check');
    expect(stdout).toContain('new-word  unsafe');
    expect(stdout).toContain('? Is transformers 4.46 or newer (nothing in the project says so)?');
  });

  test.each([
    [
      'a bound that allows older ones',
      { 'requirements.txt': 'torch>=1.8\n' },
      'requirements.txt:1 says `>=1.8`',
    ],
    [
      'an image that does not tell',
      { Dockerfile: 'FROM nvcr.io/nvidia/pytorch:23.10-py3\n' },
      'says `nvcr.io/nvidia/pytorch:23.10-py3`',
    ],
    ['an old Python', { Dockerfile: 'FROM python:3.7\n' }, 'nothing in the project says so'],
    ['a neighbour of old', { 'requirements.txt': 'transformers==4.30\n' }, 'nothing in the project says so'],
    [
      'a package for others',
      { 'setup.py': 'setup(install_requires=["torch>=1.8"])\n' },
      'setup.py:1 says `>=1.8`',
    ],
  ])('is not assumed beside %s', async (_, files, doubt) => {
    const cwd = folderWith({ ...files, 'a.py': 'plainword()\n' });
    const answer = await memfix({ cwd, transforms: old }, 'check');
    expect(answer.stdout).toContain('other-word  unsafe');
    expect(answer.stdout).toContain(doubt);
    expect(answer.stderr).not.toContain('Nothing pins');
  });

  test('is refused by a Dockerfile that pins an older one', async () => {
    const docker = 'FROM python:3.9\nRUN pip install \\\n    torch==1.13.1\n';
    const cwd = folderWith({ Dockerfile: docker, 'a.py': 'plainword()\n' });
    const { stdout } = await memfix({ cwd, transforms: old }, 'check', '-v');
    expect(stdout.replace(/\s+/g, ' ')).toContain(
      'left alone because the fix needs torch 2.2 or newer, and Dockerfile:2 says `torch ==1.13.1`',
    );
  });
});

describe('an environment', () => {
  const SITE = 'lib/python3.11/site-packages';
  const installed = (version: string) => ({ [`${SITE}/transformers-${version}.dist-info/METADATA`]: '' });

  test('that is active decides, and a changed one is noticed', async () => {
    const env = { VIRTUAL_ENV: folderWith(installed('4.40.0')) };
    const cwd = folderWith({ 'requirements.txt': 'transformers>=4.40\n', 'train.py': 'oldword()\n' });
    await wait(2100);
    const again = async (more: { readonly env?: Record<string, string> } = { env }) =>
      (
        await memfix(
          { cwd, transforms, build: 'environment', ...more },
          'check',
          '--output-format',
          'concise',
        )
      ).stdout;
    const safe = 'train.py:1:1: new-word [safe] oldword costs memory\n';
    expect(await again()).toBe('');
    expect(await again()).toBe('');
    rmSync(join(env.VIRTUAL_ENV, SITE), { recursive: true });
    put(env.VIRTUAL_ENV, installed('4.50.0'));
    expect(await again()).toBe(safe);
    expect(await again({})).toContain('[unsafe]');
    expect(await again()).toBe(safe);
  });

  test('of the project decides, but not for a config that is only to be stricter', async () => {
    const files = Object.entries(installed('4.50.0')).map(([path, text]) => [`.venv/${path}`, text]);
    const cwd = folderWith({ ...Object.fromEntries(files), 'train.py': 'oldword()\n' });
    expect((await check(cwd)).stdout).toContain('[safe]');
    expect((await check(cwd, '--strict-config')).stdout).toContain('[unsafe]');
  });
});

describe('--show-settings', () => {
  test('tells the config, the transforms, and each version with its place', async () => {
    const cwd = repositoryWith({ ...FILES, 'memfix.toml': 'target-versions = { torch = "2.4" }\n' });
    const answer = await memfix({ cwd, transforms }, 'check', '--show-settings');
    expect(answer).toMatchObject({ code: 0, stderr: '' });
    expect(answer.stdout).toBe(`\
config: memfix.toml
unsafe fixes: no
fail on: any
transforms: new-word
assume: nothing
versions in .:
  torch         2.4           \`target-versions\`
  transformers  >=4.40,<4.46  requirements.txt:2
versions in apps/new:
  torch         2.4     \`target-versions\`
  transformers  ==4.50  apps/new/requirements.txt:1
`);
  });

  test('tells all of a config', async () => {
    const toml = [
      ...[
        'select = ["default", "opt-in"]',
        'root = true',
        'unsafe-fixes = true',
        'exclude = ["legacy/"]',
        'unfixable = ["hear-hint"]',
      ],
      ...['[per-file-ignores]', '"tests/**" = ["drop-hold"]', '[transforms.rare-word]', 'depth = 5', ''],
    ];
    const cwd = folderWith({ 'memfix.toml': toml.join('\n'), 'a.py': '' });
    const { stdout } = await memfix({ cwd }, 'check', '--show-settings');
    expect(stdout).toBe(`\
config: memfix.toml
root: .
unsafe fixes: yes
fail on: any
transforms: drop-hold, calm-risk, hear-hint, spare-fine, rare-word
unfixable: hear-hint
exclude: legacy/
per-file-ignores:
  tests/**: drop-hold
options:
  rare-word.depth = 5
assume: nothing
versions in .: none found
`);
  });

  test('says that there are none', async () => {
    const { stdout } = await memfix(
      { cwd: folderWith({ 'a.py': '' }) },
      'check',
      '--show-settings',
      '--select',
      'opt-in',
    );
    expect(stdout).toBe(
      'config: none\nunsafe fixes: no\nfail on: any\ntransforms: rare-word\noptions:\n  rare-word.depth = 3\nassume: nothing\nversions in .: none found\n',
    );
  });

  test('as JSON', async () => {
    const cwd = folderWith({ 'requirements.txt': 'torch<2\n' });
    const { stdout } = await memfix(
      { cwd, transforms },
      'check',
      '--show-settings',
      '--output-format',
      'json',
    );
    expect(JSON.parse(stdout)).toEqual({
      version: 1,
      config: null,
      nested: [],
      root: null,
      transforms: ['new-word'],
      unsafeFixes: false,
      failOn: ['any'],
      unfixable: [],
      exclude: [],
      perFileIgnores: {},
      assume: [],
      options: {},
      versions: [
        {
          folder: '.',
          packages: [{ name: 'torch', text: '<2', source: 'requirements.txt:1', below: '2' }],
        },
      ],
    });
  });

  test('for a text on standard input', async () => {
    const setting = { cwd: folderWith(FILES), transforms, stdin: '' };
    const { stdout } = await memfix(
      setting,
      'check',
      '-',
      '--stdin-filename',
      'apps/new/x.py',
      '--show-settings',
    );
    expect(stdout).toContain('  transformers  ==4.50  apps/new/requirements.txt:1\n');
  });
});
