import { type RepositoryRecord, type Status, statusOf } from './record.js';
import { perTransform, type TransformTotal } from './render.js';

/** The document of `memfix migrate report`. Fields are only ever added within a version. */
export interface CampaignJson {
  readonly version: 1;
  readonly statuses: Readonly<Partial<Record<Status, number>>>;
  readonly transforms: readonly TransformTotal[];
  readonly repositories: readonly (RepositoryRecord & { readonly status: Status })[];
}

export function campaignJson(records: readonly RepositoryRecord[]): CampaignJson {
  const statuses: Partial<Record<Status, number>> = {};
  for (const record of records) statuses[statusOf(record)] = (statuses[statusOf(record)] ?? 0) + 1;
  return {
    version: 1,
    statuses,
    transforms: perTransform(records),
    repositories: records.map((record) => ({ ...record, status: statusOf(record) })),
  };
}

const COLUMNS: Readonly<Record<string, (record: RepositoryRecord) => string | number | undefined>> = {
  name: ({ name }) => name,
  url: ({ url }) => url,
  status: statusOf,
  base: ({ base }) => base?.commit,
  fixes: ({ planned }) => planned?.fixes.reduce((sum, { findings }) => sum + findings, 0),
  files: ({ planned }) => planned?.files,
  remaining: ({ planned }) => planned?.remaining,
  refused: ({ planned }) => planned?.refused,
  skipped: ({ planned }) => planned?.skipped.length,
  transforms: ({ planned }) => planned?.fixes.map(({ transform }) => transform).join(' '),
  pr: ({ proposed }) => proposed?.url,
  checks: ({ proposed }) => proposed?.checks,
  branch: ({ pushed, committed }) => (pushed ?? committed)?.branch,
  commit: ({ pushed, committed }) => pushed?.commit ?? committed?.commits.at(-1),
  stage: ({ failure }) => failure?.stage,
  failure: ({ failure }) => failure && `${failure.title}: ${failure.detail}`,
};

/** As RFC 4180 has it, a header first. */
export function campaignCsv(records: readonly RepositoryRecord[]): string {
  const rows = records.map((record) => Object.values(COLUMNS).map((column) => cell(column(record))));
  return [Object.keys(COLUMNS), ...rows].map((row) => `${row.join(',')}\r\n`).join('');
}

/** A cell that a spreadsheet would take for a formula is text: names come from other people. */
function cell(value: string | number | undefined): string {
  if (typeof value !== 'string') return String(value ?? '');
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
