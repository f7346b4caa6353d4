import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { LARGEST_FILE } from '../../src/workspace/bounded.js';
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
  return new Neighbourhood(cwd, cwd, { configured: new Map() }).moduleFor(from, dotted)?.path;
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
    const inside = new Neighbourhood(join(cwd, 'app'), cwd, { configured: new Map() });
    expect(inside.moduleFor('run.py', 'pkg.nets')?.path).toBe(join(cwd, 'pkg/nets.py').replaceAll('\\', '/'));
    expect(inside.moduleFor(join(cwd, 'pkg/train.py'), '.nets')?.text).toBe(FILES['pkg/nets.py']);
  });

  test('not above the root of the repository', () => {
    const outer = folderWith({ 'util.py': '', 'repo/.git/HEAD': '', 'repo/a.py': '' });
    expect(pathOf(outer, 'repo/a.py', 'util')).toBeUndefined();
    expect(pathOf(outer, 'repo/a.py', '..util')).toBeUndefined();
  });

  test('what is no file is not known, and of one in no known encoding only words are', () => {
    const cwd = folderWith({ 'a.py': '', 'bytes.py': Buffer.from('x = "\xff"\n', 'latin1') });
    mkdirSync(join(cwd, 'folder.py'));
    symlinkSync(join(cwd, 'gone.py'), join(cwd, 'link.py'));
    for (const name of ['folder', 'link']) expect(pathOf(cwd, 'a.py', name)).toBeUndefined();
    const bytes = new Neighbourhood(cwd, cwd, { configured: new Map() }).moduleFor('a.py', 'bytes');
    expect(bytes).toMatchObject({ path: 'bytes.py', isGarbled: true });
  });
});

