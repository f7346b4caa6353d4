import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fill } from '../../../src/workspace/prove/copy.js';
import { stateOf, type Tree, treeOf } from '../../../src/workspace/prove/tree.js';
import { commit, folderWith, git, listing, put, repositoryWith } from '../folders.js';

const NO_WISHES = { link: [], copy: [] };

function copied(tree: Tree): string {
  const folder = join(folderWith(), 'copy');
  fill(tree, folder);
  return folder;
}

test('a copy holds what the user sees: changed, new and staged files, and none that is deleted', () => {
  const cwd = repositoryWith({ 'same.py': 'a', 'changed.py': 'a', 'gone.py': 'a', 'sub/deep.py': 'a' });
  put(cwd, { 'changed.py': 'b', 'new.py': 'n', 'staged.py': 's' });
  git(cwd, 'add', 'staged.py');
  rmSync(join(cwd, 'gone.py'));
  const tree = treeOf(join(cwd, 'sub'), NO_WISHES);
  expect(tree).toMatchObject({ root: cwd, uncommitted: 4, copied: [], linked: [], left: [] });
  const folder = copied(tree);
  expect(listing(folder)).toEqual(['changed.py', 'new.py', 'same.py', 'staged.py', 'sub/deep.py']);
  expect(readFileSync(join(folder, 'changed.py'), 'utf8')).toBe('b');
});

test('modes and links are kept; a link that leaves the tree still leads there', () => {
  const outside = folderWith({ 'data.txt': 'outside' });
  const cwd = folderWith({ 'run.sh': '', 'a.py': 'a' });
  chmodSync(join(cwd, 'run.sh'), 0o755);
  symlinkSync('a.py', join(cwd, 'inside.py'));
  symlinkSync(join(cwd, 'a.py'), join(cwd, 'whole.py'));
  symlinkSync(outside, join(cwd, 'outside'));
  git(cwd, 'init', '--quiet');
  commit(cwd);
  const folder = copied(treeOf(cwd, NO_WISHES));
  expect(statSync(join(folder, 'run.sh')).mode & 0o777).toBe(0o755);
  expect(readlinkSync(join(folder, 'inside.py'))).toBe('a.py');
  expect(readlinkSync(join(folder, 'whole.py'))).toBe(join(folder, 'a.py'));
  expect(readFileSync(join(folder, 'outside/data.txt'), 'utf8')).toBe('outside');
});

test('nested repositories are copied without their own git', () => {
  const cwd = repositoryWith({ 'a.py': 'a' });
  put(cwd, { 'inner/b.py': 'b' });
  git(join(cwd, 'inner'), 'init', '--quiet');
  commit(join(cwd, 'inner'));
  git(cwd, 'add', 'inner');
  const folder = copied(treeOf(cwd, NO_WISHES));
  expect(listing(folder)).toEqual(['a.py', 'inner/b.py']);
});

test('ignored files: caches are left, environments linked, the rest copied; wishes come first', () => {
  const cwd = repositoryWith({ 'a.py': 'a', '.gitignore': '__pycache__/\n.venv/\nout/\ndata/\n*.bin\n' });
  put(cwd, {
    '__pycache__/a.pyc': '',
    '.venv/pyvenv.cfg': '',
    'out/old.pt': 'weights',
    'data/x/y.txt': 'x',
    'sub/w.bin': 'w',
  });
  const tree = treeOf(cwd, { link: ['data'], copy: ['out'] });
  expect(tree).toMatchObject({
    copied: [
      { path: 'sub', bytes: 1 },
      { path: 'out', bytes: 7 },
    ],
    linked: [{ path: '.venv' }, { path: 'data' }],
    left: [],
  });
  const folder = copied(tree);
  expect(lstatSync(join(folder, '.venv')).isSymbolicLink()).toBe(true);
  expect(lstatSync(join(folder, 'data')).isSymbolicLink()).toBe(true);
  expect(lstatSync(join(folder, 'out')).isDirectory()).toBe(true);
  expect(readFileSync(join(folder, 'sub/w.bin'), 'utf8')).toBe('w');
});

test('an environment that nobody ignores is linked all the same', () => {
  const cwd = repositoryWith({ 'a.py': 'a' });
  put(cwd, { 'env/pyvenv.cfg': '', 'env/lib/site.py': '' });
  expect(treeOf(cwd, NO_WISHES)).toMatchObject({ files: ['a.py'], linked: [{ path: 'env' }] });
});

test('a repository without a commit, and no repository at all, are plain folders', () => {
  const cwd = folderWith({ 'a.py': 'a', 'sub/b.py': 'b' });
  const tree = treeOf(cwd, NO_WISHES);
  expect(tree).toMatchObject({ commit: undefined, files: [], copied: [{ path: 'a.py' }, { path: 'sub' }] });
  expect(listing(copied(tree))).toEqual(['a.py', 'sub/b.py']);
  git(cwd, 'init', '--quiet');
  const young = treeOf(cwd, NO_WISHES);
  expect(young).toMatchObject({ commit: undefined, files: ['a.py', 'sub/b.py'] });
  expect(stateOf(young)).toBe('');
});

test('the state of a tree changes with what is in it', () => {
  const cwd = repositoryWith({ 'a.py': 'a' });
  const tree = treeOf(cwd, NO_WISHES);
  const before = stateOf(tree);
  mkdirSync(join(cwd, 'empty'));
  expect(stateOf(tree)).toBe(before);
  put(cwd, { 'made.txt': '' });
  expect(stateOf(tree)).not.toBe(before);
});
