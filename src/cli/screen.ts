import type { Decision, Finding, Preview } from '../engine/outcome.js';
import { clip, clipStart, widthOf } from '../report/cells.js';
import { type ChangeRow, changeRows, withLessAround } from '../report/change-view.js';
import { EFFECT_WORDS } from '../report/effects.js';
import { measuredEffect } from '../report/evidence.js';
import { inColor, noColor, type Paint } from '../report/paint.js';
import { reasonsOf } from '../report/premises.js';
import { plural, wrap } from '../report/prose.js';
import type { Standing } from '../report/prove/verified.js';
import { askedTogether } from '../report/questions.js';
import { SAFETY_TONE, standingOf } from '../report/report.js';
import { withoutMarks } from '../report/terminal.js';
import type { SourceText } from '../text/decode.js';
import { placeMark } from '../text/place.js';
import type { TransformMeta } from '../toolkit/contract.js';
import type { Terminal } from './ask.js';
import { KEYS } from './key-help.js';
import type { Reason } from './session-files.js';

/** What a terminal of this size and colour can show. */
export interface Look {
  readonly width: number;
  readonly height: number;
  readonly paint: Paint;
}

/** One finding, as a person is asked about it. */
export interface Card {
  readonly position: number;
  readonly total: number;
  /** How many have an answer. */
  readonly answered: number;
  /** Open findings of its transform, and those in a row that are like it; itself included. */
  readonly kin: number;
  /** How many of these one key takes: of a safe one, the safe ones. */
  readonly reach: number;
  readonly row: number;
  readonly path: string;
  readonly source: SourceText;
  readonly finding: Finding;
  /** What it has to do with memory that ran out. */
  readonly reason?: Reason | undefined;
  readonly meta: TransformMeta | undefined;
  readonly preview: Preview;
  readonly answer: Decision | undefined;
  /** The change is the person's own replacement. */
  readonly isEdited: boolean;
  /** The person left another text for it in the editor. */
  readonly hasDraft: boolean;
  /** Other transforms that propose the same change, to the byte. */
  readonly twins: readonly string[];
  /** What runs of the person's own command have said of it. */
  readonly standing: Standing | undefined;
  /** What is open inside of the code that its fix counts for. */
  readonly covers?: string | undefined;
  /** Fixes of the same lines, of which one can be taken, by their numbers; empty where there is no other. */
  readonly alternatives: readonly { readonly title: string; readonly isThis: boolean }[];
}

export interface Drawn {
  readonly text: string;
  /** Rows of the terminal that it takes, without the prompt. */
  readonly rows: number;
  /** How many rows of the change are in view, and how many there are. */
  readonly room: number;
  readonly length: number;
  /** The first row in view. */
  readonly first: number;
}

/** Lines of running text longer than this are hard to read. */
const TEXT_WIDTH = 100;
/** Rows of a change that are always in view, where it has as many. */
const LEAST_CHANGE = 6;
const LABEL = 8;

export function lookOf({ output, color }: Terminal): Look {
  // A terminal that does not say how large it is reports zero.
  return { width: output.columns || 80, height: output.rows || 24, paint: color ? inColor : noColor };
}

/**
 * The change first, then in short why, what it was measured to do, and what is asked. It fits the terminal: of a longer
 * change it shows the part from row `from` on, at first with the first changed line in view. In `Infinity` rows it shows all.
 */
export function cardText(card: Card, look: Look, from?: number): Drawn {
  const head = headLines(card, look);
  const all = changeRows(card.preview, look.paint, look.width, card.source);
  const rest = look.height - head.length - rowsOf([promptText(card, look)], look);
  const long = footLines(card, look, Infinity);
  // What is around the change gives way before anything is cut short, but for a line above and below.
  const core = Math.min(withLessAround(all, 0).length + 2, all.length);
  const foot = long.length + core <= rest ? long : footLines(card, look, rest - Math.min(core, LEAST_CHANGE));
  const change = withLessAround(all, rest - foot.length);
  const room = Math.max(rest - foot.length, Math.min(change.length, 3));
  const first = from ?? firstView(change, room);
  const lines = fitted(head, inView(change, room, first, look.paint), foot, rest + head.length, look);
  return { text: `${lines.join('\n')}\n`, rows: rowsOf(lines, look), room, length: change.length, first };
}

/** In a window that is too small for all of it, the place and the change stay, then what is asked. */
function fitted(
  head: readonly string[],
  change: readonly string[],
  foot: readonly string[],
  height: number,
  look: Look,
): readonly string[] {
  const [blank = '', place = '', ...tags] = head;
  let [above, below] = [[...tags], [...foot]];
  const all = (start: readonly string[]) => [...start, place, ...above, ...change, ...below];
  while (below.length > 0 && rowsOf(all([blank]), look) > height) below = below.slice(1);
  while (above.length > 0 && rowsOf(all([]), look) > height) above = above.slice(0, -1);
  return all(rowsOf(all([blank]), look) > height ? [] : [blank]);
}

