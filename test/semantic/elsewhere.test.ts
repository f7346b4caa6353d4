import { describe, expect, test } from 'vitest';
import { definedElsewhere, lineageOf } from '../../src/semantic/elsewhere.js';
import { spreadsNone } from '../../src/semantic/spread.js';
import { moduleIn, nodeAt } from '../support/module.js';

function placeOf(
  project: Readonly<Record<string, string>>,
  path: string,
  dotted: string,
): string | undefined {
  const found = definedElsewhere(moduleIn(project, path), dotted);
  return found && `${found.module.path}: ${found.node.type} ${found.node.name?.text}`;
}

describe('a definition in another file', () => {
  const PROJECT = {
    'train.py': '',
    'helpers.py':
      'def mean(values):\n    return sum(values)\n\n\nif FAST:\n    def twice(): ...\nelse:\n    def twice(): ...\n',
    'src/lib/__init__.py': 'from .nets import Net as Model\nfrom .extra import *\n',
    'src/lib/nets.py': 'from ..root import Base\n\n\nclass Net(Base):\n    pass\n\n\n_hidden = 1\n',
    'src/lib/extra.py': 'def spare(): ...\n\n\ndef _own(): ...\n',
    'src/lib/deep/run.py': 'import lib\n',
    'models/__init__.py': 'class Package: ...\n',
    'models.py': 'class File: ...\n',
    'loop_a.py': 'from loop_b import x\n',
    'loop_b.py': 'from loop_a import x\n',
    'broken.py': 'def f(:\n',
  };

  test.each([
    ['train.py', 'helpers.mean', 'helpers.py: function_definition mean'],
    ['train.py', '.helpers.mean', 'helpers.py: function_definition mean'],
    ['train.py', 'lib.nets.Net', 'src/lib/nets.py: class_definition Net'],
    ['train.py', 'lib.Model', 'src/lib/nets.py: class_definition Net'],
    ['train.py', 'lib.spare', 'src/lib/extra.py: function_definition spare'],
    ['src/lib/deep/run.py', 'lib.Model', 'src/lib/nets.py: class_definition Net'],
    ['src/lib/deep/run.py', '..nets.Net', 'src/lib/nets.py: class_definition Net'],
    ['src/lib/nets.py', '.spare', 'src/lib/extra.py: function_definition spare'],
    ['train.py', 'models.Package', 'models/__init__.py: class_definition Package'],
  ])('%s: %s is %s', (path, dotted, place) => {
    expect(placeOf(PROJECT, path, dotted)).toBe(place);
  });

  test.each([
    ['defined twice', 'helpers.twice'],
    ['hidden from a star', 'lib._own'],
    ['a package beside a file wins', 'models.File'],
    ['no definition', 'lib.nets._hidden'],
    ['not there', 'helpers.median'],
    ['another package', 'transformers.Trainer'],
    ['a circle', 'loop_a.x'],
    ['a file that does not parse', 'broken.f'],
    ['a module', 'helpers'],
    ['nothing', ''],
    ['dots', '..'],
  ])('%s is not known', (_, dotted) => {
    expect(placeOf(PROJECT, 'train.py', dotted)).toBeUndefined();
  });

  test('two files that it could be are none', () => {
    const project = { 'a/run.py': '', 'a/util.py': 'def f(): ...\n', 'util.py': 'def f(): ...\n' };
    expect(placeOf(project, 'a/run.py', 'util.f')).toBeUndefined();
    expect(placeOf(project, 'a/run.py', '.util.f')).toBe('a/util.py: function_definition f');
    expect(placeOf(project, 'util.py', 'util.f')).toBeUndefined();
  });
});

