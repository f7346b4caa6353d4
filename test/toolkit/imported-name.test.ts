import { describe, expect, it } from 'vitest';
import { applyEdits } from '../../src/edit/apply.js';
import { EditBuilder, Proof } from '../../src/toolkit/index.js';
import { moduleOf, nodeAt } from '../support/module.js';
import { metaOf } from '../support/toy.js';

const meta = metaOf('toy-import');

/** Writes `lib.Thing` in place of `HERE`. */
function written(text: string): { text: string; imports: readonly string[] } {
  const module = moduleOf(text);
  const edit = new EditBuilder(module, meta);
  const at = nodeAt(module, 'HERE');
  edit.replace(at, edit.importedName('lib.Thing', at));
  const fix = edit.done('Write it', new Proof());
  if (fix.kind !== 'fix') throw new Error(fix.reason);
  return { text: applyEdits(text, fix.edits), imports: fix.imports.map(({ module: name }) => name) };
}

describe('importedName', () => {
  it.each([
    ['a name that is there', 'from lib import Thing as T\nHERE\n', 'from lib import Thing as T\nT\n'],
    ['the package', 'import lib\nHERE\n', 'import lib\nlib.Thing\n'],
    [
      'a line',
      'from lib import A, B as C  # why\nHERE\n',
      'from lib import A, B as C, Thing  # why\nThing\n',
    ],
    [
      'lines',
      'from lib import (\n    A,\n    B,\n)\nHERE\n',
      'from lib import (\n    A,\n    B,\n    Thing,\n)\nThing\n',
    ],
    ['a backslash', 'from lib import A, \\\n    B\nHERE\n', 'from lib import A, \\\n    B, Thing\nThing\n'],
    [
      'a function above',
      'def f():\n    HERE\nfrom lib import A\n',
      'def f():\n    Thing\nfrom lib import A, Thing\n',
    ],
  ])('extends %s', (_, before, after) => {
    expect(written(before)).toEqual({ text: after, imports: [] });
  });

  it.each([
    ['nothing is imported', 'HERE\n'],
    ['it comes later', 'HERE\nfrom lib import A\n'],
    ['it is conditional', 'try:\n    from lib import A\nexcept ImportError:\n    pass\nHERE\n'],
    ['it is of a part', 'from lib.part import A\nHERE\n'],
    ['the name is taken', 'from lib import A\nThing = 1\nHERE\n'],
  ])('asks for the package where %s', (_, before) => {
    expect(written(before)).toEqual({ text: before.replace('HERE', 'lib.Thing'), imports: ['lib'] });
  });
});
