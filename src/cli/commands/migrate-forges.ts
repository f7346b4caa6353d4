import { join } from 'node:path';
import { plural } from '../../report/prose.js';
import { type Campaign, readCampaign } from '../../workspace/migrate/campaign.js';
import type { Source } from '../../workspace/migrate/forge/forge.js';
import { Forges } from '../../workspace/migrate/forge/forges.js';
import type { Hosts } from '../../workspace/migrate/forge/host.js';
import {
  type Filter,
  keep,
  keepFirst,
  type Listing,
  listingFrom,
} from '../../workspace/migrate/forge/listing.js';
import { Pace } from '../../workspace/migrate/forge/pace.js';
import type { Context } from '../context.js';

/** Seconds; shorter waits are not worth a line. */
const WORTH_SAYING = 10;
/** Seconds that an answer may take where no campaign says it. */
const PATIENCE = 60;

/** The forges of a campaign; what they make us wait for is said. */
export function forgesOf(
  { io }: Context,
  { folder, hosts, limits, pullRequest }: Campaign,
  say: (text: string) => void,
  prsPerHour = pullRequest.perHour,
): Forges {
  return new Forges({
    ...{ hosts, env: io.env, signal: io.signal, timeout: limits.networkTimeout },
    pace: new Pace(join(folder, 'pulls.log'), prsPerHour),
    waits: waitsSaid(say),
  });
}

function waitsSaid(say: (text: string) => void) {
  return (why: string, seconds: number): void => {
    if (seconds < WORTH_SAYING) return;
    const until = new Date(Date.now() + seconds * 1000).toTimeString().slice(0, 5);
    say(`Waiting for ${why} until ${until} (${Math.ceil(seconds)} s) …`);
  };
}

/** The campaign with the repositories that its sources lead to: those that were not asked yet are, or all of them anew. */
export async function withSources(context: Context, campaign: Campaign, isAnew: boolean): Promise<Campaign> {
  const { folder, filter, hosts } = campaign;
  const sources = isAnew ? campaign.sources : campaign.unasked;
  if (sources.length === 0) return campaign;
  if (isAnew && context.args.text('shard') !== undefined)
    throw context.args.misuse(
      '`--update` asks the sources of this campaign again, which one run does for all shards: leave out `--shard`.',
    );
  for (const listing of await listingsFrom(context, sources, filter, hosts)) {
    if (isAnew) keep(folder, listing);
    else keepFirst(folder, listing);
  }
  return readCampaign(folder);
}

export async function listingsFrom(
  context: Context,
  sources: readonly Source[],
  filter: Filter,
  hosts: Hosts,
): Promise<readonly Listing[]> {
  const { env, signal } = context.io;
  const waits = waitsSaid((text) => context.say(text));
  const forges = new Forges({ hosts, env, signal, timeout: PATIENCE, waits });
  const listings: Listing[] = [];
  for (const source of sources) {
    const listing = await listingFrom(forges, source, filter);
    context.say(
      `${source.word}: ${plural(listing.urls.length, 'repository', 'repositories')}${leftOut(listing)}.`,
    );
    listings.push(listing);
  }
  return listings;
}

function leftOut({ left: { archived, forks, empty } }: Listing): string {
  const words = [
    ...(archived === 0 ? [] : [`${archived} archived`]),
    ...(forks === 0 ? [] : [plural(forks, 'fork')]),
    ...(empty === 0 ? [] : [`${empty} empty`]),
  ];
  return words.length === 0 ? '' : ` (left out: ${words.join(', ')})`;
}
