import { existsSync, realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Discovery, type DiscoveryRules, discover } from './discover.js';
import { Failure } from './failure.js';
import { changedFiles, type Since } from './git.js';
import { isVendored, repositoryRoot, shownFrom } from './places.js';
import { wildcardIn } from './wildcards.js';

/** A folder of vendored code that is named is asked for, and so are its files. */
export function withNamed(found: Discovery, cwd: string, paths: readonly string[]): Discovery {
  const named = paths.map((path) => `${shownFrom(cwd, resolve(cwd, path))}/`).filter(isVendored);
  if (named.length === 0) return found;
  const candidates = found.candidates.map((candidate) =>
    named.some((folder) => candidate.path.startsWith(folder)) ? { ...candidate, explicit: true } : candidate,
  );
  return { ...found, candidates };
}

/** Files that somebody else named, such as pre-commit: what a walk would pass over is passed over. */
export function asWalked(found: Discovery, { cwd, excludes }: DiscoveryRules): Discovery {
  const candidates = found.candidates
    .filter(({ path }) => !excludes(resolve(cwd, path), false))
    .map((candidate) => ({ ...candidate, explicit: false }));
  return { ...found, candidates };
}

/** What the paths and the patterns among them mean, each file once. */
export function discovered(paths: readonly string[], rules: DiscoveryRules): Discovery {
  const wild = paths.map((path) => wildcardIn(rules.cwd, path));
  const plain = paths.filter((_, index) => wild[index] === undefined);
  const found = plain.length === 0 ? NOTHING : discover(plain, rules);
  const known = new Map(found.candidates.map((each) => [each.path, each]));
  const skipped = [...found.skipped];
  for (const [index, each] of wild.entries()) {
    if (each === undefined) continue;
    const inside = existsSync(each.folder) ? discover([each.folder], rules) : NOTHING;
    const meant = inside.candidates.filter(({ path }) => each.patterns.matches(resolve(rules.cwd, path)));
    if (meant.length === 0 && rules.only === undefined)
      throw new Failure(
        'Path not found',
        `no Python file and no notebook is meant by \`${paths[index]}\``,
        `Check the pattern; it is taken relative to ${rules.cwd}.`,
      );
    for (const candidate of meant) if (!known.has(candidate.path)) known.set(candidate.path, candidate);
    skipped.push(...inside.skipped);
  }
  return wild.every((each) => each === undefined)
    ? found
    : { ...found, candidates: [...known.values()], skipped };
}

const NOTHING: Discovery = {
  ...{ candidates: [], skipped: [], folders: 0 },
  ...{ isCut: false, isPlain: false, ignored: [] },
};

export function changedUnder(cwd: string, since: Since): ReadonlySet<string> {
  const root = repositoryRoot(realpathSync.native(cwd));
  if (root === undefined) {
    throw new Failure(
      'Not in a git repository',
      `\`--${since.kind}\` asks git, and ${cwd} is in no repository`,
      'Run memfix inside the repository, or leave that option out.',
    );
  }
  return changedFiles(root, since);
}
