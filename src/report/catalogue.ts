import type { TransformMeta } from '../toolkit/contract.js';
import { widthOf } from './cells.js';
import { markdownTable } from './page.js';
import { wrap } from './prose.js';
import { SAFETY_TONE, type View } from './report.js';
import { GAP, type TableCell, table } from './table.js';

type Style = Pick<View, 'paint' | 'width'>;

/** A summary narrower than this reads better below its transform than beside it. */
const NARROWEST_SUMMARY = 48;

/** The catalogue for `memfix list`: a table where the summaries have room, else one entry below the other. */
export function renderCatalogue(metas: readonly TransformMeta[], style: Style): string {
  if (metas.length === 0) return '';
  const rows = metas.map((meta) => facts(meta, style));
  const unpainted = rows.map((row) => row.map(({ text }) => ({ text })));
  const room = style.width - Math.max(...table(unpainted).map(widthOf)) - GAP.length;
  const output = room >= NARROWEST_SUMMARY ? wide(metas, rows, room, style) : stacked(metas, style);
  return output.map((line) => `${line}\n`).join('');
}

/** The README's table. */
export function catalogueMarkdown(metas: readonly TransformMeta[]): string {
  return markdownTable(
    ['transform', 'what it does', 'symptom', 'safety', 'numerics', 'group'],
    metas.map((meta) => [
      `[\`${meta.id}\`](transforms/${meta.id}.md)`,
      meta.summary,
      meta.symptom,
      meta.safety,
      meta.numerics,
      meta.group,
    ]),
  );
}

function facts({ id, group, safety, numerics, symptom }: TransformMeta, { paint }: Style): TableCell[] {
  return [
    { text: id, paint: paint.bold },
    { text: group },
    { text: safety, paint: paint[SAFETY_TONE[safety]] },
    { text: numerics },
    { text: symptom },
  ];
}

function wide(
  metas: readonly TransformMeta[],
  rows: readonly TableCell[][],
  room: number,
  { paint }: Style,
): string[] {
  const heads = ['transform', 'group', 'safety', 'numerics', 'symptom', 'summary'];
  const body = metas.flatMap((meta, index) => {
    const [first = '', ...rest] = wrap(meta.summary, room, { first: '', rest: '' });
    const row = rows[index] ?? [];
    return [[...row, { text: first }], ...rest.map((text) => [...row.map(() => ({ text: '' })), { text }])];
  });
  return table([heads.map((text) => ({ text, paint: paint.dim })), ...body]);
}

function stacked(metas: readonly TransformMeta[], { paint, width }: Style): string[] {
  return metas.flatMap((meta, index) => {
    const { id, group, safety, numerics, symptom } = meta;
    const labels = [group, paint[SAFETY_TONE[safety]](safety), numerics, symptom].join(' · ');
    const used = widthOf([id, [group, safety, numerics, symptom].join(' · ')].join(GAP));
    const head = paint.bold(id);
    return [
      ...(index === 0 ? [] : ['']),
      ...(used <= width ? [head + GAP + labels] : [head, GAP + labels]),
      ...wrap(meta.summary, width, { first: GAP, rest: GAP }),
    ];
  });
}
