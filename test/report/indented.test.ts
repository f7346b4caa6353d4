import { expect, test } from 'vitest';
import { changeBlock } from '../../src/report/change-block.js';
import { changeRows } from '../../src/report/change-view.js';
import { noColor } from '../../src/report/paint.js';
import { shownHunks } from '../../src/report/shown-hunks.js';

const LOOP = ['for x in loader:', '    y = model(x)', '', '    n += 1', '    m += y.item()', 'print(n)', ''];
const UNDER = [
  ...['with torch.no_grad():', '    for x in loader:', '        y = model(x)', ''],
  ...['        n += 1', '        m += y.item()', 'print(n)', ''],
];

const rowsOf = (before: readonly string[], after: readonly string[]) =>
  changeRows({ before: before.join('\n'), after: after.join('\n') }, noColor, 60).map(({ text }) =>
    text.trimStart(),
  );

test('lines that are only put under another one are shown once, where they will be', () => {
  expect(rowsOf(LOOP, UNDER)).toEqual([
    '+ with torch.no_grad():',
    '1 →     for x in loader:',
    '2 →         y = model(x)',
    '3',
    '4 →         n += 1',
    '5 →         m += y.item()',
    '6   print(n)',
  ]);
});

test('a line whose words change, or that is indented less, is shown before and after', () => {
  const other = UNDER.map((line) => line.replace('m += y.item()', 'm += y'));
  expect(rowsOf(LOOP, other)).toContain('5 -     m += y.item()');
  expect(rowsOf(LOOP, other)).toContain('+         m += y');
  expect(rowsOf(UNDER, LOOP)).toContain('2 -     for x in loader:');
  expect(rowsOf(['a()', ''], ['if x:', '    a()', ''])).toEqual(['1 - a()', '+ if x:', '+     a()']);
});

test.each([['memfix diff'], ['memfix diff --unsafe-fixes']])(
  'the rest of a long block is counted, with a command that shows it: %s',
  (command) => {
    const body = Array.from({ length: 30 }, (_, at) => `    step${at}()`);
    const before = ['for x in loader:', ...body, ''].join('\n');
    const after = [
      'with torch.no_grad():',
      '    for x in loader:',
      ...body.map((line) => `    ${line}`),
      '',
    ].join('\n');
    const style = { paint: noColor, width: 80, margin: '  ', most: 14, command, file: 'a.py' };
    const lines = changeBlock(shownHunks(before, after), style);
    expect(lines[0]).toBe('     │ + with torch.no_grad():');
    expect(lines.at(-1)).toBe(`     ┆ and 18 more lines, indented: ${command} a.py`);
  },
);
