import { type RepositoryRecord, type Status, statusOf } from './record.js';
import { perTransform, type Tally, type TransformTotal } from './tally.js';

/** The document of `memfix migrate report`. Fields are only ever added within a version. */
export interface CampaignJson {
  readonly version: 1;
  readonly statuses: Readonly<Partial<Record<Status, number>>>;
  readonly transforms: readonly TransformTotal[];
  readonly repositories: readonly (RepositoryRecord & { readonly status: Status; readonly tally: Tally })[];
}

/** What is known about a repository, and what of its fixes stands. */
export interface Counted {
  readonly record: RepositoryRecord;
  readonly tally: Tally;
}

export function campaignJson(counted: readonly Counted[]): CampaignJson {
  const records = counted.map(({ record }) => record);
  const statuses: Partial<Record<Status, number>> = {};
  for (const record of records) statuses[statusOf(record)] = (statuses[statusOf(record)] ?? 0) + 1;
  return {
    version: 1,
    statuses,
    transforms: perTransform(counted.map(({ tally }) => tally)),
    repositories: counted.map(({ record, tally }) => ({ ...record, status: statusOf(record), tally })),
  };
}

type Column = (record: RepositoryRecord, tally: Tally) => string | number | undefined;

const COLUMNS: Readonly<Record<string, Column>> = {
  name: ({ name }) => name,
  url: ({ url }) => url,
  status: statusOf,
  base: ({ base }) => base?.commit,
  fixes: ({ planned }, { fixes }) => planned && fixes,
  files: ({ planned }, { files }) => planned && files,
  rejected: ({ planned }, { rejected }) => planned && rejected,
  held: ({ planned }, { held }) => planned && held,
  remaining: ({ planned }) => planned?.remaining,
  refused: ({ planned }) => planned?.refused,
  skipped: ({ planned }) => planned?.skipped.length,
  transforms: (_, { transforms }) => Object.keys(transforms).join(' '),
  pr: ({ proposed }) => proposed?.url,
  checks: ({ proposed }) => proposed?.checks,
  branch: ({ pushed, committed }) => (pushed ?? committed)?.branch,
  commit: ({ pushed, committed }) => pushed?.commit ?? committed?.commits.at(-1),
  stage: ({ failure }) => failure?.stage,
  failure: ({ failure }) => failure && `${failure.title}: ${failure.detail}`,
};

/** As RFC 4180 has it, a header first. */
export function campaignCsv(counted: readonly Counted[]): string {
  const rows = counted.map(({ record, tally }) =>
    Object.values(COLUMNS).map((column) => cell(column(record, tally))),
  );
  return [Object.keys(COLUMNS), ...rows].map((row) => `${row.join(',')}\r\n`).join('');
}

/** A cell that a spreadsheet would take for a formula is text: names come from other people. */
function cell(value: string | number | undefined): string {
  if (typeof value !== 'string') return String(value ?? '');
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
