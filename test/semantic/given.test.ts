import { describe, expect, it } from 'vitest';
import { arrives, givenAcross, givenIn, siblingOf } from '../../src/semantic/given.js';
import { moduleIn, moduleOf } from '../support/module.js';

function given(text: string) {
  const module = moduleOf(text);
  return givenIn(module, 'depth').map((each) => ({
    value: each.value.text,
    calls: each.calls.map((call) => call.function?.text),
    dict: each.dict && {
      isShared: each.dict.isShared,
      reads: each.dict.reads.length,
      changes: each.dict.changes.length,
      unseen: each.dict.unseen.length,
    },
    arrives: arrives(each),
    sibling: siblingOf(each, 'width')?.value.text,
  }));
}

const quiet = { reads: 0, changes: 0, unseen: 0 };

describe('givenIn', () => {
  it.each([
    [
      'a keyword',
      'f(depth=1, width=2)\n',
      { value: '1', calls: ['f'], dict: undefined, arrives: 'yes', sibling: '2' },
    ],
    [
      'a dict spread on the spot',
      'f(**{"depth": 1})\n',
      { value: '1', calls: ['f'], dict: { isShared: false, ...quiet }, arrives: 'yes' },
    ],
    [
      'a dict of a function',
      'def g():\n    c = {"depth": 1, "width": 2}\n    print(c, c["width"], c.get("width"), "width" in c)\n    return f(**c)\n',
      { value: '1', calls: ['f'], dict: { isShared: false, ...quiet }, arrives: 'yes', sibling: '2' },
    ],
    [
      'a dict whose size is asked for',
      'def g():\n    c = {"depth": 1}\n    n = len(c)\n    return f(**c), n\n',
      { value: '1', calls: ['f'], dict: { isShared: false, ...quiet, unseen: 1 }, arrives: 'unknown' },
    ],
    [
      'a dict that may be reached by its name',
      'def g():\n    c = {"depth": 1}\n    locals()["c"].clear()\n    return f(**c)\n',
      { value: '1', calls: ['f'], dict: { isShared: false, ...quiet, unseen: 1 }, arrives: 'unknown' },
    ],
    [
      'an entry beside one whose name is not written',
      'def g(k):\n    c = {k: 2, "depth": 1}\n    return f(**c)\n',
      { value: '1', calls: ['f'], dict: { isShared: false, ...quiet }, arrives: 'unknown' },
    ],
    [
      'a dict of the module',
      'C: dict = {"depth": 1}\nf(x, **C)\ng(**C)\n',
      { value: '1', calls: ['f', 'g'], dict: { isShared: true, ...quiet }, arrives: 'unknown' },
    ],
    [
      'dict()',
      'def g():\n    c = dict(depth=1)\n    f(**c)\n',
      { value: '1', calls: ['f'], dict: { isShared: false, ...quiet }, arrives: 'yes' },
    ],
    [
      'a dict in a dict',
      'def g():\n    c = {"a": {"depth": 1}, "b": {}}\n    c["b"]["depth"] = 2\n    f(**c["a"])\n    h(**c["b"])\n',
      { value: '1', calls: ['f'], dict: { isShared: false, ...quiet }, arrives: 'yes' },
    ],
    [
      'a read of the setting',
      'def g():\n    c = {"depth": 1}\n    f(c["depth"], c.get("depth"), **c)\n',
      { value: '1', calls: ['f'], dict: { isShared: false, ...quiet, reads: 2 }, arrives: 'yes' },
    ],
    [
      'a change of the setting',
      'def g():\n    c = {"depth": 1}\n    c["depth"] = 2\n    c.update(x)\n    f(**c)\n',
      { value: '1', calls: ['f'], dict: { isShared: false, ...quiet, changes: 2 }, arrives: 'no' },
    ],
    [
      'uses that are not seen',
      'def g(k):\n    c = {"depth": 1}\n    h(c)\n    c[k]\n    d = {**c}\n    for n in c.items(): pass\n    f(**c)\n',
      { value: '1', calls: ['f'], dict: { isShared: false, ...quiet, unseen: 4 }, arrives: 'unknown' },
    ],
    [
      'a variable with two values',
      'c = {"depth": 1}\nc = other\nf(**c)\n',
      { value: '1', calls: [], dict: { isShared: true, ...quiet }, arrives: 'unknown' },
    ],
    [
      'a spread behind it',
      'f(**{"depth": 1, **more})\n',
      { value: '1', calls: ['f'], dict: { isShared: false, ...quiet }, arrives: 'unknown' },
    ],
    [
      'a spread before it',
      'def g():\n    c = dict(more, depth=1)\n    f(**c)\n',
      { value: '1', calls: ['f'], dict: { isShared: false, ...quiet }, arrives: 'unknown' },
    ],
    [
      'an attribute',
      'class C:\n    def g(self):\n        self.c = {"depth": 1}\n',
      { value: '1', calls: [], dict: { isShared: true, ...quiet }, arrives: 'unknown' },
    ],
  ])('%s', (_, text, expected) => {
    expect(given(text)).toEqual([{ sibling: undefined, ...expected }]);
  });

  it.each([
    ['a read', 'f(c["depth"])\n'],
    ['a parameter', 'def f(depth=1): pass\n'],
    ['text', '"""f(depth=1) {"depth": 1}"""\n# {"depth": 1}\n'],
    ['an annotation', 'c: "depth"\n'],
    ['a longer name', 'f(depth_2=1, **{"depth2": 1})\n'],
  ])('not %s', (_, text) => {
    expect(given(text)).toEqual([]);
  });
});

