import { type Elsewhere, mayBeOfProject } from '../../src/semantic/elsewhere.js';
import { calledPath } from '../../src/semantic/imports.js';
import type { PyModule } from '../../src/semantic/module.js';
import { remembered } from '../../src/semantic/remembered.js';
import { methodName } from '../../src/semantic/statements.js';
import type { PyNode } from '../../src/syntax/node.js';
import { ANY_DEPTH } from './filled-with.js';
import { calledIn } from './owner.js';
import { takerOf } from './parameter-given.js';
import { Plain } from './plain-value.js';

/**
 * Whether all that the project puts under a name into any dictionary is plain: numbers, texts, truths, nothing, and what is
 * made of these. Then no checkpoint of the project has a tensor there.
 */
export const isSavedPlain = remembered((module: PyModule, name: string): boolean =>
  isPlainBy(module, name, ANY_DEPTH, []),
);

/** `deepest`: so many containers may be in one another. `asked`: the names that this one is asked for. */
function isPlainBy(module: PyModule, name: string, deepest: number, asked: readonly string[]): boolean {
  const word = longestWord(name);
  if (asked.includes(name) || word === undefined) return false;
  const isWord = word === name;
  const others = module.around.summaries({ word, beside: [] }, isWord ? lookAtPuts : lookAtPutsAround);
  const keys = module.around.summaries({ word: 'save', beside: [] }, joinsKeys);
  if (keys?.includes(true) !== false || joinsKeys(module.alone)) return false;
  const homes = others && homesOf(module, word, others);
  if (others === undefined || homes === undefined) return false;
  const puts = [module, ...homes].flatMap((there) => putsIn(there, word, isWord));
  const isPut = puts.some(({ isSure }) => isSure) || others.some(({ isPut }) => isPut);
  const savedBy = (key: string, depth: number) => isPlainBy(module, key, depth, [...asked, name]);
  return (
    isPut &&
    // A number, a list of them, a dictionary of lists, settings; for what is put under more than a word, a number.
    [0, 1, 2, ANY_DEPTH].some(
      (depth) => depth <= (isWord ? deepest : 0) && new Plain(name, depth, savedBy).isEntry(module, puts),
    )
  );
}

/** By which the files with a name are found. */
function longestWord(name: string): string | undefined {
  if (/^\w+$/.test(name)) return name;
  return name
    .match(/[A-Za-z]\w+/g)
    ?.reduce((longest, word) => (word.length > longest.length ? word : longest));
}

