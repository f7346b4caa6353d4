import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Neighbourhood } from '../../src/workspace/neighbourhood.js';
import { folderWith, put, repositoryWith } from './folders.js';

const FILES = {
  'pkg/__init__.py': '',
  'pkg/train.py': 'from .nets import Net\n',
  'pkg/nets.py': 'class Net: ...\n',
  'src/lib/tools.py': '# coding: latin-1\nname = "\xe9"\n',
  'app/run.py': '',
};

function pathOf(cwd: string, from: string, dotted: string): string | undefined {
  return new Neighbourhood(cwd, cwd, new Map()).moduleFor(from, dotted)?.path;
}

describe('the file behind an import', () => {
  test('beside the file, in the folders above it, and in `src/`', () => {
    const cwd = repositoryWith(FILES);
    expect(pathOf(cwd, 'pkg/train.py', '.nets')).toBe('pkg/nets.py');
    expect(pathOf(cwd, 'pkg/train.py', 'nets')).toBe('pkg/nets.py');
    expect(pathOf(cwd, 'app/run.py', 'pkg.nets')).toBe('pkg/nets.py');
    expect(pathOf(cwd, 'app/run.py', 'pkg')).toBe('pkg/__init__.py');
    expect(pathOf(cwd, 'pkg/train.py', '.')).toBe('pkg/__init__.py');
    expect(pathOf(cwd, 'app/run.py', 'lib.tools')).toBe('src/lib/tools.py');
    expect(pathOf(cwd, 'app/run.py', 'nets')).toBeUndefined();
    expect(pathOf(cwd, 'app/run.py', 'lib')).toBeUndefined();
    expect(pathOf(cwd, 'pkg/train.py', 'train')).toBeUndefined();
  });

  test('named from where memfix runs, also outside that folder', () => {
    const cwd = repositoryWith(FILES);
    const inside = new Neighbourhood(join(cwd, 'app'), cwd, new Map());
    expect(inside.moduleFor('run.py', 'pkg.nets')?.path).toBe(join(cwd, 'pkg/nets.py').replaceAll('\\', '/'));
    expect(inside.moduleFor(join(cwd, 'pkg/train.py'), '.nets')?.text).toBe(FILES['pkg/nets.py']);
  });

  test('not above the root of the repository', () => {
    const outer = folderWith({ 'util.py': '', 'repo/.git/HEAD': '', 'repo/a.py': '' });
    expect(pathOf(outer, 'repo/a.py', 'util')).toBeUndefined();
    expect(pathOf(outer, 'repo/a.py', '..util')).toBeUndefined();
  });

  test('what cannot be read is not known', () => {
    const cwd = folderWith({ 'a.py': '', 'bytes.py': Buffer.from('x = "\xff"\n', 'latin1') });
    mkdirSync(join(cwd, 'folder.py'));
    symlinkSync(join(cwd, 'gone.py'), join(cwd, 'link.py'));
    for (const name of ['bytes', 'folder', 'link']) expect(pathOf(cwd, 'a.py', name)).toBeUndefined();
  });
});

test('earlier answers hold until a file changes, comes or goes', () => {
  const cwd = repositoryWith(FILES);
  const fresh = () => new Neighbourhood(cwd, cwd, new Map());
  const before = fresh();
  const relied = [
    ['pkg/train.py', '.nets', before.moduleFor('pkg/train.py', '.nets')?.key ?? ''],
    ['pkg/train.py', 'later', ''],
    ['pkg/train.py', '', before.versionsFor('pkg/train.py').key],
  ] as const;
  expect(fresh().answersAsBefore(relied)).toBe(true);
  put(cwd, { 'pkg/other.py': '' });
  expect(fresh().answersAsBefore(relied)).toBe(true);
  put(cwd, { 'pkg/nets.py': 'class Net(Base): ...\n' });
  expect(fresh().answersAsBefore(relied)).toBe(false);
  put(cwd, { 'pkg/nets.py': FILES['pkg/nets.py'], 'later.py': '' });
  expect(fresh().answersAsBefore(relied)).toBe(false);
  expect(fresh().answersAsBefore(relied.slice(0, 1))).toBe(true);
  put(cwd, { 'pkg/requirements.txt': 'torch<2\n' });
  expect(fresh().answersAsBefore(relied.slice(2))).toBe(false);
});
