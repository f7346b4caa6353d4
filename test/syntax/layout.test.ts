import { describe, expect, it } from 'vitest';
import { applyEdits } from '../../src/edit/apply.js';
import type { Edit } from '../../src/edit/edit.js';
import type { PyModule } from '../../src/semantic/module.js';
import { statementOf } from '../../src/semantic/statements.js';
import { entryAfter, keywordAfter } from '../../src/syntax/arguments.js';
import {
  decorate,
  insertAfter,
  insertBefore,
  ownsItsLines,
  removeStatement,
  replaceStatement,
} from '../../src/syntax/layout.js';
import { moduleOf, nodeAt } from '../support/module.js';

function edited(text: string, edits: (module: PyModule) => readonly Edit[]): string {
  return applyEdits(text, edits(moduleOf(text)));
}

/** Adds `more=1` behind the argument `on`. */
function withMore(text: string): string {
  return edited(text, (module) => {
    const keyword = nodeAt(module, 'on').closest('keyword_argument');
    if (keyword === undefined) throw new Error('the sample has no keyword `on`');
    return keywordAfter(module, keyword, 'more', '1');
  });
}

describe('keywordAfter', () => {
  it.each([
    ['a trailing comma', 'f(\n    on=True,\n)\n', 'f(\n    on=True,\n    more=1,\n)\n'],
    ['no trailing comma', 'f(\n    on=True\n)\n', 'f(\n    on=True,\n    more=1\n)\n'],
    ['another below', 'f(\n    on=True,\n    x=2\n)\n', 'f(\n    on=True,\n    more=1,\n    x=2\n)\n'],
    ['a trailing comment', 'f(\n    on=True,  # why\n)\n', 'f(\n    on=True,  # why\n    more=1,\n)\n'],
    ['a comment, no comma', 'f(\n    on=True  # why\n)\n', 'f(\n    on=True,  # why\n    more=1\n)\n'],
    [
      'comment-only last lines',
      'f(\n    on=True,\n    # x=2,\n    # y=3,\n)\n',
      'f(\n    on=True,\n    more=1,\n    # x=2,\n    # y=3,\n)\n',
    ],
    [
      'comment-only last lines, no comma',
      'f(\n    on=True\n    # x=2,\n)\n',
      'f(\n    on=True,\n    more=1\n    # x=2,\n)\n',
    ],
    ['a closing parenthesis', 'f(a,\n  on=True)\n', 'f(a,\n  on=True,\n  more=1)\n'],
    ['a closing parenthesis behind a comma', 'f(a,\n  on=True, )\n', 'f(a,\n  on=True,\n  more=1, )\n'],
    ['one line', 'f(a, on=True, x=2)\n', 'f(a, on=True, more=1, x=2)\n'],
    ['one line, last', 'f(a, on=True)\n', 'f(a, on=True, more=1)\n'],
    ['one line, trailing comma', 'f(a, on=True,)\n', 'f(a, on=True, more=1,)\n'],
    [
      'neighbours on its line',
      'f(\n    a=1, on=True,\n    x=2,\n)\n',
      'f(\n    a=1, on=True, more=1,\n    x=2,\n)\n',
    ],
    ['a neighbour behind it', 'f(\n    on=True, x=2,\n)\n', 'f(\n    on=True, more=1, x=2,\n)\n'],
    ['spaces around =', 'f(\n    on = True,\n)\n', 'f(\n    on = True,\n    more = 1,\n)\n'],
    ['one-sided spaces', 'f(on =True)\n', 'f(on =True, more =1)\n'],
    [
      'leading commas',
      'f(\n    a=1\n    , on=True\n    , x=2\n)\n',
      'f(\n    a=1\n    , on=True\n    , more=1\n    , x=2\n)\n',
    ],
    [
      'leading commas and a comment',
      'f(\n    a=1\n  , on=True  # why\n)\n',
      'f(\n    a=1\n  , on=True  # why\n  , more=1\n)\n',
    ],
    [
      'a comma on the next line',
      'f(\n    on=True\n    , x=2\n)\n',
      'f(\n    on=True, more=1\n    , x=2\n)\n',
    ],
    ['tabs', 'f(\n\t\ton=True,\n)\n', 'f(\n\t\ton=True,\n\t\tmore=1,\n)\n'],
    ['a form feed', 'f(\n\f    on=True,\n)\n', 'f(\n\f    on=True,\n    more=1,\n)\n'],
    ['CRLF', 'f(\r\n    on=True,\r\n)\r\n', 'f(\r\n    on=True,\r\n    more=1,\r\n)\r\n'],
    ['CRLF, no comma', 'f(\r\n    on=True\r\n)\r\n', 'f(\r\n    on=True,\r\n    more=1\r\n)\r\n'],
    ['lone CR', 'f(\r    on=True,\r)\r', 'f(\r    on=True,\r    more=1,\r)\r'],
    ['mixed newlines', 'f(\n    on=True,\r\n)\n', 'f(\n    on=True,\r\n    more=1,\r\n)\n'],
    ['an emoji', 'f(a="🔥", on=True)  # 🔥\n', 'f(a="🔥", on=True, more=1)  # 🔥\n'],
    ['a backslash', 'f(a, \\\n  on=True)\n', 'f(a, \\\n  on=True, more=1)\n'],
  ])('with %s', (_, before, after) => {
    expect(withMore(before)).toBe(after);
  });

  it('takes the spaces around = only where nothing else stands there', () => {
    expect(withMore('f(on= # why\n  True)\n')).toBe('f(on= # why\n  True, more=1)\n');
  });
});

