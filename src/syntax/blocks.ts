import type { Edit } from '../edit/edit.js';
import { endsItsLine, indentationOf, indentationUnit, type Layout, startsItsLine } from './layout.js';
import type { PyNode } from './node.js';

/**
 * The lines of the statements from `first` to `last`, one step further in, below a new header such as `with x` or `if y`.
 * Lines that begin inside a string keep their bytes, so every value stays the same; blank lines stay blank.
 * Undefined where the lines do not share the indentation of the first one.
 */
export function nestUnder(
  layout: Layout,
  first: PyNode,
  last: PyNode,
  header: string,
): readonly Edit[] | undefined {
  return nested(layout, first, last, { header, unit: indentationUnit(layout, first) });
}

/** The same; without a header, each line only goes one step further in. */
function nested(
  layout: Layout,
  first: PyNode,
  last: PyNode,
  { header, unit }: { readonly header?: string; readonly unit: string },
): readonly Edit[] | undefined {
  const { lines } = layout;
  const base = indentationOf(layout, first);
  const top = lines.lineAt(first.start);
  const below: Edit[] = [];
  for (let line = top + 1; line <= lastLineOf(layout, last, base); line++) {
    const place = placeToIndent(layout, line, base);
    if (place === 'nowhere') continue;
    if (place === 'mixed') return undefined;
    below.push({ start: place, end: place, text: unit });
  }
  if (lines.content(top).includes('\f')) return undefined;
  const opening = header === undefined ? unit : `${header}:${lines.newlineNear(top)}${base}${unit}`;
  return [{ start: first.start, end: first.start, text: opening }, ...below];
}

/** How many statements may be between a block and those that it takes in. */
const MAX_BETWEEN = 3;

/**
 * As `nestUnder`; but a block with that very header, a few statements above or below, takes them in, with those between where
 * `mayJoin` lets all of them.
 */
export function joinUnder(
  layout: Layout,
  first: PyNode,
  last: PyNode,
  header: string,
  mayJoin: (between: PyNode) => boolean,
): readonly Edit[] | undefined {
  const siblings = (first.parent?.named ?? []).filter(({ type }) => type !== 'comment');
  const reach = (from: PyNode, step: 1 | -1) => {
    const at = siblings.indexOf(from);
    for (let count = 1; count <= MAX_BETWEEN + 1; count++) {
      const block = siblings[at + step * count];
      if (block === undefined) return undefined;
      const unit = unitUnder(layout, block, header);
      if (unit !== undefined) return { block, unit, nearest: siblings[at + step * (count - 1)] ?? from };
      if (!startsItsLine(layout, block) || !endsItsLine(layout, block) || !mayJoin(block)) return undefined;
    }
    return undefined;
  };
  const above = reach(first, -1);
  const found = reach(last, 1);
  const below = above === undefined || found?.unit === above.unit ? found : undefined;
  const unit = above?.unit ?? below?.unit;
  if (unit === undefined) return nestUnder(layout, first, last, header);
  const [top, bottom] = [above?.nearest ?? first, below?.nearest ?? last];
  const edits = nested(layout, top, bottom, { unit, ...(above === undefined && { header }) });
  return (
    edits && [
      ...(above === undefined ? [] : commentsBetween(layout, above.block, top, unit)),
      ...edits,
      ...(below === undefined ? [] : withoutHeader(layout, bottom, below.block, unit)),
    ]
  );
}

/** The statements behind these that would still be put into one block with them. */
export function joinable(last: PyNode): readonly PyNode[] {
  const siblings = (last.parent?.named ?? []).filter(({ type }) => type !== 'comment');
  const at = siblings.indexOf(last);
  return siblings.slice(at + 1, at + 2 + MAX_BETWEEN);
}

