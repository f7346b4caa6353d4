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
    matters.map(({ path, hash, key, likeness, file = hash }) => ({
      path,
      hash,
      key,
      likeness,
      file,
      verdict,
    })),
  );
}

function onlyIn(camp: string) {
  const [repository] = readCampaign(camp).repositories;
  if (repository === undefined) throw new Error(`${join(camp, 'campaign.toml')} names no repository`);
  const folder = new CampaignFolder(camp);
  return { folder, record: folder.record(repository) };
}

/** The plan of a campaign's only repository. */
export function planIn(camp: string): { readonly id: string; readonly key: string } {
  const { record } = onlyIn(camp);
  return { id: record.id, key: record.planned?.key ?? '' };
}

/** What was said to each offer of the plan. */
export function verdictsIn(camp: string): readonly (Verdict | undefined)[] {
  const { folder, record } = onlyIn(camp);
  const decisions = folder.decisions(record.id);
  return offersIn(camp).map((offer) => decisions.verdict(offer));
}
