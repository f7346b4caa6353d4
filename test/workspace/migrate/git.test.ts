import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { Git, restGit } from '../../../src/workspace/migrate/git.js';
import { endShells, inShell } from '../../../src/workspace/migrate/shell.js';
import { folderWith } from '../folders.js';
import { WORLD } from './remotes.js';

const git = new Git(WORLD, new AbortController().signal, 'test');
afterAll(() => restGit(WORLD));

test('steps are taken in turn; the one that fails is named, and is the last', async () => {
  const folder = folderWith();
  const making = (name: string) => ({ title: name, words: ['init', '--quiet', name] });
  const failing = { title: 'it fails', words: ['cat-file', '-e', 'HEAD'] };
  await git.inTurn([making('one'), making('two')], { folder });
  expect(['one', 'two'].map((name) => existsSync(join(folder, name)))).toEqual([true, true]);
  await expect(git.inTurn([making('three'), failing, making('four')], { folder })).rejects.toMatchObject({
    title: 'it fails',
    detail: expect.stringContaining('not a git repository'),
  });
  expect(['three', 'four'].map((name) => existsSync(join(folder, name)))).toEqual([true, false]);
  await expect(git.inTurn([failing, making('four')], { folder })).rejects.toMatchObject({
    title: 'it fails',
  });
  expect(existsSync(join(folder, 'four'))).toBe(false);
});

test('a command ends where it ends, whatever a process that it left says afterwards', async () => {
  const env = { ...WORLD };
  onTestFinished(() => endShells(env));
  // As the server's side of a fetch does, which may speak after git is gone: in one piece with the end.
  const late = `printf() { command printf '%s\\nlate\\n' "$(command printf "$@")"; }; echo early`;
  const { signal } = new AbortController();
  const { status, stdout, stderr } = await inShell(env, late, signal);
  expect([status, stdout.toString(), stderr.toString()]).toEqual([0, 'early\n', '']);
});
