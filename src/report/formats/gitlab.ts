import { createHash } from 'node:crypto';
import type { Level } from '../json.js';
import type { Report } from '../report.js';
import { type About, publish } from './publication.js';

const SEVERITIES: Readonly<Record<Level, string>> = { error: 'major', warning: 'minor', note: 'info' };

/** The code quality report that GitLab compares between the two sides of a merge request. */
export function renderGitlab(report: Report, about: About): string {
  const issues = publish(report, about).findings.map((finding) => ({
    type: 'issue',
    check_name: finding.id,
    description: finding.sentences.join('; '),
    severity: SEVERITIES[finding.level],
    categories: ['Performance'],
    fingerprint: createHash('sha256').update(`${finding.path}\0${finding.key}`).digest('hex'),
    location: { path: finding.path, lines: { begin: finding.line, end: finding.endLine } },
  }));
  return `${JSON.stringify(issues, undefined, 2)}\n`;
}
