import { dirname } from 'node:path';
import { printable } from '../report/cells.js';
import { Failure } from './failure.js';
import { uncommitted } from './git.js';
import { repositoryRoot, shownFrom } from './places.js';

export interface Leave {
  readonly dirty: boolean;
  readonly noVcs: boolean;
}

const SHOWN = 10;

/** Refuses to write where git could not bring the old content back. Only the files about to be written count. */
export function guard(targets: readonly string[], leave: Leave, cwd: string): void {
  const roots = new Map<string | undefined, string[]>();
  for (const target of targets) {
    const root = repositoryRoot(dirname(target));
    roots.set(root, [...(roots.get(root) ?? []), target]);
  }
  const loose = roots.get(undefined) ?? [];
  if (loose.length > 0 && !leave.noVcs) {
    throw new Failure(
      'Not in a git repository',
      `nothing could bring back the old content of\n${listed(loose, cwd)}`,
      'Run `git init` and commit first, or add `--allow-no-vcs`. Nothing was written.',
    );
  }
  if (leave.dirty) return;
  const dirty = [...roots].flatMap(([root, files]) =>
    root === undefined ? [] : [...uncommitted(root, files)],
  );
  if (dirty.length === 0) return;
  throw new Failure(
    'Files have uncommitted changes',
    `a fix would mix with your own work in\n${listed(dirty, cwd)}`,
    'Commit or stash them first, or add `--allow-dirty`. Nothing was written.',
  );
}

function listed(paths: readonly string[], cwd: string): string {
  const lines = paths.slice(0, SHOWN).map((path) => `  ${printable(shownFrom(cwd, path))}`);
  if (paths.length > SHOWN) lines.push(`  … and ${paths.length - SHOWN} more`);
  return lines.join('\n');
}
