import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { State } from '../../src/workspace/state.js';

/** Neither the user's git settings nor a hook that runs the tests decide how they end. */
const { GIT_DIR: _dir, GIT_INDEX_FILE: _index, GIT_WORK_TREE: _tree, ...inherited } = process.env;
const ENVIRONMENT = { ...inherited, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' };

export type Files = Readonly<Record<string, string | Uint8Array>>;

/** A folder of its own for one test, with these files, gone afterwards. */
export function folderWith(files: Files = {}): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'memfix-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  put(folder, files);
  return folder;
}

/** The same as a git repository with everything committed. */
export function repositoryWith(files: Files = {}): string {
  const folder = folderWith(files);
  git(folder, 'init', '--quiet', '--initial-branch=main');
  commit(folder);
  return folder;
}

export function put(folder: string, files: Files): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
}

export function commit(folder: string): void {
  git(folder, 'add', '--all');
  git(folder, 'commit', '--quiet', '--allow-empty', '--message', 'state');
}

export function git(folder: string, ...words: readonly string[]): string {
  const identity = ['-c', 'user.name=Test', '-c', 'user.email=test@example.invalid'];
  const answer = spawnSync('git', [...identity, ...words], {
    cwd: folder,
    encoding: 'utf8',
    env: ENVIRONMENT,
  });
  if (answer.status !== 0) throw new Error(`git ${words.join(' ')}: ${answer.stderr}`);
  return answer.stdout;
}

/** What memfix keeps about a project while tests run. */
export function stateOf(root: string): State {
  return State.of(root, process.env);
}

/** Everything below a folder but git's own, sorted. */
export function listing(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .filter((path) => !path.startsWith('.git/'))
    .sort();
}
