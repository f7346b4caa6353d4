import { describe, expect, test } from 'vitest';
import { attributeUsesElsewhere, usesElsewhere } from '../../src/semantic/uses-elsewhere.js';
import { moduleIn, nodeAt } from '../support/module.js';

const LOOK = { may: () => true, byName: true };

type Project = Readonly<Record<string, string>>;

const LOSSES = `def penalty(x):
    return x


class Meter:
    def read(self):
        return self.total


def outer():
    def inner(): ...
`;

/** `train.py:3` for a use that is certain, with a question mark for one that is not. */
function usesIn(project: Project, name: string, home = 'losses.py'): readonly string[] {
  const module = moduleIn({ [home]: LOSSES, ...project }, home);
  const { uses, unread } = usesElsewhere(module, nodeAt(module, name), LOOK);
  const found = uses.map(({ module: there, node, isCertain }) => {
    const { line } = there.lines.position(node.start);
    return `${there.path}:${line}${isCertain ? '' : '?'}`;
  });
  return unread === undefined ? found : [...found, unread];
}

describe('the uses of a function in other files', () => {
  test.each([
    ['from losses import penalty\npenalty(1)\n', ['train.py:2']],
    ['from losses import penalty as p\n\np(1)\n', ['train.py:3']],
    ['import losses\nlosses.penalty(1)\n', ['train.py:2']],
    ['import losses as l\nf = l.penalty\n', ['train.py:2']],
    ['from losses import *\npenalty(1)\n', ['train.py:2']],
    ['def f():\n    from losses import penalty\n    return penalty\n', ['train.py:3']],
    [
      'try:\n    from losses import penalty\nexcept ImportError:\n    penalty = None\npenalty(1)\n',
      ['train.py:5?'],
    ],
    ['from losses import penalty\n', []],
    ['from torch.losses import mean\n"penalty"  # penalty\n', []],
    ['def penalty(x): ...\n\n\npenalty(1)\n', []],
    ['from elsewhere import penalty\npenalty(1)\n', []],
    ['from far.losses import penalty\npenalty(1)\n', ['train.py:2?']],
    ['x.penalty(1)\n', []],
    ['from losses import *\n\n\ndef f(penalty):\n    penalty(1)\n', []],
    ['import losses\nlosses.penalty(:\n', ['`train.py`, which cannot be read']],
    ['def penalty(:\n', []],
  ])('%j: %j', (text, places) => {
    expect(usesIn({ 'train.py': text }, 'penalty')).toEqual(places);
  });

  test('also by way of a package that passes it on', () => {
    const project = {
      'lib/losses.py': LOSSES,
      'lib/__init__.py': 'from .losses import penalty\n',
      'train.py': 'from lib import penalty\n\npenalty(1)\n',
      'other.py': 'import lib\n\nlib.penalty(1)\n',
    };
    expect(usesIn(project, 'penalty', 'lib/losses.py')).toEqual(['train.py:3', 'other.py:3']);
  });

  test('also of a name that is bound more than once, or imported itself', () => {
    const home = 'from torch import autocast\n\ntotal = 0\ntotal += 1\n';
    const train = 'from losses import autocast, total\n\nautocast()\nprint(total)\n';
    const project = { 'losses.py': home, 'train.py': train, 'other.py': 'import torch\ntorch.autocast()\n' };
    expect(usesIn(project, 'total')).toEqual(['train.py:4']);
    expect(usesIn(project, 'autocast')).toEqual(['train.py:3']);
  });

  test('files that import each other do not run in circles', () => {
    const home = 'from train import fit\n\n\ndef penalty(x):\n    return fit(x)\n';
    const train = 'from losses import penalty\n\n\ndef fit(x):\n    return penalty(x)\n';
    expect(usesIn({ 'losses.py': home, 'train.py': train }, 'penalty')).toEqual(['train.py:5']);
  });

  test('nobody outside sees a function of a function', () => {
    expect(usesIn({ 'train.py': 'from losses import inner\ninner()\n' }, 'inner')).toEqual([]);
  });

  test('too many files are not looked into', () => {
    const callers = (count: number) =>
      Object.fromEntries(
        Array.from({ length: count }, (_, at) => [`m${at}.py`, 'from losses import penalty\npenalty(1)\n']),
      );
    expect(usesIn(callers(24), 'penalty')).toHaveLength(24);
    expect(usesIn(callers(25), 'penalty')).toEqual(['the many files that name `penalty`']);
  });

  test('what no further file names is answered, however many were looked into before', () => {
    const words = ['penalty', 'Meter', 'outer', 'read', 'total'];
    const callers = words.flatMap((word) =>
      Array.from({ length: 24 }, (_, at) => [`${word}${at}.py`, `${word}(1)\n`] as const),
    );
    const { around } = moduleIn({ 'losses.py': LOSSES, ...Object.fromEntries(callers) }, 'losses.py');
    const asked = (word: string) => around.naming({ word, beside: [] }, () => true);
    expect(words.map((word) => asked(word).unread !== undefined)).toEqual([false, false, false, false, true]);
    expect(asked('nowhere')).toEqual({ modules: [], unread: undefined });
    expect(asked('penalty').modules).toHaveLength(24);
  });

  test('files that pass a name on by a star are seen through', () => {
    const found = usesIn(
      {
        'helpers.py': 'from losses import *\n',
        'tools.py': 'from helpers import *\n',
        'train.py': 'from tools import *\npenalty(1)\n',
      },
      'penalty',
    );
    expect(found).toHaveLength(1);
  });

  test('a file that does not matter is not looked into', () => {
    const project = { 'losses.py': LOSSES, 'train.py': 'from losses import penalty\npenalty(:\n' };
    const module = moduleIn(project, 'losses.py');
    const { unread } = usesElsewhere(module, nodeAt(module, 'penalty'), {
      may: (text) => text.includes('backward'),
      byName: true,
    });
    expect(unread).toBeUndefined();
    expect(module.around.relied).toEqual([
      ['losses.py', '?losses', project['train.py']],
      ['losses.py', '?penalty losses', project['train.py']],
    ]);
  });
});

