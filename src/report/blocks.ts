import type { Finding } from '../engine/outcome.js';
import type { Source } from '../semantic/reason.js';
import { lineText, placeMark } from '../text/place.js';
import { printable, widthOf } from './cells.js';
import type { Paint } from './paint.js';
import { reasonsOf } from './premises.js';
import { plural, wrap } from './prose.js';
import { askedTogether } from './questions.js';
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

/** The open questions of a finding, which are what a reader must see, what is taken for answered, and what is left to do. */
export function doubtLines(
  { assumed = [], afterwards, fix }: Finding,
  questions: readonly string[],
  { paint, width }: Pick<View, 'paint' | 'width'>,
): string[] {
  return [
    ...questions.flatMap((text) => labelled(text, '? ', { width }, paint.yellow, paint.bold)),
    ...assumed.flatMap(({ text }) => labelled(text, 'assumed: ', { width }, paint.green)),
    ...(afterwards === undefined || fix === undefined
      ? []
      : labelled(afterwards, 'then: ', { width }, paint.yellow, paint.bold)),
  ];
}

const PROVEN: Readonly<Record<Source, string>> = {
  code: 'the code says: ',
  library: 'the library says: ',
  stated: 'counts on: ',
};

/** Why the fix is right, a step each. */
export function reasonLines(finding: Finding, { paint, width }: Pick<View, 'paint' | 'width'>): string[] {
  return reasonsOf(finding).flatMap(({ source, text }) =>
    labelled(text, PROVEN[source], { width }, paint.dim),
  );
}

/** What was asked and stands in nobody's way, without what would be at stake. */
export function answeredLines(
  { answered = [] }: Finding,
  path: string,
  { paint, width }: Pick<View, 'paint' | 'width'>,
): string[] {
  const plain = answered.map((each) => ({ ...each, text: each.text.replace(/ \([^?]*\)\?$/, '?') }));
  const lines = askedTogether(plain, path).flatMap((text) =>
    labelled(text, '  yes: ', { width }, paint.green, paint.dim),
  );
  return lines.length === 0
    ? []
    : [...labelled('checked ("yes" is also where the code has no such thing):', '', { width }), ...lines];
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
const MOST_APART = 5;
/** Of one kind, so many places are. */
const MOST_ALIKE = 3;

/** The same, in a line each, those of one kind and reason together; those that free no memory are only counted. */
export function apartBlock(apart: readonly Shown[], view: View): string[] {
  const able = view.verbose ? apart : apart.filter(({ ranked }) => ranked?.nearness !== 'unrelated');
  const kinds = new Map<string, Shown[]>();
  for (const each of able) {
    const { transform, safety } = each.finding;
    const kind = [transform, safety, isRefused(each.finding), each.ranked?.because].join('\0');
    kinds.set(kind, [...(kinds.get(kind) ?? []), each]);
  }
  const all = [...kinds.values()];
  const told = view.verbose ? all : all.slice(0, MOST_APART);
  const others = able.length - told.flat().length;
  const untold = apart.length - able.length;
  const more = [
    ...(others === 0 ? [] : [plural(others, 'other')]),
    ...(untold === 0 ? [] : [`${plural(untold, 'finding')} that would free no such memory`]),
  ].join(', and ');
  const rest = `${told.length === 0 ? '' : 'and '}${more}; \`-v\` lists ${others + untold === 1 ? 'it' : 'them'}`;
  return [
    view.paint.bold(
      `Other finding${apart.length === 1 ? '' : 's'} here, which ${apart.length === 1 ? 'does' : 'do'} not explain it:`,
    ),
    ...told.flatMap((kind) => apartLines(kind, view)),
    ...(others + untold === 0 ? [] : wrap(rest, view.width, { first: MARGIN, rest: MARGIN })),
  ];
}

/** `train.py:20:45, train.py:22:45 load-map-location (safe): why not` */
function apartLines(kind: readonly Shown[], { paint, width, verbose }: View): string[] {
  const [first] = kind;
  if (first === undefined) return [];
  const standing = isRefused(first.finding) ? 'left alone' : first.finding.safety;
  const named = verbose ? kind : kind.slice(0, MOST_ALIKE);
  const more = kind.length - named.length;
  const marks = named.map(({ scan, finding }) => printable(scan.file.path) + placeMark(finding.at));
  const places = marks.join(', ') + (more === 0 ? '' : ` and ${more} more`);
  const text = `${places} ${first.finding.transform} (${standing}): ${first.ranked?.because ?? first.finding.message}`;
  const [head = '', ...rest] = wrap(text, width, { first: MARGIN, rest: MARGIN.repeat(3) });
  return [head.replace(places, paint.bold), ...rest];
}
