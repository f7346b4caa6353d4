import { type Goal, isFinished, type RepositoryRecord, statusOf } from '../../report/migrate/record.js';
import type { Repository } from './source.js';

/** Which repositories of a campaign a run is about. */
export interface Choice {
  /** Patterns with `*` and `?`, for names and URLs; none means all. */
  readonly repos: readonly string[];
  readonly shard?: { readonly index: number; readonly of: number };
  /** Only what failed before. */
  readonly failed: boolean;
  /** At most so many, of those that have something left to do. */
  readonly limit?: number;
}

/** Those of a name and a shard: the same whatever has been done, so that shards never meet. */
export function chosen(repositories: readonly Repository[], { repos, shard }: Choice): readonly Repository[] {
  const patterns = repos.map(patternOf);
  return repositories
    .filter((_, index) => shard === undefined || index % shard.of === shard.index - 1)
    .filter(
      ({ name, url, id }) =>
        patterns.length === 0 ||
        patterns.some((pattern) => [name, url, id].some((word) => pattern.test(word))),
    );
}

/**
 * Of these, those to work on. What is pushed is done with, but for its pull request; what failed is tried again. Without
 * a limit, it is also looked whether the rest is still as the campaign wants it.
 */
export function dealt(
  records: readonly RepositoryRecord[],
  { failed, limit }: Choice,
  goal: Goal,
): readonly RepositoryRecord[] {
  const hasWork = (record: RepositoryRecord): boolean => {
    const status = statusOf(record);
    if (record.proposed !== undefined) return false;
    if (failed || status === 'failed') return status === 'failed';
    if (status === 'pushed') return goal === 'pr';
    return limit === undefined || !isFinished(record, goal);
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
