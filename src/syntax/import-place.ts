import type { Edit } from '../edit/edit.js';
import { type Layout, lastPhysicalLine, startsItsLine } from './layout.js';
import type { PyNode } from './node.js';

const IMPORTS: readonly string[] = ['import_statement', 'import_from_statement', 'future_import_statement'];

/**
 * Where new top-level imports go: behind the first run of imports, else behind docstring and `__future__`, else above the
 * first statement. Never inside `try`, `if TYPE_CHECKING:` or a function, since only the module's own statements count.
 */
export function importEdit(layout: Layout, statements: readonly string[]): Edit | undefined {
  if (statements.length === 0) return undefined;
  const { lines, root } = layout;
  const body = root.named;
  const anchor = lastOfFirstImports(body) ?? docstring(body);
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

function docstring(body: readonly PyNode[]): PyNode | undefined {
  const first = body[0];
  let text = first?.type === 'expression_statement' && first.named.length === 1 ? first.named[0] : undefined;
  while (text?.type === 'parenthesized_expression') text = text.named[0];
  return text?.type === 'string' || text?.type === 'concatenated_string' ? first : undefined;
}

function lastOfFirstImports(body: readonly PyNode[]): PyNode | undefined {
  const start = docstring(body) === undefined ? 0 : 1;
  let last: PyNode | undefined;
  let past = false;
  for (const statement of body.slice(start)) {
    if (IMPORTS.includes(statement.type)) {
      if (!past || statement.type === 'future_import_statement') last = statement;
    } else if (last !== undefined) past = true;
    else return undefined;
  }
  return last;
}
