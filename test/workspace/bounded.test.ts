import { spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import {
  bytesOf,
  LARGEST_FILE,
  LARGEST_SETTINGS,
  LARGEST_TOML,
  settingsText,
  textOf,
} from '../../src/workspace/bounded.js';
import { memfix } from '../cli/command-line.js';
import { toy } from '../support/toy.js';
import { type Files, folderWith, put, repositoryWith } from './folders.js';

/** A fix that depends on a version makes memfix look for one in all files that may name it. */
const transforms = [
  toy('new-word', 'oldword', (edit, node) => void edit.replace(node, 'newword'), {
    requires: { transformers: '4.30' },
  }),
];

const check = (cwd: string, build?: string) =>
  memfix({ cwd, transforms, ...(build && { build }) }, 'check', '--output-format', 'concise');

const FOUND = 'train.py:1:1: new-word [safe] oldword costs memory\n';
const OUT = 'it is a symlink out of the project';
const PIPE = 'it is a named pipe, not a file';
const DEVICE = 'it is a device, not a file';

/** A repository with a file to report and something else that is no ordinary file. */
function repositoryAnd(make: (cwd: string) => void, files: Files = {}): string {
  const cwd = repositoryWith({ 'train.py': 'oldword()\n', ...files });
  make(cwd);
  return cwd;
}

const pipe = (name: string) => (cwd: string) => void spawnSync('mkfifo', [join(cwd, name)]);
const link = (name: string, to: string) => (cwd: string) => symlinkSync(to, join(cwd, name));
const huge = (name: string, size: number) => (cwd: string) => {
  writeFileSync(join(cwd, name), '');
  truncateSync(join(cwd, name), size);
};

const SETTINGS = [
  'pyproject.toml',
  'requirements.txt',
  'requirements-dev.txt',
  'setup.cfg',
  'environment.yml',
  '.gitignore',
];

describe('a file that memfix reads besides sources is named and left out, and the run goes on', () => {
  test.each([...SETTINGS, 'uv.lock', 'poetry.lock'])('%s', async (name) => {
    const other = name.endsWith('.toml') ? LARGEST_TOML : LARGEST_SETTINGS;
    const size = name.endsWith('.lock') ? LARGEST_FILE : other;
    for (const [make, reason] of [
      [link(name, '/dev/zero'), DEVICE],
      [link(name, '/etc/passwd'), OUT],
      [pipe(name), PIPE],
      [huge(name, 2 * size), `it is ${size / 512 / 1024} MB, over the limit of ${size / 1024 / 1024} MB`],
    ] as const) {
      const { code, stdout } = await check(repositoryAnd(make));
      expect({ code, stdout }).toEqual({ code: 1, stdout: `${FOUND}${name}: skipped: ${reason}\n` });
    }
  });

  test('in a folder that is a link, and where another file includes it', async () => {
    const elsewhere = folderWith({ 'base.txt': 'transformers==4.20\n' });
    const { stdout } = await check(
      repositoryAnd(
        (cwd) => {
          link('requirements', elsewhere)(cwd);
          pipe('more.txt')(cwd);
          // The other one is a repository of its own: that does not make it a part of this one.
          mkdirSync(join(elsewhere, '.git'));
        },
        { 'requirements.txt': '-r more.txt\n-r requirements/base.txt\n' },
      ),
    );
    expect(stdout).toBe(`${FOUND}more.txt: skipped: ${PIPE}\nrequirements/base.txt: skipped: ${OUT}\n`);
  });

  test('is named again by a run that finds nothing changed', async () => {
    const cwd = repositoryAnd(pipe('setup.cfg'), { '.gitignore': '.memfix_cache\n' });
    // Times tell of changes only after a while.
    await pause(2100);
    for (let run = 0; run < 3; run++) {
      const { stdout } = await check(cwd, 'one');
      expect(stdout).toBe(`${FOUND}setup.cfg: skipped: ${PIPE}\n`);
    }
  });

  test('an ordinary link inside the project is read', async () => {
    const make = link('requirements.txt', 'pins/base.txt');
    const { stdout } = await check(repositoryAnd(make, { 'pins/base.txt': 'transformers==4.20\n' }));
    expect(stdout).toBe('');
  });
});

test('a source that is a link out of the project is left to its owner, unless it is named', async () => {
  const other = repositoryWith({ 'shared.py': 'oldword()\n' });
  const cwd = repositoryAnd(link('linked.py', join(other, 'shared.py')));
  const { stdout } = await check(cwd);
  expect(stdout).toBe(`${FOUND}linked.py: skipped: ${OUT}\n`);
  const named = await memfix({ cwd, transforms }, 'check', '--output-format', 'concise', 'linked.py');
  expect(named.stdout).toContain('new-word');
});

test('what a pipe, a device or a file of any size holds is never waited for', () => {
  const cwd = folderWith({ 'small.txt': 'text' });
  pipe('pipe')(cwd);
  huge('large', 2 * LARGEST_SETTINGS)(cwd);
  const reasons: string[] = [];
  const bounds = { most: LARGEST_SETTINGS, root: cwd };
  const read = (name: string) => settingsText(join(cwd, name), bounds, (reason) => reasons.push(reason));
  expect([read('small.txt'), read('absent'), read('small.txt/absent')]).toEqual([
    'text',
    undefined,
    undefined,
  ]);
  expect(reasons).toEqual([]);
  expect([read('pipe'), read('large')]).toEqual([undefined, undefined]);
  expect(reasons).toEqual([PIPE, 'it is 8 MB, over the limit of 4 MB']);
  expect(() => bytesOf(join(cwd, 'pipe'))).toThrow(PIPE);
  expect(() => bytesOf('/dev/zero')).toThrow(DEVICE);
  expect(() => bytesOf(join(cwd, 'large'), 1024)).toThrow('over the limit');
  expect(textOf(join(cwd, 'pipe'))).toBeUndefined();
  // It says of itself that it is empty.
  expect(textOf('/proc/self/stat')).toContain(`${process.pid} (`);
});

test('a model that is no ordinary file is no model', async () => {
  const cwd = folderWith();
  put(cwd, { 'other/config.json': '{}' });
  pipe('config.json')(cwd);
  for (const word of ['config.json', '/dev/zero'])
    expect(await memfix({ cwd }, 'budget', word)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Unknown model'),
    });
  // Nor is its folder one: it is then asked for training scripts.
  expect(await memfix({ cwd }, 'budget', '.')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('No script here trains a model that it names.'),
  });
  // One that is no model may be anything, and is not quoted.
  const { stderr } = await memfix({ cwd }, 'budget', '/etc/passwd');
  expect(stderr).toContain('`/etc/passwd` is none of what a budget is made of\n');
  expect(stderr).not.toContain('root');
});