/** `{"st" "ep": value}`: no name is written there. */
function joinsKeys(alone: PyModule): boolean {
  return alone.mentions(/["']\w*["'][ \t]*(?:\+[ \t]*)?["']\w*["']\s*(?::|\]\s*=)/);
}

/** What a file puts under a name; plain data, kept with the file. */
interface Puts {
  readonly path: string;
  readonly isPut: boolean;
  /** For each value that is computed, or is a container, a word of it. */
  readonly words: readonly string[];
}

function lookAtPuts(alone: PyModule, name: string): Puts {
  return lookAt(alone, name, true);
}

/** The same of all names with a word in them. */
function lookAtPutsAround(alone: PyModule, word: string): Puts {
  return lookAt(alone, word, false);
}

function lookAt(alone: PyModule, name: string, isWhole: boolean): Puts {
  const puts = putsIn(alone, name, isWhole);
  const words = puts.flatMap(({ node }) => {
    const word = [...node.walk()].find(({ type }) => type === 'identifier');
    // What is put into a container later is looked for as well.
    return word === undefined ? (/^(?:dictionary|list|set)$/.test(node.type) ? [name] : []) : [word.text];
  });
  return { path: alone.path, isPut: puts.some(({ isSure }) => isSure), words: [...new Set(words)] };
}

/** The files with computed values; undefined where one cannot be looked into. */
function homesOf(module: PyModule, name: string, files: readonly Puts[]): readonly PyModule[] | undefined {
  const wanted = files.filter(({ words }) => words.length > 0);
  const words = new Set(wanted.flatMap(({ words: [first = ''] }) => first));
  const named = new RegExp(`\\b${name}\\b`);
  const found = new Map<string, PyModule>();
  for (const word of words) {
    const { modules, unread } = module.around.naming({ word, beside: [name] }, (text) => named.test(text));
    if (unread !== undefined) return undefined;
    for (const there of modules) found.set(there.path, there);
  }
  const homes = wanted.flatMap(({ path }) => found.get(path) ?? []);
  return homes.length === wanted.length ? homes : undefined;
}

interface Put extends Elsewhere {
  /** Into a dictionary; otherwise somebody may put it there who is given it by this name. */
  readonly isSure: boolean;
}

/** What is put under a name, or under all that have it as a word. */
function putsIn(module: PyModule, name: string, isWhole: boolean): readonly Put[] {
  const text = isWhole ? name : `[^"'\\n]*\\b${name}\\b[^"'\\n]*`;
  const keys = [...module.text.matchAll(new RegExp(`(?<=["'])${text}["']|\\b${name}\\s*=(?!=)`, 'g'))];
  return keys.flatMap(({ index }): Put[] => {
    const at = module.root.descendantAt(index);
    const key = at.type === 'identifier' ? at : at.closest('string');
    const entry = entryAt(isWhole ? key : wholeKey(key));
    if (entry !== undefined) return [{ module, node: entry, isSure: true }];
    const given = key === undefined ? undefined : mayBecomeEntry(module, key);
    return given === undefined ? [] : [{ module, node: given, isSure: false }];
  });
}

/** `"%s-step" % kind` and `"n-" + "step"` of the text with the word. */
function wholeKey(key: PyNode | undefined): PyNode | undefined {
  let whole = key;
  while (
    /^(?:attribute|binary_operator|call|concatenated_string|parenthesized_expression)$/.test(
      whole?.parent?.type ?? '',
    )
  )
    whole = whole?.parent;
  return whole;
}

/** `keep(net, step=value)`, of which nobody knows where it gets; a name in a variable, which may be the key of anything. */
function mayBecomeEntry(module: PyModule, key: PyNode): PyNode | undefined {
  const { parent } = key;
  if (key.type === 'string')
    return parent?.type === 'assignment' && parent.right === key ? parent : undefined;
  const call = parent?.type === 'keyword_argument' && parent.name === key ? parent.parent?.parent : undefined;
  if (call?.type !== 'call' || /\.format$/.test(call.function?.text ?? '')) return undefined;
  const path = calledPath(module, call);
  if (path !== undefined && !mayBeOfProject(module, path)) return undefined;
  const found = calledIn(module, call);
  const taker = found && takerOf(found.node, found.module);
  const names = taker?.node.parameters?.named.map((each) => (each.name ?? each.named[0] ?? each).text);
  return names?.includes(key.text) ? undefined : parent?.value;
}

/** The value that an entry of a dictionary gets by a key, as it is written or as it is set. */
function entryAt(key: PyNode | undefined): PyNode | undefined {
  const { parent } = key ?? {};
  if (key === undefined || parent === undefined) return undefined;
  if (parent.type === 'pair') return parent.key === key ? parent.value : undefined;
  if (parent.type === 'subscript') {
    const assignment = parent.parent;
    const isSet = assignment?.type.endsWith('assignment') && assignment.left === parent;
    return parent.subscript === key && isSet ? assignment?.right : undefined;
  }
  if (parent.type === 'argument_list')
    return methodName(parent.parent ?? parent) === 'setdefault' && parent.named[0] === key
      ? parent.named[1]
      : undefined;
  const call = parent.type === 'keyword_argument' && parent.name === key ? parent.parent?.parent : undefined;
  return /^(?:dict|update)$/.test(call?.function?.text.split('.').at(-1) ?? '') ? parent.value : undefined;
}
