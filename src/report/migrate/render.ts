import { printable } from '../cells.js';
import type { Tone } from '../paint.js';
import { plural } from '../prose.js';
import type { View } from '../report.js';
import { table } from '../table.js';
import { hasFailed, type RepositoryRecord, STATUSES, type Status, statusOf } from './record.js';

const TONES: Readonly<Partial<Record<Status, Tone>>> = {
  merged: 'green',
  'pr open': 'green',
  'pr closed': 'yellow',
  pushed: 'green',
  committed: 'green',
  planned: 'cyan',
  'branch exists': 'yellow',
  failed: 'red',
};

/** One repository in a line. */
export function outcomeLine(record: RepositoryRecord, { paint }: Pick<View, 'paint'>): string {
  const status = statusOf(record);
  const tone = TONES[status];
  const word = tone === undefined ? status : paint[tone](status);
  return `${printable(record.name)}: ${word}${said(record)}`;
}

function said(record: RepositoryRecord): string {
  const { failure, taken, planned } = record;
  const status = statusOf(record);
  if (status === 'failed' && failure !== undefined) {
    const [first = ''] = failure.detail.split('\n');
    return ` (${failure.stage}): ${printable(`${failure.title}: ${first}`)}`;
  }
  if (status === 'branch exists' && taken !== undefined)
    return `: ${taken.branch} is there, and is not of this campaign`;
  const rejected = planned?.rejected === undefined ? [] : [`${planned.rejected} rejected`];
  const changes = planned?.steps.length ? [`${fixesIn(record)} in ${plural(planned.files, 'file')}`] : [];
  const parts = [...proposedWords(record), ...changes, ...rejected].join(', ');
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

function fixesIn({ planned }: RepositoryRecord): string {
  return plural(
    (planned?.fixes ?? []).reduce((sum, { findings }) => sum + findings, 0),
    'fix',
    'fixes',
  );
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
export function renderStatus(records: readonly RepositoryRecord[], view: View): string {
  const lines = records.map((record) => outcomeLine(record, view));
  const rows = perTransform(records).map(({ transform, repositories, fixes }) => [
    { text: transform },
    { text: plural(fixes, 'fix', 'fixes'), align: 'right' } as const,
    { text: `in ${plural(repositories, 'repository', 'repositories')}` },
  ]);
  const counted = rows.length === 0 ? [] : ['', ...table(rows)];
  const next = nextSteps(records);
  return `${[...lines, ...(next.length === 0 ? [] : ['', ...next]), ...counted].join('\n')}\n`;
}

export interface TransformTotal {
  readonly transform: string;
  readonly fixes: number;
  readonly repositories: number;
}

export function perTransform(records: readonly RepositoryRecord[]): readonly TransformTotal[] {
  const totals = new Map<string, TransformTotal>();
  for (const { transform, findings } of records.flatMap(({ planned }) => planned?.fixes ?? [])) {
    const { fixes = 0, repositories = 0 } = totals.get(transform) ?? {};
    totals.set(transform, { transform, fixes: fixes + findings, repositories: repositories + 1 });
  }
  return [...totals.values()].sort((a, b) => b.fixes - a.fixes || (a.transform < b.transform ? -1 : 1));
}
