import type { Status } from '../record.js';
import type { PageDetail, PageRepository } from './data.js';

/** What a reader wants to see. */
export interface Wish {
  /** Words that must all occur somewhere in a repository. */
  readonly text: string;
  /** None means any. */
  readonly statuses: readonly Status[];
  readonly transform: string;
  readonly review: ReviewWish;
}

export const REVIEW_WISHES = ['any', 'open', 'accepted', 'rejected'] as const;
export type ReviewWish = (typeof REVIEW_WISHES)[number];

export const NO_WISH: Wish = { text: '', statuses: [], transform: '', review: 'any' };

/** Whether a repository is one of those; its text is asked for only where words are searched. */
export function isWanted(repository: PageRepository, wish: Wish, textOf: () => string): boolean {
  const { statuses, transform } = wish;
  if (statuses.length > 0 && !statuses.includes(repository.status)) return false;
  if (transform !== '' && !repository.offered.includes(transform)) return false;
  if (!hasReview(repository, wish.review)) return false;
  const words = wordsIn(wish.text);
  if (words.length === 0) return true;
  const text = textOf();
  return words.every((word) => text.includes(word));
}

export function wordsIn(text: string): readonly string[] {
  return text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
}

function hasReview({ tally }: PageRepository, wish: ReviewWish): boolean {
  switch (wish) {
    case 'any':
      return true;
    case 'open':
      return tally.fixes - tally.accepted + tally.held > 0;
    case 'accepted':
      return tally.accepted > 0;
    case 'rejected':
      return tally.rejected > 0;
  }
}

/** All that can be found in a repository: its names, what was offered, and the code around it. */
export function searchText(repository: PageRepository, { offers, skipped, bugs, left }: PageDetail): string {
  const { name, url, status, failure, commit, branch, base } = repository;
  const told = failure === undefined ? [] : [failure.stage, failure.title, failure.detail, failure.next];
  const offered = offers.flatMap(({ path, transform, title, message, changes }) => [
    ...[path, transform, title, message],
    ...changes.flatMap((change) => [change.path, ...change.hunks.flatMap(({ lines }) => lines)]),
  ]);
  const rest = [
    ...skipped.flatMap(({ path, reason }) => [path, reason]),
    ...left.flatMap(({ path, transform, because }) => [path, transform, because]),
    ...bugs,
  ];
  return [name, url, status, commit, branch, base?.commit, ...told, ...offered, ...rest]
    .join('\n')
    .toLowerCase();
}
