import { printable } from '../cells.js';
import type { Tone } from '../paint.js';
import { plural } from '../prose.js';
import type { View } from '../report.js';
import { table } from '../table.js';
import type { Counted } from './data.js';
import { hasFailed, type RepositoryRecord, STATUSES, type Status, statusOf } from './record.js';
import { perTransform, type Tally, tallyIn, tallyWords } from './tally.js';

const TONES: Readonly<Partial<Record<Status, Tone>>> = {
  merged: 'green',
  'pr open': 'green',
  'pr closed': 'yellow',
  pushed: 'green',
  committed: 'green',
  planned: 'cyan',
  'branch exists': 'yellow',
  failed: 'red',
  'not verifiable': 'red',
};

/** One repository in a line. */
export function outcomeLine(
  record: RepositoryRecord,
  { paint }: Pick<View, 'paint'>,
  tally = tallyIn(record.planned),
): string {
  const status = statusOf(record);
  const tone = TONES[status];
  const word = tone === undefined ? status : paint[tone](status);
  return `${printable(record.name)}: ${word}${said(record, tally)}`;
}

function said(record: RepositoryRecord, tally: Tally): string {
  const { failure, taken } = record;
  const status = statusOf(record);
  if (hasFailed(record) && failure !== undefined) {
    const [first = ''] = failure.detail.split('\n');
    return ` (${failure.stage}): ${printable(`${failure.title}: ${first}`)}`;
  }
  if (status === 'branch exists' && taken !== undefined)
    return `: ${taken.branch} is there, and is not of this campaign`;
  const parts = [...proposedWords(record), ...tallyWords(tally, plural)].join(', ');
  return parts === '' ? '' : `: ${parts}`;
}

function proposedWords({ proposed }: RepositoryRecord): readonly string[] {
  if (proposed === undefined) return [];
  const { url, state, isDraft, isFound, checks } = proposed;
  const more = [
    ...(isFound ? ['found'] : []),
    ...(state === 'open' && isDraft ? ['draft'] : []),
    ...(state === 'open' && checks !== 'unknown' && checks !== 'none' ? [`checks ${checks}`] : []),
  ];
  return [`${printable(url)}${more.length === 0 ? '' : ` (${more.join(', ')})`}`];
}

/** How many repositories are where. */
export function totals(records: readonly RepositoryRecord[]): string {
  const counts = STATUSES.map((status) => {
    const count = records.filter((record) => statusOf(record) === status).length;
    return count === 0 ? [] : [`${count} ${status}`];
  });
  return `${plural(records.length, 'repository', 'repositories')}: ${counts.flat().join(', ') || 'none'}.`;
}

/** What to do about failures, once for all that have the same to do. */
function nextSteps(records: readonly RepositoryRecord[]): readonly string[] {
  const names = new Map<string, string[]>();
  for (const { name, failure } of records.filter(hasFailed)) {
    const next = failure?.next ?? '';
    names.set(next, [...(names.get(next) ?? []), name]);
  }
  return [...names].map(([next, [first = '', ...others]]) => {
    const who = others.length === 0 ? first : plural(others.length + 1, 'repository', 'repositories');
    return `Next (${printable(who)}): ${printable(next)}`;
  });
}

/** Where every repository is, what to do about failures, and what the campaign comes to for each transform. */
export function renderStatus(counted: readonly Counted[], view: View): string {
  const lines = counted.map(({ record, tally }) => outcomeLine(record, view, tally));
  const rows = perTransform(counted.map(({ tally }) => tally)).map(({ transform, repositories, fixes }) => [
    { text: transform },
    { text: plural(fixes, 'fix', 'fixes'), align: 'right' } as const,
    { text: `in ${plural(repositories, 'repository', 'repositories')}` },
  ]);
  const totalled = rows.length === 0 ? [] : ['', ...table(rows)];
  const next = nextSteps(counted.map(({ record }) => record));
  return `${[...lines, ...(next.length === 0 ? [] : ['', ...next]), ...totalled].join('\n')}\n`;
}
