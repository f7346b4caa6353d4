import type { Numerics, Safety } from '../../../toolkit/contract.js';
import type { Offer } from '../offer.js';
import { type RepositoryRecord, statusOf } from '../record.js';
import { tallyIn, tallyOf } from '../tally.js';
import type { PageData, PageDetail, PageOffer, PageRepository, PageTransform, PageVerdict } from './data.js';

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
  return { data: { version: 1, ...head, transforms: those(repositories, known), repositories }, details };
}

function detailOf({ record: { planned }, offers, verdictOf }: Told): PageDetail {
  return {
    offers: offers.map((offer): PageOffer => {
      const { hash: _hash, key: _key, file: _file, likeness: _likeness, ...shown } = offer;
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
  const end = pushed ?? committed;
  const commit = pushed?.commit ?? committed?.commits.at(-1);
  return {
    ...{ id, name, url, status: statusOf(record) },
    offered: [...new Set(offers.map(({ transform }) => transform))],
    tally: offers.length === 0 ? tallyIn(planned) : tallyOf(offers),
    isPushed: pushed !== undefined,
    ...(proposed && { proposed }),
    ...(base && { base }),
    ...(end && { branch: end.branch }),
    ...(commit !== undefined && { commit }),
    ...(planned && {
      plan: planned.key,
      checked: planned.checked,
      remaining: planned.remaining,
      refused: planned.refused,
      skipped: planned.skipped.length,
      bugs: planned.bugs.length,
    }),
    ...(failure && { failure }),
  };
}

/** The transforms that something was offered of. */
function those(repositories: readonly PageRepository[], known: readonly Known[]): readonly PageTransform[] {
  const ids = new Set(
    repositories.flatMap(({ offered, tally }) => [...offered, ...Object.keys(tally.transforms)]),
  );
  return [...ids].sort().map((id): PageTransform => {
    const {
      summary = '',
      safety = 'safe',
      numerics = 'bit-identical',
    } = known.find((each) => each.id === id) ?? {};
    return { id, summary, safety, numerics };
  });
}
