/**
 * The one door to a terminal. Text that others wrote can be anywhere in what is printed, so no escape sequence in a text is
 * believed: colours and movements of our own are marks, which become escape sequences at the very end. A mark has a key
 * that is new in each process, so that no file can hold one.
 */
const KEY = Math.random().toString(36).slice(2);
const [OPEN, CLOSE] = ['\ufdd0', '\ufdd1'];
const MARK = new RegExp(`${OPEN}${KEY}([\\d;]*[A-Zm])${CLOSE}`, 'g');

/**
 * What a terminal obeys, or takes as another line or direction: control characters, marks of direction, separators,
 * invisible characters, halves of surrogate pairs. Newlines and tabs are left, and what joins letters and emoji.
 */
const HIDDEN =
  '\\r(?!\\n)|[\\0-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f\\xad\\u061c\\u180e\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff\\ufdd0-\\ufdef\\ufff9-\\ufffb\\ufffe\\uffff]|[\\u{e0000}-\\u{e0fff}]|\\p{Cs}';
const MARK_OR_HIDDEN = new RegExp(`${OPEN}${KEY}([\\d;]*[A-Zm])${CLOSE}|${HIDDEN}`, 'gu');

const PLAIN = /^[\n\t\x20-\x7e]*$/;

/** A control sequence of our own, such as `31m`, as a mark. */
export function mark(sequence: string): string {
  return OPEN + KEY + sequence + CLOSE;
}

/** To the start of the line, which becomes empty. */
export const ERASE_LINE = mark('G') + mark('K');

/** The screen and what is above it becomes empty, and the cursor goes to its corner. */
export const CLEAR = mark('2J') + mark('3J') + mark('H');

/** So many lines up, and everything from there on becomes empty. */
export function eraseLines(count: number): string {
  return mark(`${count}A`) + mark('J');
}

export function withoutMarks(text: string): string {
  return text.replace(MARK, '');
}

/**
 * A text as it goes out: our marks as escape sequences, and what a terminal would obey of others as `\u001b`. In JSON that
 * means the same character, so JSON stays what it is.
 */
export function forTerminal(text: string): string {
  if (PLAIN.test(text)) return text;
  return text.replace(MARK_OR_HIDDEN, (found, sequence: string | undefined) =>
    sequence === undefined ? escaped(found) : `\x1b[${sequence}`,
  );
}

function escaped(text: string): string {
  return Array.from({ length: text.length }, (_, at) => {
    return `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`;
  }).join('');
}
