import { builtin, row } from '../library/library.js';
import { NN_MODULE } from '../library/names.js';
import type { PyNode } from '../syntax/node.js';
import { wholeWord } from '../text/words.js';
import { BY_TEXT } from './by-text.js';
import { basesOf } from './definitions.js';
import { isReachedByText } from './function-uses.js';
import { qualifiedName } from './imports.js';
import type { PyModule } from './module.js';
import { isInstallable, isNotebook, statementsAbove } from './program.js';
import { enclosingClass, statementOf } from './statements.js';
import { raisesBefore } from './unbound-name.js';
import { isUnbound } from './variables.js';

/** Whether no way leads to a node, whoever runs the file: a name that nothing binds is read before, or the program ends. */
export function isNeverCome(module: PyModule, node: PyNode): boolean {
  return raisesBefore(module, node) || isBehindEnd(module, node);
}

function isBehindEnd(module: PyModule, node: PyNode): boolean {
  const around = [node, ...node.ancestors()].filter(
    (each) => each === node || /^(?:function|class)_definition$/.test(each.type),
  );
  return around.some((each) =>
    [...statementsAbove(statementOf(each))].some((above) => endsProgram(module, above)),
  );
}

/** `exit()`, `sys.exit(1)`, as a statement. In a notebook the next cell is run all the same. */
function endsProgram(module: PyModule, statement: PyNode): boolean {
  const call = statement.type === 'expression_statement' ? statement.named[0] : undefined;
  const callee = call?.type === 'call' ? call.function : undefined;
  if (callee === undefined || isNotebook(module)) return false;
  const path = qualifiedName(module, callee);
  if (path !== undefined) return row(path)?.ends === true;
  return builtin(callee.text)?.ends === true && isUnbound(module, callee);
}

/**
 * Whether nothing in the project names the function or class that a node lies in, so that nothing there runs it. What others
 * may install, and a file without a project around it, may be for somebody else.
 */
export function isNamedNowhere(module: PyModule, node: PyNode): boolean {
  if (isNotebook(module) || isInstallable(module)) return false;
  return [...node.ancestors()].some(
    (each) => /^(?:function|class)_definition$/.test(each.type) && module.memo(isUnnamed, each),
  );
}

function isUnnamed(module: PyModule, definition: PyNode): boolean {
  const name = definition.name?.text ?? '';
  if (/^__\w+__$|^main$|^test/i.test(name) || definition.parent?.type === 'decorated_definition')
    return false;
  if (definition.type === 'function_definition' && !isOwn(module, enclosingClass(definition))) return false;
  const { code } = module;
  const others = code.slice(0, definition.start) + code.slice(definition.end);
  if (wholeWord(name).test(others)) return false;
  // A lonely file is for somebody else.
  const isAlone = module.around.summaries({ word: 'import', beside: [] }, isThere)?.length === 0;
  const named = module.around.summaries({ word: name, beside: [] }, names);
  return !isAlone && named?.includes(true) === false && !mayBeFoundByText(module, definition);
}

function isThere(): boolean {
  return true;
}

/** Not only in a comment. */
function names(alone: PyModule, word: string): boolean {
  return wholeWord(word).test(alone.code);
}

/** Methods of a class that inherits from others may be run by those. */
function isOwn(module: PyModule, classNode: PyNode | undefined): boolean {
  return (
    classNode === undefined ||
    basesOf(classNode).every((base) => base.text === 'object' || qualifiedName(module, base) === NN_MODULE)
  );
}

/** Settings may name what a file imports by a text. */
function mayBeFoundByText(module: PyModule, definition: PyNode): boolean {
  if (module.mentions(BY_TEXT) || isReachedByText(module, definition)) return true;
  return FINDERS.some(
    (word) => module.around.summaries({ word, beside: [] }, names)?.includes(true) !== false,
  );
}

/** What gives functions and classes by a text. */
const FINDERS: readonly string[] = ['import_module', '__import__', 'instantiate', 'globals'];
