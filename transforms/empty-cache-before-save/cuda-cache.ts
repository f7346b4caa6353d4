import { calledDefinition } from '../../src/semantic/definitions.js';
import type { PyModule } from '../../src/semantic/module.js';
import { statementOf } from '../../src/semantic/statements.js';
import type { PyNode } from '../../src/syntax/node.js';
import { modelSave } from './saving.js';

/** How many statements may stand between emptying the cache and the place it was emptied for. */
const REACH = 3;
const LOOPS_AND_DEFINITIONS: ReadonlySet<string> = new Set([
  'for_statement',
  'while_statement',
  'function_definition',
  'class_definition',
  'lambda',
]);
const EMPTIES =
  /empty_\w*cache|(?:free|release|clear|clean|flush)\w*_(?:memory|cache|gpu|vram)|torch_gc|^flush$/i;
const MAY_EMPTY = /empty_|free|release|clear|clean|flush|torch_gc/i;

/** The statements that ran last before this one in its function, nearest first: its block's, then those of the blocks around. */
function* statementsBefore(statement: PyNode): Generator<PyNode> {
  let at = statement;
  for (;;) {
    const block = at.parent;
    // The clauses of a `match` are alternatives: none runs before another.
    const siblings = at.type === 'case_clause' ? [] : (block?.named ?? []);
    for (let index = siblings.indexOf(at) - 1; index >= 0; index--) {
      const before = siblings[index];
      if (before !== undefined) yield before;
    }
    const owner = block?.parent;
    if (owner === undefined || LOOPS_AND_DEFINITIONS.has(owner.type)) return;
    at = statementOf(owner);
    if (at === owner && owner.parent === undefined) return;
  }
}

/** What runs once when the statement runs: loops and definitions are not looked into. */
function* calledIn(statement: PyNode): Generator<PyNode> {
  if (LOOPS_AND_DEFINITIONS.has(statement.type)) return;
  for (const node of statement.walk((inner) => !LOOPS_AND_DEFINITIONS.has(inner.type))) {
    if (node.type === 'call') yield node;
  }
}

function calledName(call: PyNode): string {
  const callee = call.function;
  return (callee?.type === 'attribute' ? callee.attribute : callee)?.text ?? '';
}

/** Whether the statement empties the cache, by itself or by a function of the file. */
export function emptiesCache(module: PyModule, statement: PyNode): boolean {
  // Most code says so nowhere.
  if (!module.mentions(/empty_cache/) && !MAY_EMPTY.test(statement.text)) return false;
  for (const call of calledIn(statement)) {
    if (EMPTIES.test(calledName(call))) return true;
    if (calledDefinition(module, call)?.text.includes('empty_cache')) return true;
  }
  return false;
}

/** Whether the cache is emptied shortly before the statement. */
export function isEmptiedBefore(module: PyModule, statement: PyNode): boolean {
  return within(statementsBefore(statement), (before) => emptiesCache(module, before));
}

/** Whether the cache is emptied shortly after the statement, in its own block. */
export function isEmptiedAfter(module: PyModule, statement: PyNode): boolean {
  const siblings = statement.parent?.named ?? [];
  return within(siblings.slice(siblings.indexOf(statement) + 1), (after) => emptiesCache(module, after));
}

function within(statements: Iterable<PyNode>, test: (statement: PyNode) => boolean): boolean {
  let seen = 0;
  for (const statement of statements) {
    if (seen++ >= REACH) return false;
    if (test(statement)) return true;
  }
  return false;
}

/** Whether a model was saved shortly before, or with nothing but other saves in between: then the run has had its turn. */
export function continuesSaves(module: PyModule, statement: PyNode): boolean {
  let seen = 0;
  let onlySaves = true;
  for (const before of statementsBefore(statement)) {
    if (seen++ >= REACH && !onlySaves) return false;
    const calls = /save|push_/.test(before.text) ? [...calledIn(before)] : [];
    if (calls.some((call) => modelSave(module, statementOf(call)) !== undefined)) return true;
    onlySaves &&= calls.some((call) => /^(?:save|push)_/.test(calledName(call)));
  }
  return false;
}

/** Whether one of the statements shortly before passes a test, e.g. is itself about to be followed by an emptied cache. */
export function isShortlyAfter(statement: PyNode, test: (before: PyNode) => boolean): boolean {
  return within(statementsBefore(statement), test);
}
