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
    put(cwd, { 'requirements.txt': 'transformers>=4.46\n' });
    expect(await again()).toEqual([inApp + here, 'train.py']);
    put(cwd, { 'apps/new/environment.yml': 'dependencies:\n  - transformers=4.40\n' });
    expect(await again()).toEqual([here, 'apps/new/train.py']);
    expect(await again()).toEqual([here]);
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
transforms: new-word
versions in .:
  transformers  >=4.40,<4.46  requirements.txt:2
  torch         2.4           \`target-versions\`
versions in apps/new:
  transformers  ==4.50  apps/new/requirements.txt:1
  torch         2.4     \`target-versions\`
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
    expect(stdout).toBe('config: none\nunsafe fixes: no\ntransforms: rare-word\nversions in .: none found\n');
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
      transforms: ['new-word'],
      unsafeFixes: false,
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
    expect(stdout).toContain('versions in apps/new:\n  transformers  ==4.50  apps/new/requirements.txt:1\n');
  });
});
