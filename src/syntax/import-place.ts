import type { Edit } from '../edit/edit.js';
import type { Span } from '../text/lines.js';
import { type Layout, lastPhysicalLine, startsItsLine } from './layout.js';
import type { PyNode } from './node.js';

const IMPORTS: readonly string[] = ['import_statement', 'import_from_statement', 'future_import_statement'];

/**
 * Where new top-level imports go: behind the first run of imports, else behind docstring and `__future__`, else above the
 * first statement. Never inside `try`, `if TYPE_CHECKING:` or a function, since only the module's own statements count.
 * `within`: of these, only the ones in a cell of a notebook.
 */
export function importEdit(
  layout: Layout,
  statements: readonly string[],
  within: Span = { start: 0, end: Infinity },
): Edit | undefined {
  if (statements.length === 0) return undefined;
  const { lines, root } = layout;
  const body = root.named.filter(({ start }) => start >= within.start && start < within.end);
  const anchor = anchorIn(body);
  if (anchor !== undefined) {
    const line = lastPhysicalLine(layout, anchor);
    const at = lines.end(line);
    const newline = lines.newlineNear(line);
    const gap = anchor.type === 'expression_statement' ? newline : '';
    return { start: at, end: at, text: gap + statements.map((statement) => newline + statement).join('') };
  }
  const first = body[0];
  const line = first !== undefined && startsItsLine(layout, first) ? lines.lineAt(first.start) : 1;
  const newline = lines.newlineNear(line);
  const at = lines.start(line);
  return { start: at, end: at, text: statements.map((statement) => statement + newline).join('') + newline };
}

/** A docstring, or another string that stands by itself: `__future__` imports may come after it. */
function isText(statement: PyNode): boolean {
  let text =
    statement.type === 'expression_statement' && statement.named.length === 1
      ? statement.named[0]
      : undefined;
  while (text?.type === 'parenthesized_expression') text = text.named[0];
  return text?.type === 'string' || text?.type === 'concatenated_string';
}

/** The last of the first imports, or of the texts above them. */
function anchorIn(body: readonly PyNode[]): PyNode | undefined {
  let at = 0;
  for (let next = body[at]; next !== undefined && isText(next); next = body[at]) at++;
  for (let next = body[at]; next !== undefined && IMPORTS.includes(next.type); next = body[at]) at++;
  return body[at - 1];
}
