import { chmodSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { Git, restGit } from '../../../src/workspace/migrate/git.js';
import { endShells, inShell } from '../../../src/workspace/migrate/shell.js';
import { folderWith, repositoryWith, git as sh } from '../folders.js';
import { remotesWith, WORLD } from './remotes.js';

const git = new Git(WORLD, new AbortController().signal, 'test');
afterAll(() => restGit(WORLD));

test('steps are taken in turn; the one that fails is named, and is the last', async () => {
  const folder = folderWith();
  const making = (name: string) => ({ title: name, words: ['init', '--quiet', '--bare', name] });
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

test('settings of the user hold, those of a repository around do not', async () => {
  const bare = join(remotesWith({ one: { 'a.py': '' } }), 'one.git');
  const bin = folderWith({
    ssh: '#!/bin/sh\nfor last; do :; done\nexec sh -c "$last"\n',
    theirs: '#!/bin/sh\nexit 1\n',
  });
  for (const name of ['ssh', 'theirs']) chmodSync(join(bin, name), 0o755);
  const config = folderWith({
    gitconfig: `[core]
	sshCommand = ${bin}/ssh
[ssh]
	variant = simple
[url "ssh://host.example${bare}"]
	insteadOf = https://corp.example/one
`,
  });
  const around = repositoryWith();
  sh(around, 'config', 'core.sshCommand', `${bin}/theirs`);
  const env = { ...WORLD, GIT_CONFIG_GLOBAL: join(config, 'gitconfig') };
  const own = new Git(env, new AbortController().signal, 'test');
  onTestFinished(() => restGit(env));
  const answer = await own.ask(['ls-remote', 'https://corp.example/one', 'HEAD'], { folder: around });
  expect([answer.status, answer.stderr]).toEqual([0, '']);
  const batch = await git.ask(['ls-remote', 'ssh://host.invalid/one'], { env: { GIT_TRACE: '1' } });
  expect(batch.stderr).toContain('ssh -o BatchMode=yes');
});
