import { describe, expect, it } from 'vitest';
import { applyEdits } from '../../src/edit/apply.js';
import { statementOf } from '../../src/semantic/statements.js';
import { EditBuilder, Proof, Unfixable } from '../../src/toolkit/index.js';
import { noGrad } from '../../transforms/no-grad.js';
import { moduleOf, nodeAt } from '../support/module.js';

const HELPER = ['def helper(step):', '\tprint(step)'];

/** The text after `say` has used the verbs of a builder on the statement of the first `here`. */
function built(text: string, say: (edit: EditBuilder, at: ReturnType<typeof nodeAt>) => void): string {
  const module = moduleOf(text);
  const edit = new EditBuilder(module, noGrad.meta);
  say(edit, statementOf(nodeAt(module, 'here')));
  const fix = edit.done('', new Proof());
  if (fix.kind !== 'fix') throw new Error(fix.reason);
  return applyEdits(text, fix.edits);
}

describe('defineFunction', () => {
  it('writes the function once per file', () => {
    const text = 'import a\n\n\ndef f():\n    here()\n';
    const define = (edit: EditBuilder, at: ReturnType<typeof nodeAt>) =>
      edit.defineFunction('helper', HELPER, at);
    const once = built(text, define);
    expect(once).toBe('import a\n\n\ndef helper(step):\n    print(step)\n\n\ndef f():\n    here()\n');
    expect(built(once, define)).toBe(once);
  });

  it.each([
    ['another signature', 'def helper(x):\n    pass\n\n\nhere()\n'],
    ['a variable', 'helper = 1\nhere()\n'],
    ['a local of the name', 'def f(helper):\n    here()\n'],
  ])('refuses a name that is taken by %s', (_, text) => {
    expect(() => built(text, (edit, at) => edit.defineFunction('helper', HELPER, at))).toThrow(Unfixable);
  });
});

describe('nestUnder', () => {
  it('goes with other edits inside', () => {
    const text = 'if x:\n    here()\n    last()\n';
    const after = built(text, (edit, at) => {
      edit.nestUnder('with off()', at, at.next);
      edit.append(at, '.more()');
    });
    expect(after).toBe('if x:\n    with off():\n        here().more()\n        last()\n');
  });

  it.each([
    ['a one-line suite', 'if x: here()\n'],
    ['a; b', 'here(); last()\n'],
  ])('refuses %s', (_, text) => {
    expect(() => built(text, (edit, at) => edit.nestUnder('with off()', at))).toThrow(Unfixable);
  });
});

describe('done', () => {
  it('joins insertions at one place in the order they were said', () => {
    const after = built('here()\n', (edit, at) => {
      edit.defineFunction('helper', HELPER, at);
      edit.insertStatementBefore(at, ['helper(0)']);
    });
    expect(after).toBe('def helper(step):\n    print(step)\n\n\nhelper(0)\nhere()\n');
  });
});
