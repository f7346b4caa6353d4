import { join } from 'node:path';
import type { RepositoryRecord } from '../../../report/migrate/record.js';
import { Failure } from '../../failure.js';
import type { Campaign } from '../campaign.js';
import type { CampaignFolder } from '../folder.js';
import { tryHold } from '../hold.js';
import { Setback } from '../setback.js';
import type { Repository } from '../source.js';
import type { Forges } from './forges.js';

/** Asks what has become of pull requests, and writes it down; answers with why some could not be asked about. */
export async function follow(
  repositories: readonly Repository[],
  campaign: Campaign,
  folder: CampaignFolder,
  forges: Forges,
): Promise<readonly Failure[]> {
  const troubles: Failure[] = [];
  for (const repository of repositories.filter((each) => isToBeSeen(folder.record(each)))) {
    // Whoever is at work there asks itself.
    const held = await tryHold(join(campaign.mirrors, `${repository.id}.lock`));
    if (held instanceof Failure) continue;
    try {
      const record = folder.record(repository);
      const seen = await seenNow(forges, record);
      if (held.isOurs()) folder.save(seen);
    } catch (error) {
      if (!(error instanceof Failure) || error instanceof Setback) throw error;
      troubles.push(error);
    } finally {
      held.release();
    }
  }
  return troubles;
}

/** What was merged stays so. */
function isToBeSeen({ proposed }: RepositoryRecord): boolean {
  return proposed !== undefined && proposed.state !== 'merged';
}

async function seenNow(forges: Forges, record: RepositoryRecord): Promise<RepositoryRecord> {
  const { proposed } = record;
  if (proposed === undefined) return record;
  const project = forges.projectOf(record.url);
  const now = await (await forges.at(project.host)).look(project, proposed.number);
  return { ...record, proposed: { ...now, isFound: proposed.isFound } };
}
