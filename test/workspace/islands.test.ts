import { readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Islands } from '../../src/workspace/islands.js';
import { processorTime } from '../support/processor-time.js';
import { type Files, folderWith } from './folders.js';

/** Whether `a/a.py` and `b/b.py` of a project are apart. */
function areApart(files: Files, one = 'a/a.py', other = 'b/b.py'): boolean {
  return islandsOf(files).areApart(one, other);
}

function islandsOf(files: Files): Islands {
  const cwd = folderWith({ 'a/a.py': '', 'b/b.py': '', ...files });
  const paths = readdirSync(cwd, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.py'),
  );
  const residents = paths.map((path) => ({
    path,
    candidate: { path, target: join(cwd, path), explicit: false },
  }));
  const names = new Map<string, Set<string>>();
  for (const path of readdirSync(cwd, { recursive: true, encoding: 'utf8' })) {
    const known = names.get(dirname(path)) ?? new Set();
    names.set(dirname(path), known.add(basename(path)));
  }
  return new Islands(residents, (folder) => names.get(folder) ?? new Set());
}

describe('two folders are apart', () => {
  test.each<[string, Files]>([
    ['that import nothing of each other', { 'a/a.py': 'import torch\n', 'b/b.py': 'import torch\n' }],
    [
      'that have files of the same name',
      { 'a/a.py': 'import model', 'a/model.py': '', 'b/b.py': 'import model', 'b/model.py': '' },
    ],
    [
      'where an import from one would not find its names in the other',
      { 'a/a.py': 'from helper import missing', 'b/deep/helper.py': 'here = 1' },
    ],
    ['with a notebook in a third', { 'c/c.py': '', 'c/c.ipynb': '{}' }],
    ['with tests of their own', { 'a/conftest.py': '', 'a/test_a.py': '', 'b/conftest.py': '' }],
    [
      'where a package of others has the name of a file',
      { 'a/a.py': 'import evaluate', 'b/evaluate.py': '' },
    ],
    [
      'where a third computes names of its own',
      { 'c/c.py': 'import importlib\nimportlib.import_module(f"c.{name}")\n' },
    ],
  ])('%s', (_, files) => {
    expect(areApart(files)).toBe(true);
  });
});

describe('two folders are not apart', () => {
  test.each<[string, Files]>([
    ['where one imports the other', { 'a/a.py': 'import b.b\n' }],
    ['where it does so in a function', { 'a/a.py': 'def f():\n    from b import b\n' }],
    ['after a semicolon', { 'a/a.py': 'import os; import b\n' }],
    ['on a continued line', { 'a/a.py': 'from b \\\n    import b\n' }],
    ['as the second of a list', { 'a/a.py': 'import os, b.b as bb\n' }],
    ['by a relative import', { 'a/a.py': 'from ..b import b\n' }],
    ['where a third imports both', { 'train.py': 'import a.a\nimport b.b\n' }],
    ['where a chain of others does', { 'c/c.py': 'import a.a\nimport d.d\n', 'd/d.py': 'import b.b\n' }],
    ['where both import a third', { 'a/a.py': 'import c.c', 'b/b.py': 'from c import c', 'c/c.py': '' }],
    [
      'where both import a library in `src`',
      { 'a/a.py': 'import lib', 'b/b.py': 'import lib', 'src/lib/__init__.py': '' },
    ],
    [
      'that import parts of one package',
      {
        'x/__init__.py': '',
        'x/a/__init__.py': '',
        'x/b/__init__.py': '',
        'a/a.py': 'import x.a',
        'b/b.py': 'import x.b',
      },
    ],
    [
      'where `sys.path` is changed',
      { 'a/a.py': 'import sys\nsys.path.append("../b")\nfrom b import anything\n' },
    ],
    [
      'where only `PYTHONPATH` could find the file, and it has the names',
      {
        'a/a.py': 'from helper import (\n    shared,\n)',
        'b/deep/helper.py': 'def shared(): ...',
        'b/b.py': 'import deep.helper',
      },
    ],
    ['with a notebook above both', { 'explore.ipynb': '{}' }],
    ['with a folder of notebooks beside both', { 'notebooks/explore.ipynb': '{}' }],
    ['with a `conftest.py` above both', { 'conftest.py': '' }],
    [
      'where one computes the names of modules, and names the other',
      { 'a/a.py': 'importlib.import_module(f"b.{name}")\n' },
    ],
    ['where a third imports what it is told', { 'c/c.py': 'importlib.import_module(name)\n' }],
    ['where one makes what a configuration names', { 'a/a.py': 'net = hydra.utils.instantiate(cfg)\n' }],
    ['where one runs a file of the other', { 'a/a.py': 'runpy.run_path("../b/b.py")\n' }],
    ['where a file at the root computes names', { 'run.py': 'importlib.import_module(sys.argv[1])\n' }],
    ['where a file at the root runs others', { 'run.py': 'exec(open(path).read())\n' }],
    ['where a command line makes objects by their names', { 'cli.py': 'LightningCLI(run=False)\n' }],
  ])('%s', (_, files) => {
    expect(areApart(files)).toBe(false);
  });

  test('that are one', () => {
    expect(areApart({ 'a/other.py': '' }, 'a/a.py', 'a/other.py')).toBe(false);
  });
});

test('a project of many folders takes no longer than its size', () => {
  const many = Array.from({ length: 300 }, (_, index) => [
    `f${index}/m.py`,
    `import m\nimport other\nfrom shared.part${index} import x\nimport f${(index + 1) % 300}\n`,
  ]);
  const islands = islandsOf(Object.fromEntries(many));
  const taken = processorTime();
  expect(islands.areApart('f0/m.py', 'f150/m.py')).toBe(false);
  expect(islands.areApart('f0/m.py', 'a/a.py')).toBe(true);
  expect(taken()).toBeLessThan(8000);
});