describe('the files that have a word', () => {
  const namesOf = (cwd: string, from: string, word: string, top = cwd) =>
    new Neighbourhood(cwd, top, { configured: new Map() })
      .filesWith(from, { word, beside: [] })
      .files?.map(({ path }) => path);

  test('all below the root of the repository, but environments and the file itself', () => {
    const cwd = repositoryWith({
      'pkg/loss.py': 'def loss(): ...\n',
      'pkg/train.py': 'from .loss import loss\n',
      'scripts/run.py': 'import pkg.train\nprint("loss")\n',
      'scripts/other.py': 'losses = total_loss\n',
      'build/copy.py': 'loss()\n',
      '.venv/pyvenv.cfg': '',
      '.venv/lib/site.py': 'loss()\n',
      '.gitignore': 'build/\n',
      'notes.txt': 'loss\n',
    });
    expect(namesOf(cwd, 'pkg/loss.py', 'loss')).toEqual(['pkg/train.py', 'scripts/run.py']);
    expect(namesOf(join(cwd, 'pkg'), 'loss.py', 'loss', cwd)).toEqual([
      'train.py',
      join(cwd, 'scripts/run.py').replaceAll('\\', '/'),
    ]);
    expect(namesOf(cwd, './pkg/../pkg/loss.py', 'loss')).toEqual(['pkg/train.py', 'scripts/run.py']);
    expect(namesOf(cwd, 'stdin.py', 'loss')).toHaveLength(4);
    expect(namesOf(cwd, 'pkg/loss.py', 'gain')).toEqual([]);
  });

  test('also those that git ignores, but not what a folder of data holds', () => {
    const cwd = repositoryWith({
      'loss.py': 'def loss(): ...\n',
      'local.py': 'loss()\n',
      'mine/__init__.py': '',
      'mine/deep/run.py': 'loss()\n',
      'mine/deep/data/more/run.py': 'loss()\n',
      'data/2026/run.py': 'loss()\n',
      '.gitignore': 'local.py\nmine/\ndata/\n',
    });
    expect(namesOf(cwd, 'not-saved.py', 'loss')).toEqual(['loss.py', 'local.py', 'mine/deep/run.py']);
    const around = () => new Neighbourhood(cwd, cwd, { configured: new Map() });
    const { key } = around().filesWith('loss.py', { word: 'loss', beside: [] });
    put(cwd, { 'local.py': 'loss().backward()\n' });
    expect(around().answersAsBefore([['loss.py', '?loss', key]])).toBe(false);
    put(cwd, { 'data/__init__.py': '', 'data/2026/__init__.py': '' });
    expect(namesOf(cwd, 'not-saved.py', 'loss')).toContain('data/2026/run.py');
  });

  test('and those that may not be opened, or are in no known encoding', () => {
    const cwd = repositoryWith({
      'a.py': '',
      'bytes.py': Buffer.from('loss = "\xff"\n', 'latin1'),
      'large.py': Buffer.alloc(LARGEST_FILE + 1, ' '),
    });
    const { files } = new Neighbourhood(cwd, cwd, { configured: new Map() }).filesWith('a.py', {
      word: 'loss',
      beside: [],
    });
    expect(files?.map(({ path }) => path)).toEqual(['bytes.py', 'large.py']);
    expect(files?.map((file) => file.read()?.isGarbled)).toEqual([true, undefined]);
  });

  test('but not those of another program', () => {
    const files = {
      'pkg/loss.py': 'def loss(): ...\n',
      'apps/other/run.py': 'from loss import loss\n',
      'apps/other/loss.py': 'def loss(): ...\n',
    };
    expect(namesOf(repositoryWith(files), 'pkg/loss.py', 'loss')).toEqual([]);
    expect(namesOf(repositoryWith({ ...files, 'all.ipynb': '{}' }), 'pkg/loss.py', 'loss')).toHaveLength(2);
    expect(namesOf(repositoryWith(files), 'pkg/not-saved.py', 'loss')).toHaveLength(3);
  });

  test('a notebook that joins two programs is noticed', async () => {
    const cwd = repositoryWith({ 'a/a.py': 'def loss(): ...\n', 'b/b.py': 'loss()\n' });
    await wait(2100);
    const around = () => new Neighbourhood(cwd, cwd, { configured: new Map() });
    const { key } = around().filesWith('a/a.py', { word: 'loss', beside: [] });
    const relied = [['a/a.py', '?loss', key]] as const;
    expect(around().answersAsBefore(relied)).toBe(true);
    put(cwd, { 'all.ipynb': '{}' });
    expect(around().answersAsBefore(relied)).toBe(false);
  });

  test('are not told where they are very many', () => {
    const many = Object.fromEntries(Array.from({ length: 201 }, (_, at) => [`m${at}.py`, 'loss()\n']));
    expect(namesOf(repositoryWith({ ...many, 'a.py': '' }), 'a.py', 'loss')).toBeUndefined();
    const { 'm0.py': _, ...fewer } = many;
    expect(namesOf(repositoryWith({ ...fewer, 'a.py': '' }), 'a.py', 'loss')).toHaveLength(200);
  });

  test('are not told in a package of very many files, and nothing is read', () => {
    const package_ = Array.from({ length: 2501 }, (_, at) => [`pkg/m${at}.py`, 'loss\n'] as const);
    const cwd = repositoryWith({
      ...Object.fromEntries(package_),
      'pkg/__init__.py': '',
      'run.py': 'loss\n',
    });
    const around = new Neighbourhood(cwd, cwd, { configured: new Map() }, undefined, () => {
      throw new Error('searched');
    });
    expect(around.filesWith('pkg/m7.py', { word: 'loss', beside: [] }).files).toBeUndefined();
    expect(() => around.filesWith('run.py', { word: 'loss', beside: [] })).toThrow('searched');
  });

  test('are the same for the first question and for a later one', () => {
    const cwd = repositoryWith({
      'a.py': '',
      'b.py': 'from a import loss\n',
      'c.py': 'from far import loss\n',
      'd.py': 'from a import losses\n',
    });
    const door = new Neighbourhood(cwd, cwd, { configured: new Map() });
    const ask = (word: string, ...beside: string[]) => door.filesWith('a.py', { word, beside });
    const first = ask('loss', 'a', 'b');
    expect(first.files?.map(({ path }) => path)).toEqual(['b.py']);
    for (let at = 0; at < 6; at++) expect(ask(`other${at}`).files).toEqual([]);
    expect(ask('loss', 'b', 'a').key).toBe(first.key);
    expect(ask('loss').files).toHaveLength(2);
  });

  test('are packages, and files that have what is needed, where something is', () => {
    const cwd = repositoryWith({
      'a.py': '',
      'b.py': 'loss(), jit\n',
      'c.py': 'loss()\n',
      'd/__init__.py': 'from a import loss\n',
    });
    const door = new Neighbourhood(cwd, cwd, { configured: new Map() });
    const { files, key } = door.filesWith('a.py', { word: 'loss', beside: [], needs: ['jit'] });
    expect(files?.map(({ path }) => path)).toEqual(['b.py', 'd/__init__.py']);
    expect(door.filesWith('a.py', { word: 'loss', beside: [] }).files).toHaveLength(3);
    const relied = [['a.py', '?loss +jit', key]] as const;
    expect(new Neighbourhood(cwd, cwd, { configured: new Map() }).answersAsBefore(relied)).toBe(true);
    put(cwd, { 'c.py': 'loss(), jit\n' });
    expect(new Neighbourhood(cwd, cwd, { configured: new Map() }).answersAsBefore(relied)).toBe(false);
  });

  test('are the same answer until one of them changes, comes or goes', () => {
    const cwd = repositoryWith({ 'a.py': 'def loss(): ...\n', 'b.py': 'loss()\n', 'c.py': 'gain()\n' });
    const fresh = () => new Neighbourhood(cwd, cwd, { configured: new Map() });
    const relied = () =>
      [['a.py', '?loss', fresh().filesWith('a.py', { word: 'loss', beside: [] }).key]] as const;
    let before = relied();
    expect(fresh().answersAsBefore(before)).toBe(true);
    put(cwd, { 'a.py': 'def loss(): return 1\n', 'c.py': 'gain(1)\n' });
    expect(fresh().answersAsBefore(before)).toBe(true);
    put(cwd, { 'b.py': 'loss().backward()\n' });
    expect(fresh().answersAsBefore(before)).toBe(false);
    before = relied();
    put(cwd, { 'c.py': 'loss()\n' });
    expect(fresh().answersAsBefore(before)).toBe(false);
    before = relied();
    put(cwd, { 'd.py': 'loss()\n' });
    expect(fresh().answersAsBefore(before)).toBe(false);
    before = relied();
    rmSync(join(cwd, 'b.py'));
    expect(fresh().answersAsBefore(before)).toBe(false);
  });
});

test('earlier answers hold until a file changes, comes or goes', () => {
  const cwd = repositoryWith(FILES);
  const fresh = () => new Neighbourhood(cwd, cwd, { configured: new Map() });
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