describe('entryAfter', () => {
  it.each([
    ['lines', 'd = {\n    "on": 1,  # why\n}\n', 'd = {\n    "on": 1,  # why\n    "more": 1,\n}\n'],
    ['a last entry without a comma', "d = {\n    'on': 1\n}\n", "d = {\n    'on': 1,\n    'more': 1\n}\n"],
    ['a closing brace', 'd = {\n    "on": 1}\n', 'd = {\n    "on": 1,\n    "more": 1}\n'],
    ['one line', 'd = {"on": 1, "x": 2}\n', 'd = {"on": 1, "more": 1, "x": 2}\n'],
  ])('with %s', (_, before, after) => {
    const added = edited(before, (module) => {
      const pair = nodeAt(module, 'on').closest('pair');
      if (pair === undefined) throw new Error('the sample has no entry `on`');
      return entryAfter(module, pair, 'more', '1');
    });
    expect(added).toBe(after);
  });
});

describe('insertBefore', () => {
  const inserted = (text: string, ...lines: readonly string[]): string =>
    edited(text, (module) => [insertBefore(module, statementOf(nodeAt(module, 'save')), lines)]);

  it.each([
    ['module level', 'save()\n', 'NEW\nsave()\n'],
    ['a block', 'def f():\n    save()\n', 'def f():\n    NEW\n    save()\n'],
    ['a comment above', 'if a:\n  # why\n  save()\n', 'if a:\n  # why\n  NEW\n  save()\n'],
    ['tabs', 'if a:\n\tif b:\n\t\tsave()\n', 'if a:\n\tif b:\n\t\tNEW\n\t\tsave()\n'],
    ['CRLF', 'if a:\r\n    save()\r\n', 'if a:\r\n    NEW\r\n    save()\r\n'],
    ['lone CR', 'if a:\r    save()\r', 'if a:\r    NEW\r    save()\r'],
    ['no final newline', 'if a:\n    save()', 'if a:\n    NEW\n    save()'],
    ['no newline at all', 'save()', 'NEW\nsave()'],
    ['a form feed', 'a()\n\fsave()\n', 'a()\n\fNEW\nsave()\n'],
    [
      'several lines',
      'if a:\n    save(\n        b,\n    )\n',
      'if a:\n    NEW\n    save(\n        b,\n    )\n',
    ],
    ['a backslash', '(a) \\\n    .save()\n', 'NEW\n(a) \\\n    .save()\n'],
  ])('at %s', (_, before, after) => {
    expect(inserted(before, 'NEW')).toBe(after);
  });

  it('indents each leading tab by the unit of the place', () => {
    expect(inserted('if a:\n  save()\n', 'if b:', '\tNEW')).toBe('if a:\n  if b:\n    NEW\n  save()\n');
    expect(inserted('if a:\n\tsave()\n', 'if b:', '\tNEW')).toBe('if a:\n\tif b:\n\t\tNEW\n\tsave()\n');
    expect(inserted('save()\nif a:\n  b()\n', 'if b:', '\tNEW')).toBe('if b:\n  NEW\nsave()\nif a:\n  b()\n');
  });
});

