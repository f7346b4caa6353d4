import type { Finding, Scan, SourceFile } from '../engine/outcome.js';
import { ownEdits } from '../engine/preview.js';
import type { Ranked } from '../oom/rank.js';
import { Lines } from '../text/lines.js';
import { printable, widthOf } from './cells.js';
import { conciseLine } from './concise.js';
import { diffView } from './diff-view.js';
import { frame } from './frame.js';
import { renderDiagnosis } from './oom.js';
import { premiseSentence } from './premises.js';
import { plural, wrap } from './prose.js';
import {
  alternativeSentence,
  isRefused,
  type Report,
  refusalSentence,
  remarks,
  SAFETY_TONE,
  type Shown,
  shownFindings,
  type View,
} from './report.js';
import { shownHunksOf } from './shown-hunks.js';

const MARGIN = '  ';

/** Every finding with its place, reason, source and proposed change; then notes and skipped files. Each ends in a blank line. */
export function renderFull(report: Report, view: View): string {
  const linesOf = new Map<Scan, Lines>();
  const blocks = report.oom === undefined ? [] : renderDiagnosis(report.oom, view).map(textOf);
  const shown = shownFindings(report, view);
  for (const { scan, finding, ranked } of shown) {
    if (ranked !== undefined && report.oom?.related.has(ranked) === false) continue;
    const lines = linesOf.get(scan) ?? new Lines(scan.file.source.text);
    linesOf.set(scan, lines);
    const measured = report.proven?.measured(finding.transform);
    blocks.push(
      textOf(findingBlock(scan.file, lines, finding, view, { ranked, measured, others: scan.findings })),
    );
  }
  const apart = shown.filter(
    ({ ranked }) => ranked !== undefined && report.oom?.related.has(ranked) === false,
  );
  if (apart.length > 0) blocks.push(textOf(apartBlock(apart, view)));
  const last = remarks(report, view);
  if (last.length > 0) blocks.push(textOf(last));
  return blocks.join('');
}

/** Joined at once: a line of a diff would keep the whole changed text in memory that it is cut from. */
function textOf(block: readonly string[]): string {
  return `${block.join('\n')}\n\n`;
}

/** Findings that explain nothing of what happened, in a line each; those that free no memory are only counted. */
function apartBlock(apart: readonly Shown[], view: View): string[] {
  const told = view.verbose ? apart : apart.filter(({ ranked }) => ranked?.nearness !== 'unrelated');
  const untold = apart.length - told.length;
  const more = `${plural(untold, 'finding')} that would free no such memory; \`-v\` lists ${untold === 1 ? 'it' : 'them'}`;
  return [
    view.paint.bold('Less likely:'),
    ...told.map((shown) => MARGIN + conciseLine(shown, view)),
    ...(untold === 0 ? [] : [`${MARGIN}${told.length === 0 ? '' : 'and '}${more}`]),
  ];
}

/** What is told with a finding. */
interface Beside {
  readonly ranked: Ranked | undefined;
  readonly measured: string | undefined;
  /** The findings of its file. */
  readonly others: readonly Finding[];
}

/** The fixes that would change the same lines in another way, by name. */
function otherWays(finding: Finding, others: readonly Finding[], view: View): string[] {
  const group = others.filter(({ key }) => key === finding.key || finding.alternatives?.includes(key));
  if (group.length < 2) return [];
  const named = group
    .filter((each) => each !== finding)
    .map(({ transform, fix, safety }) => `\`${transform}\` (${safety}): ${fix?.title}`);
  const label = `${group.indexOf(finding) + 1} of ${group.length} ways: `;
  return prose(
    `or ${named.join('; or ')}; \`apply --interactive\` lets you choose`,
    label,
    view,
    view.paint.yellow,
  );
}

function findingBlock(
  file: SourceFile,
  lines: Lines,
  finding: Finding,
  view: View,
  { ranked, measured, others }: Beside,
): string[] {
  const tone = isRefused(finding) ? 'dim' : SAFETY_TONE[finding.safety];
  const block = [
    ...heading(file.path, finding, view),
    ...(ranked === undefined ? [] : prose(ranked.because, rankLabel(ranked), view, view.paint.magenta)),
    ...prose(finding.message, '', view),
    ...finding.questions.flatMap(({ text }) => prose(text, '? ', view, view.paint.yellow, view.paint.bold)),
    ...(finding.assumed ?? []).flatMap(({ text }) => prose(text, 'assumed: ', view, view.paint.green)),
    '',
    ...frame(lines, finding.span, { paint: view.paint, width: view.width, tone }),
  ];
  const remarks = [...verdict(finding, view), ...otherWays(finding, others, view)];
  if (measured !== undefined && !isRefused(finding))
    remarks.push(...prose(measured, 'measured on your run: ', view, view.paint.bold));
  if (remarks.length > 0) block.push('', ...remarks);
  if (finding.fix !== undefined) {
    const { beside = [] } = finding.fix;
    const style = { paint: view.paint, width: view.width, margin: MARGIN };
    const hunks = shownHunksOf(lines, ownEdits(finding.fix));
    if (hunks.length > 0) block.push('', ...diffView(hunks, style));
    for (const { path, text, edits } of beside) {
      block.push('', `${MARGIN}${view.paint.bold(printable(path))}`);
      block.push(...diffView(shownHunksOf(new Lines(text), edits), style));
    }
    // Blank context at the end would only widen the gap to the next finding.
    while (block.at(-1) === '') block.pop();
  }
  return block;
}

function rankLabel({ rank }: Ranked): string {
  return rank === undefined ? '' : `#${rank} `;
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
    ...(finding.alternativeTo === undefined
      ? []
      : prose(alternativeSentence(finding.alternativeTo), 'alternative: ', view, paint.yellow)),
    ...(view.verbose ? (finding.premises ?? []) : []).flatMap((premise) =>
      prose(premiseSentence(premise), 'counts on: ', view, paint.dim),
    ),
  ];
}

function prose(
  text: string,
  label: string,
  { width }: View,
  paintLabel = (text: string) => text,
  paintText = (text: string) => text,
): string[] {
  const first = MARGIN + label;
  const [head = '', ...rest] = wrap(text, width, { first, rest: ' '.repeat(first.length) });
  return [MARGIN + paintLabel(label) + paintText(head.slice(first.length)), ...rest.map(paintText)];
}
