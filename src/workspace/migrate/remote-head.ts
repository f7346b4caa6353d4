import { join } from 'node:path';
import type { Base } from '../../report/migrate/record.js';
import { bytesOf, textOf } from '../bounded.js';
import { Failure } from '../failure.js';

/** Branches of a remote that are named; the rest is counted. */
const MOST_BRANCHES = 10;
const CHOOSE_BRANCH =
  'Set the default branch of the repository on its server, or name one for it in the table `[base-branches]` of campaign.toml.';

/** Where the HEAD of a clone is that nobody has been at; null when it has no commit. */
export function headIn(folder: string): Base | null {
  const head = bytesOf(join(folder, 'HEAD')).toString('utf8').trim();
  const [, ref] = /^ref: (.+)$/.exec(head) ?? [];
  if (ref === undefined) return { commit: head, branch: null };
  const packed = (textOf(join(folder, 'packed-refs')) ?? '').split('\n').map((line) => line.split(' '));
  const commit = textOf(join(folder, ref))?.trim() ?? packed.find(([, name]) => name === ref)?.[0];
  return commit === undefined ? null : { commit, branch: ref.replace(/^refs\/heads\//, '') };
}

/** What `git ls-remote --heads` lists, where HEAD leads to no commit: the only branch; null when there is none. */
export function onlyBranchIn(listed: string): Base | null {
  const found = [...listed.matchAll(/^(\S+)\trefs\/heads\/(.+)$/gm)].map(
    ([, commit = '', branch = '']): Base => ({ commit, branch }),
  );
  const [only, ...others] = found;
  if (only === undefined || others.length === 0) return only ?? null;
  const named = found.slice(0, MOST_BRANCHES).map(({ branch }) => branch);
  const more = found.length > named.length ? ` and ${found.length - named.length} more` : '';
  throw new Failure(
    'The default branch does not exist',
    `HEAD of the remote leads to no commit; its branches are ${named.join(', ')}${more}`,
    CHOOSE_BRANCH,
  );
}

export function noBranch(name: string): Failure {
  return new Failure('The branch does not exist', `the remote has no branch ${name}`, CHOOSE_BRANCH);
}
