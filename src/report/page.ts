import type { TransformMeta } from '../toolkit/contract.js';
import { effectOf } from '../toolkit/effect.js';
import { saysNil } from '../toolkit/evidence.js';
import { type Hunk, hunkHeader, hunksBetween } from './diff.js';
import { EFFECT_WORDS } from './effects.js';
import { howMeasured, isNil, measurementsOf } from './evidence.js';

/** The fixture that a transform's `meta.example` names; both sides are the same where advice has no diff. */
export interface Example {
  readonly before: string;
  readonly after: string;
}

/** A small example is shown whole; this many unchanged lines around a change in a larger one. */
const CONTEXT = 12;

/** `torch ≥ 1.6, transformers ≥ 4.35` */
export function requirements({ requires }: TransformMeta): string {
  const floors = Object.entries(requires).map(([name, version]) => `${name} ≥ ${version}`);
  return floors.length === 0 ? 'nothing' : floors.join(', ');
}

export function origins({ origin }: TransformMeta): string[] {
  return origin.map(({ document, section, fidelity }) => {
    const relation = fidelity === 'same' ? 'the same fix' : 'the idea of this fix';
    return `${document}, ${section}: ${relation}`;
  });
}

export const SUPPRESS_HOW = 'On the line of the finding, or once for a whole file:';

export function suppressions(id: string): string[] {
  return [`# memfix: ignore[${id}] reason`, `# memfix: file-ignore[${id}]`];
}

/** What to use instead of a documented fix: the ids that its verdict names. */
export function alternativesTo({ id, evidence }: TransformMeta): string[] {
  const named = [...evidence.verdict.matchAll(/`([a-z][a-z0-9]*(?:-[a-z0-9]+)+)`/g)].map(
    ([, name = '']) => name,
  );
  return [...new Set(named)].filter((name) => name !== id);
}

/** What has no effect, or not the one that it is known for, says so before anything else. */
export function leadsWithVerdict(meta: TransformMeta): boolean {
  return meta.group === 'documented' || isNil(meta) || saysNil(meta);
}

/** `Measured`, or that nobody has. */
export function verdictLabel(meta: TransformMeta): string {
  return measurementsOf(meta).length > 0 ? 'Measured' : 'Not measured on a GPU';
}

/** The generated `transforms/<id>.md`. */
export function markdownPage(meta: TransformMeta, example: Example): string {
  const { docs, evidence } = meta;
  const comesFirst = leadsWithVerdict(meta);
  const verdict = `> **${verdictLabel(meta)}:** ${oneLine(evidence.verdict)}`;
  const sections = [
    `<!-- Generated from transforms/${meta.id}.ts; edit that file instead. -->`,
    `# ${meta.id}`,
    ...(comesFirst ? [verdict, ...instead(meta)] : []),
    meta.summary,
    properties(meta),
    ...optionTable(meta),
    ...(comesFirst ? [] : [verdict]),
    '## Why',
    docs.why.trim(),
    '## What it does',
    docs.does.trim(),
    ...exampleSection(example),
    ...listSection('## When it leaves code alone', docs.refuses),
    ...listSection('## Limits', docs.limits),
    ...evidenceSection(meta),
    ...listSection('## Origin', origins(meta)),
    '## Suppress it',
    SUPPRESS_HOW,
    fenced('python', `${suppressions(meta.id).join('\n')}\n`),
  ];
  return `${sections.join('\n\n')}\n`;
}

/** Both sides in one, with the unchanged lines between; hunk headers only where lines were left out. */
export function exampleDiff({ before, after }: Example): string {
  const hunks = hunksBetween(before.replace(/\r\n?/g, '\n'), after.replace(/\r\n?/g, '\n'), CONTEXT);
  const body = (hunk: Hunk) =>
    hunk.lines.map(({ kind, text }) => `${`${kind}${text}`.replace(/\s+$/, '')}\n`).join('');
  return hunks.map((hunk) => (hunks.length > 1 ? `${hunkHeader(hunk)}\n` : '') + body(hunk)).join('');
}

function instead(meta: TransformMeta): string[] {
  if (meta.group !== 'documented') return [];
  const links = alternativesTo(meta).map((id) => `[\`${id}\`](${id}.md)`);
  return links.length === 0 ? [] : [`Use instead: ${links.join(', ')}`];
}

function properties(meta: TransformMeta): string {
  return markdownTable(
    ['effect', 'symptom', 'safety', 'numerics', 'group', 'requires'],
    [
      [
        EFFECT_WORDS[effectOf(meta)],
        meta.symptom,
        meta.safety,
        meta.numerics,
        meta.group,
        requirements(meta),
      ],
    ],
  );
}

function optionTable({ id, options }: TransformMeta): string[] {
  const rows = Object.entries(options).map(([name, option]) => [
    `\`${name}\``,
    option.type,
    `\`${JSON.stringify(option.default)}\``,
    option.summary,
  ]);
  if (rows.length === 0) return [];
  return [
    `Options, under \`[tool.memfix.transforms.${id}]\`:`,
    markdownTable(['option', 'type', 'default', 'meaning'], rows),
  ];
}

function exampleSection(example: Example): string[] {
  const diff = exampleDiff(example);
  if (diff !== '') return ['## Example', fenced('diff', diff)];
  return example.before === ''
    ? []
    : ['## Example', fenced('python', example.before.replace(/\r\n?/g, '\n'))];
}

function evidenceSection(meta: TransformMeta): string[] {
  const rows = measurementsOf(meta).map(({ what, before, after, setup }) => [what, before, after, setup]);
  const told = howMeasured(meta);
  if (rows.length === 0 && told === undefined) return [];
  return [
    '## Evidence',
    ...(rows.length === 0 ? [] : [markdownTable(['measured', 'before', 'after', 'set-up'], rows)]),
    ...(told === undefined ? [] : [told]),
  ];
}

function listSection(title: string, items: readonly string[]): string[] {
  return items.length === 0 ? [] : [title, bullets(items)];
}

function bullets(items: readonly string[]): string {
  return items.map((item) => `- ${oneLine(item)}`).join('\n');
}

export function markdownTable(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(tableText).join(' | ')} |`;
  return [line(heads), `|${'---|'.repeat(heads.length)}`, ...rows.map(line)].join('\n');
}

function tableText(text: string): string {
  return oneLine(text).replaceAll('|', '\\|');
}

function oneLine(text: string): string {
  return text.trim().replace(/\s+/g, ' ');
}

function fenced(language: string, body: string): string {
  const fence = body.includes('```') ? '````' : '```';
  return `${fence}${language}\n${body}${fence}`;
}