/** The keys that are asked for most, spelt out. */
export function promptText(card: Card, { paint, width }: Look): string {
  const { position, total, finding, kin, reach, row, alternatives } = card;
  const keys = [
    finding.safety === 'advice' ? '[y]es, take this advice' : '[y]es',
    '[n]o',
    ...(finding.questions.length > 0 ? ['[Y]es for good'] : []),
    ...(alternatives.length > 0 ? [`[1-${alternatives.length}] another way`] : []),
    ...(row > 1 ? [`[l]ike it: ${row} in a row`] : []),
    ...(reach > 1
      ? [`[A]ll ${reach} ${reach < kin && finding.safety === 'safe' ? 'safe ones' : 'of this kind'}`]
      : []),
    '[e]dit',
    '[q]uit',
    '?=more',
  ];
  // The last one leaves room for the key that is typed.
  const parts = [`(${position}/${total}) ${keys[0]}`, ...keys.slice(1, -2), keys.slice(-2).join(' ')];
  const lines = joined(parts, ' ', width - 2);
  return `${lines.map(paint.bold).join('\n')} `;
}

export function noteText(note: string, { paint, width }: Look): string {
  return `${wrap(note, Math.min(width, TEXT_WIDTH), { first: '', rest: '' }).map(paint.magenta).join('\n')}\n`;
}

/** A note with a line for each of its items. */
export function listText(note: string, items: readonly string[], { paint, width }: Look): string {
  const lines = items.flatMap((item) =>
    wrap(item, Math.min(width, TEXT_WIDTH), { first: '  ', rest: '    ' }),
  );
  return `${[note, ...lines].map(paint.magenta).join('\n')}\n`;
}

export function boldText(text: string, { paint, width }: Look): string {
  const lines = wrap(text, Math.min(width, TEXT_WIDTH), { first: '', rest: '' });
  return `${lines.map(paint.bold).join('\n')}\n`;
}

export function helpText({ paint, width }: Look): string {
  const lines = KEYS.flatMap(({ key, does }) => entry(key, does, 8, width, paint.bold));
  const interrupt = 'stop: files all answered are written, not the one on screen; --resume has the rest';
  lines.push(...entry('Ctrl-C', interrupt, 8, width, paint.bold));
  return `${lines.join('\n')}\n`;
}

/** All that the card had no room for. */
export function detailText(
  { finding, path, meta, alternatives, standing }: Card,
  { paint, width }: Look,
): string {
  const say = (label: string, text: string) => entry(label, text, LABEL, width, paint.bold);
  const lines = [
    '',
    ...say('why', finding.message),
    ...(finding.fix === undefined ? [] : say('fix', finding.fix.title)),
    ...askedTogether(finding.questions, path).flatMap((text) => say('?', text)),
    ...(finding.assumed ?? []).flatMap(({ text }) => say('assumed', text)),
    ...alternatives.flatMap(({ title, isThis }, at) =>
      say(`${at + 1}`, isThis ? `${title} (this one)` : title),
    ),
    ...reasonsOf(finding).flatMap(({ source, text }) => say(source, text)),
    ...(meta === undefined ? [] : say('effect', meta.evidence.verdict)),
    ...(standing === undefined ? [] : say('run', `${standing.label}${standing.words}`)),
    '',
  ];
  return `${lines.join('\n')}\n`;
}

function headLines(
  { position, total, answered, kin, path, finding, standing, answer, isEdited, ...card }: Card,
  look: Look,
): string[] {
  const { paint, width } = look;
  const place = path + placeMark(finding.at);
  const share = total < 10 ? '' : ` · ${Math.floor((100 * answered) / total)} %`;
  const way = card.alternatives.findIndex(({ isThis }) => isThis) + 1;
  const ways = way === 0 ? '' : ` · way ${way} of ${card.alternatives.length}`;
  const start = `── ${position}/${total}${ways}${share} ── `;
  const shown = clipStart(place, width - widthOf(start) - 1);
  const rule = '─'.repeat(Math.max(width - widthOf(start) - widthOf(shown) - 1, 0));
  const tags = [
    paint.bold(finding.transform),
    ...card.twins.map((twin) => `also ${paint.bold(twin)}`),
    // What is proven and measured is so of the proposed fix.
    ...(isEdited
      ? [paint.magenta('your own replacement')]
      : [paint[SAFETY_TONE[finding.safety]](standingOf(finding, standing)), finding.numerics]),
    ...(kin > 1 ? [`${kin - 1} more of this kind`] : []),
    ...(answer === undefined ? [] : [paint.magenta(answerText(answer))]),
    ...(card.hasDraft ? [paint.magenta('you have a draft: e opens it')] : []),
  ];
  return [
    '',
    // Bold cyan is bright, and cannot be read on white.
    `${paint.cyan(start)}${paint.bold(shown)} ${paint.cyan(rule)}`,
    ...joined(tags, ' · ', width),
  ];
}

