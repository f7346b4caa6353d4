import { PYTHON_NAMES } from '../library/python.js';
import type { PyNode } from '../syntax/node.js';
import { READS_NAMES } from './by-text.js';
import type { PyModule } from './module.js';
import { roleOf } from './names.js';
import { isNotebook, statementsAbove } from './program.js';
import { mayBring, starImports } from './stars.js';
import { contextManagers, enclosingFunction, statementOf } from './statements.js';
import { isUnbound } from './variables.js';

/**
 * Whether every way to a node reads a name that nothing binds, so that it raises a `NameError` and the node is never run.
 * A file without a project around it may be a piece of a larger one.
 */
export function raisesBefore(module: PyModule, node: PyNode): boolean {
  // What plugins look for elsewhere may well be a piece.
  if (!module.mentions(/\btorch\b/)) return false;
  const statement = statementOf(node);
  const owner = enclosingFunction(statement);
  // Of a statement around it, the head runs first.
  const around = [...statement.ancestors()].filter(
    (each) => each.type.endsWith('_statement') && enclosingFunction(each) === owner,
  );
  for (const each of [statement, ...around, ...statementsAbove(statement)])
    for (const name of module.alone.memo(unboundIn, each)) if (!module.memo(mayBeThere, name)) return true;
  return false;
}

/** The names that a statement surely reads and that its file binds nowhere. */
function unboundIn(alone: PyModule, statement: PyNode): readonly string[] {
  const names: string[] = [];
  for (const node of evaluated(statement))
    if (!PYTHON_NAMES.has(node.text) && roleOf(node) === 'read' && isUnbound(alone, node))
      names.push(node.text);
  return names;
}

/** What may run later, never, or only for somebody who reads the types. */
const NOT_AT_ONCE =
  /_definition$|^(?:assert_statement|block|lambda|delete_statement|match_statement|try_statement|type)$|^(?:future_)?import_|^(?:global|nonlocal)_statement$/;

/** The names in a piece of code that are surely looked at when it runs. */
function* evaluated(node: PyNode): Generator<PyNode> {
  if (node.type === 'identifier') yield node;
  if (NOT_AT_ONCE.test(node.type)) return;
  for (const part of surePartsOf(node)) yield* evaluated(part);
}

function surePartsOf(node: PyNode): readonly PyNode[] {
  const { type, named, condition, right } = node;
  switch (type) {
    case 'if_statement':
    case 'while_statement':
      return condition === undefined ? [] : [condition];
    case 'for_statement':
      return right === undefined ? [] : [right];
    case 'with_statement':
      // The first manager may catch what the others raise.
      return contextManagers(node).slice(0, 1);
    case 'conditional_expression':
      return named.slice(1, 2);
    case 'boolean_operator':
      return named.slice(0, 1);
    case 'comparison_operator':
      return named.slice(0, 2);
    case 'generator_expression':
    case 'dictionary_comprehension':
    case 'list_comprehension':
    case 'set_comprehension':
      return named
        .filter((each) => each.type === 'for_in_clause')
        .slice(0, 1)
        .flatMap((each) => each.right ?? []);
    default:
      return named;
  }
}

/** Something may bind the name that the file does not show, or the file may be a piece of another. */
function mayBeThere(module: PyModule, name: string): boolean {
  const { around } = module;
  if (isNotebook(module) || module.mentions(BINDS_BY_TEXT)) return true;
  if (starImports(module).some(({ from }) => mayBring(module, from, name))) return true;
  const files = around.summaries({ word: 'import', beside: [] }, isThere);
  if (files?.length === 0) return true;
  const running = ['exec', 'execfile', 'runpy'].map((word) =>
    around.summaries({ word, beside: [] }, runsTexts),
  );
  if (running.some((each) => each?.includes(true) !== false)) return true;
  const { modules, unread } = around.naming({ word: name, beside: [] }, () => true);
  if (unread !== undefined) return true;
  const stem = module.path.replace(/^.*\/|\.py$/g, '').replace(/\W/g, '\\$&');
  const own = new RegExp(`\\b${stem}\\b|builtins`);
  const put = new RegExp(`(?<!\\b(?:self|cls))\\.${name}\\s*(?:=(?!=)|,)|\\bsetattr\\(|__dict__`);
  return modules.some((there) => own.test(there.code) && put.test(there.code));
}

const BINDS_BY_TEXT = new RegExp(`${READS_NAMES.source}|\\b(?:__)?builtins|\\bsys\\.modules\\b|\\bglobal\\b`);

function isThere(): boolean {
  return true;
}

/** Runs code as a text, which may see names that the text does not bind. */
function runsTexts(alone: PyModule): boolean {
  return alone.mentions(/\bexec(?:file)?\(|\brunpy\b/);
}
