import { type Hunk, hunksBetween } from '../../report/diff.js';
import type { NodeType } from '../../syntax/grammar.js';
import type { PyNode } from '../../syntax/node.js';
import type { PythonParser } from '../../syntax/parser.js';
import { Lines } from '../../text/lines.js';

/** What shows by running that a change ran: one of these lines, and none of those at which the program goes elsewhere. */
export interface Place {
  readonly lines: readonly number[];
  readonly unless: readonly number[];
}

export function isRun({ lines, unless }: Place, ran: ReadonlySet<number> | undefined): boolean {
  return lines.some((line) => ran?.has(line)) && !unless.some((line) => ran?.has(line));
}

/**
 * The places of a file that change, by lines of the file as it was. A function with another decorator or header shows it by
 * its body, since the header runs when the file is imported. What is put before a statement runs with it; what is put at the
 * end of a block, with the statement before it.
 */
export function changedPlaces(parser: PythonParser, before: string, after: string): readonly Place[] {
  const tree = parser.parse(before);
  try {
    const lines = new Lines(before);
    const nodes = [...tree.root.walk()];
    const functions = nodes
      .filter(({ type }) => type === 'function_definition')
      .map((node) => extentOf(lines, node));
    return hunksBetween(before, after, 0).map((hunk) => {
      const put = hunk.oldLines === 0 ? insertion(before, nodes, lines, hunk) : undefined;
      if (put !== undefined) return put;
      const first = hunk.oldLines === 0 ? nextCode(before, hunk.oldStart + 1) : hunk.oldStart;
      const changed = range(first, Math.max(first, hunk.oldStart + hunk.oldLines - 1));
      const header = functions.find(({ from, body }) => changed.every((line) => line >= from && line < body));
      return { lines: header === undefined ? changed : range(header.body, header.to), unless: [] };
    });
  } finally {
    tree.dispose();
  }
}

/** Of statements that are put between others; undefined where it is something else, such as a decorator. */
function insertion(
  text: string,
  nodes: readonly PyNode[],
  lines: Lines,
  { oldStart, lines: put }: Hunk,
): Place | undefined {
  const first = put.map((line) => line.text).find((line) => line.trim() !== '' && !/^\s*#/.test(line)) ?? '';
  const indent = indentOf(first);
  const all = text.split('\n');
  const statements = nodes.filter(
    (node) =>
      (node.parent?.type === 'block' || node.parent?.type === 'module') &&
      node.type !== 'comment' &&
      indentOf(all[lineOf(lines, node.start) - 1] ?? '') === indent,
  );
  const next = nextCode(text, oldStart + 1);
  const isDecorator =
    /^\s*@/.test(first) && !put.some((line) => /^\s*(?:async\s+)?(?:def|class)\b/.test(line.text));
  if (isDecorator) return undefined;
  const following = statements.find((node) => lineOf(lines, node.start) === next);
  if (following !== undefined) return { lines: [next], unless: [] };
  const preceding = statements.filter((node) => lineOf(lines, node.end) <= oldStart).at(-1);
  if (preceding === undefined) return undefined;
  const [from, to] = [lineOf(lines, preceding.start), lineOf(lines, preceding.end)];
  const isSimple = preceding.childOfType('block') === undefined && preceding.body === undefined;
  return { lines: isSimple ? range(from, to) : [from], unless: leavingLines(lines, preceding) };
}

const LEAVING: ReadonlySet<NodeType> = new Set([
  'break_statement',
  'continue_statement',
  'return_statement',
  'raise_statement',
]);

/** Where a statement may be left for somewhere else than the one after it. */
function leavingLines(lines: Lines, statement: PyNode): readonly number[] {
  return [...statement.walk()]
    .filter(
      (node) =>
        LEAVING.has(node.type) ||
        (node.type === 'call' && /(?:^|[._])(?:exit|quit|abort)$/.test(node.function?.text ?? '')),
    )
    .map((node) => lineOf(lines, node.start));
}

interface Extent {
  /** With its decorators. */
  readonly from: number;
  readonly body: number;
  readonly to: number;
}

function extentOf(lines: Lines, node: PyNode): Extent {
  const outer = node.parent?.type === 'decorated_definition' ? node.parent : node;
  const body = node.body;
  const statements = body?.named.filter(({ type }) => type !== 'comment') ?? [];
  const isDocumented = statements[0]?.named[0]?.type === 'string' && statements.length > 1;
  const first = statements[isDocumented ? 1 : 0] ?? body ?? node;
  return {
    from: lineOf(lines, outer.start),
    body: lineOf(lines, first.start),
    to: lineOf(lines, node.end),
  };
}

function lineOf(lines: Lines, offset: number): number {
  return lines.position(offset).line;
}

function indentOf(line: string): string {
  return /^[ \t]*/.exec(line)?.[0] ?? '';
}

function nextCode(text: string, line: number): number {
  const all = text.split('\n');
  let at = line;
  while (at < all.length && /^\s*(?:#.*)?$/.test(all[at - 1] ?? '')) at++;
  return at;
}

function range(from: number, to: number): readonly number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}
