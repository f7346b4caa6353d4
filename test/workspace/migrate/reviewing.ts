import { join } from 'node:path';
import type { Offer } from '../../../src/report/migrate/offer.js';
import { readCampaign } from '../../../src/workspace/migrate/campaign.js';
import type { Verdict } from '../../../src/workspace/migrate/decisions.js';
import { CampaignFolder } from '../../../src/workspace/migrate/folder.js';

/** What the plan of a campaign's only repository offers. */
export function offersIn(camp: string): readonly Offer[] {
  const { folder, record } = onlyIn(camp);
  return folder.offers(record.id, record.planned?.key ?? '') ?? [];
}

/** Says the same to some offers of a campaign's only repository. */
export function decide(camp: string, verdict: Verdict | null, which: (offer: Offer) => boolean): void {
  const { folder, record } = onlyIn(camp);
  const matters = offersIn(camp).filter(which);
  folder.decide(
    record.id,
    matters.map(({ path, hash, key, likeness }) => ({ path, hash, key, likeness, verdict })),
  );
}

function onlyIn(camp: string) {
  const [repository] = readCampaign(camp).repositories;
  if (repository === undefined) throw new Error(`${join(camp, 'campaign.toml')} names no repository`);
  const folder = new CampaignFolder(camp);
  return { folder, record: folder.record(repository) };
}
