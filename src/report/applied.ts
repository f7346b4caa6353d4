import type { Finding } from '../engine/outcome.js';
import { placeText } from '../text/place.js';
import { clipStart, printable, widthOf } from './cells.js';
import { command, plural } from './prose.js';
import type { Report, Taken, View } from './report.js';
import { fixedSentence, nothingSeen, waysPhrase } from './summary.js';
import { GAP, type TableCell, table } from './table.js';
import { tally } from './tally.js';

/** Columns below which a place says nothing. */
const NARROWEST = 16;
/** Places that are named where there was another way. */
const SHOWN = 3;

/** What was fixed, one line each: where, by which transform, and how. */
export function renderApplied(taken: readonly Taken[], { paint, width, isTerminal }: View): string {
  if (taken.length === 0) return '';
  const rows = taken.map(({ path, finding }) => [
    { text: 'fixed', paint: paint.green },
    { text: placeText(printable(path), finding.at) },
    { text: finding.transform, paint: paint.bold },
    { text: printable(finding.fix?.title ?? '') },
  ]);
  const few = rows.map((row) => row.slice(0, 3));
  const isWide = table(few).every((line) => line.length + 12 < width);
  return table(isWide ? rows : isTerminal === true ? narrowed(few, width) : few)
    .map((line) => `${line}\n`)
    .join('');
}

/** Places cut at their start, so that a line of a terminal is not broken. */
function narrowed(rows: readonly (readonly TableCell[])[], width: number): readonly (readonly TableCell[])[] {
  const widest = (column: number) => Math.max(...rows.map((row) => widthOf(row[column]?.text ?? '')));
  const room = Math.max(width - widest(0) - widest(2) - 2 * GAP.length, NARROWEST);
  return rows.map((row) =>
    row.map((cell, at) => (at === 1 ? { ...cell, text: clipStart(cell.text, room) } : cell)),
  );
}

/** What was done, and one line on the rest; `isPart`: more was found than it was about. */
export function summarizeApplied(report: Report, isVerbose: boolean, isPart = false): readonly string[] {
  const counts = tally(report);
  const { findings, bySafety, refused, refusedLeaks, skipped, fixable, held } = counts;
  const { limits = '' } = report;
  const did =
    report.fixed === undefined
      ? []
      : [
          fixedSentence(report.fixed, report.taken ?? []),
          ...chosenSentences(report.taken ?? []),
          ...afterwardsOf((report.taken ?? []).map(({ finding }) => finding)),
        ];
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
    ...(findings > 0
      ? [`${plural(findings, 'finding')} left (${kinds.join(', ')}${waysPhrase(counts)})`]
      : []),
    ...left,
    ...(skipped > 0 ? [`${plural(skipped, 'file')} skipped`] : []),
  ];
  if (report.checked === 0 && report.taken?.length === 0 && skipped === 0) return [`${nothingSeen(report)}.`];
  if (rest.length === 0)
    return isPart ? did : [...did, `Nothing else was found${limits === '' ? '' : ` with \`${limits}\``}.`];
  const open = fixable.unsafe + fixable.advice - held.unsafe - held.advice;
  const about =
    open === 1
      ? rest.length === 1 && findings === 1
        ? 'it'
        : 'one'
      : open === findings && rest.length === 1
        ? 'each'
        : open;
  const session = report.allowsDirty === true ? 'apply -i --allow-dirty' : 'apply -i';
  const asks = open > 0 ? `, ${command(session, report.aim)} asks about ${about}` : '';
  // Why a file was skipped is told above.
  const next =
    isVerbose || findings + refused === 0
      ? ''
      : `: ${command(refused > 0 ? 'check -v' : 'check', report.aim)} shows ${findings + refused + skipped === 1 ? 'it' : 'them'}${asks}`;
  return [...did, `${rest.join('; ')}${next}.`];
}

/** What is left to a person after these fixes, each once, with whose it is. */
export function afterwardsOf(findings: readonly Finding[]): readonly string[] {
  const said = findings.flatMap(({ transform, afterwards }) =>
    afterwards === undefined ? [] : [`After \`${transform}\`: ${afterwards}`],
  );
  return [...new Set(said)];
}

/** Which way was taken where there was another; that a safe one comes before others needs no words. */
function chosenSentences(taken: readonly Taken[]): readonly string[] {
  const chosen = taken.filter(
    ({ finding: { safety, alternatives = [] } }) => safety !== 'safe' && alternatives.length > 0,
  );
  if (chosen.length === 0) return [];
  const ways = chosen.map(
    ({ path, finding }) => `${placeText(printable(path), finding.at)} (\`${finding.transform}\`)`,
  );
  const more = ways.length > SHOWN ? ` and ${ways.length - SHOWN} more` : '';
  return [
    `There was another way at ${ways.slice(0, SHOWN).join(', ')}${more}: \`memfix undo\`, then \`memfix apply -i\` lets you choose.`,
  ];
}