describe('givenAcross', () => {
  const across = (config: string, train: string, path = 'config.py') => {
    const module = moduleIn({ [path]: config, 'train.py': train }, path);
    return givenAcross(module, 'depth').map((each) => ({
      calls: each.calls.map((call) => `${each.homes.get(call)?.path ?? path}: ${call.text}`),
      reads: each.dict?.reads.length,
      changes: each.dict?.changes.length,
      unseen: each.dict?.unseen.length,
      arrives: arrives(each),
    }));
  };
  const none = { calls: [], reads: 0, changes: 0, unseen: 0, arrives: 'unknown' };

  it.each([
    ['from config import C\nf(**C)\n', { ...none, calls: ['train.py: f(**C)'] }],
    ['import config\nf(**config.C)\n', { ...none, calls: ['train.py: f(**config.C)'] }],
    ['from config import C as D\nf(**D)\nprint(D["width"])\n', { ...none, calls: ['train.py: f(**D)'] }],
    [
      'from config import C\nf(**C)\nif C["depth"]: ...\n',
      { ...none, calls: ['train.py: f(**C)'], reads: 1 },
    ],
    ['from config import C\nC["depth"] = 2\n', { ...none, changes: 1, arrives: 'no' }],
    ['from config import C\nC.update(depth=2)\n', { ...none, changes: 1, arrives: 'no' }],
    ['from config import C\ng(C)\n', { ...none, unseen: 1 }],
    ['from far.config import C\nf(**C)\n', { ...none, unseen: 1 }],
    ['from other import C\nf(**C)\n', none],
    ['C = {}\nf(**C)\n', none],
  ])('%j', (train, expected) => {
    expect(across('C = {"depth": 1}\n', train)).toEqual([expected]);
  });

  it('follows the keys of a nested dict', () => {
    const train = 'from config import C\nf(**C["net"])\ng(**C["other"])\nh(**C)\n';
    expect(across('C = {"net": {"depth": 1}}\n', train)).toEqual([
      { ...none, calls: ['train.py: f(**C["net"])'], unseen: 1 },
    ]);
  });

  it('leaves dicts of functions and of tests alone', () => {
    const train = 'from config import C\nf(**C)\n';
    expect(across('def g():\n    C = {"depth": 1}\n', train)[0]?.calls).toEqual([]);
    const test = 'from test_config import C\nf(**C)\n';
    expect(across('import pytest\nC = {"depth": 1}\n', test, 'test_config.py')).toEqual([none]);
  });
});

describe('the calls that take a setting by its name', () => {
  it.each([
    ['c = {"depth": 1}\nf(depth=c.get("depth", 2))\n', ['f']],
    ['c = {"depth": 1}\nf(depth=c["depth"])\ng(depth=c["depth"])\n', ['f', 'g']],
    ['c = {"depth": 1}\nf(depth=args.depth or c["depth"])\n', ['f unless args.depth']],
    ['c = {"depth": 1}\nf(depth=(c["depth"] if deep else 0))\n', ['f unless deep']],
    ['c = {"net": {"depth": 1}}\nf(depth=c["net"].get("depth"))\n', ['f']],
    ['c = {"depth": 1}\nf(width=c["depth"])\n', []],
    ['c = {"depth": 1}\nf(depth=c["depth"] + 1)\n', []],
    ['c = {"depth": 1}\nf(depth=1 if c["depth"] else 0)\n', []],
    ['c = {"depth": 1}\nf(depth=c["depth"] and 1)\n', []],
    ['c = {"depth": 1}\nf(c["depth"])\n', []],
    ['c = {"net": {"depth": 1}}\nf(net=c.get("net"))\n', []],
  ])('%j: %j', (text, takers) => {
    const found = givenIn(moduleOf(text), 'depth').flatMap((each) => each.takers);
    const words = found.map(({ call, unless }) =>
      [call.function?.text, ...(unless === undefined ? [] : ['unless', unless.text])].join(' '),
    );
    expect(words).toEqual(takers);
  });
});
