import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { folderWith, git, repositoryWith } from '../workspace/folders.js';
import { memfix } from './command-line.js';

const TOY_MAIN = join(import.meta.dirname, 'toy-main.ts');

/** A command that starts two more, one of which leaves its group, tells their numbers, and waits. */
const WAITING = `import os, subprocess, sys, time
hold = [sys.executable, "-c", "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"]
children = [subprocess.Popen(hold), subprocess.Popen(hold, start_new_session=True)]
with open(sys.argv[1] + ".part", "w") as file:
    file.write(" ".join(str(pid) for pid in [os.getpid(), *(child.pid for child in children)]))
os.rename(sys.argv[1] + ".part", sys.argv[1])
time.sleep(600)
`;

function start(cwd: string, temporary: string, ...command: readonly string[]): ChildProcess {
  const words = ['--import', import.meta.resolve('tsx'), TOY_MAIN, 'prove', '--no-counts', '--', ...command];
  return spawn(process.execPath, words, {
    cwd,
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, TMPDIR: temporary },
  });
}

async function appears(path: string): Promise<void> {
  await vi.waitFor(() => expect(existsSync(path)).toBe(true), { timeout: 50_000, interval: 50 });
}

/** A zombie that nobody has buried yet is as good as gone. */
function isAlive(pid: number): boolean {
  const state = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' }).stdout.trim();
  return state !== '' && !state.startsWith('Z');
}

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('%s ends with %i: no process, no copy and no work tree is left', async (signal, expected) => {
  const cwd = repositoryWith({ 'wait.py': WAITING });
  const temporary = folderWith();
  const told = join(folderWith(), 'pids');
  const child = start(cwd, temporary, 'python3', 'wait.py', told);
  await appears(told);
  const pids = readFileSync(told, 'utf8').split(' ').map(Number);
  expect(pids.map(isAlive)).toEqual([true, true, true]);
  child.kill(signal);
  const [code] = await once(child, 'exit');
  expect(code).toBe(expected);
  await vi.waitFor(() => expect(pids.map(isAlive)).toEqual([false, false, false]), { timeout: 10_000 });
  expect(readdirSync(temporary).filter((name) => name.startsWith('memfix-prove-'))).toEqual([]);
  expect(git(cwd, 'worktree', 'list').trim().split('\n')).toHaveLength(1);
  expect(git(cwd, 'status', '--porcelain', '--ignored')).toBe('');
});

test('a second signal ends a command that ignores the first, at once, and nothing is left', async () => {
  const ignoring = 'import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n';
  const cwd = repositoryWith({ 'wait.py': ignoring + WAITING });
  const temporary = folderWith();
  const told = join(folderWith(), 'pids');
  const child = start(cwd, temporary, 'python3', 'wait.py', told);
  await appears(told);
  const pids = readFileSync(told, 'utf8').split(' ').map(Number);
  child.kill('SIGINT');
  child.kill('SIGTERM');
  const [code, signal] = await once(child, 'exit');
  // The shell says 143, or 130 where the system delivered them in the other order.
  expect([code, ['SIGINT', 'SIGTERM'].includes(signal)]).toEqual([null, true]);
  await vi.waitFor(() => expect(pids.map(isAlive)).toEqual([false, false, false]), { timeout: 10_000 });
  expect(readdirSync(temporary).filter((name) => name.startsWith('memfix-prove-'))).toEqual([]);
});

test('what a killed run left is cleared by the next one, and nothing else', async () => {
  const cwd = repositoryWith({ 'wait.py': WAITING, 'quick.py': 'hold = 1\n' });
  const temporary = folderWith();
  const told = join(folderWith(), 'pids');
  const child = start(cwd, temporary, 'python3', 'wait.py', told);
  await appears(told);
  child.kill('SIGKILL');
  await once(child, 'exit');
  const pids = readFileSync(told, 'utf8').split(' ').map(Number);
  expect(pids.map(isAlive)).toEqual([true, true, true]);
  expect(git(cwd, 'worktree', 'list').trim().split('\n')).toHaveLength(2);
  const elsewhere = join(temporary, 'memfix-prove-elsewhere');
  mkdirSync(elsewhere);
  writeFileSync(
    join(elsewhere, 'owner.json'),
    JSON.stringify({ pid: 1, host: `not-${hostname()}`, root: cwd }),
  );
  const theirs = join(folderWith(), 'theirs');
  git(cwd, 'worktree', 'add', '--quiet', theirs);
  vi.stubEnv('TMPDIR', temporary);
  try {
    const words = ['prove', '--no-counts', 'quick.py', '--', 'python3', 'quick.py'];
    expect((await memfix({ cwd, env: { ...process.env } }, ...words)).code).toBe(0);
  } finally {
    vi.unstubAllEnvs();
  }
  expect(readdirSync(temporary).filter((name) => name.startsWith('memfix-prove-'))).toEqual([
    'memfix-prove-elsewhere',
  ]);
  await vi.waitFor(() => expect(pids.map(isAlive)).toEqual([false, false, false]), { timeout: 10_000 });
  const trees = git(cwd, 'worktree', 'list').trim().split('\n');
  expect(trees).toHaveLength(2);
  expect(trees[1]).toContain(theirs);
});

test('what a command leaves running is ended with it', async () => {
  const leaving = `import subprocess, sys
hold = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
open(sys.argv[1], "a").write("%d " % hold.pid)
`;
  const cwd = repositoryWith({ 'leave.py': leaving });
  const told = join(folderWith(), 'pids');
  const words = ['prove', '--no-counts', '--', 'python3', 'leave.py', told];
  expect((await memfix({ cwd, env: { ...process.env } }, ...words)).code).toBe(0);
  const pids = readFileSync(told, 'utf8').trim().split(' ').map(Number);
  expect(pids).toHaveLength(2);
  await vi.waitFor(() => expect(pids.map(isAlive)).toEqual([false, false]), { timeout: 10_000 });
});
