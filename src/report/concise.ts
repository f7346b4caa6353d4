import { printable } from './cells.js';
import { type Report, refusalSentence, remarks, SAFETY_TONE, shownFindings, type View } from './report.js';

/** One line per finding: `path:line:col: id [safety] message`. */
export function renderConcise(report: Report, view: View): string {
  const { paint } = view;
  const findings = shownFindings(report, view).map(({ scan, finding }) => {
    const place =
      paint.bold(printable(scan.file.path)) + paint.dim(`:${finding.at.line}:${finding.at.column}:`);
    const message = printable(finding.message);
    if (finding.refusal !== undefined) {
      return `${place} ${finding.transform} ${paint.dim('[left alone]')} ${message}; ${printable(refusalSentence(finding.refusal))}`;
    }
    const safety = paint[SAFETY_TONE[finding.safety]](`[${finding.safety}]`);
    const next = finding.advice === undefined ? '' : `; ${printable(finding.advice)}`;
    return `${place} ${paint.bold(finding.transform)} ${safety} ${message}${next}`;
  });
  return [...findings, ...remarks(report, view)].map((line) => `${line}\n`).join('');
}
