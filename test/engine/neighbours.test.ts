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
  ['broken.py', 'def encode(x):\n    return x\n\n\ndef spoil(y):\n    for a b in y:\n        print(a)\n'],
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
