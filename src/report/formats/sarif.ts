import type { TransformMeta } from '../../toolkit/contract.js';
import { effectOf } from '../../toolkit/effect.js';
import type { JsonEdit, JsonReport } from '../json.js';
import type { Report } from '../report.js';
import { type About, apart, type Published, publish } from './publication.js';

const SCHEMA = 'https://json.schemastore.org/sarif-2.1.0.json';
const ROOT = '%SRCROOT%';

/**
 * SARIF 2.1.0. Lines end where Python ends them and columns count code points, so that every region is exact; a byte order
 * mark counts as no character. Findings that a comment silences are not in it: code scanning would show them.
 */
export function renderSarif(report: Report, about: About): string {
  const { findings, document } = publish(report, about);
  const used = new Set(findings.map(({ id }) => id));
  const metas = about.metas.filter(({ id }) => used.has(id));
  const index = new Map(metas.map(({ id }, at) => [id, at]));
  const log = {
    $schema: SCHEMA,
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: 'memfix',
            version: about.version,
            semanticVersion: about.version,
            rules: metas.map((meta) => ruleOf(meta, about)),
          },
        },
        columnKind: 'unicodeCodePoints',
        newlineSequences: ['\r\n', '\n', '\r'],
        originalUriBaseIds: { [ROOT]: { description: { text: 'The root of the repository' } } },
        invocations: [
          { executionSuccessful: true, toolExecutionNotifications: notifications(document, about) },
        ],
        results: findings.map((finding) => resultOf(finding, index.get(finding.id))),
      },
    ],
  };
  return `${JSON.stringify(log, undefined, 2)}\n`;
}

function ruleOf(meta: TransformMeta, about: About) {
  const { id, summary, docs, symptom, safety, numerics } = meta;
  const isLeak = symptom === 'leak';
  const level = safety === 'advice' ? 'note' : isLeak ? 'error' : 'warning';
  const page = about.page(id);
  return {
    id,
    name: id.replace(/(?:^|-)([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()),
    shortDescription: { text: summary },
    fullDescription: { text: docs.why.trim() },
    help: {
      text: `${docs.why.trim()}\n\n${docs.does.trim()}`,
      ...(page !== undefined && { markdown: page }),
    },
    defaultConfiguration: { level },
    properties: {
      tags: ['pytorch', 'memory', symptom, effectOf(meta)],
      precision: safety === 'safe' ? 'very-high' : 'high',
      'problem.severity': level === 'note' ? 'recommendation' : level,
      numerics,
    },
  };
}

function resultOf(finding: Published, ruleIndex: number | undefined) {
  const { id, key, level, path, sentences, fix, safety, numerics, effect, questions, verified } = finding;
  const asked = questions.map(({ text }) => text);
  return {
    ruleId: id,
    ...(ruleIndex !== undefined && { ruleIndex }),
    level,
    message: { text: sentences.join('\n') },
    locations: [{ physicalLocation: { artifactLocation: artifact(path), region: regionOf(finding) } }],
    // Of the finding's own words, its functions and its number among equals: moved lines keep it.
    partialFingerprints: { 'memfix/v1': key },
    ...(fix !== null &&
      fix.edits.length + fix.files.length > 0 && {
        fixes: [
          {
            // Who applies it from here is not asked.
            description: {
              text: [safety === 'safe' ? fix.title : `${fix.title} (${safety})`, ...asked].join(
                '; only if yes: ',
              ),
            },
            artifactChanges: [{ path, edits: fix.edits }, ...fix.files]
              .filter(({ edits }) => edits.length > 0)
              .map((file) => ({
                artifactLocation: artifact(file.path),
                replacements: apart(file.edits).map((edit) => ({
                  deletedRegion: regionOf(edit),
                  insertedContent: { text: edit.text },
                })),
              })),
          },
        ],
      }),
    properties: { safety, numerics, effect, questions, ...(verified !== null && { verified }) },
  };
}

function notifications({ notes, skipped }: JsonReport, { fromRoot }: About) {
  const at = (path: string, line: number | null, column: number | null) => ({
    physicalLocation: {
      artifactLocation: artifact(fromRoot(path)),
      ...(line !== null && { region: { startLine: line, startColumn: column ?? 1 } }),
    },
  });
  return [
    ...skipped.map(({ path, line, column, reason }) => ({
      level: 'warning',
      descriptor: { id: 'skipped' },
      message: { text: reason },
      locations: [at(path, line, column)],
    })),
    ...notes.map(({ path, line, column, message }) => ({
      level: 'note',
      descriptor: { id: 'suppression' },
      message: { text: message },
      locations: [at(path, line, column)],
    })),
  ];
}

function regionOf({
  line,
  column,
  endLine,
  endColumn,
}: Pick<JsonEdit, 'line' | 'column' | 'endLine' | 'endColumn'>) {
  return { startLine: line, startColumn: column, endLine, endColumn };
}

/** Outside of the repository, a path is whole. */
function artifact(path: string) {
  const uri = path.split('/').map(encodeURIComponent).join('/');
  if (path.startsWith('/')) return { uri: `file://${uri}` };
  return /^[A-Za-z]:\//.test(path) ? { uri: `file:///${uri.replace('%3A', ':')}` } : { uri, uriBaseId: ROOT };
}
