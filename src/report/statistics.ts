import type { Finding } from '../engine/outcome.js';
import { byEffect } from '../toolkit/effect.js';
import { EFFECT_WORDS } from './effects.js';
import { isRefused, type Report, SAFETIES, SAFETY_TONE, type View } from './report.js';
import { type TableCell, table } from './table.js';

/** Counts per transform: what frees memory first, then the most frequent. A column that would be all zero is left out. */
export function renderStatistics(report: Report, { paint }: Pick<View, 'paint'>): string {
  const findings = report.scans.flatMap((scan) => scan.findings);
  const kinds = [
    { head: 'total', tone: 'bold', counts: (finding: Finding) => !isRefused(finding) },
    ...SAFETIES.map((safety) => ({
      head: safety,
      tone: SAFETY_TONE[safety],
      counts: (finding: Finding) => !isRefused(finding) && finding.safety === safety,
    })),
    { head: 'left alone', tone: 'dim', counts: isRefused },
  ] as const;
  const used = kinds.filter((kind) => findings.some(kind.counts));
  const rows = [...new Set(findings.map((finding) => finding.transform))].map((id) => {
    const own = findings.filter((finding) => finding.transform === id);
    const effect = own[0]?.effect ?? 'tidy';
    return { id, effect, counts: used.map((kind) => own.filter(kind.counts).length) };
  });
  rows.sort(
    (a, b) =>
      byEffect(a.effect, b.effect) || (b.counts[0] ?? 0) - (a.counts[0] ?? 0) || (a.id < b.id ? -1 : 1),
  );
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
  return table([head, ...body])
    .map((line) => `${line}\n`)
    .join('');
}
