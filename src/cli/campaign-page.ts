import { join } from 'node:path';
import { type PageAssets, pageHtml } from '../report/migrate/page/html.js';
import { bytesOf } from '../workspace/bounded.js';
import { codeOf, Failure } from '../workspace/failure.js';
import type { Campaign } from '../workspace/migrate/campaign.js';
import { CampaignFolder } from '../workspace/migrate/folder.js';
import { campaignPage } from '../workspace/migrate/page.js';
import type { Repository } from '../workspace/migrate/source.js';
import { writeWhole } from '../workspace/migrate/whole-file.js';
import type { Context } from './context.js';
import { ownVersion, packageRoot } from './package.js';

/** The page that `plan` leaves in the campaign's folder. */
export const PAGE_FILE = 'report.html';

export function campaignHtml(
  { catalogue }: Pick<Context, 'catalogue'>,
  { folder }: Campaign,
  repositories: readonly Repository[],
  {
    assets = pageAssets(),
    isReview = false,
  }: { readonly assets?: PageAssets; readonly isReview?: boolean } = {},
): string {
  const tool = `memfix ${ownVersion()}`;
  const { data, details } = campaignPage(new CampaignFolder(folder), repositories, catalogue.metas, {
    tool,
    isReview,
  });
  return pageHtml(data, details, assets);
}

/** The work is done when this is called: a page that cannot be written is told, and no reason to fail. */
export function leavePage(context: Context, campaign: Campaign): void {
  try {
    writeWhole(join(campaign.folder, PAGE_FILE), campaignHtml(context, campaign, campaign.repositories));
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    context.warn(error);
  }
}

export function pageAssets(): PageAssets {
  const read = (name: string) => bytesOf(join(packageRoot(), 'dist', name)).toString('utf8');
  try {
    return { script: read('page.js'), style: read('page-style.css') };
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    throw new Failure(
      'The page is not built',
      'dist/page.js is missing',
      'Run `npm run build` in the checkout of memfix.',
    );
  }
}
