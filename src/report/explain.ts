import type { TransformMeta } from '../toolkit/contract.js';
import { effectOf } from '../toolkit/effect.js';
import { printable } from './cells.js';
import { EFFECT_WORDS } from './effects.js';
import { howMeasured, measurementsOf } from './evidence.js';
import {
  alternativesTo,
  type Example,
  exampleDiff,
  leadsWithVerdict,
  origins,
  requirements,
  SUPPRESS_HOW,
  suppressions,
  verdictLabel,
} from './page.js';
import type { Paint } from './paint.js';
import { wrap } from './prose.js';
import { SAFETY_TONE, type View } from './report.js';
import { table } from './table.js';

type Style = Pick<View, 'paint' | 'width'>;

const MARGIN = '  ';
/** Longer lines are hard to read, however wide the terminal. */
const MEASURE = 80;

/** The page of one transform in a terminal, for `memfix explain`. */
export function terminalPage(meta: TransformMeta, example: Example, { paint, width }: Style): string {
  const style = { paint, width: Math.min(width, MEASURE) };
  const { docs, evidence } = meta;
  const section = (title: string, body: readonly string[]) =>
    body.length === 0 ? [] : ['', paint.bold(title), ...body];
  const comesFirst = leadsWithVerdict(meta);
  const alternatives = meta.group === 'documented' ? alternativesTo(meta) : [];
  const verdict = [
    // A whole paragraph in a colour is hard to read on one ground or the other.
    ...prose(evidence.verdict, style, '').map(paint.bold),
    ...alternatives.map((id) => `Use instead: ${paint.bold(id)} (memfix explain ${id})`),
    '',
  ];
  const lines = [
    paint.bold(meta.id),
    ...(comesFirst ? verdict : []),
    ...prose(meta.summary, style, ''),
    '',
    ...properties(meta, style),
    ...(comesFirst ? [] : section(verdictLabel(meta), prose(evidence.verdict, style))),
    ...section('Why', prose(docs.why, style)),
    ...section('What it does', prose(docs.does, style)),
    ...section('Example', coloredDiff(example, paint)),
    ...section('When it leaves code alone', bullets(docs.refuses, style)),
    ...section('Limits', bullets(docs.limits, style)),
    ...section('Options', options(meta, style)),
    ...section('Evidence', measurements(meta, style)),
    ...section('Origin', bullets(origins(meta), style)),
    ...section('Suppress it', [
      ...prose(SUPPRESS_HOW, style),
      '',
      ...suppressions(meta.id).map((comment) => MARGIN.repeat(2) + comment),
    ]),
  ];
  return `${lines.join('\n')}\n`;
}

function properties(meta: TransformMeta, { paint }: Style): string[] {
  const rows: [string, string, ((text: string) => string)?][] = [
    ['effect', EFFECT_WORDS[effectOf(meta)]],
    ['symptom', meta.symptom],
    ['safety', meta.safety, paint[SAFETY_TONE[meta.safety]]],
    ['numerics', meta.numerics],
    ['group', meta.group],
    ...(meta.aliases === undefined ? [] : [['also', meta.aliases.join(', ')] as [string, string]]),
    ['requires', requirements(meta)],
  ];
  return table(
    rows.map(([name, text, tone = (plain: string) => plain]) => [
      { text: MARGIN + name, paint: (plain: string) => plain },
      { text, paint: tone },
    ]),
  );
}

function options(meta: TransformMeta, style: Style): string[] {
  const options = Object.entries(meta.options);
  if (options.length === 0) return [];
  return [
    ...options.flatMap(([name, option]) => [
      `${MARGIN}${style.paint.bold(name)} = ${JSON.stringify(option.default)}`,
      ...prose(option.summary, style, MARGIN.repeat(2)),
    ]),
    '',
    `${MARGIN}In pyproject.toml:`,
    `${MARGIN.repeat(2)}[tool.memfix.transforms.${meta.id}]`,
    ...options.map(
      ([name, option]) =>
        `${MARGIN.repeat(2)}${name} = ${JSON.stringify(option.needed?.example ?? option.default)}`,
    ),
  ];
}

function measurements(meta: TransformMeta, style: Style): string[] {
  const told = howMeasured(meta);
  return [
    ...measurementsOf(meta).flatMap(({ what, before, after, setup }) => [
      ...bullets([`${what}: ${before} → ${after}`], style),
      ...prose(setup, style, `${MARGIN}  `),
    ]),
    ...(told === undefined ? [] : prose(told, style)),
  ];
}

function bullets(items: readonly string[], { width }: Style): string[] {
  return items.flatMap((item) => wrap(item, width, { first: `${MARGIN}• `, rest: `${MARGIN}  ` }));
}

/** Long lines are left to the terminal to fold: what changes must not be cut off. */
function coloredDiff(example: Example, paint: Paint): string[] {
  const diff = exampleDiff(example);
  if (diff === '') return codeLines(example.before, MARGIN);
  return diff
    .split('\n')
    .slice(0, -1)
    .map((line) => {
      const text = printable(line);
      const tone = ({ '+': 'green', '-': 'red', '@': 'cyan' } as const)[line.charAt(0)];
      return text === '' ? '' : MARGIN + (tone === undefined ? text : paint[tone](text));
    });
}

function codeLines(code: string, margin: string): string[] {
  return code
    .split(/\r\n|\r|\n/)
    .slice(0, -1)
    .map((line) => (line === '' ? '' : margin + printable(line)));
}

/** Markdown as far as these texts use it: paragraphs and lists are filled, fenced code stays as it is. */
function prose(markdown: string, { width }: Style, margin = MARGIN): string[] {
  const lines: string[] = [];
  for (const [index, block] of markdown
    .trim()
    .split(/\n{2,}/)
    .entries()) {
    if (index > 0) lines.push('');
    if (block.startsWith('```')) {
      lines.push(
        ...codeLines(block.slice(block.indexOf('\n') + 1, block.lastIndexOf('\n') + 1), margin + MARGIN),
      );
    } else {
      for (const item of block.split(/\n(?=[-*] )/)) lines.push(...paragraph(item, width, margin));
    }
  }
  return lines;
}

function paragraph(text: string, width: number, margin: string): string[] {
  const item = /^[-*] /.exec(text);
  if (item === null) return wrap(text, width, { first: margin, rest: margin });
  return wrap(text.slice(item[0].length), width, { first: `${margin}• `, rest: `${margin}  ` });
}