describe('bases across files', () => {
  const PROJECT = {
    'net.py':
      'from lib import Base\nimport torch.nn as nn\n\n\nclass Net(Base): ...\n\n\nclass Odd(nn.Module, other()): ...\n',
    'lib.py':
      'from torch import nn\nfrom mixins import Logging\n\n\nclass Root(nn.Module): ...\n\n\nclass Base(Root, Logging): ...\n',
    'mixins.py': 'from lib import Base\nfrom somewhere import Thing\n\n\nclass Logging(Thing): ...\n',
  };
  const lineage = (project: Readonly<Record<string, string>>, name: string) => {
    const module = moduleIn(project, 'net.py');
    const classNode = nodeAt(module, `class ${name}`).closest('class_definition') ?? nodeAt(module, name);
    const { elsewhere, imported, unknown } = lineageOf(module, classNode);
    return { elsewhere: elsewhere.map(({ node }) => node.name?.text), imported, unknown };
  };

  test('are followed to where they leave the project', () => {
    expect(lineage(PROJECT, 'Net')).toEqual({
      elsewhere: ['Base', 'Logging'],
      imported: ['torch.nn.Module', 'somewhere.Thing'],
      unknown: false,
    });
    expect(lineage(PROJECT, 'Odd')).toMatchObject({ imported: ['torch.nn.Module'], unknown: true });
  });

  test('of a file by itself are names', () => {
    const { 'net.py': alone } = PROJECT;
    expect(lineage({ 'net.py': alone }, 'Net')).toEqual({
      elsewhere: [],
      imported: ['lib.Base'],
      unknown: false,
    });
  });
});

test('what was asked is told once, with a name for the answer', () => {
  const project = { 'a.py': 'from b import f\n', 'b.py': 'from c import f\n' };
  const module = moduleIn(project, 'a.py');
  definedElsewhere(module, 'b.f');
  definedElsewhere(module, 'b.g');
  expect(module.around.relied).toEqual([
    ['a.py', 'b', project['b.py']],
    ['b.py', 'c', ''],
  ]);
});

describe('a dict that is spread into a call', () => {
  const lacks = (text: string, config = '') => {
    const module = moduleIn({ 'train.py': text, 'config.py': config }, 'train.py');
    const call = nodeAt(module, 'make(').closest('call') ?? module.root;
    return spreadsNone(module, call, ['key']);
  };
  const inFunction = (...lines: readonly string[]) =>
    `def f(x):\n${lines.map((line) => `    ${line}\n`).join('')}`;

  test.each([
    ['make(key=1)', 'yes'],
    ['make(**{"a": 1})', 'yes'],
    ['make(**{"key": 1})', 'no'],
    ['make(**{"a": 1, **other})', 'no'],
    ['make(**{a: 1})', 'no'],
    ['make(**dict(a=1))', 'yes'],
    ['make(**dict(key=1))', 'no'],
    ['make(**load())', 'no'],
    ['make(*x)', 'no'],
    [inFunction('c = {"a": 1}', 'print(c)', 'make(b=c["a"], **c)'), 'yes'],
    [inFunction('c = {"a": 1}', 'c["key"] = 1', 'make(**c)'), 'no'],
    [inFunction('c = {"a": 1}', 'c.update(x)', 'make(**c)'), 'no'],
    [inFunction('c = {"a": 1}', 'd = c', 'make(**c)'), 'no'],
    [inFunction('c = {"a": 1}', 'if x:', '    c = {}', 'make(**c)'), 'no'],
    [inFunction('make(**x)'), 'no'],
    ['c = {"a": 1}\nmake(**c)\n', 'unknown'],
  ])('%s: %s', (text, answer) => {
    expect(lacks(text)).toBe(answer);
  });

  test.each([
    ['C = {"a": 1}\n', 'unknown'],
    ['C = dict(a=1)\nprint(C["a"])\n', 'unknown'],
    ['C = {"key": 1}\n', 'no'],
    ['C = {"a": 1}\nC["key"] = 2\n', 'no'],
    ['C = {"a": 1}\nC.update(key=2)\n', 'no'],
    ['C = {"a": 1}\nif FAST:\n    C = {}\n', 'no'],
    ['C = load()\n', 'no'],
    ['def C(): ...\n', 'no'],
    ['', 'no'],
  ])('from another file: %j: %s', (config, answer) => {
    expect(lacks('from config import C\nmake(**C)\n', config)).toBe(answer);
    expect(lacks('import config\nmake(**config.C)\n', config)).toBe(answer);
    expect(lacks('from config import C\nC["key"] = 1\nmake(**C)\n', config)).toBe('no');
    expect(lacks('import config\nconfig.C.update(x)\nmake(**config.C)\n', config)).toBe('no');
  });
});

