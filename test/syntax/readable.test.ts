import { expect, test } from 'vitest';
import type { PyNode } from '../../src/syntax/node.js';
import { outlineOf } from '../../src/syntax/outline.js';
import { loadParser } from '../../src/syntax/parser.js';
import { LONG_RUN, readable } from '../../src/syntax/readable.js';

/** Nodes with their places, without what the grammar has between tokens. */
function shape(node: PyNode, shift: (offset: number) => number): readonly unknown[] {
  const inner = node.children.filter(({ type }) => type !== 'comment' && type !== 'line_continuation');
  return [node.type, shift(node.start), shift(node.end), ...inner.map((child) => shape(child, shift))];
}

/** Runs of lines without code, by what one of their lines is, and the code around them. */
const RUNS: readonly (readonly [name: string, before: string, line: string, after: string])[] = [
  ['continuations in an expression', 'x = \\\n', '\\\n', '1\ny = 2\n'],
  ['indented continuations', 'x = \\\n', '  \\\n', '1\ny = 2\n'],
  ['continuations with carriage returns', 'x = \\\r\n', '\\\r\n', '1\r\ny = 2\r\n'],
  ['continuations in brackets', 'f(\\\n', ' \\\n', '1)\n'],
  ['continuations before a statement', 'x = 1\n', '\\\n', 'y = 2\n'],
  ['continuations before a statement of a block', 'def f():\n    x = 1\n', '\\\n', '    y = 2\nz = 3\n'],
  ['continuations in a string', "x = 'a\\\n", '\\\n', "b'\ny = 2\n"],
  ['comments', 'x = 1\n', '# c\n', 'y = 2\n'],
  ['comments and blank lines', 'def f():\n    x = 1\n', '    # c\n\n', '    y = 2\n'],
  ['comments with a line separator', 'x = 1\n', '# c\u2028\\\n', 'y = 2\n'],
  ['comments and continuations', 'x = 1\n', '\\\n# c\n', 'y = 2\n'],
];

test.each(RUNS)('%s: a long run reads as a short one', async (_, before, line, after) => {
  const parser = await loadParser();
  const few = LONG_RUN / 4;
  const many = LONG_RUN * 4;
  const [short, long] = [few, many].map((count) => before + line.repeat(count) + after);
  const read = readable(long ?? '');
  expect(read).toHaveLength(long?.length ?? 0);
  expect(read).not.toBe(long);
  expect(readable(short ?? '')).toBe(short);
  const shift = (offset: number) => (offset <= before.length ? offset : offset - line.length * (many - few));
  const trees = {
    whole: parser.parse(long ?? ''),
    short: parser.parse(short ?? ''),
  };
  expect(trees.short.hasError).toBe(false);
  expect(trees.whole.hasError).toBe(false);
  const expected = shape(trees.short.root, (offset) => offset);
  // A string's own parts may be fewer: nobody looks into a text of that kind.
  if (line.includes('\\') && before.includes("'")) return;
  expect(shape(trees.whole.root, shift)).toEqual(expected);
  const outline = outlineOf(long ?? '');
  if (outline === undefined) return;
  expect(outline.longestRun).toBeGreaterThanOrEqual(LONG_RUN);
  expect(shape(parser.parseInPieces(long ?? '', outline).root, shift)).toEqual(expected);
});

test('what may matter in a run stays', () => {
  const kept = ['# memfix: ignore[x]\n', "# '''\n", '# """\n'];
  const text = `${'# c\n'.repeat(LONG_RUN)}${kept.join('')}${'# c\n'.repeat(3)}`;
  expect(readable(text)).toBe(`${'   \n'.repeat(LONG_RUN)}${kept.join('')}${'   \n'.repeat(3)}`);
});

/** A statement of `f`, or one after it: what CPython makes of the indentation of `x`. */
test.each([
  ['the first line decides', 'def f():\n    a\n    \\\n        x\n', 'block'],
  ['further in', 'def f():\n    if a:\n        b\n    \\\n        x\n', 'block'],
  ['nothing before it', 'def f():\n    a\n\\\n    x\n', 'block'],
  ['of several lines, the first with any', 'def f():\n    a\n\\\n    \\\n  \\\n            x\n', 'block'],
  ['with carriage returns', 'def f():\r\n    a\r\n    \\\r\n  x\r\n', 'block'],
  ['tabs', 'def f():\n\ta\n\t\\\n\tx\n', 'block'],
  ['a form feed starts over', 'def f():\n    a\n        \f    \\\n            x\n', 'block'],
  ['none at all', 'def f():\n    a\n\\\nx\n', 'module'],
])('an indentation in several lines is that of Python: %s', async (_, text, around) => {
  const tree = (await loadParser()).parse(text);
  expect(tree.hasError).toBe(false);
  expect(readable(text)).toHaveLength(text.length);
  const { parent: statement } = tree.root.descendantAt(text.lastIndexOf('x'));
  expect(statement?.parent?.type).toBe(around);
  const block = statement?.parent?.named[0];
  expect(
    text.slice(block?.start).startsWith(around === 'module' ? 'def' : text.includes('if a') ? 'if' : 'a'),
  ).toBe(true);
});
