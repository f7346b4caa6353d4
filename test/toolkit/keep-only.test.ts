import { expect, it } from 'vitest';
import { applyEdits } from '../../src/edit/apply.js';
import { receiverOf } from '../../src/semantic/statements.js';
import { EditBuilder, Proof, Unfixable } from '../../src/toolkit/index.js';
import { noGrad } from '../../transforms/no-grad.js';
import { moduleOf, nodeAt } from '../support/module.js';

/** The text after `….to(…)` has given way to what it was called on. */
function kept(text: string): string {
  const module = moduleOf(text);
  const whole = nodeAt(module, 'to').closest('call');
  const part = whole && receiverOf(whole);
  if (whole === undefined || part === undefined) throw new Error('the code moves nothing');
  const edit = new EditBuilder(module, noGrad.meta);
  edit.keepOnly(whole, part);
  const fix = edit.done('', new Proof());
  if (fix.kind !== 'fix') throw new Error(fix.reason);
  return applyEdits(text, fix.edits);
}

it('leaves the part as it was written', () => {
  expect(kept('y = f( x ,).to(d)  # why\n')).toBe('y = f( x ,)  # why\n');
  expect(kept('y = (\n    f(x)\n    .to(\n        d\n    )\n)\n')).toBe('y = (\n    f(x)\n)\n');
});

it('does not lose a comment', () => {
  expect(() => kept('y = (\n    f(x)  # why\n    .to(d)\n)\n')).toThrow(Unfixable);
  expect(kept('y = (\n    f(x  # why\n    ).to(d)\n)\n')).toBe('y = (\n    f(x  # why\n    )\n)\n');
});
