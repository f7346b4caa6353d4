import { basename } from 'node:path';
import type { Counted } from '../../report/migrate/data.js';
import { type Known, type PageHead, pageOf, type Told } from '../../report/migrate/page/collect.js';
import type { PageData, PageDetail } from '../../report/migrate/page/data.js';

import type { RepositoryRecord } from '../../report/migrate/record.js';
import { tallyIn, tallyOf } from '../../report/migrate/tally.js';

import { redactedValue } from '../secrets.js';

import type { Decisions } from './decisions.js';

import type { CampaignFolder } from './folder.js';
import type { Repository } from './source.js';

/** What a campaign comes to, for its page, as it is on disk now. */
export function campaignPage(
  folder: CampaignFolder,
  repositories: readonly Repository[],
  known: readonly Known[],
  head: Pick<PageHead, 'tool' | 'isReview'>,
): { readonly data: PageData; readonly details: readonly PageDetail[] } {
  const made = new Date().toISOString();
  const told = repositories.map((repository) => toldOf(folder, repository));
  return pageOf({ ...head, made, title: basename(folder.path) }, told, known);
}

function toldOf(folder: CampaignFolder, repository: Repository): Told {
  const record = folder.record(repository);
  const offers = record.planned && folder.offers(record.id, record.planned.key);
  const verdictOf = verdictsOn(record, folder.decisions(record.id));
  return { ...redactedValue({ record, offers: offers ?? [] }), verdictOf };
}

/** What is pushed is as it was planned, whatever was said later. */
function verdictsOn({ pushed }: RepositoryRecord, decisions: Decisions): Told['verdictOf'] {
  if (pushed === undefined) return (offer) => decisions.verdict(offer);
  return (offer) => {
    if (offer.fate === 'rejected') return 'reject';
    return decisions.verdict(offer) === 'accept' ? 'accept' : undefined;
  };
}

/** What stands of the fixes of a repository. Offers are read only where something was decided: they may be many. */
export function countedIn(folder: CampaignFolder, record: RepositoryRecord): Counted {
  const decisions = folder.decisions(record.id);
  const { planned } = record;
  const offers =
    planned === undefined || decisions.all.length === 0 ? undefined : folder.offers(record.id, planned.key);
  if (offers === undefined) return { record, tally: tallyIn(planned) };
  const verdictOf = verdictsOn(record, decisions);
  const answered = offers.map((offer) => {
    const verdict = verdictOf(offer);
    return { ...offer, ...(verdict !== undefined && { verdict }) };
  });
  return { record, tally: tallyOf(answered) };
}
