import { spawn } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { commit, type Files, folderWith, git, put } from '../folders.js';

/** What git and commands of a test see of the world. */
export const WORLD: Readonly<Record<string, string | undefined>> = {
  PATH: process.env['PATH'],
  HOME: '/nonexistent',
  MEMFIX_STATE_DIR: process.env['MEMFIX_STATE_DIR'],
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.invalid',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.invalid',
};

export const BRANCH = 'memfix/fixes';

/** A folder with bare repositories of these names, each with these files on `main`; none for one without a commit. */
export function remotesWith(repositories: Readonly<Record<string, Files | undefined>>): string {
  const folder = folderWith();
  for (const [name, files] of Object.entries(repositories)) {
    const bare = join(folder, `${name}.git`);
    git(folder, 'init', '--quiet', '--bare', '--initial-branch=main', bare);
    if (files !== undefined) push(bare, files);
  }
  return folder;
}

/** Adds a commit with these files to `main`. */
export function push(bare: string, files: Files): void {
  const work = folderWith();
  git(work, 'clone', '--quiet', bare, '.');
  put(work, files);
  commit(work);
  git(work, 'push', '--quiet', 'origin', 'HEAD:refs/heads/main');
}

/** Subjects of the commits that a branch has and `main` has not, oldest first. */
export function commitsOn(bare: string, branch = BRANCH): readonly string[] {
  return git(bare, 'log', '--reverse', '--format=%s', `main..${branch}`).trim().split('\n');
}

export function branchesOf(bare: string): readonly string[] {
  return git(bare, 'for-each-ref', '--format=%(refname:short)', 'refs/heads').trim().split('\n');
}

/** The files that a branch changes, against `main`. */
export function changedOn(bare: string, branch = BRANCH): readonly string[] {
  return git(bare, 'diff', '--name-only', 'main', branch).trim().split('\n');
}

export function hook(bare: string, name: string, script: string): void {
  const file = join(bare, 'hooks', name);
  put(bare, { [`hooks/${name}`]: `#!/bin/sh\n${script}\n` });
  chmodSync(file, 0o755);
}

/** How often something was pushed to it, from the moment this is called. */
export function countPushes(bare: string): () => number {
  const log = join(bare, 'pushes');
  writeFileSync(log, '');
  hook(bare, 'post-receive', `echo pushed >> '${log}'`);
  return () => readFileSync(log, 'utf8').split('pushed').length - 1;
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

/** `git daemon` over these repositories, on loopback. Answers with its port. */
export async function daemonFor(folder: string): Promise<number> {
  const port = await freePort();
  const child = spawn(
    'git',
    [
      ...['daemon', '--reuseaddr', '--export-all', '--enable=receive-pack', '--listen=127.0.0.1'],
      ...[`--port=${port}`, `--base-path=${folder}`, `--pid-file=${join(folder, 'daemon.pid')}`, folder],
    ],
    { env: { ...WORLD }, stdio: 'ignore', detached: true },
  );
  onTestFinished(() => {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  });
  while (!existsSync(join(folder, 'daemon.pid'))) await pause(10);
  return port;
}
