import { placeText } from '../text/place.js';
import { printable } from './cells.js';
import { command, plural } from './prose.js';
import type { Report, Taken, View } from './report.js';
import { fixedSentence, nothingSeen } from './summary.js';
import { table } from './table.js';
import { tally } from './tally.js';

/** What was fixed, one line each: where, by which transform, and how. */
export function renderApplied(taken: readonly Taken[], { paint, width }: View): string {
  if (taken.length === 0) return '';
  const rows = taken.map(({ path, finding }) => [
    { text: 'fixed', paint: paint.green },
    { text: placeText(printable(path), finding.at) },
    { text: finding.transform, paint: paint.bold },
    { text: printable(finding.fix?.title ?? '') },
  ]);
  const isWide = table(rows.map((row) => row.slice(0, 3))).every((line) => line.length + 12 < width);
  return table(isWide ? rows : rows.map((row) => row.slice(0, 3)))
    .map((line) => `${line}\n`)
    .join('');
}

/** What was done, and one line on the rest. */
export function summarizeApplied(report: Report, isVerbose: boolean): readonly string[] {
  const { findings, bySafety, refused, refusedLeaks, skipped, fixable } = tally(report);
  const did = report.fixed === undefined ? [] : [fixedSentence(report.fixed, report.taken ?? [])];
  const kinds = Object.entries(bySafety).flatMap(([safety, count]) =>
    count > 0 ? [`${count} ${safety}`] : [],
  );
  const left =
    refused === 0
      ? []
      : [
          `${plural(refused, 'suspicious site')}${refusedLeaks > 0 ? ` (${plural(refusedLeaks, 'leak')})` : ''} left alone`,
        ];
  const rest = [
    ...(findings > 0 ? [`${plural(findings, 'finding')} left (${kinds.join(', ')})`] : []),
    ...left,
    ...(skipped > 0 ? [`${plural(skipped, 'file')} skipped`] : []),
  ];
  if (report.checked === 0 && report.taken?.length === 0 && skipped === 0) return [`${nothingSeen(report)}.`];
  if (rest.length === 0) return [...did, 'Nothing else was found.'];
  const open = fixable.unsafe + fixable.advice;
  const about =
    open === 1
      ? rest.length === 1 && findings === 1
        ? 'it'
        : 'one'
      : open === findings && rest.length === 1
        ? 'each'
        : open;
  const asks = open > 0 ? `, ${command('apply -i', report.aim)} asks about ${about}` : '';
  const next = isVerbose
    ? ''
    : `: ${command(findings > 0 ? 'check' : 'check -v', report.aim)} shows ${findings + refused + skipped === 1 ? 'it' : 'them'}${asks}`;
  return [...did, `${rest.join('; ')}${next}.`];
}
