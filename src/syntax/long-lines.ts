import type { Edit } from '../edit/edit.js';
import { indentationUnit, type Layout } from './layout.js';
import type { PyNode } from './node.js';

/** The usual limits of linters. */
const LIMITS: readonly number[] = [88, 100, 120];
/** A line up to this is not broken, also where those of the file are shorter. */
const READABLE = 100;

/** How long lines of a file may be, going by the longest. */
export function lineLimit(text: string): number {
  const longest = text.split(/\r\n|\r|\n/).reduce((most, line) => Math.max(most, widthOf(line)), 0);
  return LIMITS.find((limit) => longest <= limit) ?? Number.POSITIVE_INFINITY;
}

/** Without a comment at its end, for which linters make exceptions. */
export function widthOf(line: string): number {
  return line.replace(/\s*#.*$/, '').replaceAll('\t', '    ').length;
}

/**
 * The edits, with line breaks in the brackets of a list that they add to where its line would become longer than those of the
 * file are: in the outermost brackets on that line whose contents then fit.
 */
export function withoutLongLines(
  layout: Layout,
  lists: readonly PyNode[],
  edits: readonly Edit[],
): readonly Edit[] {
  const opened: Edit[] = [];
  const closed: Edit[] = [];
  for (const list of lists) {
    const brackets = bracketsToBreak(layout, list, edits);
    const at = (brackets?.start ?? 0) + 1;
    if (brackets === undefined || opened.some(({ start }) => start === at)) continue;
    const line = layout.lines.lineAt(list.start);
    const below = layout.lines.newlineNear(line) + indentationAt(layout, line);
    opened.push({ start: at, end: at, text: below + indentationUnit(layout, list) });
    closed.push({ start: brackets.end - 1, end: brackets.end - 1, text: below });
  }
  return [...opened, ...edits, ...closed];
}

function bracketsToBreak(layout: Layout, list: PyNode, edits: readonly Edit[]): PyNode | undefined {
  const { lines, text } = layout;
  const line = lines.lineAt(list.start);
  const [start, end] = [lines.start(line), lines.end(line)];
  const touching = edits.filter((edit) => edit.start <= end && edit.end >= start);
  if (
    list.end > end ||
    touching.some((edit) => edit.start < start || edit.end > end || /[\r\n]/.test(edit.text))
  )
    return undefined;
  const widthBetween = (from: number, to: number) =>
    touching
      .filter((edit) => edit.start >= from && edit.end <= to)
      .reduce((sum, edit) => sum + edit.text.length - (edit.end - edit.start), widthOf(text.slice(from, to)));
  const whole = widthBetween(start, end);
  if (whole <= READABLE) return undefined;
  const limit = Math.max(READABLE, lineLimit(text));
  if (whole <= limit) return undefined;
  const indentation = widthOf(`${indentationAt(layout, line)}${indentationUnit(layout, list)}.`) - 1;
  return bracketsAround(list, start, end).find(
    (brackets) => indentation + widthBetween(brackets.start + 1, brackets.end - 1) <= limit,
  );
}

/** The brackets of calls that open and close on the list's line, the outermost first. */
function bracketsAround(list: PyNode, start: number, end: number): readonly PyNode[] {
  const found: PyNode[] = [list];
  for (
    let node = list.parent;
    node !== undefined && node.start >= start && node.end <= end;
    node = node.parent
  )
    if (node.type === 'argument_list') found.unshift(node);
  return found;
}

function indentationAt({ lines, text }: Layout, line: number): string {
  return /^[ \t\f]*/.exec(text.slice(lines.start(line), lines.end(line)))?.[0] ?? '';
}
