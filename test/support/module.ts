import { Neighbours } from '../../src/engine/neighbours.js';
import { PyModule } from '../../src/semantic/module.js';
import { Versions } from '../../src/semantic/versions.js';
import type { PyNode } from '../../src/syntax/node.js';
import { loadParser } from '../../src/syntax/parser.js';
import { doorOf } from '../../src/testing/fixtures.js';

const parser = await loadParser();

export function moduleOf(text: string): PyModule {
  return new PyModule('sample.py', text, parser.parse(text));
}

/** The file `path` of a project, which sees the others. */
export function moduleIn(project: Readonly<Record<string, string>>, path: string): PyModule {
  const door = doorOf({ versions: new Versions(), project: new Map(Object.entries(project)) });
  const text = project[path] ?? '';
  const around = new Neighbours(parser, door).around(path, false, () => module);
  const module: PyModule = new PyModule(path, text, parser.parse(text), around);
  return module;
}

/** The node at the nth occurrence of a word. */
export function nodeAt(module: PyModule, word: string, nth = 0): PyNode {
  let at = -1;
  for (let count = 0; count <= nth; count++) at = module.text.indexOf(word, at + 1);
  if (at === -1) throw new Error(`the sample has no ${word} #${nth}`);
  return module.root.descendantAt(at, at + word.length);
}
