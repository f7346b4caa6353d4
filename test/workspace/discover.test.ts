import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { discover } from '../../src/workspace/discover.js';
import { Failure } from '../../src/workspace/failure.js';
import { PathPatterns } from '../../src/workspace/gitignore.js';
import { commit, folderWith, git, listing, put, repositoryWith } from './folders.js';

function found(cwd: string, ...paths: readonly string[]) {
  const { candidates, skipped } = discover(paths.length === 0 ? ['.'] : paths, {
    cwd,
    excludes: () => false,
  });
  return {
    paths: candidates.map((candidate) => candidate.path),
    skipped: Object.fromEntries(skipped.map(({ path, reason }) => [path, reason])),
  };
}

describe('a walk', () => {
  test('finds .py files only, sorted, each once', () => {
    const cwd = folderWith({
      'b.py': '',
      'a/z.py': '',
      'a/y.py': '',
      'c.pyi': '',
      'd.txt': '',
      e: '#!python\n',
    });
    expect(found(cwd, '.', 'a', 'b.py').paths).toEqual(['a/y.py', 'a/z.py', 'b.py']);
  });

  test('gives up where there is more than it may take', () => {
    const cwd = folderWith({ 'a.py': '', 'b/c.py': '', 'b/d.py': '', 'e/f.py': '' });
    const rules = { cwd, excludes: () => false };
    expect(discover(['.'], { ...rules, most: 7 }).isCut).toBe(false);
    expect(discover(['.'], { ...rules, most: 6 }).isCut).toBe(true);
    expect(discover(['.'], { ...rules, most: 1 }).candidates.length).toBeLessThan(4);
  });

  test('passes over environments, packages and tool caches, but not over build and dist', () => {
    const cwd = folderWith({
      'env/pyvenv.cfg': '',
      'env/x.py': '',
      'conda/conda-meta/history': '',
      'conda/x.py': '',
      'lib/site-packages/x.py': '',
      'node_modules/gyp/x.py': '',
      '__pycache__/x.py': '',
      '.git/hooks/x.py': '',
      '.mypy_cache/x.py': '',
      '.github/scripts/x.py': '',
      'build/x.py': '',
      'dist/x.py': '',
    });
    expect(found(cwd).paths).toEqual(['.github/scripts/x.py', 'build/x.py', 'dist/x.py']);
  });

  test('enters an environment or an ignored folder that was named', () => {
    const cwd = repositoryWith({
      '.gitignore': 'out/\n',
      'env/pyvenv.cfg': '',
      'env/x.py': '',
      'out/a/y.py': '',
    });
    expect(found(cwd, 'env', 'out').paths).toEqual(['env/x.py', 'out/a/y.py']);
    expect(found(cwd).paths).toEqual([]);
  });

  test('names files outside the working folder by their whole path', () => {
    const cwd = folderWith();
    const other = folderWith({ 'x.py': '' });
    expect(found(cwd, other).paths).toEqual([`${other}/x.py`]);
  });
});

describe('gitignore', () => {
  const FILES = {
    '.gitignore': 'build/\n*.gen.py\n/top.py\n!keep.gen.py\ndeep/**/skip\n# comment\nsp\\ ace.py\n',
    'a.py': '',
    'build/x.py': '',
    'sub/build/x.py': '',
    'x.gen.py': '',
    'keep.gen.py': '',
    'top.py': '',
    'sub/top.py': '',
    'sp ace.py': '',
    'deep/1/2/skip/x.py': '',
    'deep/1/2/x.py': '',
    'sub/.gitignore': '!x.gen.py\nlocal.py\n/only/\n',
    'sub/x.gen.py': '',
    'sub/local.py': '',
    'sub/only/x.py': '',
    'sub/inner/only/x.py': '',
    'sub/inner/.gitignore': '!local.py\n',
    'sub/inner/local.py': '',
    'private.py': '',
    'Build/x.py': '',
  };

  test('is understood as git understands it, from the root and from a subfolder', () => {
    const cwd = folderWith(FILES);
    git(cwd, 'init', '--quiet');
    put(cwd, { '.git/info/exclude': 'private.py\n' });
    const byGit = git(cwd, 'ls-files', '--others', '--cached', '--exclude-standard', '*.py')
      .trim()
      .split('\n')
      .sort();
    expect(found(cwd).paths.sort()).toEqual(byGit);
    expect(byGit).toContain('sub/x.gen.py');
    expect(byGit).not.toContain('private.py');
    const below = byGit.filter((path) => path.startsWith('sub/')).map((path) => path.slice('sub/'.length));
    expect(found(join(cwd, 'sub')).paths.sort()).toEqual(below);
  });

  test('holds in a linked work tree, with the exclude file of the main one', () => {
    const main = repositoryWith({ 'a.py': '', 'private.py': '' });
    put(main, { '.git/info/exclude': 'private.py\n' });
    const linked = join(folderWith(), 'linked');
    git(main, 'worktree', 'add', '--quiet', linked);
    expect(found(linked).paths).toEqual(['a.py']);
  });

  test('of an outer repository does not reach into a nested one', () => {
    const cwd = repositoryWith({
      '.gitignore': '*.gen.py\n',
      'inner/x.gen.py': '',
      'inner/.gitignore': 'y.py\n',
    });
    put(cwd, { 'inner/y.py': '' });
    git(join(cwd, 'inner'), 'init', '--quiet');
    expect(found(cwd).paths).toEqual(['inner/x.gen.py']);
  });

  test('never hides a file that was named', () => {
    const cwd = repositoryWith({ '.gitignore': '*.gen.py\n', 'x.gen.py': '' });
    commit(cwd);
    expect(found(cwd, 'x.gen.py').paths).toEqual(['x.gen.py']);
  });
});

