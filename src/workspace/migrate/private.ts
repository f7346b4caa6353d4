import { appendFileSync, chmodSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { textOf } from '../bounded.js';
import { Failure, reasonOf } from '../failure.js';
import { isInside } from '../places.js';

/** What holds code and words of others: repositories, what was found in them, and what their code printed. */
const FOLDERS = ['fixes', 'logs', 'mirrors', 'patches', 'runs', 'state', 'trees'];
const IGNORED = [...FOLDERS.map((name) => `/${name}/`), '/report.html', '/review.lock'];
const OWNER_ONLY = 0o700;
const OTHERS = 0o077;

/**
 * Lets nobody else read the folders of a campaign that hold words of others, and git ignore them; also those of a campaign
 * that an earlier memfix began.
 */
export function keepPrivate(campaign: string, mirrors: string): void {
  try {
    for (const name of FOLDERS) if (name !== 'mirrors') closeToOthers(join(campaign, name));
    makeMirrors(mirrors, campaign);
    ignoreIn(campaign);
  } catch (error) {
    throw new Failure(
      "The campaign's folders cannot be closed to others",
      `${campaign}: ${reasonOf(error)}`,
      'Use a folder of your own: they hold code of the repositories, and what it printed.',
    );
  }
}

function closeToOthers(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: OWNER_ONLY });
  if ((statSync(folder).mode & OTHERS) !== 0 && process.platform !== 'win32') chmodSync(folder, OWNER_ONLY);
}

/** Elsewhere, campaigns may share it, and people, where whoever made it wants that. */
function makeMirrors(folder: string, campaign: string): void {
  const isMade = mkdirSync(folder, { recursive: true, mode: OWNER_ONLY }) !== undefined;
  if (isInside(folder, campaign)) closeToOthers(folder);
  if (isMade && folder !== join(campaign, 'mirrors')) writeFileSync(join(folder, '.gitignore'), '*\n');
}

export function ignoreIn(campaign: string): void {
  const file = join(campaign, '.gitignore');
  const text = textOf(file) ?? '';
  const there = new Set(text.split(/\r?\n/));
  const missing = IGNORED.filter((line) => !there.has(line));
  if (missing.length === 0) return;
  const start = text === '' || text.endsWith('\n') ? '' : '\n';
  appendFileSync(file, `${start}${missing.join('\n')}\n`);
}
