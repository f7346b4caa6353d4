import { LogicalLines } from './logical-lines.js';
import type { Mask } from './magics.js';

const KEYWORDS: ReadonlySet<string> = new Set([
  ...['False', 'None', 'True', 'and', 'as', 'assert', 'async', 'await', 'break', 'class', 'continue', 'def'],
  ...['del', 'elif', 'else', 'except', 'finally', 'for', 'from', 'global', 'if', 'import', 'in', 'is'],
  ...['lambda', 'nonlocal', 'not', 'or', 'pass', 'raise', 'return', 'try', 'while', 'with', 'yield'],
  // Statements of Python 2.
  ...['exec', 'print'],
]);

const IMPORT =
  /^(?:import[ \t]+[\w.]+(?:[ \t]+as[ \t]+\w+)?|from[ \t]+[\w.]+[ \t]+import[ \t]+\w+(?:[ \t]+as[ \t]+\w+)?(?:,[ \t]*\w+)*)[ \t]*$/;
const NAME = /(?<![\w.\u0080-\uffff])[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*/g;
const SETS = /^(.*?)(?:[^\w\s=!<>]|\/\/|\*\*|<<|>>)?=(?!=)/;
const BINDS = /\b(?:def|class|for|as|import|del|global|nonlocal)\b(.*)/;
const REACHES_ALL =
  /\b(?:eval|exec|execfile|globals|locals|vars|run_cell|run_line_magic|get_ipython)\b|^\s*%/m;

/**
 * What stands for a cell that is no Python. It may never run, or another Python runs it: what it names it may read, change
 * and set, and no more. Its imports stay.
 */
export function unreadCell(lines: readonly string[]): readonly Mask[] {
  const own = lines.filter((line) => !IMPORT.test(line));
  const named = namesIn(own);
  const set = namesIn(own.flatMap((line) => [SETS.exec(line)?.[1] ?? '', BINDS.exec(line)?.[1] ?? '']));
  const reach = REACHES_ALL.test(own.join('\n')) ? '; exec("")' : '';
  const target = set.length === 0 ? '' : `${set.join(', ')} = `;
  let python = `${target}get_ipython(${named.join(', ')})${reach}`;
  return lines.flatMap((line, index) => {
    if (IMPORT.test(line)) return [];
    const mask = { line: index, python };
    python = '';
    return [mask];
  });
}

function namesIn(lines: readonly string[]): readonly string[] {
  const names = lines.flatMap((line) => line.match(NAME) ?? []);
  return [...new Set(names)].filter((name) => !KEYWORDS.has(name));
}

/** A statement that only a function or a loop can have, at the top of a cell: Python refuses the whole cell. */
export function strayStatement(source: string): { readonly line: number; readonly word: string } | undefined {
  if (!STRAY.test(source)) return undefined;
  const reader = new LogicalLines();
  for (const [index, line] of source.split(/\r\n|\n|\r/).entries()) {
    const word = reader.isAtStart ? STRAY.exec(line)?.[1] : undefined;
    if (word !== undefined) return { line: index + 1, word };
    reader.read(line);
  }
  return undefined;
}

const STRAY = /^(return|break|continue)\b/m;
