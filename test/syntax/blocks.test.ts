import { describe, expect, it } from 'vitest';
import { applyEdits } from '../../src/edit/apply.js';
import { statementOf } from '../../src/semantic/statements.js';
import { dedent, defineAbove, definitionPlace, joinUnder, nestUnder } from '../../src/syntax/blocks.js';
import { moduleOf, nodeAt } from '../support/module.js';

/** The statements from `first` to `last` under `with off()`; undefined where that is refused. */
function nested(text: string, first = 'first', last = first): string | undefined {
  const module = moduleOf(text);
  const statement = (word: string) => statementOf(nodeAt(module, word));
  const edits = nestUnder(module, statement(first), statement(last), 'with off()');
  return edits && applyEdits(text, edits);
}

/** The statement `first()` under `with off()`; what is called `plain` may be between. */
function joined(text: string): string | undefined {
  const module = moduleOf(text);
  const first = statementOf(nodeAt(module, 'first'));
  const edits = joinUnder(module, first, first, 'with off()', (each) => each.text.startsWith('plain'));
  return edits && applyEdits(text, edits);
}

describe('joinUnder', () => {
  it.each([
    [
      'the block above takes it in, with comments',
      'with off():\n  a()\n\n# why\nfirst()\nb()\n',
      'with off():\n  a()\n\n  # why\n  first()\nb()\n',
    ],
    [
      'the block below does',
      'if x:\n\tfirst()\n\t# why\n\twith off():\n\t\t# a\n\t\ta()\n',
      'if x:\n\twith off():\n\t\tfirst()\n\t\t# why\n\t\t# a\n\t\ta()\n',
    ],
    [
      'both become one',
      'with off():\r\n    a()\r\nfirst()\r\nplain(\r\n)\r\nwith off() :\r\n    b()\r\n',
      'with off():\r\n    a()\r\n    first()\r\n    plain(\r\n    )\r\n    b()\r\n',
    ],
    [
      'not over what needs gradients',
      'with off():\n    a()\nloss()\nfirst()\n',
      'with off():\n    a()\nloss()\nwith off():\n    first()\n',
    ],
    [
      'not over too much',
      'with off():\n    a()\nplain()\nplain()\nplain()\nplain()\nfirst()\n',
      'with off():\n    a()\nplain()\nplain()\nplain()\nplain()\nwith off():\n    first()\n',
    ],
    [
      'not where the header has a comment or another item, or its body stands beside it',
      'with off(), b():\n    a()\nfirst()\nwith off():  # why\n    a()\n',
      'with off(), b():\n    a()\nwith off():\n    first()\nwith off():  # why\n    a()\n',
    ],
    ['nor a one-line suite', 'with off(): a()\nfirst()\n', 'with off(): a()\nwith off():\n    first()\n'],
    [
      'the indentation of the block counts',
      'def f():\n    with off():\n      a()\n    first()\n',
      'def f():\n    with off():\n      a()\n      first()\n',
    ],
  ])('%s', (_, text, expected) => {
    expect(joined(text)).toBe(expected);
  });
});

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
