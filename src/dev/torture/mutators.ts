import type { Edit } from '../../edit/edit.js';
import type { Random } from './random.js';
import type { Subject, Token } from './subject.js';

/** A change of a text that mostly leaves it the same program, or undefined where the chosen place does not allow it. */
export type Mutator = (subject: Subject, random: Random) => readonly Edit[] | undefined;

export function insertion(at: number, text: string): readonly Edit[] {
  return [{ start: at, end: at, text }];
}

export function indentationAt(text: string, offset: number): string {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  return /^[ \t]*/.exec(text.slice(start, offset))?.[0] ?? '';
}

const NEWLINE_INDENTS = ['', ' ', '    ', '        ', '\t', '                    '] as const;

function lineIndent(random: Random): string {
  return random.pick(NEWLINE_INDENTS) ?? '';
}

/** The space between two tokens of one logical line. */
function gap(
  subject: Subject,
  random: Random,
  fits: (left: Token, right: Token) => boolean,
): { start: number; end: number; left: Token; right: Token } | undefined {
  const { tokens, text } = subject;
  for (let tries = 0; tries < 8; tries++) {
    const at = random.below(tokens.length - 1);
    const [left, right] = [tokens[at], tokens[at + 1]];
    if (left === undefined || right === undefined || left.type === 'comment') continue;
    const isSameLine = !text.slice(left.end, right.start).includes('\n');
    if ((isSameLine || right.depth > 0) && fits(left, right))
      return { start: left.end, end: right.start, left, right };
  }
  return undefined;
}

const OPENING = /^[([{]$/;
const CLOSING = /^[)\]}]$/;

/** Brackets are where argument edits begin and end, so they are chosen more often. */
function nearBracket(random: Random): (left: Token, right: Token) => boolean {
  const any = random.chance(0.4);
  return (left, right) =>
    any || OPENING.test(left.type) || CLOSING.test(right.type) || left.type === ',' || right.type === ',';
}

/** Inside brackets, not only next to one. */
function inside(fits: (left: Token, right: Token) => boolean): (left: Token, right: Token) => boolean {
  return (left, right) => (left.depth > 0 || OPENING.test(left.type)) && fits(left, right);
}

/** In all of these the gap is added to: what was there stays. */
export const LAYOUT: readonly Mutator[] = [
  function backslash(subject, random) {
    const place = gap(subject, random, nearBracket(random));
    if (place === undefined || place.right.type === 'comment') return undefined;
    const space = random.oneOf(' ', '', '  ', '\t');
    const at = random.chance(0.5) ? place.start : place.end;
    return insertion(at, `${space}\\\n${lineIndent(random)}`);
  },
  function newlineInBrackets(subject, random) {
    const place = gap(subject, random, inside(nearBracket(random)));
    return (
      place &&
      insertion(random.oneOf(place.start, place.end), `\n${random.oneOf('', '\n')}${lineIndent(random)}`)
    );
  },
  function commentInBrackets(subject, random) {
    const place = gap(subject, random, inside(nearBracket(random)));
    const words = random.oneOf(' note', '', ' a, b) c', ' \\', ' "x', '\u00fc');
    return (
      place &&
      insertion(
        random.oneOf(place.start, place.end),
        `${random.oneOf('  ', '', ' \n    ')}#${words}\n${lineIndent(random)}`,
      )
    );
  },
  function space(subject, random) {
    const place = gap(subject, random, () => true);
    return place && insertion(place.end, random.oneOf('  ', ' ', '\t', '\f', ' \f ', '\t '));
  },
  function noSpace(subject, random) {
    const place = gap(subject, random, (left, right) => !/\w$/.test(left.text) || !/^\w/.test(right.text));
    return place && [{ start: place.start, end: place.end, text: '' }];
  },
  function trailingComma(subject, random) {
    const { tokens } = subject;
    const closers = tokens.filter(
      ({ type }, at) => CLOSING.test(type) && !/^[,([{]$/.test(tokens[at - 1]?.type ?? ','),
    );
    const closer = random.pick(closers);
    return closer && insertion(closer.start, random.oneOf(',', ', ', ' ,', ',\n', ',  # last\n'));
  },
  function lineComment(subject, random) {
    const statement = random.pick(subject.statements);
    if (statement === undefined) return undefined;
    const line = subject.text.indexOf('\n', statement.end);
    if (line === -1 || random.chance(0.5)) {
      const at = subject.text.lastIndexOf('\n', statement.start - 1) + 1;
      return insertion(at, `${lineIndent(random)}# ${random.oneOf('TODO', 'type: ignore', 'x = (')}\n`);
    }
    return insertion(line, random.oneOf('  # note', '#', ';', ' ; ', '  ', '\f', '\t# \\'));
  },
  function blankLine(subject, random) {
    const statement = random.pick(subject.statements);
    const at = statement && subject.text.lastIndexOf('\n', statement.start - 1) + 1;
    return at === undefined ? undefined : insertion(at, random.oneOf('\n', '    \n', '\f\n', '\\\n', '\t\n'));
  },
];

/** The characters of one token go, come twice or change places: mostly no Python any more. */
export const DAMAGE: readonly Mutator[] = [
  function deleteToken({ tokens }, random) {
    const token = random.pick(tokens);
    return token && [{ start: token.start, end: token.end, text: '' }];
  },
  function repeatToken({ tokens }, random) {
    const token = random.pick(tokens);
    return token && insertion(token.end, ` ${token.text}`);
  },
  function otherToken({ tokens }, random) {
    const [token, other] = [random.pick(tokens), random.pick(tokens)];
    return token && other && [{ start: token.start, end: token.end, text: other.text }];
  },
  function deleteLine({ text, statements }, random) {
    const statement = random.pick(statements);
    if (statement === undefined) return undefined;
    const start = text.lastIndexOf('\n', statement.start - 1) + 1;
    const end = text.indexOf('\n', statement.start) + 1 || text.length;
    return [{ start, end, text: '' }];
  },
  function otherIndentation({ text, statements }, random) {
    const statement = random.pick(statements);
    if (statement === undefined) return undefined;
    const start = text.lastIndexOf('\n', statement.start - 1) + 1;
    const added = random.oneOf(' ', '    ', '\t');
    return random.chance(0.5)
      ? insertion(start, added)
      : [{ start, end: start + Math.min(4, indentationAt(text, statement.start).length), text: '' }];
  },
];
