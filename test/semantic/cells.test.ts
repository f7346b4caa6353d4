import { describe, expect, test } from 'vitest';
import { reachingDefinitions } from '../../src/semantic/flow.js';
import { PyModule } from '../../src/semantic/module.js';
import { isAlwaysAfter, mayLead } from '../../src/semantic/paths.js';
import { loadParser } from '../../src/syntax/parser.js';

const parser = await loadParser();

/** Cells of a notebook, as one program that is run in order, or in any order. */
function moduleOf(cells: readonly string[], inAnyOrder: boolean): PyModule {
  const text = cells.map((cell) => `${cell}\n`).join('');
  const starts = cells.map((_, index) =>
    cells.slice(0, index).reduce((sum, cell) => sum + cell.length + 1, 0),
  );
  return new PyModule(
    'a.ipynb',
    text,
    parser.parse(text),
    undefined,
    undefined,
    undefined,
    inAnyOrder ? starts : [],
  );
}

function nodeAt(module: PyModule, word: string, nth = 0) {
  const node = module.words(word)[nth];
  if (node === undefined) throw new Error(`there is no ${word}`);
  return node;
}

const linesOf = (module: PyModule, nth: number) =>
  reachingDefinitions(module, nodeAt(module, 'x', nth))
    ?.map(({ node }) => module.lines.lineAt(node.start))
    .sort();

describe('the cells of a notebook', () => {
  const cells = ['x = 1', 'y = x\nx = 2', 'x = 3'];

  test('are a program from top to bottom', () => {
    const module = moduleOf(cells, false);
    expect(linesOf(module, 1)).toEqual([1]);
    expect(mayLead(module, nodeAt(module, 'x', 3), nodeAt(module, 'x', 1))).toBe(false);
    expect(isAlwaysAfter(module, nodeAt(module, 'x', 1), [nodeAt(module, 'x', 0)], undefined)).toBe(true);
  });

  test('run in any order, again, and not at all', () => {
    const module = moduleOf(cells, true);
    expect(linesOf(module, 1)).toEqual([1, 3, 4]);
    expect(mayLead(module, nodeAt(module, 'x', 3), nodeAt(module, 'x', 1))).toBe(true);
    expect(isAlwaysAfter(module, nodeAt(module, 'x', 1), [nodeAt(module, 'x', 0)], undefined)).toBe(false);
  });

  test('run from their own first line', () => {
    const module = moduleOf(['x = 1\ny = x', 'x = 2'], true);
    expect(linesOf(module, 1)).toEqual([1]);
    expect(isAlwaysAfter(module, nodeAt(module, 'x', 1), [nodeAt(module, 'x', 0)], undefined)).toBe(true);
  });

  test('may be stopped anywhere', () => {
    const module = moduleOf(['x = 1\nx = 2', 'y = x'], true);
    expect(linesOf(module, 2)).toEqual([1, 2]);
  });

  test('leave the code of functions as it is', () => {
    const module = moduleOf(['def f():\n    x = 1\n    x = 2\n    return x'], true);
    expect(linesOf(module, 2)).toEqual([3]);
  });
});
