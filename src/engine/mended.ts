import { pythonProblem } from '../syntax/soundness.js';
import { isNotebookName } from '../text/notebook/notebook.js';

/** A file that no Python 3 compiles, as it reads without the lines that are in the way. */
export interface Mended {
  readonly text: string;
  /** What was left out. */
  readonly left: string;
}

/** Places that are mended in one file, and the lines that one at its end may have: what has more of them is no slip. */
const MOST_PLACES = 3;
const MOST_LINES = 12;
/** So many lines above the one where it shows may be a bracket that nothing closes. */
const MOST_ABOVE = 3;

/**
 * What does not compile runs nowhere: not when it is started, imported or given to `exec`. But its author will mend a slip one
 * day, so all the rest of the file is read as what it will do then. Undefined where more than a few places are in the way, or
 * none: then it is the other parser that does not know the syntax. The other cells of a notebook do run.
 */
export function mendedText(path: string, text: string): Mended | undefined {
  if (isNotebookName(path)) return undefined;
  let now = text;
  let left = '';
  for (let places = 0; ; ) {
    const line = lineOfProblem(now);
    if (line === undefined) return now === text ? undefined : { text: now, left };
    const lines = now.split('\n');
    const mended =
      asName(lines, line) ??
      withoutLink(lines, line) ??
      (places < MOST_PLACES ? withoutProblem(lines, line) : withoutRest(lines, line));
    if (mended === undefined) return undefined;
    now = mended.text;
    left += mended.left;
    if (mended.left !== '') places++;
  }
}

/** Counted from 0; undefined where there is none, beyond the end where it is not told. */
function lineOfProblem(text: string): number | undefined {
  const problem = pythonProblem(text);
  return problem && (problem.at === undefined ? Infinity : problem.at.line - 1);
}

function withoutProblem(lines: readonly string[], line: number): Mended | undefined {
  for (const cut of cutsAt(lines, line)) {
    const mended = cutOut(lines, cut);
    const next = lineOfProblem(mended.text);
    if (next === undefined || (next > line && next !== Infinity)) return mended;
  }
  return undefined;
}

/** What is no code at all, down to the end of the file. */
function withoutRest(lines: readonly string[], line: number): Mended | undefined {
  if (!definesNothing(lines.slice(line))) return undefined;
  const mended = cutOut(lines, { first: line, last: lines.length - 1, instead: '' });
  return lineOfProblem(mended.text) === undefined ? mended : undefined;
}

function cutOut(lines: readonly string[], { first, last, instead }: Cut): Mended {
  const blank = lines.slice(first + 1, last + 1).map(() => '');
  const text = [...lines.slice(0, first), instead, ...blank, ...lines.slice(last + 1)].join('\n');
  return { text, left: `${lines.slice(first, last + 1).join('\n')}\n` };
}

/** `images.cuda(async=True)`: a name like any other, up to Python 3.6. */
function asName(lines: readonly string[], line: number): Mended | undefined {
  const renamed = lines[line]?.replace(ASYNC_AS_NAME, 'async_');
  if (renamed === undefined || renamed === lines[line]) return undefined;
  const { text } = cutOut(lines, { first: line, last: line, instead: renamed });
  const next = lineOfProblem(text);
  return next === undefined || next > line ? { text, left: '' } : undefined;
}

const ASYNC_AS_NAME = /\basync\b(?!\s+(?:def|for|with)\b)/g;

/** `[docs]class Net(Module):` is copied from a page of Sphinx, with the link that stands there. */
function withoutLink(lines: readonly string[], line: number): Mended | undefined {
  const plain = lines[line]?.replace(LINK, '$1');
  if (plain === undefined || plain === lines[line]) return undefined;
  const { text } = cutOut(lines, { first: line, last: line, instead: plain });
  const next = lineOfProblem(text);
  return next === undefined || next > line ? { text, left: '' } : undefined;
}

const LINK = /^(\s*)\[(?:docs|source)\](?=\s*(?:async|class|def|@))/;

/** Lines, and what stands in the place of the first of them. */
interface Cut {
  readonly first: number;
  readonly last: number;
  readonly instead: string;
}

/** The smallest first: the line, lines above it, the statement around it, the rest of the file. */
function* cutsAt(lines: readonly string[], line: number): Generator<Cut> {
  const end = lines.findLastIndex(isCode);
  const at = Math.min(line, end);
  const above = lines.findLastIndex((each, index) => index < at && isCode(each));
  // A bracket that nothing closes shows in the line below.
  if (opensMore(lines[above] ?? '')) yield* cutsUp(lines, above, MOST_ABOVE);
  // What shows at the end of the file may be such a bracket, too: then all that follows it is left out.
  yield* cutsUp(lines, at, at === end ? MOST_LINES : 0);
  // A suite that has no statement, and the same further up, at a line that shows in the next one.
  for (const header of [at, above])
    if (/:\s*(?:#.*)?$/.test(lines[header] ?? ''))
      yield { first: header, last: header, instead: `${(lines[header] ?? '').replace(/\s*#.*$/, '')} pass` };
  const first = lines.findLastIndex((each, index) => index <= at && isOutermost(each));
  const next = lines.findIndex((each, index) => index > at && isOutermost(each));
  const last = next === -1 ? end : next - 1;
  if (first !== -1 && definesNothing(lines.slice(first, last + 1))) yield { first, last, instead: '' };
  if (definesNothing(lines.slice(at))) yield { first: at, last: end, instead: '' };
}

/** From a line, or one of so many above it, to that line. */
function* cutsUp(lines: readonly string[], last: number, above: number): Generator<Cut> {
  for (let first = last; first >= Math.max(0, last - above); first--)
    for (const instead of insteadOf(lines[first] ?? '')) yield { first, last, instead };
}

function opensMore(line: string): boolean {
  return line.split(/[([{]/).length > line.split(/[)\]}]/).length;
}

function isCode(line: string): boolean {
  return /^\s*[^\s#]/.test(line);
}

/** What begins there is in no suite and in no bracket. */
function isOutermost(line: string): boolean {
  return /^[^\s#)\]}]/.test(line) && !/^(?:elif|else|except|finally)\b/.test(line);
}

/** Of a function or a class, its name would be missing. */
function definesNothing(lines: readonly string[]): boolean {
  return !lines.some((line) => /^\s*(?:async\s+)?(?:def|class)\b/.test(line));
}

/** What may stand in place of a line, so that what is below or around it stays. */
function insteadOf(line: string): readonly string[] {
  const indent = /^\s*/.exec(line)?.[0] ?? '';
  const [, word = ''] = /^\s*(\w*).*:\s*(?:#.*)?$/.exec(line) ?? [];
  if (/^(?:def|class|async|match|case)$/.test(word) || !definesNothing([line])) return [];
  if (/^(?:if|for|while|with)$/.test(word)) return [`${indent}if _:`];
  if (/^(?:try|else|finally|except)$/.test(word)) return [`${indent}${word}:`];
  if (word === 'elif') return [`${indent}elif _:`];
  return [`${indent}pass`, ''];
}
