import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { changedFiles, objectionTo, type Since, uncommitted } from '../../src/workspace/git.js';
import { patchRoot } from '../../src/workspace/patch-root.js';
import { commit, folderWith, git, put, repositoryWith } from './folders.js';

const NAMES = ['clean.py', 'edited.py', 'staged.py', 'new.py', 'ignored.py', 'sub folder/é.py'];

function busyRepository(): string {
  const root = repositoryWith({
    'clean.py': '',
    'edited.py': '',
    'staged.py': '',
    'gone.py': '',
    '.gitignore': 'ignored.py\nout/\n',
  });
  put(root, {
    'edited.py': '1',
    'staged.py': '1',
    'new.py': '',
    'ignored.py': '',
    'sub folder/é.py': '',
    'out/x.py': '',
  });
  git(root, 'add', 'staged.py');
  rmSync(join(root, 'gone.py'));
  return root;
}

test('what git could not bring back: edited, staged, new and ignored files', () => {
  const root = busyRepository();
  const asked = [...NAMES, 'out/x.py'].map((name) => join(root, name));
  const dirty = [...uncommitted(root, asked)].map((path) => path.slice(root.length + 1)).sort();
  expect(dirty).toEqual(['edited.py', 'ignored.py', 'new.py', 'out/x.py', 'staged.py', 'sub folder/é.py']);
  expect(uncommitted(root, [join(root, 'clean.py')]).size).toBe(0);
});

test('file names are names, never patterns', () => {
  const root = repositoryWith({ '[ab].py': '', 'a.py': '' });
  put(root, { 'a.py': 'changed' });
  expect(uncommitted(root, [join(root, '[ab].py')]).size).toBe(0);
});

test('--changed, --staged and --since', () => {
  const root = busyRepository();
  const names = (since: Since) =>
    [...changedFiles(root, since)].map((path) => path.slice(root.length + 1)).sort();
  expect(names({ kind: 'changed' })).toEqual(['edited.py', 'new.py', 'staged.py', 'sub folder/é.py']);
  expect(names({ kind: 'staged' })).toEqual(['staged.py']);
  commit(root);
  git(root, 'checkout', '--quiet', '-b', 'topic');
  put(root, { 'topic.py': '' });
  commit(root);
  git(root, 'checkout', '--quiet', 'main');
  put(root, { 'on-main.py': '' });
  commit(root);
  git(root, 'checkout', '--quiet', 'topic');
  expect(names({ kind: 'since', revision: 'main' })).toEqual(['topic.py']);
  for (const revision of ['nope', '--output=x', '']) {
    expect(() => names({ kind: 'since', revision })).toThrow(
      `git knows no commit \`${revision}\` in ${root}`,
    );
  }
});

test('--since needs no content that a partial clone lacks', () => {
  const origin = repositoryWith({ 'a.py': 'one', 'b.py': 'one', 'c.py': 'one' });
  git(origin, 'config', 'uploadpack.allowFilter', 'true');
  put(origin, { 'a.py': 'two' });
  commit(origin);
  const root = folderWith();
  git(root, 'clone', '--quiet', '--filter=blob:none', `file://${origin}`, '.');
  rmSync(origin, { recursive: true });
  put(root, { 'b.py': 'two' });
  const changed = [...changedFiles(root, { kind: 'since', revision: 'HEAD~1' })];
  expect(changed.sort()).toEqual([join(root, 'a.py'), join(root, 'b.py')]);
});

test('--changed works before the first commit', () => {
  const root = folderWith({ 'a.py': '', 'b.py': '' });
  git(root, 'init', '--quiet');
  git(root, 'add', 'a.py');
  expect(changedFiles(root, { kind: 'changed' })).toEqual(new Set([join(root, 'a.py'), join(root, 'b.py')]));
});

test('a hook that points git elsewhere does not mislead us', () => {
  const root = repositoryWith({ 'a.py': '' });
  const other = repositoryWith({ 'b.py': '' });
  put(root, { 'a.py': 'changed' });
  process.env['GIT_DIR'] = join(other, '.git');
  try {
    expect(uncommitted(root, [join(root, 'a.py')]).size).toBe(1);
  } finally {
    delete process.env['GIT_DIR'];
  }
});

test('a folder that only looks like a repository makes git object in its own words', () => {
  const root = folderWith({ '.git/HEAD': 'nonsense', 'a.py': '' });
  expect(() => uncommitted(root, [join(root, 'a.py')])).toThrow(
    /Git did not answer: `git status` in .* said: fatal: /,
  );
});

test('git is asked whether a patch applies', () => {
  const root = repositoryWith({ 'a.py': 'one\n' });
  const patch = (line: string) => Buffer.from(`--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-${line}\n+two\n`);
  expect(objectionTo(patch('one'), root)).toBeUndefined();
  expect(objectionTo(patch('uno'), root)).toMatch(/patch does not apply/);
});

test('one patch belongs to one root', () => {
  const outer = repositoryWith({ 'a.py': '', 'inner/b.py': '' });
  git(join(outer, 'inner'), 'init', '--quiet');
  const other = repositoryWith({ 'c.py': '' });
  const loose = folderWith({ 'd/e.py': '', 'd/f.py': '' });
  const [a, b, c] = [join(outer, 'a.py'), join(outer, 'inner/b.py'), join(other, 'c.py')];
  expect(patchRoot([a, b], outer)).toBe(outer);
  expect(patchRoot([b], outer)).toBe(outer);
  expect(patchRoot([b], join(outer, 'inner'))).toBe(join(outer, 'inner'));
  expect(patchRoot([a, b], join(outer, 'inner'))).toBe(outer);
  expect(patchRoot([c], outer)).toBe(other);
  expect(patchRoot([c], loose)).toBe(other);
  expect(patchRoot([join(loose, 'd/e.py')], loose)).toBe(loose);
  expect(patchRoot([join(loose, 'd/e.py'), join(loose, 'd/f.py')], outer)).toBe(join(loose, 'd'));
  expect(() => patchRoot([a, c], outer)).toThrow('One patch cannot span several repositories');
});