describe('the uses of a method or an attribute in other files', () => {
  test.each([
    ['from losses import Meter\nm = Meter()\nm.read()\n', ['train.py:3']],
    ['import losses\nlosses.Meter().read()\n', ['train.py:2']],
    ['import losses\nlosses.Meter.read(m)\n', ['train.py:2']],
    ['def f(m):\n    return m.read()\n', ['train.py:2?']],
    [
      'from losses import Meter\n\n\nclass Own(Meter):\n    def f(self):\n        self.read()\n',
      ['train.py:6'],
    ],
    [
      'from losses import Meter\n\n\nclass Own(Meter):\n    def read(self): ...\n\n\no = Own()\no.read()\n',
      [],
    ],
    ['class Own:\n    def f(self):\n        self.read()\n', []],
    ['class Own(base()):\n    def f(self):\n        self.read()\n', ['train.py:3?']],
    ['import torch\nm = torch.Meter2()\nm.read()\n', []],
    ['from far import Meter\nm = Meter()\nm.read()\n', ['train.py:3?']],
    ['from losses import penalty\nm = penalty(1)\nm.read()\n', ['train.py:3?']],
    ['import losses\nlosses.read()\n', []],
    ['read()\n', []],
  ])('%j: %j', (text, places) => {
    expect(usesIn({ 'train.py': text }, 'read')).toEqual(places);
  });

  test('an attribute is asked for by its class', () => {
    const module = moduleIn(
      { 'losses.py': LOSSES, 'train.py': 'from losses import Meter\nm = Meter()\nm.total = m.total + 1\n' },
      'losses.py',
    );
    const classNode = nodeAt(module, 'class Meter').closest('class_definition') ?? module.root;
    const { uses } = attributeUsesElsewhere(module, classNode, 'total', LOOK);
    expect(uses.map(({ node, isCertain }) => [node.text, isCertain])).toEqual([
      ['m.total', true],
      ['m.total', true],
    ]);
  });
});
