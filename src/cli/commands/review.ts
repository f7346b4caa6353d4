import { join, resolve } from 'node:path';
import { policyOf } from '../../report/migrate/page/html.js';
import { plural } from '../../report/prose.js';
import { Failure } from '../../workspace/failure.js';
import { type Campaign, readCampaign } from '../../workspace/migrate/campaign.js';
import { CampaignFolder } from '../../workspace/migrate/folder.js';
import { hold } from '../../workspace/migrate/hold.js';
import { Ballot } from '../../workspace/migrate/review/ballot.js';
import { ReviewServer } from '../../workspace/migrate/review/server.js';
import { learnSecrets } from '../../workspace/secrets.js';
import { showInBrowser } from '../browser.js';
import { campaignHtml, leavePage, pageAssets } from '../campaign-page.js';
import { type Context, EXIT } from '../context.js';

/** Serves the page of a campaign to a browser on this machine until it is stopped; what is decided there is kept. */
export async function review(context: Context): Promise<number> {
  const { args, io } = context;
  learnSecrets(io.env);
  const [place = '.', ...others] = args.operands;
  if (others.length > 0) throw args.misuse('`memfix review` is about one campaign.');
  const port = portIn(context);
  const campaign = readCampaign(resolve(io.cwd, place));
  const folder = new CampaignFolder(campaign.folder);
  checkPlanned(campaign, folder);
  const held = await hold(join(campaign.folder, 'review.lock'), {
    title: REVIEWED,
    takeover: args.flag('takeover'),
  });
  try {
    const ballot = new Ballot(folder, campaign.repositories);
    const assets = pageAssets();
    const server = await ReviewServer.start({
      ballot,
      page: () => ({
        html: campaignHtml(context, campaign, campaign.repositories, { assets, isReview: true }),
        policy: policyOf({ isReview: true }, assets),
      }),
      planned: () => folder.plannedAt(),
      port,
    });
    try {
      io.stdout.write(`${server.url}\n`);
      context.say('Only this machine can open it, and only with the whole address. Ctrl-C ends the review.');
      const isShown = io.stderr.isTTY === true && args.choice('open') !== false;
      const unshow = isShown ? showInBrowser(server.url, io.env) : undefined;
      await stopped(io.signal);
      unshow?.();
    } finally {
      await server.close();
    }
    sayOutcome(context, ballot);
    leavePage(context, campaign);
    return EXIT.clean;
  } finally {
    held.release();
  }
}

const REVIEWED = 'Another review of this campaign is open';

function portIn({ args }: Context): number {
  const port = args.text('port') ?? '0';
  if (/^\d{1,5}$/.test(port) && Number(port) <= 65_535) return Number(port);
  throw args.misuse(`\`--port\` cannot be \`${port}\`: it is a number from 1 to 65535.`);
}

function checkPlanned({ repositories }: Campaign, folder: CampaignFolder): void {
  if (repositories.some((repository) => folder.record(repository).planned !== undefined)) return;
  throw new Failure(
    'Nothing to review',
    'no repository of this campaign is planned',
    'Run `memfix migrate plan` first.',
  );
}

function stopped(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

function sayOutcome(context: Context, ballot: Ballot): void {
  const { accepted, rejected, repositories } = ballot.outcome;
  const where = plural(repositories, 'repository', 'repositories');
  const isIdle = accepted + rejected === 0;
  context.say(isIdle ? 'Nothing was decided.' : `${accepted} accepted and ${rejected} rejected in ${where}.`);
  if (rejected > 0) context.say('`memfix migrate run` leaves out what was rejected.');
}
