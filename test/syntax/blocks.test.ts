import { describe, expect, it } from 'vitest';
import { applyEdits } from '../../src/edit/apply.js';
import { statementOf } from '../../src/semantic/statements.js';
import { dedent, defineAbove, definitionPlace, nestUnder } from '../../src/syntax/blocks.js';
import { moduleOf, nodeAt } from '../support/module.js';

/** The statements from `first` to `last` under `with off()`; undefined where that is refused. */
function nested(text: string, first = 'first', last = first): string | undefined {
  const module = moduleOf(text);
  const statement = (word: string) => statementOf(nodeAt(module, word));
  const edits = nestUnder(module, statement(first), statement(last), 'with off()');
  return edits && applyEdits(text, edits);
}

describe('nestUnder', () => {
  it.each([
    ['one statement', 'first()\nrest()\n', 'with off():\n    first()\nrest()\n'],
    ['a block', 'def f():\n  first()\n  rest()\n', 'def f():\n  with off():\n    first()\n  rest()\n'],
    ['tabs', 'def f():\n\tfirst()\n', 'def f():\n\twith off():\n\t\tfirst()\n'],
    ['a loop', 'for first in x:\n\n    a()\n', 'with off():\n    for first in x:\n\n        a()\n'],
    ['no final newline', 'first(\n  1)', 'with off():\n  first(\n    1)'],
    ['CRLF', 'first(\r\n1)\r\n', 'with off():\r\n    first(\r\n    1)\r\n'],
    ['backslash', 'first = 1 + \\\n    2\n', 'with off():\n    first = 1 + \\\n        2\n'],
    [
      'strings over several lines keep their bytes',
      'def f():\n    first("""a\n  b\n""", x)\n',
      'def f():\n    with off():\n        first("""a\n  b\n""", x)\n',
    ],
    [
      'formatted strings too',
      "def f():\n    first(f'''{\n a}\n''')\n",
      "def f():\n    with off():\n        first(f'''{\n a}\n''')\n",
    ],
    [
      'comments inside, at the end and out of line',
      'def f():\n    for first in x:\n        a()  # why\n# left\n        # end\n    # next\n    rest()\n',
      'def f():\n    with off():\n        for first in x:\n            a()  # why\n    # left\n            # end\n    # next\n    rest()\n',
    ],
    ['a comment above', '# about\nfirst()\n', '# about\nwith off():\n    first()\n'],
    [
      'else and except',
      'for first in x:\n    a()\nelse:\n    b()\n',
      'with off():\n    for first in x:\n        a()\n    else:\n        b()\n',
    ],
    ['a; b below', 'for first in x:\n    a(); b()\n', 'with off():\n    for first in x:\n        a(); b()\n'],
  ])('%s', (_, text, expected) => {
    expect(nested(text)).toBe(expected);
  });

  it('takes several statements with what is between them', () => {
    expect(nested('def f():\n    first()\n\n    # why\n    last()\n    rest()\n', 'first', 'last')).toBe(
      'def f():\n    with off():\n        first()\n\n        # why\n        last()\n    rest()\n',
    );
  });

  it.each([
    ['a form feed', '\ffirst()\n'],
    ['lines without a common indentation', 'if x:\n\tfor first in y:\n            a()\n'],
  ])('refuses %s', (_, text) => {
    expect(nested(text)).toBeUndefined();
  });
});

describe('dedent', () => {
  const dedented = (text: string): string | undefined => {
    const module = moduleOf(text);
    const statement = statementOf(nodeAt(module, 'first'));
    const edits = dedent(module, statement, statementOf(nodeAt(module, 'last')), '    ');
    return edits && applyEdits(text, edits);
  };

  it('takes one step of indentation away', () => {
    expect(
      dedented(
        'if x:\n    if y:\n        first(\n            1)\n\n        # c\n        last = """\n  s"""\n',
      ),
    ).toBe('if x:\n    if y:\n    first(\n        1)\n\n    # c\n    last = """\n  s"""\n');
  });

  it('refuses lines that stand too far out', () => {
    expect(dedented('if x:\n    if y:\n        first(\n  1)\n        last()\n')).toBeUndefined();
  });
});

describe('definitionPlace and defineAbove', () => {
  const defined = (text: string, at: string): string => {
    const module = moduleOf(text);
    const place = definitionPlace(module, nodeAt(module, at));
    if (place === undefined) throw new Error('the sample has no place');
    return applyEdits(text, [defineAbove(module, place, ['def new():', '\tpass'])]);
  };
  const NEW = 'def new():\n    pass\n\n\n';

  it.each([
    ['above the first function', 'import a\n\n\ndef f():\n    here()\n', 3],
    ['above its comment', 'import a\n\n\n# about f\n@a\ndef f():\n    here()\n', 3],
    ['behind guarded imports', 'try:\n    import a\nexcept E:\n    a = None\n\n\ndef f():\n    here()\n', 6],
    ['behind later imports', 'if x:\n    pass\n\nimport a\n\n\nwhile x:\n    here()\n', 6],
    ['above the first function, whatever comes later', 'def g():\n    pass\n\n\nimport a\n\n\nhere()\n', 0],
    ['above the place itself', 'import a\n\n\nhere()\n\n\ndef f():\n    pass\n', 3],
    ['behind constants', 'import a\nN = 1\nset(N)\n\n\nif x:\n    here()\n', 5],
    ['on the first line', 'def f():\n    here()\n', 0],
  ])('%s', (_, text, line) => {
    const lines = text.split('\n');
    const expected = `${lines
      .slice(0, line)
      .map((each) => `${each}\n`)
      .join('')}${NEW}${lines.slice(line).join('\n')}`;
    expect(defined(text, 'here')).toBe(expected);
  });

  it('adds the blank lines that are missing', () => {
    expect(defined('import a\nfor x in y:\n\there()\n', 'here')).toBe(
      'import a\n\n\ndef new():\n\tpass\n\n\nfor x in y:\n\there()\n',
    );
  });
});
