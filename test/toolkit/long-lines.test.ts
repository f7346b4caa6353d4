import { describe, expect, it } from 'vitest';
import { applyEdits } from '../../src/edit/apply.js';
import { lineLimit } from '../../src/syntax/long-lines.js';
import { EditBuilder, Proof } from '../../src/toolkit/index.js';
import { noGrad } from '../../transforms/no-grad.js';
import { moduleOf, nodeAt } from '../support/module.js';

const MORE = `more=${'x'.repeat(55)}`;
const MADE = `some_one.with_a_rather_long_name${'_'.repeat(20)}`;

/** The text after the first call of `f` got a long keyword. */
function grown(text: string): string {
  const module = moduleOf(text);
  const call = nodeAt(module, 'f(').closest('call');
  if (call === undefined) throw new Error('nothing is called');
  const edit = new EditBuilder(module, noGrad.meta);
  edit.appendKeyword(call, 'more', 'x'.repeat(55));
  const fix = edit.done('', new Proof());
  if (fix.kind !== 'fix') throw new Error(fix.reason);
  return applyEdits(text, fix.edits);
}

describe('a list that grows', () => {
  it.each([
    ['stays on its line where that is short enough', 'f(a)\n', `f(a, ${MORE})\n`],
    ['is broken as formatters do', `${MADE}.f(a)\n`, `${MADE}.f(\n    a, ${MORE}\n)\n`],
    ['is broken where it was empty', `${MADE}.f()\n`, `${MADE}.f(\n    ${MORE}\n)\n`],
    ['keeps what is behind it', `${MADE}.f(a)[0]  # why\n`, `${MADE}.f(\n    a, ${MORE}\n)[0]  # why\n`],
    ['keeps its newlines', `${MADE}.f(a)\r\n`, `${MADE}.f(\r\n    a, ${MORE}\r\n)\r\n`],
    ['keeps tabs', `if x:\n\t${MADE}.f(a)\n`, `if x:\n\t${MADE}.f(\n\t\ta, ${MORE}\n\t)\n`],
    [
      'is broken in the outermost brackets that suffice',
      `${MADE}(h(f(a)), b)\n`,
      `${MADE}(\n    h(f(a, ${MORE})), b\n)\n`,
    ],
    [
      'is broken further in where that is not enough',
      `g(${MADE}.f(a), b)\n`,
      `g(${MADE}.f(\n    a, ${MORE}\n), b)\n`,
    ],
    ['stays where no break would do', `f("${MADE}")\n`, `f("${MADE}", ${MORE})\n`],
    [
      'stays where other lines are as long',
      `${MADE}.${MADE}.${MADE}\n${MADE}.f(a)\n`,
      `${MADE}.${MADE}.${MADE}\n${MADE}.f(a, ${MORE})\n`,
    ],
    ['stays where it has several lines', `${MADE}.f(\n    a, b)\n`, `${MADE}.f(\n    a, b, ${MORE})\n`],
  ])('%s', (_, before, after) => {
    expect(grown(before)).toBe(after);
  });
});

it('takes the limit of a file from its longest line, without comments at its end', () => {
  expect(lineLimit('x\n')).toBe(88);
  expect(lineLimit(`${'x'.repeat(90)}  # ${'y'.repeat(90)}\r\nx\n`)).toBe(100);
  expect(lineLimit(`${'x'.repeat(121)}\n`)).toBe(Number.POSITIVE_INFINITY);
});
