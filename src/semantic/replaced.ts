import type { PyNode } from '../syntax/node.js';
import { qualifiedName } from './imports.js';
import type { PyModule } from './module.js';
import { argumentsOf } from './statements.js';
import { plainString } from './strings.js';
import { isTestFile } from './test-code.js';

/** One place that puts something else where a library has a function or a class. */
interface Replacement {
  /** What is replaced, as far as the file shows; undefined for a name that is computed. */
  readonly path: string | undefined;
  /** The library, where the name is computed. */
  readonly root: string | undefined;
  readonly file: string;
}

/**
 * The file of the project that puts something else in the place of a library's function or class, or may, as a sentence
 * names it: `lib.load = …`, `setattr(lib, "load", …)`, `patch("lib.load")`. Tests do so for themselves and do not count.
 */
export function replacedInProject(module: PyModule, path: string): string | undefined {
  return module.memo(findReplaced, path);
}

function findReplaced(module: PyModule, path: string): string | undefined {
  const [root = '', ...words] = path.split('.');
  const isMeant = (each: Replacement): boolean =>
    each.path === undefined ? each.root === root : path === each.path || path.startsWith(`${each.path}.`);
  const looks = [...words.map((word) => [word, replacementsIn] as const), ['setattr', computedIn] as const];
  for (const [word, look] of looks) {
    const others = module.around.summaries({ word, beside: [] }, look);
    if (others === undefined) return `one of the many files that name \`${word}\``;
    const found = [...look(module.alone, word), ...others.flat()].find(isMeant);
    if (found !== undefined) return `\`${found.file}\``;
  }
  return undefined;
}

function replacementsIn(alone: PyModule, word: string): readonly Replacement[] {
  const { path: file, text } = alone;
  const places = new RegExp(`\\.[ \\t]*${word}[ \\t]*=(?!=)|["'](?:[\\w.]+\\.)?${word}["']`, 'g');
  if (isTestFile(file, text)) return [];
  return [...text.matchAll(places)].flatMap(({ index, 0: match }) => {
    const node = alone.root.descendantAt(index + match.indexOf(word));
    const path = assignedPath(alone, node) ?? namedPath(alone, node.closest('string'));
    return path === undefined ? [] : [{ path, root: undefined, file }];
  });
}

/** `lib.load = …` */
function assignedPath(alone: PyModule, name: PyNode): string | undefined {
  const attribute = name.parent?.field('attribute') === name ? name.parent : undefined;
  const assignment = attribute?.parent;
  if (attribute === undefined || assignment?.type !== 'assignment') return undefined;
  return assignment.field('left') === attribute ? qualifiedName(alone, attribute) : undefined;
}

/** `patch("lib.load")`, `setattr(lib, "load", …)`, `lib.__dict__["load"] = …`; asking by `getattr` or `hasattr` replaces nothing. */
function namedPath(alone: PyModule, string: PyNode | undefined): string | undefined {
  const name = string && plainString(string);
  const call = string?.parent?.parent;
  if (string === undefined || name === undefined || call === undefined) return undefined;
  if (string.parent?.type === 'subscript') {
    const object = string.parent.field('value')?.field('object');
    const lib = object && qualifiedName(alone, object);
    return lib === undefined ? undefined : `${lib}.${name}`;
  }
  if (call.type !== 'call' || /^(?:get|has)attr$/.test(call.field('function')?.text ?? '')) return undefined;
  if (name.includes('.')) return name;
  const [object] = argumentsOf(call);
  const lib = object && qualifiedName(alone, object);
  return lib === undefined ? undefined : `${lib}.${name}`;
}

/** `setattr(lib, name, …)` with a computed name. */
function computedIn(alone: PyModule, word: string): readonly Replacement[] {
  const { path: file, text } = alone;
  if (isTestFile(file, text)) return [];
  return alone.words(word).flatMap((callee) => {
    const call =
      callee.parent?.type === 'call' && callee.parent.field('function') === callee
        ? callee.parent
        : undefined;
    const [object, name] = call === undefined ? [] : argumentsOf(call);
    const lib = object && qualifiedName(alone, object);
    if (lib === undefined || name === undefined || plainString(name) !== undefined) return [];
    return [{ path: undefined, root: lib.split('.')[0], file }];
  });
}