/** Parts with a separator, on as many lines as they need. */
function joined(parts: readonly string[], separator: string, width: number): string[] {
  const lines: string[] = [];
  for (const part of parts) {
    const last = lines.at(-1);
    const longer = last === undefined ? part : last + separator + part;
    if (last === undefined || widthOf(withoutMarks(longer)) > width) lines.push(part);
    else lines[lines.length - 1] = longer;
  }
  return lines;
}

/** Why, the effect and what is asked, in at most `most` rows: a line each where it must be short. */
function footLines(card: Card, look: Look, most: number): string[] {
  const { finding, reason, meta, alternatives, standing, isEdited } = card;
  const { paint, width } = look;
  const isShort = most !== Infinity;
  const say = (label: string, text: string) =>
    isShort
      ? [`${paint.dim(label.padEnd(LABEL))}${clip(text, width - LABEL)}`]
      : hung(label, text, width, paint.dim);
  const measured = meta && `${EFFECT_WORDS[finding.effect]}; ${measuredEffect(meta, finding.measuredAs)}`;
  const effect = isEdited ? undefined : measured;
  const lines = [
    ...(reason === undefined ? [] : say(`#${reason.rank}`, reason.because)),
    ...say('why', finding.message),
    ...(effect === undefined ? [] : say('effect', effect)),
    ...(finding.afterwards === undefined ? [] : say('then', finding.afterwards)),
    ...(standing === undefined ? [] : say('run', `${standing.label}${standing.words}`)),
    ...alternatives.flatMap(({ title, isThis }, at) =>
      say(`${at + 1} ${isThis ? '←' : ''}`, isThis ? `this change` : title),
    ),
    ...(card.covers === undefined ? [] : say('covers', card.covers)),
    ...(finding.assumed ?? []).flatMap(({ text }) => say('assumed', text)),
  ];
  const asked = askedTogether(finding.questions, card.path).map((text) =>
    hung('?', text, width, paint.yellow, paint.bold),
  );
  let untold = asked.length;
  for (const each of asked) {
    const isRoom = lines.length + each.length + (untold > 1 ? 1 : 0) <= most;
    // The first question is always there in full: it is what the key answers.
    if (!isRoom && untold < asked.length) break;
    lines.push(...each);
    untold--;
  }
  if (untold > 0)
    lines.push(
      ...wrap(`and ${plural(untold, 'more question')}, which y answers too: i shows all`, width, {
        first: ' '.repeat(LABEL),
        rest: ' '.repeat(LABEL),
      }).map(paint.yellow),
    );
  return lines;
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

export function hung(
  label: string,
  text: string,
  width: number,
  tone: (text: string) => string,
  textTone = (words: string) => words,
): string[] {
  const rest = ' '.repeat(LABEL);
  return wrap(text, Math.min(width, TEXT_WIDTH), { first: rest, rest }).map((line, at) =>
    at === 0 ? tone(label.padEnd(LABEL)) + textTone(line.slice(LABEL)) : rest + textTone(line.slice(LABEL)),
  );
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

/** Where the first changed line is in view, with a little of what is above it. */
function firstView(change: readonly ChangeRow[], room: number): number {
  if (change.length <= room) return 0;
  const first = change.findIndex(({ isChange }) => isChange);
  return Math.max(0, first - Math.min(3, Math.floor(room / 3)));
}

/** Rows of the change from one on; where some are left out, a line says how many and how to see them. */
function inView(change: readonly ChangeRow[], room: number, from: number, paint: Paint): string[] {
  if (change.length <= room) return change.map(({ text }) => text);
  const above = change.slice(0, from);
  const within = Math.max(room - 1 - (above.length > 0 ? 1 : 0), 1);
  const below = change.slice(from + within);
  const told = (rows: readonly ChangeRow[], keys: string) => {
    const changed = rows.filter(({ isChange }) => isChange).length;
    const some = changed === 0 ? '' : `, ${changed} of them changed`;
    return paint.dim(`  ⋮ ${plural(rows.length, 'more row')}${some}: ${keys}`);
  };
  return [
    ...(above.length > 0 ? [told(above, '↑')] : []),
    ...change.slice(from, from + within).map(({ text }) => text),
    ...(below.length > 0 ? [told(below, 'Space or ↓ scrolls')] : []),
  ];
}

function rowsOf(lines: readonly string[], look: Look): number {
  const rows = (line: string) => Math.max(1, Math.ceil(widthOf(withoutMarks(line)) / look.width));
  return lines.reduce((sum, line) => sum + rows(line), 0);
}
