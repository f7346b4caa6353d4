import { expect, it } from 'vitest';
import { applyEdits } from '../../src/edit/apply.js';
import { EditBuilder, Proof } from '../../src/toolkit/index.js';
import { noGrad } from '../../transforms/no-grad.js';
import { moduleOf, nodeAt } from '../support/module.js';

/** The text after the value of `y = …` was detached. */
function detached(text: string): string {
  const module = moduleOf(text);
  const value = nodeAt(module, 'y').closest('assignment')?.right;
  if (value === undefined) throw new Error('nothing is assigned');
  const edit = new EditBuilder(module, noGrad.meta);
  edit.appendCall(value, '.detach()');
  const fix = edit.done('', new Proof());
  if (fix.kind !== 'fix') throw new Error(fix.reason);
  return applyEdits(text, fix.edits);
}

it.each([
  ['y = x\n', 'y = x.detach()\n'],
  ['y = f(x)  # why\n', 'y = f(x).detach()  # why\n'],
  ['y = x["a"]\n', 'y = x["a"].detach()\n'],
  ['y = (a + b)\n', 'y = (a + b).detach()\n'],
])('follows %j as it stands', (before, after) => {
  expect(detached(before)).toBe(after);
});

it.each([
  ['y = a + b\n', 'y = (a + b).detach()\n'],
  ['y = -x\n', 'y = (-x).detach()\n'],
  ['y = a if b else c\n', 'y = (a if b else c).detach()\n'],
  ['y = a + \\\n    b\n', 'y = (a + \\\n    b).detach()\n'],
])('puts %j into parentheses', (before, after) => {
  expect(detached(before)).toBe(after);
});
