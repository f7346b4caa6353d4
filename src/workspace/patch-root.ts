import { dirname } from 'node:path';
import { Failure } from './failure.js';
import { commonFolder, isInside, repositoryRoot } from './places.js';

/**
 * The folder at which one patch for all of these files applies: the repository around them, the outer one where
 * repositories are nested (git apply reaches into them by path), or outside git the working folder.
 */
export function patchRoot(targets: readonly string[], cwd: string): string {
  const holdsAll = (root: string) => targets.every((target) => isInside(target, root));
  const here = repositoryRoot(cwd);
  if (here !== undefined && holdsAll(here)) return here;
  const roots = new Set(targets.map((target) => repositoryRoot(dirname(target))));
  for (const root of roots) if (root !== undefined && holdsAll(root)) return root;
  const [only] = roots;
  if (roots.size === 1 && only === undefined) {
    return holdsAll(cwd) ? cwd : (commonFolder(targets.map((target) => dirname(target))) ?? cwd);
  }
  const names = [...roots].map((root) => `  ${root ?? '(files outside any repository)'}`).join('\n');
  throw new Failure(
    'One patch cannot span several repositories',
    `the changes lie in\n${names}`,
    'Run `memfix diff` once for each of them.',
  );
}