/** Comments may stand above the first statement, and none on the line of the header, which goes. */
const BELOW_HEADER = /^[ \t]*:[ \t]*(?:\r\n|\r|\n)(?:[ \t]*(?:#[^\r\n]*)?(?:\r\n|\r|\n))*([ \t]+)$/;

/** How much further in the lines below this header stand, where it is that of the block. */
function unitUnder(layout: Layout, block: PyNode, header: string): string | undefined {
  const body = block.type === 'with_statement' ? block.body : undefined;
  if (body === undefined || !startsItsLine(layout, block)) return undefined;
  const base = indentationOf(layout, block);
  const opening = layout.text.slice(block.start, body.start);
  const indented = BELOW_HEADER.exec(opening.slice(header.length))?.[1];
  if (!opening.startsWith(header) || indented?.startsWith(base) !== true || indented === base)
    return undefined;
  return indented.slice(base.length);
}

/** The comments between two statements of a block, one step further in. */
function commentsBetween(layout: Layout, above: PyNode, below: PyNode, unit: string): readonly Edit[] {
  const { lines } = layout;
  const base = indentationOf(layout, below);
  const edits: Edit[] = [];
  for (let line = lines.lineAt(above.end) + 1; line < lines.lineAt(below.start); line++) {
    const place = lines.start(line) + base.length;
    if (lines.content(line).startsWith(`${base}#`)) edits.push({ start: place, end: place, text: unit });
  }
  return edits;
}

/** The block goes on from the statement above it. */
function withoutHeader(layout: Layout, above: PyNode, block: PyNode, unit: string): readonly Edit[] {
  const line = layout.lines.lineAt(block.start);
  const header = { start: layout.lines.start(line), end: layout.lines.start(line + 1), text: '' };
  return [...commentsBetween(layout, above, block, unit), header];
}

/** The same lines, one step further out. Undefined where one of them does not stand a step further in than `outer`. */
export function dedent(
  layout: Layout,
  first: PyNode,
  last: PyNode,
  outer: string,
): readonly Edit[] | undefined {
  const { lines } = layout;
  const base = indentationOf(layout, first);
  if (!base.startsWith(outer) || base === outer) return undefined;
  const step = base.length - outer.length;
  const edits: Edit[] = [];
  for (let line = lines.lineAt(first.start); line <= lastLineOf(layout, last, base); line++) {
    const place = placeToIndent(layout, line, base);
    if (place === 'nowhere') continue;
    if (place === 'mixed' || place === lines.start(line)) return undefined;
    edits.push({ start: place - step, end: place, text: '' });
  }
  return edits;
}

/** The last line of the statement, and of the comments below it that stand further in than it. */
function lastLineOf({ lines }: Layout, statement: PyNode, base: string): number {
  let last = lines.lineAt(statement.end);
  for (let line = last + 1; line <= lines.count; line++) {
    const content = lines.content(line);
    const comment = /^([ \t]*)(#|$)/.exec(content);
    if (comment === null || (comment[1] === base && comment[2] === '#')) break;
    if (comment[2] === '' || !comment[1]?.startsWith(base)) continue;
    last = line;
  }
  return last;
}

/** Where indentation is added on a line; `nowhere` on blank lines and inside strings, `mixed` where none is in common. */
function placeToIndent({ lines, root }: Layout, line: number, base: string): number | 'nowhere' | 'mixed' {
  const start = lines.start(line);
  const content = lines.content(line);
  const leading = /^[ \t\f]*/.exec(content)?.[0] ?? '';
  if (leading.length === content.length) return 'nowhere';
  if (beginsInString(root, start)) return 'nowhere';
  // A backslash alone: the indentation of the statement after it may be this one or the next.
  if (leading.includes('\f') || content.trim() === '\\') return 'mixed';
  if (content.startsWith(base)) return start + base.length;
  return beginsStatement(root, start + leading.length) ? 'mixed' : start;
}

function beginsInString(root: PyNode, offset: number): boolean {
  for (let at: PyNode | undefined = root.descendantAt(offset); at !== undefined; at = at.parent) {
    if (at.type === 'string' && at.start < offset) return true;
  }
  return false;
}

function beginsStatement(root: PyNode, offset: number): boolean {
  for (
    let at: PyNode | undefined = root.descendantAt(offset);
    at !== undefined && at.start === offset;
    at = at.parent
  ) {
    if (at.type !== 'comment' && /^(?:block|module)$/.test(at.parent?.type ?? '')) return true;
    if (/_clause$/.test(at.type)) return true;
  }
  return false;
}

const IMPORTS = /^(?:future_)?import_(?:from_)?statement$/;
const DEFINITIONS: ReadonlySet<string> = new Set([
  'class_definition',
  'decorated_definition',
  'for_statement',
  'function_definition',
  'if_statement',
  'match_statement',
  'try_statement',
  'while_statement',
  'with_statement',
]);

/**
 * The module's own statement above which new functions go: the first that defines or runs something, behind the imports in
 * front of the first definition; or the one that holds `at` where that comes earlier. So it is one place for all of a file.
 */
export function definitionPlace({ root }: Layout, at: PyNode): PyNode | undefined {
  const { named } = root;
  const own = named.findIndex((statement) => statement.contains(at));
  const defined = named.findIndex(({ type }) => type.endsWith('_definition'));
  const head = named.slice(0, defined === -1 ? own : defined);
  const imports = head.findLastIndex(({ type }) => IMPORTS.test(type));
  return named.find((statement, index) => index === own || (index > imports && opensProgram(statement)));
}

function opensProgram(statement: PyNode): boolean {
  if (!DEFINITIONS.has(statement.type)) return false;
  if (!/^(?:try|if|with)_statement$/.test(statement.type)) return true;
  for (const node of statement.walk(({ type }) => !/_definition$/.test(type)))
    if (IMPORTS.test(node.type)) return false;
  return true;
}

/** A function above a statement of the module and the comments on top of it, with two blank lines around. */
export function defineAbove(layout: Layout, statement: PyNode, written: readonly string[]): Edit {
  const { lines } = layout;
  let line = lines.lineAt(statement.start);
  while (line > 1 && /^#(?!!)/.test(lines.content(line - 1)) && !/coding[:=]/.test(lines.content(line - 1)))
    line--;
  const unit = indentationUnit(layout, statement);
  const newline = lines.newlineNear(line);
  let blank = 0;
  while (line - blank > 1 && /^[ \t\f]*$/.test(lines.content(line - blank - 1))) blank++;
  const missing = line - blank <= 1 ? 0 : Math.max(0, 2 - blank);
  const body = written.map((each) => {
    const depth = /^\t*/.exec(each)?.[0].length ?? 0;
    return unit.repeat(depth) + each.slice(depth) + newline;
  });
  const at = lines.start(line);
  return { start: at, end: at, text: newline.repeat(missing) + body.join('') + newline.repeat(2) };
}
