import type { Campaign } from '../../workspace/migrate/campaign.js';
import { chosen } from '../../workspace/migrate/choose.js';
import { CampaignFolder, type Run } from '../../workspace/migrate/folder.js';
import { follow } from '../../workspace/migrate/forge/follow.js';
import type { Context } from '../context.js';
import { forgesOf } from './migrate-forges.js';
import { choiceIn } from './migrate-runs.js';

/** Writes down what has become of pull requests; false where some could not be asked about. */
export async function followAll(context: Context, campaign: Campaign): Promise<boolean> {
  const folder = new CampaignFolder(campaign.folder);
  const known = chosen(campaign.repositories, choiceIn(context.args)).filter(
    (repository) => folder.record(repository).proposed !== undefined,
  );
  const forges = forgesOf(context, campaign, (text) => context.say(text));
  await forges.check(known.map(({ url }) => url));
  const troubles = await follow(known, campaign, folder, forges);
  for (const trouble of troubles) context.warn(trouble);
  return troubles.length === 0;
}

/** Once, rather than as the same failure of every repository. */
export async function checkForges(context: Context, campaign: Campaign, { ids }: Run): Promise<void> {
  const which = campaign.repositories.filter(({ id }) => ids.includes(id));
  const forges = forgesOf(context, campaign, () => undefined);
  await forges.check(which.map(({ url }) => url));
}
