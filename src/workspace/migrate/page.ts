import { basename } from 'node:path';
import { type Known, type PageHead, pageOf, type Told } from '../../report/migrate/page/collect.js';
import type { PageData, PageDetail } from '../../report/migrate/page/data.js';
import { redactedValue } from '../secrets.js';
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
  const decisions = folder.decisions(record.id);
  return {
    ...redactedValue({ record, offers: offers ?? [] }),
    verdictOf: (offer) => decisions.verdict(offer),
  };
}
