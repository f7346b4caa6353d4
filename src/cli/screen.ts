import type { Decision, Finding, Preview } from '../engine/outcome.js';
import { cellTitle, hunksByCell } from '../report/by-cell.js';
import { printable, widthOf } from '../report/cells.js';
import { diffView } from '../report/diff-view.js';
import { headline } from '../report/evidence.js';
import { inColor, noColor, type Paint } from '../report/paint.js';
import { premiseSentence } from '../report/premises.js';
import { plural, wrap } from '../report/prose.js';
import { SAFETY_TONE } from '../report/report.js';
import { shownHunks } from '../report/shown-hunks.js';
import { withoutMarks } from '../report/terminal.js';
import type { SourceText } from '../text/decode.js';
import { placeMark } from '../text/place.js';
import type { TransformMeta } from '../toolkit/contract.js';
import type { Terminal } from './ask.js';
import { KEYS } from './keys.js';

/** What a terminal of this size and colour can show. */
export interface Look {
  readonly width: number;
  readonly height: number;
  readonly paint: Paint;
}

export interface Question {
  readonly position: number;
  readonly total: number;
  readonly path: string;
  readonly source: SourceText;
  readonly finding: Finding;
  readonly meta: TransformMeta | undefined;
  readonly preview: Preview;
  readonly answer: Decision | undefined;
  /** The diff is of the person's own replacement. */
  readonly isEdited: boolean;
}

/** Lines of running text longer than this are hard to read. */
const TEXT_WIDTH = 100;
/** A diff is never clipped to less than this. */
const SHORTEST_DIFF = 6;
const LABEL = 11;

export function lookOf({ output, color }: Terminal): Look {
  // A terminal that does not say how large it is reports zero.
  return { width: output.columns || 80, height: output.rows || 24, paint: color ? inColor : noColor };
}

/** One finding with its diff, clipped to the height of the terminal unless all of it is wanted. */
export function questionText(question: Question, look: Look, whole: boolean): string {
  const head = headLines(question, look);
  const diff = diffLines(question, look);
  const room = Math.max(look.height - rowsOf(head, look) - 3, SHORTEST_DIFF);
  return `${[...head, ...(whole ? diff : clipped(diff, room, look))].join('\n')}\n`;
}

export function promptText({ finding, position, total }: Question, { paint }: Look): string {
  const verb = finding.safety === 'advice' ? 'Take this advice' : 'Apply this fix';
  const keys = KEYS.map(({ key }) => key).join(',');
  return `${paint.bold(`(${position}/${total}) ${verb} [${keys}]?`)} `;
}

export function noteText(note: string, { paint, width }: Look): string {
  return `${wrap(note, Math.min(width, TEXT_WIDTH), { first: '', rest: '' }).map(paint.yellow).join('\n')}\n`;
}

export function helpText({ paint, width }: Look): string {
  const lines = KEYS.flatMap(({ key, does }) => entry(key, does, 8, width, paint.bold));
  const interrupt = 'stop: files that are all answered are written, the one on screen is left as it was';
  lines.push(...entry('Ctrl-C', interrupt, 8, width, paint.bold));
  return `${lines.join('\n')}\n`;
}

function headLines(
  { position, total, path, finding, meta, answer, isEdited }: Question,
  look: Look,
): string[] {
  const { paint, width } = look;
  const place = printable(path) + placeMark(finding.at);
  const title = `── ${position}/${total} ── ${place} `;
  const tags = [
    paint.bold(finding.transform),
    paint[SAFETY_TONE[finding.safety]](finding.safety),
    finding.numerics,
    ...(answer === undefined ? [] : [paint.magenta(answerText(answer))]),
  ];
  const lines = [
    '',
    paint.bold(paint.cyan(title + '─'.repeat(Math.max(width - widthOf(title), 0)))),
    tags.join(' · '),
    ...wrap(finding.message, Math.min(width, TEXT_WIDTH), { first: '', rest: '' }),
  ];
  const say = (label: string, text: string) => lines.push(...entry(label, text, LABEL, width, paint.dim));
  for (const gate of finding.unproven) say('not proven', gate);
  if (finding.alternativeTo !== undefined)
    say('opposite', `of ${finding.alternativeTo.join(', ')}, which runs too`);
  for (const premise of finding.premises ?? []) say('counts on', premiseSentence(premise));
  if (meta !== undefined) {
    say('measured', meta.evidence.verdict);
    const figure = headline(meta);
    if (figure !== undefined) say('figure', figure);
  }
  say('fix', isEdited ? 'your own replacement' : (finding.fix?.title ?? ''));
  return [...lines, ''];
}

function answerText(answer: Decision): string {
  switch (answer.kind) {
    case 'apply':
      return 'answered: apply';
    case 'skip':
      return 'answered: skip';
    case 'edited':
      return 'answered: apply your replacement';
    case 'suppress':
      return 'answered: suppress';
  }
}

/** A label in a column of its own, with the text hanging beside it. */
function entry(
  label: string,
  text: string,
  column: number,
  width: number,
  tone: (text: string) => string,
): string[] {
  const rest = ' '.repeat(column + 2);
  const [first = '', ...others] = wrap(text, Math.min(width, TEXT_WIDTH), { first: rest, rest });
  return [
    `  ${tone(label)}${' '.repeat(Math.max(column - label.length, 1))}${first.slice(rest.length)}`,
    ...others,
  ];
}

/** Long lines are left to the terminal to fold: what changes must not be cut off. */
function diffLines({ source, preview, finding }: Question, { paint }: Look): string[] {
  const { before, after, beside = [] } = preview;
  const style = { paint, width: Infinity, margin: '' };
  const own =
    source.notebook === undefined
      ? diffView(shownHunks(before, after), style)
      : hunksByCell(source, before, after).flatMap((changed) => [
          ...(changed.cell === finding.at.cell ? [] : [paint.bold(cellTitle(changed))]),
          ...diffView(changed.hunks, style),
        ]);
  return [
    ...own,
    ...beside.flatMap((change) => [
      paint.bold(`and in ${printable(change.path)}:`),
      ...diffView(shownHunks(change.before, change.after), style),
    ]),
  ];
}

function clipped(diff: readonly string[], room: number, look: Look): readonly string[] {
  if (rowsOf(diff, look) <= room) return diff;
  const shown: string[] = [];
  while (rowsOf(diff.slice(0, shown.length + 1), look) < room) shown.push(diff[shown.length] ?? '');
  const note = `… ${plural(diff.length - shown.length, 'more line')}; p prints them all`;
  return [...shown, look.paint.dim(note)];
}

function rowsOf(lines: readonly string[], look: Look): number {
  const rows = (line: string) => Math.max(1, Math.ceil(widthOf(withoutMarks(line)) / look.width));
  return lines.reduce((sum, line) => sum + rows(line), 0);
}
