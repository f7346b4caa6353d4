import { hunksBetween } from '../../report/diff.js';
import type { PyNode } from '../../syntax/node.js';
import type { PythonParser } from '../../syntax/parser.js';
import { Lines } from '../../text/lines.js';

/**
 * The lines of a file that show by running that a change of it ran, one group for each change. A function with another
 * decorator or header shows it by its body, since the header runs when the file is imported.
 */
export function changedLines(
  parser: PythonParser,
  before: string,
  after: string,
): readonly (readonly number[])[] {
  const lines = new Lines(before);
  const functions = [...parser.parse(before).root.walk()]
    .filter(({ type }) => type === 'function_definition')
    .map((node) => extentOf(lines, node));
  return hunksBetween(before, after, 0).map(({ oldStart, oldLines }) => {
    // What is inserted before a line stands or falls with it.
    const first = oldLines === 0 ? nextCode(before, oldStart + 1) : oldStart;
    const changed = range(first, Math.max(first, oldStart + oldLines - 1));
    const header = functions.find(({ from, body }) => changed.every((line) => line >= from && line < body));
    return header === undefined ? changed : range(header.body, header.to);
  });
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
  const lineOf = (offset: number): number => lines.position(offset).line;
  return { from: lineOf(outer.start), body: lineOf(first.start), to: lineOf(node.end) };
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
