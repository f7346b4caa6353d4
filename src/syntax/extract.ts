import type { Edit } from '../edit/edit.js';
import { dedent } from './blocks.js';
import { indentationOf, indentationUnit, type Layout, removeStatement, startsItsLine } from './layout.js';
import type { PyNode } from './node.js';

/** A method whose loop appends one value per item, and what its body becomes. */
export interface Extraction {
  readonly method: PyNode;
  readonly loop: PyNode;
  /** The last statement of the loop, `list.append(value)`, and its value. */
  readonly append: PyNode;
  readonly value: PyNode;
  /** `return list`, the statement behind the loop; none where nothing comes behind it. */
  readonly result: PyNode | undefined;
  /** What stands where the loop began, up to its colon, if it does not stay. */
  readonly header?: string;
  /** What the loop does instead, and the first line of the new method. */
  readonly instead: string;
  readonly definition: string;
}

const BRACKETED =
  /^(?:dictionary|list|set|call|tuple|subscript|parenthesized_expression|(?:list|set|dictionary)_comprehension)$/;

/**
 * The body of the loop becomes a method of its own below, one step further out, that returns the value. Its lines stay where
 * they are, comments included; what moves is the `return` of the list. Undefined where the lines do not allow it.
 */
export function extractLoopBody(layout: Layout, parts: Extraction): readonly Edit[] | undefined {
  const { lines, text } = layout;
  const { append, loop, method, result, value } = parts;
  const body = loop.body;
  const first = body?.named[0];
  const call = append.named[0];
  if (body === undefined || first === undefined || call === undefined) return undefined;
  const starts = [first, append, method, ...(result ? [result] : [])];
  if (!starts.every((node) => startsItsLine(layout, node))) return undefined;
  if (/_splat$|^keyword_argument$/.test(value.type)) return undefined;
  const wide = lines.lineAt(value.start) !== lines.lineAt(value.end);
  if (wide && !BRACKETED.test(value.type)) return undefined;
  const before = text.slice(call.start, value.start);
  const after = text.slice(value.end, call.end);
  if (/#/.test(before) || !/^\s*,?\s*\)$/.test(after)) return undefined;
  const outer = indentationOf(layout, loop);
  const shifted = dedent(layout, first, append, outer);
  if (shifted === undefined) return undefined;
  const colon = loop.children.findLast(({ type, start }) => type === ':' && start < first.start) ?? loop;
  const headerLine = lines.lineAt(colon.start);
  if (parts.header !== undefined && lines.lineAt(loop.start) !== headerLine) return undefined;
  const newline = lines.newlineNear(headerLine);
  const unit = indentationUnit(layout, loop);
  const inserted = [
    `${outer}${unit}${parts.instead}`,
    ...(result ? [`${outer}${result.text}`] : []),
    '',
    `${indentationOf(layout, method)}${parts.definition}`,
  ];
  const at = lines.end(headerLine);
  const kept = shifted.filter(
    ({ start }) => !isIn(start, call.start, value.start) && !isIn(start, value.end, call.end),
  );
  const again = /[\r\n]/.test(before) ? furtherOut(layout, kept, value, unit) : kept;
  return [
    ...(parts.header ? [{ start: loop.start, end: colon.start, text: parts.header }] : []),
    { start: at, end: at, text: inserted.map((line) => newline + line).join('') },
    ...commentsAbove(layout, headerLine, first, outer),
    ...again,
    { start: call.start, end: value.start, text: 'return ' },
    { start: value.end, end: call.end, text: '' },
    ...(result ? [removeStatement(layout, result)] : []),
  ];
}

function isIn(offset: number, start: number, end: number): boolean {
  return start < offset && offset < end;
}

/** The lines of a value that moves up to its `return` go out with it, by one more step. */
function furtherOut({ text }: Layout, edits: readonly Edit[], value: PyNode, unit: string): readonly Edit[] {
  return edits.map((edit) => {
    const more = text.slice(edit.end, edit.end + unit.length) === unit;
    return isIn(edit.start, value.start, value.end) && more ? { ...edit, end: edit.end + unit.length } : edit;
  });
}

/** Comments between the loop's first line and its first statement. */
function commentsAbove({ lines }: Layout, headerLine: number, first: PyNode, outer: string): readonly Edit[] {
  const edits: Edit[] = [];
  for (let line = headerLine + 1; line < lines.lineAt(first.start); line++) {
    const indentation = /^[ \t]*(?=#)/.exec(lines.content(line))?.[0];
    if (indentation === undefined || !indentation.startsWith(outer)) continue;
    const start = lines.start(line) + outer.length;
    edits.push({ start, end: lines.start(line) + indentation.length, text: '' });
  }
  return edits;
}
