import { isCovered } from '../engine/alternatives.js';
import type { Finding, Scan, SourceFile } from '../engine/outcome.js';
import type { Ranked } from '../oom/rank.js';
import { Lines } from '../text/lines.js';
import {
  answeredLines,
  apartBlock,
  apartFrom,
  blockText,
  doubtLines,
  headingOf,
  labelled,
  MARGIN,
  reasonLines,
} from './blocks.js';
import { linesAround } from './by-cell.js';
import { printable } from './cells.js';
import { diffView } from './diff-view.js';
import { frame } from './frame.js';
import { renderDiagnosis, renderNextSteps } from './oom.js';
import { ownHunks } from './own-hunks.js';
import { plural } from './prose.js';
import type { Standing } from './prove/verified.js';
import { askedTogether } from './questions.js';
import {
  alternativeSentence,
  askedIn,
  isRefused,
  type Report,
  refusalSentence,
  remarks,
  SAFETIES,
  SAFETY_TONE,
  shownFindings,
  standingOf,
  type View,
} from './report.js';
import { shownHunksOf } from './shown-hunks.js';

/** Every finding with its place, reason, source and proposed change; then notes and skipped files. Each ends in a blank line. */
export function renderFull(report: Report, view: View): string {
  const linesOf = new Map<Scan, Lines>();
  const blocks = report.oom === undefined ? [] : renderDiagnosis(report.oom, view).map(blockText);
  const shown = shownFindings(report, view);
  for (const { scan, finding, ranked } of shown) {
    if (ranked !== undefined && report.oom?.related.has(ranked) === false) continue;
    const lines = linesOf.get(scan) ?? new Lines(scan.file.source.text);
    linesOf.set(scan, lines);
    const measured = report.proven?.measured(finding.transform);
    const standing = report.proven?.standing(scan.file.path, finding);
    const beside = { ranked, measured, standing, others: askedIn(report, scan) };
    blocks.push(blockText(findingBlock(scan.file, lines, finding, view, beside)));
  }
  const next = report.oom === undefined ? [] : renderNextSteps(report.oom, view);
  if (next.length > 0) blocks.push(blockText(next));
  const apart = apartFrom(report, shown);
  if (apart.length > 0) blocks.push(blockText(apartBlock(apart, view)));
  const last = remarks(report, view);
  if (last.length > 0) blocks.push(blockText(last));
  return blocks.join('');
}

/** What is told with a finding. */
interface Beside {
  readonly ranked: Ranked | undefined;
  readonly measured: string | undefined;
  readonly standing: Standing | undefined;
  /** The findings of its file. */
  readonly others: readonly Finding[];
}

/** The fixes that would change the same lines in another way, by name. */
export function otherWays(finding: Finding, others: readonly Finding[], view: View): string[] {
  const { alternatives = [] } = finding;
  const meant = others.filter(({ key }) => alternatives.includes(key));
  const inside = meant.filter((other) => isCovered(finding, other));
  const around = meant.filter((other) => isCovered(other, finding));
  const ids = (some: readonly Finding[]) =>
    [...new Set(some.map(({ transform }) => `\`${transform}\``))].join(', ');
  if (inside.length > 0) {
    const text = `${plural(inside.length, 'finding')} of ${ids(inside)} inside it, left out where this one is taken`;
    return labelled(text, 'covers: ', view, view.paint.yellow);
  }
  if (around.length > 0)
    return labelled(
      `${ids(around)}, or this one: \`apply --interactive\` lets you choose`,
      'covered by: ',
      view,
      view.paint.yellow,
    );
  // As a session numbers them.
  const group = others
    .filter((other) => other === finding || meant.includes(other))
    .sort((a, b) => a.span.start - b.span.start || SAFETIES.indexOf(a.safety) - SAFETIES.indexOf(b.safety));
  if (group.length < 2) return [];
  const named = group
    .filter((each) => each !== finding)
    .map(({ transform, fix, safety }) => `\`${transform}\` (${safety}): ${fix?.title}`);
  const label = `${group.indexOf(finding) + 1} of ${group.length} ways: `;
  return labelled(
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
  { ranked, measured, standing, others }: Beside,
): string[] {
  const tone = isRefused(finding) ? 'dim' : SAFETY_TONE[finding.safety];
  const shown = linesAround(file.source, lines, finding.span);
  const block = [
    ...headingOf(file.path, finding, standingWords(finding, standing), view),
    ...(ranked === undefined ? [] : labelled(ranked.because, rankLabel(ranked), view, view.paint.magenta)),
    ...labelled(finding.message, '', view),
    ...doubtLines(finding, askedTogether(finding.questions, file.path), view),
    '',
    ...frame(shown.lines, shown.span, { paint: view.paint, width: view.width, tone }),
  ];
  const remarks = [...verdict(file.path, finding, view), ...otherWays(finding, others, view)];
  if (measured !== undefined && !isRefused(finding))
    remarks.push(...labelled(measured, 'measured on your run: ', view, view.paint.bold));
  if (standing !== undefined)
    remarks.push(...labelled(standing.words, standing.label, view, view.paint.bold));
  if (remarks.length > 0) block.push('', ...remarks);
  if (finding.fix !== undefined) {
    const { beside = [] } = finding.fix;
    const style = { paint: view.paint, width: view.width, margin: MARGIN };
    for (const { title, hunks } of ownHunks(file, lines, finding)) {
      block.push('', ...(title === undefined ? [] : [MARGIN + view.paint.bold(title)]));
      block.push(...diffView(hunks, style));
    }
    for (const { path, text, edits } of beside) {
      block.push('', `${MARGIN}${view.paint.bold(printable(path))}`);
      block.push(...diffView(shownHunksOf(new Lines(text), edits), style));
    }
    // Blank context at the end would only widen the gap to the next finding.
    while (block.at(-1) === '') block.pop();
  }
  return block;
}

function standingWords(finding: Finding, standing: Standing | undefined): readonly string[] {
  return isRefused(finding) ? ['left alone'] : [standingOf(finding, standing), finding.numerics];
}

export function rankLabel({ rank }: Ranked): string {
  return rank === undefined ? '' : `#${rank} `;
}

function verdict(path: string, finding: Finding, view: View): string[] {
  const { paint } = view;
  if (finding.refusal !== undefined) return labelled(refusalSentence(finding.refusal), '', view);
  return [
    ...(finding.fix === undefined ? [] : labelled(finding.fix.title, 'fix: ', view, paint.bold)),
    ...(finding.advice === undefined ? [] : labelled(finding.advice, 'advice: ', view, paint.bold)),
    ...(finding.alternativeTo === undefined
      ? []
      : labelled(alternativeSentence(finding.alternativeTo), 'alternative: ', view, paint.yellow)),
    ...(view.verbose ? reasonLines(finding, view) : []),
    ...(view.isThorough === true ? answeredLines(finding, path, view) : []),
  ];
}