describe('what is not a file', () => {
  test('a folder, a pipe and broken links are skipped with a reason', () => {
    const cwd = folderWith({ 'x.py/y.txt': '', 'real.py': '' });
    spawnSync('mkfifo', [join(cwd, 'pipe.py')]);
    symlinkSync('nowhere.py', join(cwd, 'broken.py'));
    symlinkSync('loop.py', join(cwd, 'loop.py'));
    symlinkSync('x.py', join(cwd, 'tofolder.py'));
    expect(found(cwd)).toEqual({
      paths: ['real.py'],
      skipped: {
        'broken.py': 'it is a symlink to nothing',
        'loop.py': 'its symlinks lead back to themselves',
        'pipe.py': 'it is a named pipe, not a file',
        'tofolder.py': 'it is a symlink to a folder, not to a file',
        'x.py': 'it is a folder, not a file',
      },
    });
  });

  test('a named pipe, device or text file is skipped with a reason', () => {
    const cwd = folderWith({ 'notes.txt': '', script: '#!/usr/bin/env python3\n', other: '#!/bin/sh\n' });
    spawnSync('mkfifo', [join(cwd, 'pipe')]);
    const { paths, skipped } = found(cwd, 'pipe', 'notes.txt', '/dev/null', 'script', 'other');
    expect(paths).toEqual(['script']);
    expect(skipped['pipe']).toBe('it is a named pipe, not a file');
    expect(skipped['/dev/null']).toBe('it is a device, not a file');
    expect(skipped['notes.txt']).toMatch(/^it is not Python/);
    expect(skipped['other']).toMatch(/^it is not Python/);
  });

  test('a link to a file stands for the file, once', () => {
    const cwd = folderWith({ 'b.py': '' });
    symlinkSync('b.py', join(cwd, 'a.py'));
    const { candidates } = discover(['.'], { cwd, excludes: () => false });
    expect(candidates).toEqual([{ path: 'a.py', target: join(cwd, 'b.py'), explicit: false }]);
  });

  test('links in a circle end the walk', () => {
    const cwd = folderWith({ 'sub/a.py': '' });
    symlinkSync('..', join(cwd, 'sub', 'up'));
    symlinkSync('.', join(cwd, 'here'));
    expect(found(cwd, '.', 'here', 'sub/up').paths).toEqual(['sub/a.py']);
  });

  test('a file name that is not UTF-8 is skipped with a reason', () => {
    const cwd = folderWith();
    spawnSync('sh', ['-c', "printf '' > \"$(printf 'caf\\351.py')\""], { cwd });
    expect(Object.values(found(cwd).skipped)).toEqual(['its name is not valid UTF-8']);
  });

  test('a folder that may not be read is skipped with a reason', () => {
    const cwd = folderWith({ 'a.py': '' });
    mkdirSync(join(cwd, 'closed'));
    chmodSync(join(cwd, 'closed'), 0o000);
    const { paths, skipped } = found(cwd);
    expect(paths).toEqual(['a.py']);
    // Root reads everything.
    expect(skipped).toEqual(process.getuid?.() === 0 ? {} : { closed: 'permission denied' });
  });
});

test('a path that does not exist is a failure', () => {
  const cwd = folderWith();
  expect(() => found(cwd, 'nope.py')).toThrow(
    new Failure(
      'Path not found',
      '`nope.py` does not exist',
      `Check the spelling; paths are taken relative to ${cwd}.`,
    ),
  );
});

