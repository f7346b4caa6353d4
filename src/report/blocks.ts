import type { Finding } from '../engine/outcome.js';
import { lineText, placeMark } from '../text/place.js';
import { printable, widthOf } from './cells.js';
import type { Paint } from './paint.js';
import { plural, wrap } from './prose.js';
import { isRefused, type Report, SAFETY_TONE, type Shown, type View } from './report.js';

export const MARGIN = '  ';
/** Longer lines of prose are hard to read, however wide the terminal. */
export const MEASURE = 110;

/** Joined at once: a line of a diff would keep the whole changed text in memory that it is cut from. */
export function blockText(block: readonly string[]): string {
  return `${block.join('\n')}\n\n`;
}

/** Prose below its finding, filled, after a label. */
export function labelled(
  text: string,
  label: string,
  { width }: Pick<View, 'width'>,
  paintLabel = (text: string) => text,
  paintText = (text: string) => text,
): string[] {
  const first = MARGIN + label;
  const [head = '', ...rest] = wrap(text, Math.min(width, MEASURE), {
    first,
    rest: ' '.repeat(first.length),
  });
  return [MARGIN + paintLabel(label) + paintText(head.slice(first.length)), ...rest.map(paintText)];
}

/** The open questions of a finding, which are what a reader must see, and what is taken for answered. */
export function doubtLines(
  { assumed = [] }: Finding,
  questions: Finding['questions'],
  { paint, width }: Pick<View, 'paint' | 'width'>,
): string[] {
  return [
    ...questions.flatMap(({ text }) => labelled(text, '? ', { width }, paint.yellow, paint.bold)),
    ...assumed.flatMap(({ text }) => labelled(text, 'assumed: ', { width }, paint.green)),
  ];
}

/** On one line where it fits; else the place alone, so that a terminal still makes it clickable. */
export function headingOf(
  path: string,
  finding: Finding,
  standing: readonly string[],
  { paint, width }: { readonly paint: Paint; readonly width: number },
): string[] {
  const place = placeMark(finding.at);
  const where = paint.bold(printable(path)) + paint.dim(place);
  const tone = isRefused(finding) ? 'dim' : SAFETY_TONE[finding.safety];
  const what = `${paint.bold(finding.transform)}  ${paint[tone](standing.join(' · '))}`;
  const used =
    widthOf(printable(path) + place) + 2 + finding.transform.length + 2 + standing.join(' · ').length;
  if (used <= width) return [`${where}  ${what}`];
  if (finding.at.cell === undefined || widthOf(printable(path) + place) <= width)
    return [where, MARGIN + what];
  // Nobody clicks on a cell: it need not stand behind a path that is broken.
  return [paint.bold(printable(path)), `${MARGIN}${paint.dim(lineText(finding.at))}  ${what}`];
}

/** Ranked findings that explain nothing of what happened. */
export function apartFrom(report: Report, shown: readonly Shown[]): readonly Shown[] {
  return shown.filter(({ ranked }) => ranked !== undefined && report.oom?.related.has(ranked) === false);
}

/** Of those that explain nothing, so many are named. */
const MOST_APART = 8;

/** The same, in a line each, the first of them; those that free no memory are only counted. */
export function apartBlock(apart: readonly Shown[], view: View): string[] {
  const able = view.verbose ? apart : apart.filter(({ ranked }) => ranked?.nearness !== 'unrelated');
  const told = view.verbose ? able : able.slice(0, MOST_APART);
  const others = able.length - told.length;
  const untold = apart.length - able.length;
  const more = [
    ...(others === 0 ? [] : [plural(others, 'other')]),
    ...(untold === 0 ? [] : [`${plural(untold, 'finding')} that would free no such memory`]),
  ].join(', and ');
  const rest = `${told.length === 0 ? '' : 'and '}${more}; \`-v\` lists ${others + untold === 1 ? 'it' : 'them'}`;
  return [
    view.paint.bold('Less likely:'),
    ...told.flatMap((shown) => apartLines(shown, view)),
    ...(others + untold === 0 ? [] : wrap(rest, view.width, { first: MARGIN, rest: MARGIN })),
  ];
}

function apartLines({ scan, finding, ranked }: Shown, { paint, width }: View): string[] {
  const standing = isRefused(finding) ? 'left alone' : finding.safety;
  const place = printable(scan.file.path) + placeMark(finding.at);
  const text = `${place} ${finding.transform} (${standing}): ${ranked?.because ?? finding.message}`;
  const [first = '', ...rest] = wrap(text, width, { first: MARGIN, rest: MARGIN.repeat(3) });
  return [first.replace(place, paint.bold), ...rest];
}
