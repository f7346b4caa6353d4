import { toJson } from '../json.js';
import type { Report } from '../report.js';

/** What `json` tells, in lines that can be read one by one: findings, sites left alone, notes and skipped files, and the summary last. */
export function renderJsonLines(report: Report): string {
  const { findings, leftAlone, notes, skipped, summary, version, assumed } = toJson(report);
  const lines = [
    ...findings.map((finding) => ({ kind: 'finding', ...finding })),
    ...leftAlone.map((site) => ({ kind: 'left-alone', ...site })),
    ...notes.map((note) => ({ kind: 'note', ...note })),
    ...skipped.map((file) => ({ kind: 'skipped', ...file })),
    { kind: 'summary', version, ...summary, assumed },
  ];
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}
