import type { Group, TransformMeta } from '../toolkit/contract.js';
import { byEffect, effectOf } from '../toolkit/effect.js';
import { widthOf } from './cells.js';
import { EFFECT_WORDS } from './effects.js';
import { headline, measurementsOf } from './evidence.js';
import { GROUP_MEANINGS } from './meanings.js';
import { markdownTable } from './page.js';
import { wrap } from './prose.js';
import { SAFETY_TONE, type View } from './report.js';
import { GAP, type TableCell, table } from './table.js';

/** `verbose`: with what was measured. */
type Style = Pick<View, 'paint' | 'width' | 'verbose'>;

/** A summary narrower than this reads better below its transform than beside it. */
const NARROWEST_SUMMARY = 48;
/** Longer lines are hard to read, however wide the terminal. */
const WIDEST_SUMMARY = 88;

/** The catalogue for `memfix list`, group by group: a table where the summaries have room, else one entry below the other. */
export function renderCatalogue(metas: readonly TransformMeta[], style: Style): string {
  const head = HEADS.map((text) => ({ text, paint: style.paint.dim }));
  // The groups share their columns, so that the eye finds them again.
  const all = [head, ...metas.map((meta) => facts(meta, style))];
  const columns = head.map((_, index) => Math.max(...all.map((row) => widthOf(row[index]?.text ?? ''))));
  const room = style.width - columns.reduce((sum, width) => sum + width + GAP.length, 0);
  const isWide = room >= NARROWEST_SUMMARY;
  const lines = grouped(metas).flatMap(([name, meaning, members], index) => [
    ...(index === 0 ? [] : ['']),
    ...wrap(`${name} (${members.length}): ${meaning}`, style.width, { first: '', rest: GAP }).map(
      style.paint.bold,
    ),
    ...(isWide
      ? wide(members, columns, Math.min(room, WIDEST_SUMMARY), style)
      : members.flatMap((meta) => stacked(meta, style))),
  ]);
  return lines.map((line) => `${line}\n`).join('');
}

/** The README's tables, one for each group. */
export function catalogueMarkdown(metas: readonly TransformMeta[]): string {
  return grouped(metas)
    .map(([name, meaning, members]) => {
      const rows = members.map((meta) => [
        `[\`${meta.id}\`](transforms/${meta.id}.md)`,
        meta.summary,
        EFFECT_WORDS[effectOf(meta)],
        meta.symptom,
        meta.safety,
        meta.numerics,
      ]);
      const heads = ['transform', 'what it does', 'effect', 'symptom', 'safety', 'numerics'];
      return `**${name}**: ${meaning}\n\n${markdownTable(heads, rows)}`;
    })
    .join('\n\n');
}

type Members = readonly [name: Group, meaning: string, members: readonly TransformMeta[]];

function grouped(metas: readonly TransformMeta[]): readonly Members[] {
  return GROUP_MEANINGS.map(([name, meaning]): Members => {
    const members = metas.filter(({ group }) => group === name);
    return [name, meaning, members.sort((a, b) => byEffect(effectOf(a), effectOf(b)))];
  }).filter(([, , members]) => members.length > 0);
}

const HEADS: readonly string[] = ['transform', 'safety', 'numerics', 'symptom'];

function facts({ id, safety, numerics, symptom }: TransformMeta, { paint }: Style): TableCell[] {
  return [
    { text: id, paint: paint.bold },
    { text: safety, paint: paint[SAFETY_TONE[safety]] },
    { text: numerics },
    { text: symptom },
  ];
}

function wide(
  members: readonly TransformMeta[],
  columns: readonly number[],
  room: number,
  style: Style,
): string[] {
  const { paint } = style;
  const padded = (row: readonly TableCell[]) =>
    row.map((cell, index) => ({ ...cell, text: cell.text.padEnd(columns[index] ?? 0) }));
  const blank = padded(HEADS.map(() => ({ text: '' })));
  const body = members.flatMap((meta) => {
    const said = wrap(meta.summary, room, { first: '', rest: '' }).map((text): TableCell => ({ text }));
    const known = measured(meta, style).flatMap((text) => wrap(text, room, { first: '', rest: GAP }));
    const dimmed = known.map((text): TableCell => ({ text, paint: paint.dim }));
    return [...said, ...dimmed].map((cell, index) => [
      ...(index === 0 ? padded(facts(meta, style)) : blank),
      cell,
    ]);
  });
  const last = style.verbose ? 'what it does, and what was measured' : 'what it does';
  const head = [...HEADS, last].map((text) => ({ text, paint: paint.dim }));
  return table([padded(head), ...body]);
}

function stacked(meta: TransformMeta, style: Style): string[] {
  const { paint, width } = style;
  const { id, safety, numerics, symptom } = meta;
  const labels = [paint[SAFETY_TONE[safety]](safety), numerics, symptom].join(' · ');
  const used = widthOf([id, [safety, numerics, symptom].join(' · ')].join(GAP));
  const head = paint.bold(id);
  const indent = { first: GAP, rest: GAP };
  return [
    ...(used <= width ? [head + GAP + labels] : [head, GAP + labels]),
    ...wrap(meta.summary, width, indent),
    ...measured(meta, style)
      .flatMap((text) => wrap(text, width, { first: GAP, rest: GAP + GAP }))
      .map(paint.dim),
  ];
}

/** The measured truth, as far as its first sentence goes, and the figure behind it with its set-up. */
function measured(meta: TransformMeta, { verbose }: Style): string[] {
  if (!verbose) return [];
  const [first = ''] = meta.evidence.verdict.split(/[;.](?:\s|$)/);
  const figure = headline(meta);
  const label = measurementsOf(meta).length > 0 ? 'measured' : 'not measured on a GPU';
  return [`${label}: ${first}`, ...(figure === undefined ? [] : [figure])];
}
