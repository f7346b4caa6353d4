import { appendFileSync, readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Memories } from '../../src/workspace/cache-file.js';
import { unchanged } from '../../src/workspace/unchanged.js';
import { memfix } from '../cli/command-line.js';
import { folderWith, put, repositoryWith } from './folders.js';

const FILES = {
  'a.py': 'hold()\nfine()\n',
  'b.py': '# nothing\n',
  'd.py': 'hold(:\n',
  'e.py': '# @generated\nhold()\n',
  'deep/f.py': 'risk()\n',
  'deep/.gitignore': 'ignored.py\n',
};

/** Repositories that a run has seen, long enough after their files were written for their times to be trusted. */
async function seen(count: number) {
  const all = Array.from({ length: count }, () => ({ cwd: repositoryWith(FILES), cache: folderWith() }));
  await wait(2100);
  for (const { cwd, cache } of all) await memfix({ cwd, build: '1' }, 'check', '--cache-dir', cache);
  return all.map(({ cwd, cache }) => ({
    cwd,
    lookAgain: (isTextWanted = true) => lookAgain(cwd, cache, isTextWanted),
  }));
}

function lookAgain(cwd: string, folder: string, isTextWanted: boolean) {
  const [name = ''] = readdirSync(folder).filter((each) => each.endsWith('.cache'));
  const [head = ''] = readFileSync(join(folder, name), 'utf8').split('\n');
  const { facts } = JSON.parse(head.slice(head.indexOf('{'))) as { facts: string };
  const lead = Memories.in(join(folder, name), facts).lead(cwd);
  return lead && unchanged(cwd, lead, isTextWanted);
}

test('what an earlier run saw is known again as long as all of it is as it was', async () => {
  const [{ lookAgain } = { lookAgain: () => undefined }] = await seen(1);
  const again = lookAgain();
  expect(again).toMatchObject({ files: 4, foreign: ['e.py'], crashes: [] });
  expect(again?.scans.map(({ file }) => [file.path, file.source.text])).toEqual([
    ['a.py', FILES['a.py']],
    ['deep/f.py', FILES['deep/f.py']],
  ]);
  expect(again?.skipped.map(({ path }) => path)).toEqual(['d.py']);
  expect(() => lookAgain(false)?.scans[0]?.file.source.text).toThrow('wanted after all');
});

const CHANGES: readonly (readonly [string, (cwd: string) => void])[] = [
  ['a file with nothing in it', (cwd) => appendFileSync(join(cwd, 'b.py'), 'hold()\n')],
  [
    'a file, with its old size and time',
    (cwd) => {
      const { atime, mtime } = statSync(join(cwd, 'b.py'));
      put(cwd, { 'b.py': 'hold()   \n' });
      utimesSync(join(cwd, 'b.py'), atime, mtime);
    },
  ],
  ['the time of a file', (cwd) => utimesSync(join(cwd, 'a.py'), 1, 1)],
  ['a new file', (cwd) => put(cwd, { 'deep/new.py': 'hold()\n' })],
  ['a file that is gone', (cwd) => rmSync(join(cwd, 'deep/f.py'))],
  ['a file that has moved', (cwd) => renameSync(join(cwd, 'a.py'), join(cwd, 'deep/a.py'))],
  ['rules about what is ignored', (cwd) => put(cwd, { 'deep/.gitignore': 'f.py\n' })],
  ['new rules about it', (cwd) => put(cwd, { '.gitignore': 'a.py\n' })],
];

test('it is not known again after a change', async () => {
  const repositories = await seen(CHANGES.length);
  for (const [index, { cwd, lookAgain }] of repositories.entries()) {
    const [what, change] = CHANGES[index] ?? ['nothing', () => undefined];
    expect(lookAgain(), what).toBeDefined();
    change(cwd);
    expect(lookAgain(), what).toBeUndefined();
  }
});