test.each([
  ['train', 'Did you mean `train.py`?'],
  ['study', 'Did you mean `study.ipynb`?'],
  ['tarin.py', 'Did you mean `train.py`?'],
  ['src/net', 'Did you mean `src/net.py`?'],
  [
    'train.py:12:5',
    'memfix looks at whole files: `train.py`; `memfix explain train.py:12:5` tells about one place.',
  ],
  ['https://example.org/a.ipynb', 'Download it first: memfix reads files of this machine only.'],
  ['*.py', 'Name the folder, which is searched through; a pattern without quotes is for the shell.'],
])('%s, which does not exist, leads on', (argument, next) => {
  const cwd = folderWith({ 'train.py': '', 'study.ipynb': '{}', 'src/net.py': '' });
  expect(() => found(cwd, argument)).toThrow(
    new Failure('Path not found', `\`${argument}\` does not exist`, next),
  );
});

test('exclude patterns are relative to their config and speak as gitignore does', () => {
  const patterns = new PathPatterns('/p', ['tests/', '*_pb2.py', '/setup.py']);
  expect(patterns.matches('/p/a/tests', true)).toBe(true);
  expect(patterns.matches('/p/a/tests/x.py')).toBe(true);
  expect(patterns.matches('/p/a/x_pb2.py')).toBe(true);
  expect(patterns.matches('/p/setup.py')).toBe(true);
  expect(patterns.matches('/p/a/setup.py')).toBe(false);
  expect(patterns.matches('/elsewhere/tests/x.py')).toBe(false);
});

test('a pattern that starts with `./` means what lies beside the config', () => {
  const patterns = new PathPatterns('/p', ['./a/*.py', '!./a/kept.py']);
  expect(patterns.matches('/p/a/x.py')).toBe(true);
  expect(patterns.matches('/p/a/kept.py')).toBe(false);
  expect(patterns.matches('/p/b/a/x.py')).toBe(false);
});

test('files that git names are taken as a walk would take them, without the walk', () => {
  const cwd = repositoryWith({
    '.gitignore': '/out/\n*_tmp.py\n!kept_tmp.py\n',
    'a.py': '',
    'a-b/z.py': '',
    'a/z.py': '',
    'a/kept_tmp.py': '',
    'a/lost_tmp.py': '',
    'a/.gitignore': 'deep/*\n!deep/seen.py\n',
    'a/deep/seen.py': '',
    'a/deep/unseen.py': '',
    'a/notes.txt': '',
    'env/pyvenv.cfg': '',
    'env/b.py': '',
    'node_modules/c.py': '',
    'out/d.py': '',
    'skip/e.py': '',
    'z/[1].py': '',
  });
  symlinkSync('a.py', join(cwd, 'link.py'));
  const all = listing(cwd).map((name) => join(cwd, name));
  const excludes = (path: string) => path === join(cwd, 'skip');
  for (const paths of [['.'], ['a', '.'], ['env'], ['out', 'a/z.py']]) {
    const walked = discover(paths, { cwd, excludes });
    const picked = discover(paths, { cwd, excludes, only: new Set(all.reverse()) });
    expect(picked.candidates).toEqual(walked.candidates);
    expect(picked.skipped).toEqual(walked.skipped);
    expect(picked.candidates.length).toBeGreaterThan(0);
  }
  const only = new Set([join(cwd, 'a/z.py'), join(cwd, 'gone.py')]);
  expect(discover(['.', 'a.py'], { cwd, excludes, only }).candidates.map(({ path }) => path)).toEqual([
    'a/z.py',
  ]);
});

test('a rule in .gitignore is heard however it is written', () => {
  const names = [
    'plain.py',
    'sp ace.py',
    'Case.py',
    'b[1].py',
    'éa.py',
    'x1.py',
    'q.py',
    'sub/deep/in.py',
    'star.gen.py',
  ];
  const rules = [
    'plain.py',
    'sp\\ ace.py',
    'sp ace.py',
    '/Case.py',
    'b\\[1\\].py',
    'éa.py',
    'x[0-9].py',
    '?.py',
    'sub/**/in.py',
    '*.gen.py',
    '**/in.py',
    'sub/*',
    's*/',
    '!plain.py',
    '*',
    '*.py  ',
    '#plain.py',
    '[p]lain.py',
    '[!a]lain.py',
    'pl*n.py',
  ];
  for (const rule of rules) {
    const cwd = repositoryWith({ '.gitignore': `${rule}\n` });
    put(cwd, Object.fromEntries(names.map((name) => [name, ''])));
    const seen = git(cwd, '-c', 'core.quotePath=false', 'ls-files', '--others', '--exclude-standard').split(
      '\n',
    );
    const found = discover(['.'], { cwd, excludes: () => false }).candidates.map(({ path }) => path);
    expect([rule, ...found.sort()]).toEqual([rule, ...seen.filter((name) => name.endsWith('.py')).sort()]);
  }
});
