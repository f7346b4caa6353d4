import { dirname } from 'node:path';
import { printable } from '../report/cells.js';
import { Failure } from './failure.js';
import { uncommitted, unstaged } from './git.js';
import { changedByUsAlone, onlyRun } from './own-changes.js';
import { repositoryRoot, shownFrom } from './places.js';
import { State } from './state.js';

export interface Leave {
  /** What git cannot bring back is written, too; `staged`: where all of it is in the index. */
  readonly dirty: boolean | 'staged';
  readonly noVcs: boolean;
}

const SHOWN = 10;

/**
 * The files among these that are not to be written, with the reason: git could not bring the old content back. Refuses
 * to write at all where there is no git. Only the files about to be written count.
 */
export function guard(
  targets: readonly string[],
  leave: Leave,
  { cwd, env }: { readonly cwd: string; readonly env: Readonly<Record<string, string | undefined>> },
): ReadonlyMap<string, string> {
  const roots = byRoot(targets);
  const loose = roots.get(undefined) ?? [];
  if (loose.length > 0 && !leave.noVcs) {
    throw new Failure(
      'Not in a git repository',
      `nothing but \`memfix undo\` could bring back the old content of\n${listed(loose, cwd)}`,
      'Run `git init` and commit first, or add `--allow-no-vcs`. Nothing was written.',
    );
  }
  if (leave.dirty === true) return new Map();
  const isStaged = leave.dirty === 'staged';
  const dirty = [...roots].flatMap(([root, files]) =>
    root === undefined ? [] : isStaged ? [...unstaged(root, files)] : foreign(root, files, env),
  );
  const reason = isStaged ? 'it has unstaged changes' : 'it has uncommitted changes';
  return new Map(dirty.map((file) => [file, reason]));
}

/** What is not committed, but for files in which nobody but memfix has changed something, and for notebooks that were only run. */
function foreign(root: string, files: readonly string[], env: Readonly<Record<string, string | undefined>>) {
  const dirty = uncommitted(root, files);
  if (dirty.size === 0) return [];
  const own = changedByUsAlone(State.of(root, env), dirty);
  const others = [...dirty].filter((file) => !own.has(file));
  const run = onlyRun(root, others);
  return others.filter((file) => !run.has(file));
}

/** The files among these that hold changes which are not in the index. */
export function withUnstaged(files: readonly string[]): ReadonlySet<string> {
  const found = [...byRoot(files)].map(([root, own]) =>
    root === undefined ? new Set<string>() : unstaged(root, own),
  );
  return new Set(found.flatMap((each) => [...each]));
}

function byRoot(files: readonly string[]): ReadonlyMap<string | undefined, readonly string[]> {
  const roots = new Map<string | undefined, string[]>();
  for (const file of files) {
    const root = repositoryRoot(dirname(file));
    const own = roots.get(root);
    if (own === undefined) roots.set(root, [file]);
    else own.push(file);
  }
  return roots;
}

/** Where that leaves nothing to write. */
export function nothingLeft(dirty: Iterable<string>, leave: Leave, cwd: string): Failure {
  const isStaged = leave.dirty === 'staged';
  const files = [...dirty];
  // What has changes that are not staged, `--staged` leaves alone.
  const staging =
    isStaged || withUnstaged(files).size === files.length
      ? ''
      : '`--staged` for what you are about to commit, ';
  return new Failure(
    isStaged ? 'Files have unstaged changes' : 'Files have uncommitted changes',
    `a fix would mix with your own work in\n${listed(files, cwd)}`,
    isStaged
      ? 'Stage or stash them, or add `--allow-dirty`. Nothing was written.'
      : `Commit or stash them first; add ${staging}\`--changed\` for all that you have changed, or \`--allow-dirty\`. Nothing was written.`,
  );
}

function listed(paths: readonly string[], cwd: string): string {
  const lines = paths.slice(0, SHOWN).map((path) => `  ${printable(shownFrom(cwd, path))}`);
  if (paths.length > SHOWN) lines.push(`  … and ${paths.length - SHOWN} more`);
  return lines.join('\n');
}
