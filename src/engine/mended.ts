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

/**
 * What does not compile runs nowhere: not when it is started, imported or given to `exec`. But its author will mend a slip one
 * day, so all the rest of the file is read as what it will do then. Undefined where more than a few lines are in the way, or
 * none: then it is the other parser that does not know the syntax. The other cells of a notebook do run.
 */
export function mendedText(path: string, text: string): Mended | undefined {
  if (isNotebookName(path)) return undefined;
  let now = text;
  let left = '';
  for (let place = 0; place <= MOST_PLACES; place++) {
    const line = lineOfProblem(now);
    if (line === undefined) return left === '' ? undefined : { text: now, left };
    const mended = place < MOST_PLACES ? withoutProblem(now.split('\n'), line) : undefined;
    if (mended === undefined) return undefined;
    now = mended.text;
    left += mended.left;
  }
  return undefined;
}

/** Counted from 0; undefined where there is none, beyond the end where it is not told. */
function lineOfProblem(text: string): number | undefined {
  const problem = pythonProblem(text);
  return problem && (problem.at === undefined ? Infinity : problem.at.line - 1);
}

/** What shows at the end of the file may be a bracket above that nothing closes: then all that follows it is left out. */
function withoutProblem(lines: readonly string[], line: number): Mended | undefined {
  const end = lines.findLastIndex((each) => each.trim() !== '');
  const last = Math.min(line, end);
  const highest = last === end ? Math.max(0, last - MOST_LINES) : last;
  for (let first = last; first >= highest; first--) {
    for (const instead of insteadOf(lines[first] ?? '')) {
      const blank = lines.slice(first + 1, last + 1).map(() => '');
      const text = [...lines.slice(0, first), instead, ...blank, ...lines.slice(last + 1)].join('\n');
      const next = lineOfProblem(text);
      if (next === undefined || (next > line && next !== Infinity))
        return { text, left: `${lines.slice(first, last + 1).join('\n')}\n` };
    }
  }
  return undefined;
}

/** What may stand in place of a line, so that what is below or around it stays: of a function, its name would be missing. */
function insteadOf(line: string): readonly string[] {
  const indent = /^\s*/.exec(line)?.[0] ?? '';
  const [, word = ''] = /^\s*(\w*).*:\s*(?:#.*)?$/.exec(line) ?? [];
  if (/^(?:def|class|async|match|case)$/.test(word)) return [];
  if (/^(?:if|for|while|with)$/.test(word)) return [`${indent}if _:`];
  if (/^(?:try|else|finally|except)$/.test(word)) return [`${indent}${word}:`];
  if (word === 'elif') return [`${indent}elif _:`];
  return [`${indent}pass`, ''];
}
