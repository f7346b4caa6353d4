import type { JsonSkipped } from '../json.js';
import type { Report } from '../report.js';
import { type About, type Published, publish } from './publication.js';

/** A suite for each file with findings: a finding fails, advice passes with a word, a skipped file is skipped. */
export function renderJunit(report: Report, about: About): string {
  const { findings, document } = publish(report, about);
  const paths = [...new Set(findings.map(({ path }) => path))];
  const suites = [
    ...paths.map((path) => {
      const own = findings.filter((finding) => finding.path === path);
      return suite(path, own.map(caseOf), own.filter(isFailure).length, 0);
    }),
    ...document.skipped.map((file) =>
      suite(about.fromRoot(file.path), [skippedCase(file, about.fromRoot(file.path))], 0, 1),
    ),
  ];
  // A dashboard takes an empty report for one that was never made.
  const isClean = suites.length === 0;
  if (isClean) suites.push(suite('memfix', ['    <testcase name="no findings" classname="memfix"/>'], 0, 0));
  const failures = findings.filter(isFailure).length;
  const tests = isClean ? 1 : findings.length + document.skipped.length;
  const totals = { name: 'memfix', tests, failures, errors: 0, skipped: document.skipped.length };
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites${attributes(totals)}>\n${suites.join('')}</testsuites>\n`;
}

function isFailure({ level }: Published): boolean {
  return level !== 'note';
}

function suite(name: string, cases: readonly string[], failures: number, skipped: number): string {
  const head = attributes({ name, tests: cases.length, failures, errors: 0, skipped });
  return `  <testsuite${head}>\n${cases.join('\n')}\n  </testsuite>\n`;
}

function caseOf(finding: Published): string {
  const { id, path, line, column, message, safety, sentences } = finding;
  const head = attributes({ name: `${id} at ${line}:${column}`, classname: path, file: path, line });
  const told = escaped(`${path}:${line}:${column}\n${sentences.join('\n')}`);
  const body = isFailure(finding)
    ? `<failure${attributes({ type: safety, message })}>${told}</failure>`
    : `<system-out>${told}</system-out>`;
  return `    <testcase${head}>${body}</testcase>`;
}

function skippedCase({ line, reason }: JsonSkipped, path: string): string {
  const head = attributes({ name: 'skipped', classname: path, file: path, line });
  return `    <testcase${head}><skipped${attributes({ message: reason })}/></testcase>`;
}

function attributes(values: Readonly<Record<string, string | number | null>>): string {
  return Object.entries(values)
    .map(([name, value]) => (value === null ? '' : ` ${name}="${escaped(String(value))}"`))
    .join('');
}

/** What XML has no way to say, such as an escape character, becomes the sign for it. */
function escaped(text: string): string {
  return text
    .replace(/[^\t\n\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll('\n', '&#10;');
}
