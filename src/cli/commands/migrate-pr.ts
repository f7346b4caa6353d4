import type { Campaign } from '../../workspace/migrate/campaign.js';
import { CampaignFolder } from '../../workspace/migrate/folder.js';
import { follow } from '../../workspace/migrate/forge/follow.js';
import type { Repository } from '../../workspace/migrate/source.js';
import type { Context } from '../context.js';
import { forgesOf } from './migrate-forges.js';

/** Writes down what has become of the pull requests of these; false where some could not be asked about. */
export async function followAll(
  context: Context,
  campaign: Campaign,
  which: readonly Repository[],
): Promise<boolean> {
  const folder = new CampaignFolder(campaign.folder);
  const known = which.filter((repository) => folder.record(repository).proposed !== undefined);
  if (known.length === 0) return true;
  const forges = forgesOf(context, campaign, (text) => context.say(text));
  await forges.check(known.map(({ url }) => url));
  const troubles = await follow(known, campaign, folder, forges);
  for (const trouble of troubles) context.warn(trouble);
  return troubles.length === 0;
}
