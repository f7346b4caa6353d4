import type { Finding } from '../engine/outcome.js';
import { byEffect, type Effect } from '../toolkit/effect.js';
import { widthOf } from './cells.js';
import { EFFECT_WORDS } from './effects.js';
import { isRefused, type Report, SAFETIES, SAFETY_TONE, type View } from './report.js';
import { type TableCell, table } from './table.js';
import { countBySafety, tally } from './tally.js';

const KINDS = [
  { head: 'total', tone: 'bold', counts: (finding: Finding) => !isRefused(finding) },
  ...SAFETIES.map((safety) => ({
    head: safety,
    tone: SAFETY_TONE[safety],
    counts: (finding: Finding) => !isRefused(finding) && finding.safety === safety,
  })),
  { head: 'left alone', tone: 'dim', counts: isRefused },
] as const;

interface Row {
  readonly id: string;
  readonly effect: Effect;
  readonly own: readonly Finding[];
}

/** What frees memory first, then the most frequent. */
function rowsOf({ scans }: Report): readonly Row[] {
  const findings = scans.flatMap((scan) => scan.findings);
  const rows = [...new Set(findings.map((finding) => finding.transform))].map((id): Row => {
    const own = findings.filter((finding) => finding.transform === id);
    return { id, effect: own[0]?.effect ?? 'tidy', own };
  });
  const total = ({ own }: Row) => own.filter((finding) => !isRefused(finding)).length;
  return rows.sort((a, b) => byEffect(a.effect, b.effect) || total(b) - total(a) || (a.id < b.id ? -1 : 1));
}

/** The counts as JSON; like the report's, they leave out sites that were left alone, which are counted apart. */
export function statisticsJson(report: Report): string {
  const { bySafety, ...counts } = tally(report);
  const transforms = rowsOf(report).map(({ id, effect, own }) => {
    const found = own.filter((finding) => !isRefused(finding));
    return {
      id,
      effect,
      findings: found.length,
      ...countBySafety(found),
      refused: own.length - found.length,
    };
  });
  const summary = {
    checked: report.checked,
    findings: counts.findings,
    ...bySafety,
    refused: counts.refused,
  };
  return `${JSON.stringify({ version: 1, transforms, summary }, undefined, 2)}\n`;
}

/** Counts per transform. A column that would be all zero is left out. */
export function renderStatistics(report: Report, { paint, width }: Pick<View, 'paint' | 'width'>): string {
  const findings = report.scans.flatMap((scan) => scan.findings);
  const used = KINDS.filter((kind) => findings.some(kind.counts));
  const rows = rowsOf(report).map(({ id, effect, own }) => {
    return { id, effect, counts: used.map((kind) => own.filter(kind.counts).length) };
  });
  if (rows.length === 0) return '';

  const head: TableCell[] = [...used.map(({ head }) => head), 'transform', 'effect'].map((text, index) => ({
    text,
    paint: paint.dim,
    ...(index < used.length ? { align: 'right' } : {}),
  }));
  const body = rows.map(({ id, effect, counts }): TableCell[] => [
    ...counts.map((count, index): TableCell => {
      const tone = count === 0 ? 'dim' : (used[index]?.tone ?? 'dim');
      return { text: count === 0 ? '·' : `${count}`, paint: paint[tone], align: 'right' };
    }),
    { text: id },
    { text: EFFECT_WORDS[effect] },
  ]);
  const rowsOfAll = [head, ...body];
  const isWide = table(rowsOfAll.map((row) => row.map(({ text }) => ({ text })))).every(
    (line) => widthOf(line) <= width,
  );
  // The effect is the column that can be done without: `memfix list` has it.
  return table(isWide ? rowsOfAll : rowsOfAll.map((row) => row.slice(0, -1)))
    .map((line) => `${line}\n`)
    .join('');
}
