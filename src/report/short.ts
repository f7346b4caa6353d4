import type { Finding, Scan, SourceFile } from '../engine/outcome.js';
import { Lines } from '../text/lines.js';
import { placeText } from '../text/place.js';
import {
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
import { changeBlock } from './change-block.js';
import { EFFECT_WORDS } from './effects.js';
import { frame } from './frame.js';
import { otherWays, rankLabel } from './full.js';
import { renderDiagnosis, renderNextSteps } from './oom.js';
import { ownHunks } from './own-hunks.js';
import { plural, shellWord, wrap } from './prose.js';
import type { Standing } from './prove/verified.js';
import { askedTogether } from './questions.js';
import {
  alternativeSentence,
  askedIn,
  isRefused,
  type Report,
  refusalSentence,
  remarks,
  SAFETY_TONE,
  type Shown,
  shownFindings,
  standingOf,
  type View,
} from './report.js';
import { shownHunksOf } from './shown-hunks.js';

/** Like findings of a file up to here are shown one by one. */
const FEW = 5;
/** Of more, so many are. */
const EXAMPLES = 2;
/** Lines that a change may take. */
const MOST_LINES = 14;
/** Open questions of one finding. */
const MOST_DOUBTS = 2;
/** Growing memory that was left alone. */
const MOST_LEAKS = 5;
/** Places that are named of findings that are not shown. */
const MOST_PLACES = 12;

/** What shows the whole change. */
const SHOWS_ALL = {
  safe: 'memfix diff',
  unsafe: 'memfix diff --unsafe-fixes',
  advice: 'memfix check --output-format full',
} as const;

/** A short block for each finding: where, why, and the change. Like ones of a file are told together. */
export function renderShort(report: Report, view: View): string {
  const linesOf = new Map<Scan, Lines>();
  const blocks = report.oom === undefined ? [] : renderDiagnosis(report.oom, view).map(blockText);
  const shown = shownFindings(report, view);
  const apart = apartFrom(report, shown);
  const main = shown.filter((each) => !apart.includes(each));
  let before: Shown | undefined;
  for (const { first, others } of grouped(main, report)) {
    for (const each of first) {
      const lines = linesOf.get(each.scan) ?? new Lines(each.scan.file.source.text);
      linesOf.set(each.scan, lines);
      blocks.push(blockText(findingBlock(each, lines, view, report, before)));
      before = each;
    }
    if (others.length > 0) blocks.push(blockText(moreLines(others, view)));
  }
  const next = report.oom === undefined ? [] : renderNextSteps(report.oom, view);
  if (next.length > 0) blocks.push(blockText(next));
  if (apart.length > 0) blocks.push(blockText(apartBlock(apart, view)));
  const leaks = view.verbose ? [] : leftLeaks(report);
  if (leaks.length > 0) blocks.push(blockText(leakBlock(leaks, view)));
  const last = remarks(report, view);
  if (last.length > 0) blocks.push(blockText(last));
  return blocks.join('');
}

interface Group {
  readonly first: readonly Shown[];
  readonly others: readonly Shown[];
}

function grouped(shown: readonly Shown[], { oom }: Report): readonly Group[] {
  const alone = shown.map((each) => ({ first: [each], others: [] }));
  if (oom !== undefined) return alone;
  const groups = new Map<string, Shown[]>();
  for (const each of shown) {
    const { path } = each.scan.file;
    const { transform, safety, refusal } = each.finding;
    const name = [path, transform, safety, refusal === undefined].join('\0');
    groups.set(name, [...(groups.get(name) ?? []), each]);
  }
  return [...groups.values()].flatMap((group) =>
    group.length > FEW
      ? [{ first: group.slice(0, EXAMPLES), others: group.slice(EXAMPLES) }]
      : group.map((each) => ({ first: [each], others: [] })),
  );
}

function moreLines(others: readonly Shown[], { paint, width }: View): string[] {
  const cells = new Map<number | undefined, Set<number>>();
  for (const { finding } of others.slice(0, MOST_PLACES)) {
    const { cell, line } = finding.at;
    cells.set(cell, (cells.get(cell) ?? new Set()).add(line));
  }
  const named = [...cells].map(([cell, lines]) => {
    const numbers = `${lines.size === 1 ? 'line' : 'lines'} ${[...lines].join(', ')}`;
    return cell === undefined ? numbers : `cell ${cell}, ${numbers}`;
  });
  const rest = others.length > MOST_PLACES ? ', …' : '';
  return wrap(`and ${others.length} more like this, ${named.join('; ')}${rest}`, width, {
    first: MARGIN,
    rest: MARGIN,
  }).map(paint.dim);
}

/** `before`: the one above, whose words are not said again. */
function findingBlock(
  { scan, finding, ranked }: Shown,
  lines: Lines,
  view: View,
  report: Report,
  before: Shown | undefined,
): string[] {
  const { paint, width } = view;
  const { file } = scan;
  const place = linesAround(file.source, lines, finding.span);
  const isSaid = before?.scan.file === file && before.finding.message === finding.message;
  const measured = isRefused(finding) ? undefined : report.proven?.measured(finding.transform);
  const standing = report.proven?.standing(file.path, finding);
  return [
    ...headingOf(file.path, finding, standingWords(finding, standing), view),
    ...(ranked === undefined ? [] : labelled(ranked.because, rankLabel(ranked), view, paint.magenta)),
    ...(isSaid ? [] : labelled(finding.message, '', view)),
    ...(finding.refusal === undefined ? [] : labelled(refusalSentence(finding.refusal), '', view)),
    ...doubts(file.path, finding, view),
    ...(finding.alternativeTo === undefined
      ? []
      : labelled(alternativeSentence(finding.alternativeTo), 'alternative: ', view, paint.yellow)),
    ...otherWays(finding, askedIn(report, scan), view),
    ...(finding.advice === undefined ? [] : labelled(finding.advice, 'advice: ', view, paint.bold)),
    ...(view.verbose ? reasonLines(finding, view) : []),
    ...(measured === undefined ? [] : labelled(measured, 'measured on your run: ', view, paint.bold)),
    ...(standing === undefined ? [] : labelled(standing.words, standing.label, view, paint.bold)),
    ...(finding.fix === undefined
      ? frame(place.lines, place.span, {
          paint,
          width,
          tone: isRefused(finding) ? 'dim' : SAFETY_TONE[finding.safety],
        })
      : changeOf(scan.file, finding, lines, view)),
  ];
}

function standingWords(finding: Finding, standing: Standing | undefined): readonly string[] {
  if (isRefused(finding)) return ['left alone'];
  return [
    standingOf(finding, standing),
    finding.symptom === 'leak' ? 'leak' : EFFECT_WORDS[finding.effect],
    ...(finding.numerics === 'bit-identical' ? [] : [finding.numerics]),
  ];
}

function doubts(path: string, finding: Finding, view: View): string[] {
  const questions = askedTogether(finding.questions, path);
  const shown = view.verbose ? questions : questions.slice(0, MOST_DOUBTS);
  const left = questions.length - shown.length;
  const lines = doubtLines(finding, shown, view);
  if (left > 0) lines.push(MARGIN + view.paint.yellow(`and ${plural(left, 'more question')}: -v`));
  return lines;
}

function changeOf(file: SourceFile, finding: Finding, lines: Lines, { paint, width }: View): string[] {
  const style = {
    ...{ paint, width, margin: MARGIN, most: MOST_LINES, file: shellWord(file.path) },
    command: SHOWS_ALL[finding.safety],
  };
  return [
    ...ownHunks(file, lines, finding).flatMap(({ title, hunks }) => [
      ...(title === undefined ? [] : [MARGIN + paint.bold(title)]),
      ...changeBlock(hunks, style),
    ]),
    ...(finding.fix?.beside ?? []).flatMap(({ path, text, edits }) => [
      MARGIN + paint.bold(printable(path)),
      ...changeBlock(shownHunksOf(new Lines(text), edits), style),
    ]),
  ];
}

/** Sites at which memory seems to grow, and that were left alone: silence would be an all-clear. */
function leftLeaks({ scans, oom }: Report): readonly Shown[] {
  if (oom !== undefined) return [];
  return scans.flatMap((scan) =>
    scan.findings
      .filter((finding) => isRefused(finding) && finding.symptom === 'leak')
      .map((finding) => ({ scan, finding })),
  );
}

function leakBlock(left: readonly Shown[], view: View): string[] {
  const { paint } = view;
  const rest = left.length - MOST_LEAKS;
  return [
    paint.bold('Memory may grow here too; left alone:'),
    ...left.slice(0, MOST_LEAKS).flatMap(({ scan, finding }) => {
      const reason = refusalSentence(finding.refusal ?? '').replace(/^left alone /, '');
      const place = placeText(printable(scan.file.path), finding.at);
      return labelled(`${finding.transform} ${reason}`, `${place}  `, view, paint.bold);
    }),
    ...(rest > 0 ? [`${MARGIN}and ${plural(rest, 'more site')}: memfix check -v`] : []),
  ];
}
