import type { PyNode } from '../syntax/node.js';
import { definedElsewhere } from './elsewhere.js';
import { qualifiedName } from './imports.js';
import type { PyModule } from './module.js';
import {
  allNodes,
  contextManagers,
  decoratorsOf,
  enclosingClass,
  enclosingFunction,
  ownNodes,
} from './statements.js';

/**
 * A context manager in the head of a `with` in a node that may let the program go on after an error in its block: one of
 * the project that does, by name, or one that is handed in where the project has such a thing.
 */
export function swallowingManager(module: PyModule, node: PyNode): PyNode | undefined {
  const managers = [...allNodes(node)].flatMap((each) =>
    each.type === 'with_statement' ? contextManagers(each) : [],
  );
  if (managers.length === 0) return undefined;
  const found = WORDS.map((word) => swallowersNamed(module, word));
  const isKnown = found.every((each) => each !== undefined);
  const names = new Set(found.flatMap((each) => each ?? []));
  if (isKnown && names.size === 0) return undefined;
  return managers.find((manager) => {
    const words = [...manager.walk()].filter(({ type }) => type === 'identifier');
    if (words.some(({ text }) => names.has(text))) return true;
    const callee = manager.type === 'call' ? manager.function : manager;
    const path = callee && qualifiedName(module, callee);
    if (path === undefined) return callee?.type === 'identifier' || !isKnown;
    return !isKnown && definedElsewhere(module, path) !== undefined;
  });
}

const WORDS = ['__exit__', '__aexit__', 'contextmanager', 'asynccontextmanager', 'suppress'];

/** Undefined where very many files have the word. */
function swallowersNamed(module: PyModule, word: string): readonly string[] | undefined {
  const others = module.around.summaries({ word, beside: [] }, swallowersIn);
  return others && [...swallowersIn(module.alone, word), ...others.flat()];
}

/** The names of the classes and functions of a file that make such managers. */
function swallowersIn(alone: PyModule, word: string): readonly string[] {
  return alone.words(word).flatMap((name) => {
    if (word === 'suppress') return /^(?:attribute|call)$/.test(name.parent?.type ?? '') ? [word] : [];
    if (word.startsWith('__'))
      return exitSwallows(name) ? [enclosingClass(name.parent ?? name)?.name?.text ?? word] : [];
    const made = name.closest('decorated_definition')?.definition;
    const isMaker = made !== undefined && decoratorsOf(made).some((each) => each.contains(name));
    return isMaker && catchesAroundYield(made) ? [made.name?.text ?? word] : [];
  });
}

/** `def __exit__` that returns anything but `None` and `False`. */
function exitSwallows(name: PyNode): boolean {
  const method = name.parent;
  if (method?.type !== 'function_definition' || method.name !== name) return false;
  return ownNodes(method).some(
    ({ type, named }) =>
      type === 'return_statement' && named[0] !== undefined && !/^(?:none|false)$/.test(named[0].type),
  );
}

function catchesAroundYield(made: PyNode): boolean {
  return ownNodes(made).some((node) => {
    if (node.type !== 'try_statement' || node.childrenOfType('except_clause').length === 0) return false;
    const body = node.body;
    return (
      body !== undefined &&
      [...body.walk()].some((each) => each.type === 'yield' && enclosingFunction(each) === made)
    );
  });
}
