import { expect, test } from 'vitest';
import { frame } from '../../src/report/frame.js';
import { inColor, noColor, type Paint } from '../../src/report/paint.js';
import { forTerminal } from '../../src/report/terminal.js';
import { Lines } from '../../src/text/lines.js';
import { processorTime } from '../support/processor-time.js';

function shown(text: string, snippet: string, width = 40, paint: Paint = noColor): string {
  const start = text.indexOf(snippet);
  const span = { start, end: start + snippet.length };
  return frame(new Lines(text), span, { paint, width, tone: 'yellow' }).join('\n');
}

test('two lines around the span, without blank ones at the rim', () => {
  expect(shown('a = 1\nb = 2\nc = 3\nd = 4\n\ne = 5\n', 'c = 3')).toBe(
    '  1 │ a = 1\n  2 │ b = 2\n  3 │ c = 3\n    │ ^^^^^\n  4 │ d = 4',
  );
});

test('line numbers of different length share a gutter', () => {
  const text = Array.from({ length: 12 }, (_, index) => `v${index + 1}\n`).join('');
  expect(shown(text, 'v9')).toBe('   7 │ v7\n   8 │ v8\n   9 │ v9\n     │ ^^\n  10 │ v10\n  11 │ v11');
});

test('tabs become spaces, also inside a line', () => {
  expect(shown('def f():\n\tkeep(x)\t# why\n', 'keep(x)')).toBe(
    '  1 │ def f():\n  2 │     keep(x) # why\n    │     ^^^^^^^',
  );
});

test('wide and joined characters keep the carets in place', () => {
  expect(shown("名 = '日本'; 損失.add(x)\n", '損失.add(x)')).toBe(
    "  1 │ 名 = '日本'; 損失.add(x)\n    │              ^^^^^^^^^^^",
  );
  expect(shown("s = '😀👨‍👩‍👧é'; f(x)\n", 'f(x)')).toBe(
    "  1 │ s = '😀👨‍👩‍👧é'; f(x)\n    │              ^^^^",
  );
});

test('a terminal is never given control characters of the file', () => {
  expect(shown('\fx = "\x1b[31m"; y\u202e = \x7f1\r\n', 'x = ')).toBe(
    '  1 │ ␌x = "␛[31m"; y� = ␡1\n    │  ^^^^',
  );
});

test('lines end as Python ends them', () => {
  expect(shown('a\rb\r\nc', 'b')).toBe('  1 │ a\n  2 │ b\n    │ ^\n  3 │ c');
});

test('a long line is clipped on the right', () => {
  expect(shown(`x = ${'a + '.repeat(20)}b`, 'a + a', 30)).toBe(
    '  1 │ x = a + a + a + a + a +…\n    │     ^^^^^',
  );
});

test('a span beyond the edge scrolls into view, its neighbours stay', () => {
  const text = `if ready:\n    y = ${'a + '.repeat(20)}total + b + c\n${'z'.repeat(60)}\n`;
  expect(shown(text, 'total', 30)).toBe(
    '  1 │ if ready:\n  2 │ …a + a + a + a + total …\n    │                  ^^^^^\n  3 │ zzzzzzzzzzzzzzzzzzzzzzz…',
  );
});

test('a span longer than the width is shown from its start', () => {
  expect(shown(`y = 1; call(${'argument, '.repeat(9)})\n`, `call(${'argument, '.repeat(9)})`, 30)).toBe(
    '  1 │ … call(argument, argume…\n    │   ^^^^^^^^^^^^^^^^^^^^^^',
  );
});

test('a span over several lines is marked in the gutter', () => {
  expect(shown('x = 0\ny = f(\n    1,\n)\nz = 2\n', 'f(\n    1,\n)')).toBe(
    '  1 │ x = 0\n  2 ┃ y = f(\n    ┃     ^^\n  3 ┃     1,\n  4 ┃ )\n  5 │ z = 2',
  );
});

test('of a very tall span the first lines are shown', () => {
  const call = `f(\n${'    1,\n'.repeat(7)})`;
  expect(shown(`${call}\n`, call)).toBe(
    '  1 ┃ f(\n    ┃ ^^\n  2 ┃     1,\n  3 ┃     1,\n  4 ┃     1,\n    ┃ … 5 more lines',
  );
});

test('an empty span still gets a caret, also in an empty file', () => {
  expect(shown('a\n', '')).toBe('  1 │ a\n    │ ^');
  expect(shown('', '')).toBe('  1 │\n    │ ^');
});

test('a line of megabytes takes no longer than a short one', () => {
  const line = `${'x'.repeat(2_500_000)} total += loss ${'y'.repeat(2_500_000)}`;
  const lines = new Lines(`a = 1\n${line}\nb = 2\n`);
  const start = line.indexOf('total') + 6;
  const taken = processorTime();
  const output = frame(lines, { start, end: start + 13 }, { paint: noColor, width: 50, tone: 'yellow' });
  expect(taken()).toBeLessThan(2_000);
  expect(output).toEqual([
    '  1 │ a = 1',
    '  2 │ …xxxxxxxxxxxxxxxxxxxxxxxxxxx total += loss …',
    '    │                              ^^^^^^^^^^^^^',
    '  3 │ b = 2',
  ]);
});

test('colour: the gutter recedes and the carets stand out', () => {
  expect(forTerminal(shown('x\n', 'x', 40, inColor))).toBe(
    '\x1b[38;5;243m  1 \x1b[39m\x1b[38;5;243m│\x1b[39m x\n\x1b[38;5;243m    \x1b[39m\x1b[38;5;243m│\x1b[39m \x1b[33m^\x1b[39m',
  );
});
