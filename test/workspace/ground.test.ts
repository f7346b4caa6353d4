import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { discover } from '../../src/workspace/discover.js';
import { Ground, type Walked } from '../../src/workspace/ground.js';
import { type Files, folderWith, git, put, repositoryWith } from './folders.js';

const FILES: Files = {
  '.gitignore': 'ignored.py\n',
  'a.py': '',
  'ignored.py': '',
  'inner/b.py': '',
  'inner/deep/c.py': '',
  'inner/notes.txt': '',
  'other/d.py': '',
};

/** Longer than the clock's grain, so that the times of folders are to be trusted. */
const settled = () => wait(2100);

const fresh = (cwd: string, folder = cwd) =>
  discover([folder], { cwd, excludes: () => false, sees: () => undefined });

/** Walks with what an earlier walk remembers; says also whether that was of use. */
function remembering(known: ReadonlyMap<string, Walked>) {
  const memory = new Map(known);
  const news = new Map<string, Walked>();
  const ground = (cwd: string) => {
    const made = new Ground(cwd);
    made.memory = {
      recallWalk: (folder) => memory.get(folder),
      rememberWalk: (folder, walked) => void news.set(folder, walked),
    };
    return made;
  };
  return { ground, news };
}

const CHANGES: readonly (readonly [string, (cwd: string) => void])[] = [
  ['a new file', (cwd) => put(cwd, { 'inner/deep/new.py': '' })],
  ['a file that is gone', (cwd) => rmSync(join(cwd, 'inner/b.py'))],
  ['a file that has moved', (cwd) => renameSync(join(cwd, 'a.py'), join(cwd, 'other/a.py'))],
  ['a file of another kind', (cwd) => renameSync(join(cwd, 'inner/notes.txt'), join(cwd, 'inner/notes.py'))],
  ['a new folder', (cwd) => put(cwd, { 'fresh/e.py': '' })],
  ['a folder that is gone', (cwd) => rmSync(join(cwd, 'inner/deep'), { recursive: true })],
  [
    'a folder in place of a file',
    (cwd) => {
      rmSync(join(cwd, 'inner/b.py'));
      mkdirSync(join(cwd, 'inner/b.py'));
    },
  ],
  ['other rules in the same file', (cwd) => writeFileSync(join(cwd, '.gitignore'), 'a.py\n')],
  ['rules where there were none', (cwd) => put(cwd, { 'inner/.gitignore': 'deep/\n' })],
  ['rules of one clone', (cwd) => put(cwd, { '.git/info/exclude': 'd.py\n' })],
  ['another file that is ignored', (cwd) => put(cwd, { 'inner/ignored.py': '' })],
  ['an environment', (cwd) => put(cwd, { 'inner/pyvenv.cfg': '' })],
  ['a link', (cwd) => symlinkSync(join(cwd, 'ignored.py'), join(cwd, 'link.py'))],
  ['a repository inside', (cwd) => git(join(cwd, 'other'), 'init', '--quiet')],
  ['no repository any more', (cwd) => rmSync(join(cwd, '.git'), { recursive: true })],
];

test('a walk that is remembered finds what a fresh one finds, whatever has changed', async () => {
  const worlds = CHANGES.map(([name, change]) => ({ name, change, cwd: repositoryWith(FILES) }));
  await settled();
  const first = remembering(new Map());
  for (const { cwd } of worlds) first.ground(cwd).walk(cwd);
  expect(first.news.size).toBe(worlds.length);
  for (const { cwd, name, change } of worlds) {
    const second = remembering(first.news);
    expect(second.ground(cwd).walk(cwd), name).toEqual(fresh(cwd));
    expect(second.news.size, name).toBe(0);
    change(cwd);
    expect(second.ground(cwd).walk(cwd).candidates, name).toEqual(fresh(cwd).candidates);
    expect(second.ground(cwd).walk(cwd).ignored, name).toEqual(fresh(cwd).ignored);
    expect(second.ground(cwd).walk(cwd).skipped, name).toEqual(fresh(cwd).skipped);
  }
});

test('rules above the folder and names from elsewhere count as in a fresh walk', async () => {
  const cwd = repositoryWith(FILES);
  const inner = join(cwd, 'inner');
  await settled();
  const first = remembering(new Map());
  first.ground(cwd).walk(inner);
  for (const place of [cwd, inner, folderWith()]) {
    const second = remembering(first.news);
    expect(second.ground(place).walk(inner)).toEqual(fresh(place, inner));
    expect(second.news.size).toBe(0);
  }
  writeFileSync(join(cwd, '.gitignore'), 'deep\n');
  expect(
    remembering(first.news)
      .ground(cwd)
      .walk(inner)
      .candidates.map(({ path }) => path),
  ).toEqual(['inner/b.py']);
});

test('a folder that has just changed may change again unseen, and is not remembered', () => {
  const cwd = repositoryWith(FILES);
  const { ground, news } = remembering(new Map());
  ground(cwd).walk(cwd);
  expect(news.size).toBe(0);
});

test('a walk that gave up is not one for those who want all', () => {
  const cwd = repositoryWith(FILES);
  const ground = new Ground(cwd);
  expect(ground.walk(cwd, 2).isCut).toBe(true);
  expect(ground.walk(cwd).candidates).toHaveLength(4);
  expect(ground.walk(cwd, 2).candidates).toHaveLength(4);
});
