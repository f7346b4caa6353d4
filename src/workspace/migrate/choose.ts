import { type Goal, isFinished, type RepositoryRecord, reaches } from '../../report/migrate/record.js';
import { plural } from '../../report/prose.js';
import { didYouMean } from '../../text/resemblance.js';
import { Failure } from '../failure.js';
import type { Repository } from './source.js';

/** Which repositories of a campaign a run is about. */
export interface Choice {
  /** Patterns with `*` and `?`, for names and URLs; none means all. */
  readonly repos: readonly string[];
  readonly shard?: { readonly index: number; readonly of: number };
  /** Only what failed before. */
  readonly failed: boolean;
  /** Begins anew with the newest commits, whatever was done before. */
  readonly update: boolean;
  /** At most so many, of those that have something left to do. */
  readonly limit?: number;
}

/** Those of a name and a shard. A pattern that matches no repository of the campaign is a typo. */
export function chosen(repositories: readonly Repository[], choice: Choice): readonly Repository[] {
  const idle = choice.repos.find((glob) => !repositories.some((each) => isNamed(patternOf(glob), each)));
  if (idle !== undefined) throw noSuchRepository(idle, repositories);
  return matching(repositories, choice);
}

/** The same of the repositories that are known so far. The same whatever has been done, so that shards never meet. */
export function matching(
  repositories: readonly Repository[],
  { repos, shard }: Choice,
): readonly Repository[] {
  const patterns = repos.map(patternOf);
  return repositories
    .filter((_, index) => shard === undefined || index % shard.of === shard.index - 1)
    .filter((repository) => patterns.length === 0 || patterns.some((each) => isNamed(each, repository)));
}

/** The branch that the fixes of a repository are made upon, where the campaign names one. */
export function baseBranchOf(
  branches: Readonly<Record<string, string>>,
  repository: Repository,
): string | undefined {
  return Object.entries(branches).find(([pattern]) => isNamed(patternOf(pattern), repository))?.[1];
}

function isNamed(pattern: RegExp, { name, url, id }: Repository): boolean {
  return [name, url, id].some((word) => pattern.test(word));
}

function noSuchRepository(pattern: string, repositories: readonly Repository[]): Failure {
  const names = repositories.map(({ name }) => name);
  const such = names[0] === undefined ? '' : ` such as \`${names[0]}\``;
  return new Failure(
    'No such repository',
    `\`${pattern}\` matches none of the ${plural(names.length, 'repository', 'repositories')} of this campaign.${didYouMean(pattern, names)}`,
    `Give \`--repos\` a name${such}, or a pattern: \`*\` matches anything, \`?\` one character.`,
  );
}

/**
 * Of these, those to work on. What is pushed is done with, but for its pull request; what failed is tried again where
 * the run comes to the stage that failed. Without a limit, the others are checked as well: the settings may have changed.
 */
export function dealt(
  records: readonly RepositoryRecord[],
  { failed, limit, update }: Choice,
  goal: Goal,
): readonly RepositoryRecord[] {
  const hasWork = (record: RepositoryRecord): boolean => {
    const { failure, pushed, proposed } = record;
    const isToBeRetried = failure !== undefined && (update || reaches(goal, failure.stage));
    if (proposed !== undefined || (failed && !isToBeRetried)) return false;
    if (pushed !== undefined) return goal === 'pr';
    return isToBeRetried || limit === undefined || !isFinished(record, goal);
  };
  return records.filter(hasWork).slice(0, limit);
}

function patternOf(glob: string): RegExp {
  const body = glob
    .replaceAll(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${body}$`);
}