describe('insertAfter', () => {
  const inserted = (text: string): string =>
    edited(text, (module) => [insertAfter(module, statementOf(nodeAt(module, 'train')), ['NEW'])]);

  it.each([
    ['a block', 'if a:\n    train()\n    b()\n', 'if a:\n    train()\n    NEW\n    b()\n'],
    ['a comment behind', 'train()  # long\n', 'train()  # long\nNEW\n'],
    ['no final newline', 'if a:\n\ttrain()', 'if a:\n\ttrain()\n\tNEW'],
    ['several lines', 'if a:\r\n  x = train(\r\n  )\r\n', 'if a:\r\n  x = train(\r\n  )\r\n  NEW\r\n'],
  ])('at %s', (_, before, after) => {
    expect(inserted(before)).toBe(after);
  });
});

describe('ownsItsLines', () => {
  it.each([
    ['save()\n', true],
    ['save()  # why\n', true],
    ['if a:\n    save(\n    )  # why\n', true],
    ['# a comment \\\nsave()\n', true],
    ['if a: save()\n', false],
    ['if a: \\\n    save()\n', false],
    ['a(); save()\n', false],
    ['save(); a()\n', false],
    ['save();\n', false],
    ['class A: save()\n', false],
    ['if a:\r    save()\r', true],
    ['a()\rsave()\r', true],
  ])('%j: %s', (text, owns) => {
    const module = moduleOf(text);
    expect(ownsItsLines(module, statementOf(nodeAt(module, 'save')))).toBe(owns);
  });
});

describe('the other verbs', () => {
  const at = (text: string, verb: (module: PyModule) => Edit): string => edited(text, (m) => [verb(m)]);
  const here = (module: PyModule) => statementOf(nodeAt(module, 'HERE'));

  it('remove a statement with its lines and the comment behind it', () => {
    const remove = (text: string) => at(text, (m) => removeStatement(m, here(m)));
    expect(remove('if a:\n    b()\n    HERE(\n    )  # gone\n    c()\n')).toBe('if a:\n    b()\n    c()\n');
    expect(remove('a()\r\nHERE()')).toBe('a()');
  });

  it('leave one run of blank lines where a statement stood alone', () => {
    const remove = (text: string) => at(text, (m) => removeStatement(m, here(m)));
    expect(remove('a()\n\nHERE()\n\nb()\n')).toBe('a()\n\nb()\n');
    expect(remove('a()\r\n\r\nHERE()\r\n\r\n\r\ndef f(): pass\r\n')).toBe('a()\r\n\r\n\r\ndef f(): pass\r\n');
    expect(remove('a()\n\nHERE()\nb()\n')).toBe('a()\n\nb()\n');
    expect(remove('a()\nHERE()\n\nb()\n')).toBe('a()\n\nb()\n');
  });

  it('replace a statement on its place', () => {
    const replace = (text: string) => at(text, (m) => replaceStatement(m, here(m), ['if b:', '\tNEW']));
    expect(replace('if a:\n  HERE()  # kept\n')).toBe('if a:\n  if b:\n    NEW  # kept\n');
  });

  it('decorate directly above def', () => {
    const text = 'class A:\r\n\t@property\r\n\t# why\r\n\tdef f(self):\r\n\t\treturn HERE\r\n';
    const decorated = edited(text, (m) => {
      const definition = nodeAt(m, 'HERE').closest('function_definition');
      return definition === undefined ? [] : [decorate(m, definition, 'NEW')];
    });
    expect(decorated).toBe(
      'class A:\r\n\t@property\r\n\t# why\r\n\t@NEW\r\n\tdef f(self):\r\n\t\treturn HERE\r\n',
    );
  });
});

describe('ownsItsLines', () => {
  const owns = (text: string, name: string) => {
    const module = moduleOf(text);
    return ownsItsLines(module, statementOf(nodeAt(module, name)));
  };

  it('takes a line separator in a comment for what it is to Python: a character', () => {
    expect(owns('go()  # one\u2028two\u2029three\n', 'go')).toBe(true);
  });

  it('sees a backslash behind a `#` that is in a string, and none in a comment', () => {
    expect(owns("if a == '#': \\\n    go()\n", 'go')).toBe(false);
    expect(owns('a = 1  # C:\\\ngo()\n', 'go')).toBe(true);
    expect(owns('# C:\\\ngo()\n', 'go')).toBe(true);
  });
});
