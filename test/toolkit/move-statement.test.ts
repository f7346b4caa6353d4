import { expect, it } from 'vitest';
import { applyEdits } from '../../src/edit/apply.js';
import { enclosingLoops, statementOf } from '../../src/semantic/statements.js';
import { EditBuilder, Proof, Unfixable } from '../../src/toolkit/index.js';
import { noGrad } from '../../transforms/no-grad.js';
import { moduleOf, nodeAt } from '../support/module.js';

/** The text after the statement of `here` was moved above the loop around it. */
function moved(text: string): string {
  const module = moduleOf(text);
  const statement = statementOf(nodeAt(module, 'here'));
  const loop = enclosingLoops(statement)[0];
  if (loop === undefined) throw new Error('the code has no loop');
  const edit = new EditBuilder(module, noGrad.meta);
  edit.moveStatement(statement, loop);
  const fix = edit.done('', new Proof());
  if (fix.kind !== 'fix') throw new Error(fix.reason);
  return applyEdits(text, fix.edits);
}

it('takes all lines of the statement and the comment behind it along', () => {
  expect(
    moved('if a:\n    for x in y:\n        here = [\n            1,\n        ]  # why\n        f(x)\n'),
  ).toBe('if a:\n    here = [\n        1,\n    ]  # why\n    for x in y:\n        f(x)\n');
  expect(moved('for x in y:\r\n\tf(x)\r\n\there = 1')).toBe('here = 1\r\nfor x in y:\r\n\tf(x)');
});

it('moves lines that end in a carriage return alone', () => {
  expect(moved('if a:\r    for x in y:\r        here = [\r            1,\r        ]\r        f(x)\r')).toBe(
    'if a:\r    here = [\r        1,\r    ]\r    for x in y:\r        f(x)\r',
  );
});

it('leaves the lines of a string as they are', () => {
  expect(
    moved('if a:\n    for x in y:\n        here = f("""\n        1\n2""",\n            3)\n        g(x)\n'),
  ).toBe('if a:\n    here = f("""\n        1\n2""",\n        3)\n    for x in y:\n        g(x)\n');
});

it('leaves no empty block, and no other code behind', () => {
  expect(() => moved('for x in y:\n    here = 1\n')).toThrow(Unfixable);
  expect(() => moved('for x in y:\n    here = 1; f(x)\n')).toThrow(Unfixable);
});
