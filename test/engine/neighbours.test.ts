import { describe, expect, it } from 'vitest';
import { Neighbours } from '../../src/engine/neighbours.js';
import { PyModule } from '../../src/semantic/module.js';
import { Versions } from '../../src/semantic/versions.js';
import { loadParser } from '../../src/syntax/parser.js';
import { doorOf } from '../../src/testing/fixtures.js';

const parser = await loadParser();

const FILES = new Map([
  ['a.py', 'encode(1)\n'],
  ['b.py', 'encode(2)\n'],
  ['broken.py', 'def encode(x):\n    return x\n\n\ndef spoil(y):\n    def a b(y):\n        print(a)\n'],
]);

function spoiled(alone: PyModule): number {
  return alone.words('print').length;
}

function encoders(alone: PyModule): number {
  return alone.words('encode').length;
}

const ENCODE = { word: 'encode', beside: [] };

describe('a file beside another one that does not parse', () => {
  it.each([
    ['in pieces', true],
    ['as a whole', false],
  ])('says the same whoever asked for what before: %s', (_, inPieces) => {
    const door = doorOf({ versions: new Versions(), project: FILES });
    const ask = (neighbours: Neighbours, path: string, looks: readonly (typeof encoders)[]) => {
      const text = FILES.get(path) ?? '';
      const around = neighbours.around(path, inPieces, () => module);
      const module: PyModule = new PyModule(path, text, parser.parse(text), around);
      return looks.map((look) => around.summaries(ENCODE, look) !== undefined);
    };
    const orders = [
      [encoders, spoiled],
      [spoiled, encoders],
    ].map((looks) => {
      const neighbours = new Neighbours(parser, door);
      const first = ask(neighbours, 'a.py', looks);
      return [first, ask(neighbours, 'b.py', looks)].map((told) => told[looks.indexOf(encoders)]);
    });
    expect(orders).toEqual([
      [true, true],
      [true, true],
    ]);
    expect(ask(new Neighbours(parser, door), 'a.py', [spoiled])).toEqual([false]);
  });
});

describe('a file that no Python compiles', () => {
  const told = (path: string, text: string, word = 'encode') => {
    const door = doorOf({
      versions: new Versions(),
      project: new Map([
        ['a.py', 'encode(1)\n'],
        [path, text],
      ]),
    });
    const around = new Neighbours(parser, door).around('a.py', true, () => module);
    const module: PyModule = new PyModule('a.py', 'encode(1)\n', parser.parse('encode(1)\n'), around);
    return around.summaries({ word, beside: [] }, (alone, asked) => alone.words(asked).length);
  };

  it.each([
    ['a text that does not end', 'parse(help="of what)\nencode(x)\n'],
    ['two words in the place of one', 'for a b in y:\n    encode(a)\n'],
    ['a bracket that is never closed', 'encode(x)\nif x:\n    parse(y,\n          z'],
    ['a line for a shell', '!pip install parts\nencode(x)\n'],
    ['a branch that was not merged', '<<<<<<< HEAD\nx = 1\n=======\nencode(x)\n>>>>>>> other\n'],
    ['a call that is never closed', 'def f(x):\n    print("{}".format(x)\n    y = 1\n    encode(x)\n'],
    ['a loop without a statement', 'def f(x):\n    for y in x:\n        # later\n\n\nencode(x)\n'],
    ['a function without one', 'class F:\n    def f(self):\n\n    def g(self, x):\n        encode(x)\n'],
    ['a name of old Pythons', `def f(x):\n${'    x.cuda(async=True)\n'.repeat(9)}    encode(x)\n`],
    ['a link of a page', '[docs]class F:\n    x = 1\n\n    [docs]def f(self, x):\n        encode(x)\n'],
    ['notes', `encode(x)\n${'for each car: look ahead;\n'.repeat(9)}`],
    ['an empty condition', 'if :\n    encode(x)\nelif x = 1:\n    pass\n'],
  ])('is read without the few lines that are in the way: %s', (_, text) => {
    expect(told('other.py', text)).toEqual([1]);
  });

  it.each([
    ['the word is in such a line', 'encode(x y)\nencode(x)\n'],
    ['the word is among notes', `x = 1\n${'for each car: encode it;\n'.repeat(9)}`],
    ['a function has no name', 'def take(x y):\n    encode(x)\n'],
    ['no link stands before a class', '[notes]class F:\n    encode(x)\n'],
    ['there are many', `def run(x):\n${'    take x y\n'.repeat(4)}    encode(x)\n`],
  ])('may say anything where %s', (_, text) => {
    expect(told('other.py', text)).toBeUndefined();
  });
});