describe('a folder that the importing file puts before all others', () => {
  const IMPORTS = 'import os\nimport sys\nfrom pathlib import Path\n';
  const PROJECT = {
    'config/__init__.py': '',
    'config/config.py': 'def settings(): ...\n',
    'tools/config.py': 'def settings(): ...\n',
  };
  const found = (line: string, path = 'train.py') =>
    placeOf({ ...PROJECT, [path]: `${IMPORTS}${line}\n` }, path, 'config.settings');

  test.each([
    ['sys.path.insert(0, str(Path(__file__).parent / "config"))'],
    ['sys.path.insert(0, str(Path(__file__).resolve().parent / "config"))'],
    ['sys.path.insert(0, os.path.join(os.path.dirname(__file__), "config"))'],
    ['sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "tools", "..", "config"))'],
    [
      'ROOT = Path(__file__).parent\nsys.path.insert(0, str(ROOT / "tools"))\nsys.path.insert(0, str(ROOT / "config"))',
    ],
  ])('%s', (line) => {
    expect(found(line)).toBe('config/config.py: function_definition settings');
  });

  test('above the file', () => {
    const line = 'sys.path.insert(0, str(Path(__file__).parent.parent / "config"))';
    expect(found(line, 'scripts/train.py')).toBe('config/config.py: function_definition settings');
  });

  test.each([
    ['sys.path.append("tools")'],
    ['sys.path.append("tools/../config")\nsys.path.remove("tools")'],
    ['sys.path.append(str(Path(__file__).parent / "config"))'],
    ['sys.path.insert(1, str(Path(__file__).parent / "config"))'],
    ['sys.path.insert(0, "config")'],
    ['sys.path.insert(0, str(Path(os.environ["HOME"]).parent / "config"))'],
    ['if len(sys.argv) > 1:\n    sys.path.insert(0, str(Path(__file__).parent / "config"))'],
    ['def f():\n    sys.path.insert(0, str(Path(__file__).parent / "config"))'],
    ['Path = print\nsys.path.insert(0, str(Path(__file__).parent / "config"))'],
  ])('not %s', (line) => {
    expect(found(line)).toBeUndefined();
  });

  test.each([
    ['sys.path.append(str(Path(__file__).parent / "lib"))'],
    ['sys.path.append("lib")'],
    ['sys.path.append("./lib/")'],
    ['sys.path.insert(1, "lib")'],
    ['sys.path.insert(0, "lib")'],
    ['sys.path.append("/opt/lib")\nsys.path.append("lib")'],
  ])('or after them: %s', (line) => {
    const files = { 'lib/nets.py': 'def net(): ...\n', 'train.py': `${IMPORTS}${line}\n` };
    expect(placeOf(files, 'train.py', 'nets.net')).toBe('lib/nets.py: function_definition net');
    const folder = { ...files, 'scripts/train.py': files['train.py'] };
    const isFromFile = line.includes('__file__');
    const seen = placeOf(folder, 'scripts/train.py', 'nets.net');
    expect(seen).toBe(isFromFile ? undefined : 'lib/nets.py: function_definition net');
  });

  test.each([
    ['sys.path.append("old")\nsys.path.append("lib")'],
    ['sys.path.append("lib")\nsys.path.insert(0, os.environ["LIB"])'],
    ['sys.path.append("lib")\nsys.path[:0] = ["old"]'],
    ['sys.path.append("lib")\nfolders = sys.path'],
    ['os.chdir("old")\nsys.path.append("lib")'],
  ])('not one of several: %s', (line) => {
    const nets = 'def net(): ...\n';
    const files = { 'lib/nets.py': nets, 'old/nets.py': nets, 'train.py': `${IMPORTS}${line}\n` };
    expect(placeOf(files, 'train.py', 'nets.net')).toBeUndefined();
  });
});
