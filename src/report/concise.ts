import { placeMark } from '../text/place.js';
import { printable } from './cells.js';
import {
  type Report,
  refusalSentence,
  remarks,
  SAFETY_TONE,
  type Shown,
  shownFindings,
  type View,
} from './report.js';

/** One line per finding: `path:line:col: id [safety] message`; where findings are ranked, the reason behind it. */
export function renderConcise(report: Report, view: View): string {
  const findings = shownFindings(report, view).map((shown) => conciseLine(shown, view, report));
  return [...findings, ...remarks(report, { ...view, isTerminal: false })]
    .map((line) => `${line}\n`)
    .join('');
}

export function conciseLine(
  { scan, finding, ranked }: Shown,
  { paint }: Pick<View, 'paint'>,
  { proven }: Pick<Report, 'proven'> = {},
): string {
  const place = paint.bold(printable(scan.file.path)) + paint.dim(`${placeMark(finding.at)}:`);
  const message = printable(finding.message);
  const because = ranked === undefined ? '' : paint.dim(` (${printable(ranked.because)})`);
  if (finding.refusal !== undefined) {
    return `${place} ${finding.transform} ${paint.dim('[left alone]')} ${message}; ${printable(refusalSentence(finding.refusal))}${because}`;
  }
  const isVerified = proven?.standing(scan.file.path, finding)?.kind === 'verified';
  const tier = isVerified && finding.safety === 'unsafe' ? 'verified' : finding.safety;
  const safety = paint[SAFETY_TONE[finding.safety]](`[${tier}]`);
  const next = finding.advice === undefined ? '' : `; ${printable(finding.advice)}`;
  return `${place} ${paint.bold(finding.transform)} ${safety} ${message}${next}${because}`;
}
