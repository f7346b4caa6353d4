import type { Numerics, Safety } from '../../../toolkit/contract.js';
import type { Offer } from '../offer.js';
import { type RepositoryRecord, statusOf } from '../record.js';
import {
  type PageData,
  type PageDetail,
  type PageOffer,
  type PageRepository,
  type PageTransform,
  type PageVerdict,
  tallyOf,
} from './data.js';

/** All that there is to tell about one repository. */
export interface Told {
  readonly record: RepositoryRecord;
  /** Of the record's plan. */
  readonly offers: readonly Offer[];
  verdictOf(offer: Offer): PageVerdict | undefined;
}

/** What a transform is, wherever it was found. */
export interface Known {
  readonly id: string;
  readonly summary: string;
  readonly safety: Safety;
  readonly numerics: Numerics;
}

export type PageHead = Pick<PageData, 'title' | 'tool' | 'made' | 'isReview'>;

export function pageOf(
  head: PageHead,
  told: readonly Told[],
  known: readonly Known[],
): { readonly data: PageData; readonly details: readonly PageDetail[] } {
  const details = told.map(detailOf);
  const repositories = told.map(({ record }, index) => repositoryOf(record, details[index]?.offers ?? []));
  return { data: { version: 1, ...head, transforms: totals(repositories, known), repositories }, details };
}

function detailOf({ record: { planned }, offers, verdictOf }: Told): PageDetail {
  return {
    offers: offers.map((offer): PageOffer => {
      const { hash: _hash, key: _key, likeness: _likeness, ...shown } = offer;
      const verdict = verdictOf(offer);
      return { ...shown, ...(verdict !== undefined && { verdict }) };
    }),
    skipped: planned?.skipped ?? [],
    bugs: planned?.bugs ?? [],
    left: planned?.left ?? [],
  };
}

function repositoryOf(record: RepositoryRecord, offers: readonly PageOffer[]): PageRepository {
  const { id, name, url, base, planned, pushed, proposed, committed, failure } = record;
  const counts: Record<string, number> = {};
  for (const { transform, fate } of offers)
    if (fate !== 'dropped') counts[transform] = (counts[transform] ?? 0) + 1;
  const end = pushed ?? committed;
  const commit = pushed?.commit ?? committed?.commits.at(-1);
  return {
    ...{ id, name, url, status: statusOf(record), offers: counts, tally: tallyOf(offers) },
    isPushed: pushed !== undefined,
    ...(proposed && { proposed }),
    ...(base && { base }),
    ...(end && { branch: end.branch }),
    ...(commit !== undefined && { commit }),
    ...(planned && {
      plan: planned.key,
      checked: planned.checked,
      files: planned.files,
      remaining: planned.remaining,
      refused: planned.refused,
      skipped: planned.skipped.length,
      bugs: planned.bugs.length,
    }),
    ...(failure && { failure }),
  };
}

/** What there is most of first. */
function totals(repositories: readonly PageRepository[], known: readonly Known[]): readonly PageTransform[] {
  const found = new Map<string, { fixes: number; repositories: number }>();
  for (const { offers } of repositories) {
    for (const [id, count] of Object.entries(offers)) {
      const { fixes = 0, repositories: others = 0 } = found.get(id) ?? {};
      found.set(id, { fixes: fixes + count, repositories: others + 1 });
    }
  }
  return [...found]
    .map(([id, total]): PageTransform => {
      const {
        summary = '',
        safety = 'safe',
        numerics = 'bit-identical',
      } = known.find((each) => each.id === id) ?? {};
      return { id, summary, safety, numerics, ...total };
    })
    .sort((a, b) => b.fixes - a.fixes || (a.id < b.id ? -1 : 1));
}
