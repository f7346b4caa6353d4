import type { Finding, Scan, SourceFile } from '../engine/outcome.js';
import { previewOf } from '../engine/preview.js';
import { Lines } from '../text/lines.js';
import { printable, widthOf } from './cells.js';
import { diffView } from './diff-view.js';
import { frame } from './frame.js';
import { wrap } from './prose.js';
import {
  isRefused,
  type Report,
  refusalSentence,
  remarks,
  SAFETY_TONE,
  shownFindings,
  type View,
} from './report.js';

const MARGIN = '  ';

/** Every finding with its place, reason, source and proposed change; then notes and skipped files. Each ends in a blank line. */
export function renderFull(report: Report, view: View): string {
  const linesOf = new Map<Scan, Lines>();
  const blocks: string[][] = [];
  for (const { scan, finding } of shownFindings(report, view)) {
    const lines = linesOf.get(scan) ?? new Lines(scan.file.source.text);
    linesOf.set(scan, lines);
    blocks.push(findingBlock(scan.file, lines, finding, view));
  }
  const last = remarks(report, view);
  if (last.length > 0) blocks.push(last);
  return blocks.map((block) => `${block.join('\n')}\n\n`).join('');
}

function findingBlock(file: SourceFile, lines: Lines, finding: Finding, view: View): string[] {
  const tone = isRefused(finding) ? 'dim' : SAFETY_TONE[finding.safety];
  const block = [
    ...heading(file.path, finding, view),
    ...prose(finding.message, '', view),
    '',
    ...frame(lines, finding.span, { paint: view.paint, width: view.width, tone }),
  ];
  const remarks = verdict(finding, view);
  if (remarks.length > 0) block.push('', ...remarks);
  if (finding.fix !== undefined) {
    const { before, after, beside = [] } = previewOf(file, finding);
    const style = { paint: view.paint, width: view.width, margin: MARGIN };
    if (before !== after) block.push('', ...diffView(before, after, style));
    for (const change of beside) {
      block.push('', `${MARGIN}${view.paint.bold(printable(change.path))}`);
      block.push(...diffView(change.before, change.after, style));
    }
    // Blank context at the end would only widen the gap to the next finding.
    while (block.at(-1) === '') block.pop();
  }
  return block;
}

/** On one line where it fits; else the place alone, so that a terminal still makes it clickable. */
function heading(path: string, finding: Finding, { paint, width }: View): string[] {
  const place = `:${finding.at.line}:${finding.at.column}`;
  const standing = isRefused(finding) ? ['left alone'] : [finding.safety, finding.numerics];
  const where = paint.bold(printable(path)) + paint.dim(place);
  const tone = isRefused(finding) ? 'dim' : SAFETY_TONE[finding.safety];
  const what = `${paint.bold(finding.transform)}  ${paint[tone](standing.join(' · '))}`;
  const used =
    widthOf(printable(path) + place) + 2 + finding.transform.length + 2 + standing.join(' · ').length;
  return used <= width ? [`${where}  ${what}`] : [where, MARGIN + what];
}

function verdict(finding: Finding, view: View): string[] {
  const { paint } = view;
  if (finding.refusal !== undefined) return prose(refusalSentence(finding.refusal), '', view);
  return [
    ...(finding.fix === undefined ? [] : prose(finding.fix.title, 'fix: ', view, paint.bold)),
    ...(finding.advice === undefined ? [] : prose(finding.advice, 'advice: ', view, paint.bold)),
    ...finding.unproven.flatMap((gate) => prose(gate, 'not proven: ', view, paint.yellow)),
  ];
}

function prose(text: string, label: string, { width }: View, paintLabel = (text: string) => text): string[] {
  const first = MARGIN + label;
  const [head = '', ...rest] = wrap(text, width, { first, rest: ' '.repeat(first.length) });
  return [MARGIN + paintLabel(label) + head.slice(first.length), ...rest];
}
