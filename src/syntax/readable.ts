/** Comments and line continuations in a row that the grammar still reads fast. */
export const LONG_RUN = 256;

const TAB = 9;
const FORM_FEED = 12;
const RETURN = 13;
const SPACE = 32;
const HASH = 35;
const BACKSLASH = 92;

/** The text as the grammar can read it, of the same length, so that offsets hold. */
export function readable(text: string): string {
  return withoutLongRuns(withPythonIndentation(withPythonNewlines(text)));
}

/** A lone carriage return ends a line in Python but not in the grammar. */
function withPythonNewlines(text: string): string {
  return text.includes('\r') ? text.replace(/\r(?!\n)/g, '\n') : text;
}

/** At the start of a statement: lines with nothing but a backslash, and the indentation of the line after them. */
const SPLIT_INDENTATION = /(?<![^\n]|\\\r?\n)(?:[ \t\f]*\\\r?\n)+[ \t\f]*/g;

/**
 * The grammar adds up the spaces of all these lines. In Python the first of them that has any decides alone. What is before a
 * form feed counts for nothing, so the spaces that count come last.
 */
function withPythonIndentation(text: string): string {
  if (!text.includes('\\')) return text;
  return text.replace(SPLIT_INDENTATION, (split) => {
    const blanks = split.split(/\\\r?\n/).map((blank) => blank.replace(/^.*\f/, ''));
    const first = blanks.slice(0, -1).find((blank) => blank !== '');
    if (first === undefined) return split;
    let at = first.length - split.replace(/[^ \t\f]/g, '').length;
    return split.replace(/[ \t\f]/g, () => first[at++] ?? '\f');
  });
}

/**
 * The grammar's scanner reads to the next code at each comment and each line continuation, so thousands of them in a row
 * would take minutes. Where lines have nothing else, many of them become blank to it.
 */
function withoutLongRuns(text: string): string {
  let result = '';
  let copied = 0;
  let runStart = 0;
  let count = 0;
  const endRun = (end: number) => {
    if (count >= LONG_RUN) {
      result += text.slice(copied, runStart) + blank(text.slice(runStart, end));
      copied = end;
    }
    count = 0;
  };
  for (let at = 0; at < text.length; ) {
    const newline = text.indexOf('\n', at);
    const next = newline === -1 ? text.length : newline + 1;
    const kind = newline === -1 ? 'code' : kindOf(text, at, newline);
    if (kind === 'code') {
      endRun(at);
      runStart = next;
    } else if (kind !== 'blank') count++;
    at = next;
  }
  endRun(text.length);
  return copied === 0 ? text : result + text.slice(copied);
}

function kindOf(text: string, start: number, newline: number): 'blank' | 'comment' | 'continuation' | 'code' {
  let at = start;
  while (isSpace(text.charCodeAt(at))) at++;
  const code = text.charCodeAt(at);
  if (code === HASH) return 'comment';
  const isContinued = code === BACKSLASH;
  if (isContinued) at++;
  if (text.charCodeAt(at) === RETURN) at++;
  if (at !== newline) return 'code';
  return isContinued ? 'continuation' : 'blank';
}

function isSpace(code: number): boolean {
  return code === SPACE || code === TAB || code === FORM_FEED;
}

const CONTINUATIONS = /(?:(?<![^\n])[ \t\f]*\\\r?\n)+/g;

/** Whole lines without code, blank as far as that does not matter. */
function blank(run: string): string {
  return run.replace(CONTINUATIONS, withoutContinuations).replace(/[^\n]+/g, withoutComment);
}

/**
 * The grammar counts the spaces before continuations as indentation of what follows, and starts over at a form feed: so
 * these come first, and the spaces after them.
 */
function withoutContinuations(lines: string): string {
  return '\f'.repeat(lines.replace(/[ \t\f]/g, '').length) + lines.replace(/[^ \t\f]/g, '');
}

/** Lines stay that may matter: our own comments, and those that could end a string around them. */
function withoutComment(line: string): string {
  return /memfix:|"""|'''/.test(line) ? line : line.replace(/[^\r\f\t ]/g, ' ');
}
