import type { Edit } from '../edit/edit.js';
import type { Lines } from '../text/lines.js';
import type { PyNode } from './node.js';
import { outlineOf } from './outline.js';

/** A text with its lines and tree: all that indentation, commas and newlines depend on. */
export interface Layout {
  readonly text: string;
  readonly lines: Lines;
  readonly root: PyNode;
}

/** Only indentation stands before the node on its line, and no backslash ties that line to the one above. */
export function startsItsLine({ text, lines }: Layout, node: PyNode): boolean {
  const line = lines.lineAt(node.start);
  if (!/^[ \t\f]*$/.test(text.slice(lines.start(line), node.start))) return false;
  return line === 1 || !continues(lines, line - 1, node);
}

/** Whether a backslash ties a line to the next; one that ends a comment does not. */
function continues(lines: Lines, line: number, node: PyNode): boolean {
  const content = lines.content(line);
  if (!content.endsWith('\\') || /^[ \t\f]*#/.test(content)) return false;
  const root = [...node.ancestors()].at(-1) ?? node;
  return root.descendantAt(lines.end(line) - 1).type !== 'comment';
}

/** Only a comment may stand behind the node on its last line. */
export function endsItsLine({ text, lines }: Layout, node: PyNode): boolean {
  return /^[ \t\f]*(?:#.*)?$/s.test(text.slice(node.end, lines.end(lines.lineAt(node.end))));
}

/** The last physical line of a statement, and of those that follow it on its logical line after a `;`. */
export function lastPhysicalLine({ lines }: Layout, statement: PyNode): number {
  let line = lines.lineAt(statement.end);
  for (let next = statement.next; ; ) {
    if (next !== undefined && next.start < lines.end(line)) {
      line = lines.lineAt(next.end);
      next = next.next;
    } else if (continues(lines, line, statement)) line++;
    else return line;
  }
}

/** No `;`, no one-line suite: the statement shares its physical lines with no other code. */
export function ownsItsLines(layout: Layout, statement: PyNode): boolean {
  return startsItsLine(layout, statement) && endsItsLine(layout, statement);
}

/** The same, but for a `;` at its end: for edits within the statement. */
export function hasItsLines(layout: Layout, statement: PyNode): boolean {
  const { text, lines } = layout;
  const behind = text.slice(statement.end, lines.end(lines.lineAt(statement.end)));
  return startsItsLine(layout, statement) && /^[ \t\f]*;?[ \t\f]*(?:#.*)?$/s.test(behind);
}

export function indentationOf({ text, lines }: Layout, node: PyNode): string {
  const before = text.slice(lines.start(lines.lineAt(node.start)), node.start);
  return /[ \t]*$/.exec(before)?.[0] ?? '';
}

/** One step of indentation as used around this node, else anywhere in the file, else four spaces. */
export function indentationUnit(layout: Layout, node: PyNode): string {
  for (let block = node.closest('block'); block !== undefined; block = block.parent?.closest('block')) {
    const unit = unitOf(layout, block);
    if (unit !== undefined) return unit;
  }
  for (const child of node.walk((inner) => inner.type !== 'string')) {
    const unit = child.type === 'block' ? unitOf(layout, child) : undefined;
    if (unit !== undefined) return unit;
  }
  return /^([ \t]+)\S/m.exec(layout.text)?.[1]?.replace(/^( {4}| {2}|\t).*$/, '$1') ?? '    ';
}

/** A block starts where its first statement does: nothing in it needs to be parsed. */
function unitOf(layout: Layout, block: PyNode): string | undefined {
  const owner = block.parent;
  if (block.start === block.end || owner === undefined || !startsItsLine(layout, block)) return undefined;
  const outer = indentationOf(layout, owner);
  const inner = indentationOf(layout, block);
  return inner.startsWith(outer) && inner.length > outer.length ? inner.slice(outer.length) : undefined;
}

export function insertBefore(layout: Layout, statement: PyNode, lines: readonly string[]): Edit {
  const at = statement.start - indentationOf(layout, statement).length;
  return { start: at, end: at, text: render(layout, statement, lines, 'before') };
}

export function insertAfter(layout: Layout, statement: PyNode, lines: readonly string[]): Edit {
  const at = layout.lines.end(layout.lines.lineAt(statement.end));
  return { start: at, end: at, text: render(layout, statement, lines, 'after') };
}

export function replaceStatement(layout: Layout, statement: PyNode, lines: readonly string[]): Edit {
  const indentation = indentationOf(layout, statement);
  const text = render(layout, statement, lines, 'between').slice(indentation.length);
  return { start: statement.start, end: statement.end, text };
}

/**
 * From the start of the statement's line to the start of the next; on a last line without newline, from the previous end.
 * Of the blank lines above and below it, which meet, only the longer run is left.
 */
export function removeStatement(layout: Layout, statement: PyNode): Edit {
  const { lines, text } = layout;
  const line = lines.lineAt(statement.start);
  const start = lines.start(line);
  const last = lines.lineAt(statement.end);
  const [above, below] = [blankLines(layout, line, -1), blankLines(layout, last, 1)];
  const end = lines.nextStart(last + Math.min(above, below));
  if (end === text.length && lines.newline(last) === undefined) {
    return { start: line > 1 ? lines.end(line - 1) : start, end, text: '' };
  }
  return { start, end, text: '' };
}

/** How many of them follow a line in one direction. */
function blankLines({ lines, text }: Layout, line: number, step: 1 | -1): number {
  let count = 0;
  for (let at = line + step; at >= 1 && at <= lines.lineAt(text.length); at += step) {
    if (lines.content(at).trim() !== '') break;
    count++;
  }
  return count;
}

/** A statement with the comment behind it, as it is written above another one. */
export function textAbove(layout: Layout, statement: PyNode, above: PyNode): string {
  const { lines, text } = layout;
  const code = text.slice(statement.start, lines.end(lines.lineAt(statement.end)));
  return shifted(code, indentationOf(layout, statement), indentationOf(layout, above));
}

const FORMATTED_TEXT = /[ft]r?(?:"""|''')/i;

/** Code whose lines after the first have another indentation now; those that begin in a string stay as they are. */
function shifted(code: string, from: string, to: string): string {
  const isMoved = from !== to && /[\r\n]/.test(code);
  const quiet = isMoved ? outlineOf(code.replace(/\r(?!\n)/g, '\n'))?.quiet : undefined;
  // Spaces in a field of a formatted string can be part of what it shows.
  if (quiet === undefined || FORMATTED_TEXT.test(code)) return code;
  const isInString = (at: number) =>
    quiet.some((start, index) => index % 2 === 0 && start < at && at < (quiet[index + 1] ?? 0));
  return code.replace(/(\r\n?|\n)([ \t]*)(?=\S)/g, (whole, newline: string, blank: string, at: number) => {
    if (isInString(at + newline.length - 1)) return whole;
    if (blank.startsWith(from)) return newline + to + blank.slice(from.length);
    return to.startsWith(from) ? newline + to.slice(from.length) + blank : whole;
  });
}

/** Comments aside, the block holds nothing else. */
export function isOnlyStatement(statement: PyNode): boolean {
  return (statement.parent?.named.length ?? 0) <= 1;
}

export function decorate(layout: Layout, functionNode: PyNode, expression: string): Edit {
  return insertBefore(layout, functionNode, [`@${expression}`]);
}

function render(
  layout: Layout,
  statement: PyNode,
  lines: readonly string[],
  place: 'before' | 'after' | 'between',
): string {
  const indentation = indentationOf(layout, statement);
  const unit = indentationUnit(layout, statement);
  const newline = layout.lines.newlineNear(layout.lines.lineAt(statement.start));
  const rendered = lines.map((line) => {
    const depth = /^\t*/.exec(line)?.[0].length ?? 0;
    const further = unit.repeat(depth);
    return indentation + further + shifted(line.slice(depth), '', further);
  });
  if (place === 'before') return rendered.map((line) => line + newline).join('');
  if (place === 'after') return rendered.map((line) => newline + line).join('');
  return rendered.join(newline);
}
