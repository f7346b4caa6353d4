import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { applyEdits } from '../../src/edit/apply.js';
import type { Edit } from '../../src/edit/edit.js';
import type { PyModule } from '../../src/semantic/module.js';
import { argumentAtStart, keywordsAtEnd, withoutArgument } from '../../src/syntax/arguments.js';
import type { PyNode } from '../../src/syntax/node.js';
import { moduleOf, nodeAt } from '../support/module.js';

/** Adds `more=1` to the first call. */
function withMore(text: string): string | undefined {
  const module = moduleOf(text);
  const call = nodeAt(module, 'f').closest('call');
  const edits = call && keywordsAtEnd(module, call, [['more', '1']]);
  return edits && applyEdits(text, edits);
}

describe('keywordsAtEnd', () => {
  it.each([
    ['no argument', 'f()\n', 'f(more=1)\n'],
    ['no argument, a space', 'f( )\n', 'f(more=1 )\n'],
    ['only a comment', 'f(  # why\n)\n', 'f(more=1  # why\n)\n'],
    ['one line', 'f(a, b)\n', 'f(a, b, more=1)\n'],
    ['a trailing comma', 'f(a,)\n', 'f(a, more=1,)\n'],
    ['a spread', 'f(a, *b)\n', 'f(a, *b, more=1)\n'],
    ['lines', 'f(\n    a,\n    b,\n)\n', 'f(\n    a,\n    b,\n    more=1,\n)\n'],
    ['lines, no comma', 'f(\n    a,\n    b\n)\n', 'f(\n    a,\n    b,\n    more=1\n)\n'],
    ['a comment, no comma', 'f(\n    a  # why\n)\n', 'f(\n    a,  # why\n    more=1\n)\n'],
    ['comment lines last', 'f(\n    a,\n    # b,\n)\n', 'f(\n    a,\n    more=1,\n    # b,\n)\n'],
    ['two on a line', 'f(\n    a, b\n)\n', 'f(\n    a, b, more=1\n)\n'],
    ['a last argument of several lines', 'f(a, {\n    "b": 1,\n})\n', 'f(a, {\n    "b": 1,\n}, more=1)\n'],
    ['CRLF', 'f(\r\n\ta,\r\n)\r\n', 'f(\r\n\ta,\r\n\tmore=1,\r\n)\r\n'],
    ['a call in it', 'f(g(a))\n', 'f(g(a), more=1)\n'],
  ])('with %s', (_, before, after) => {
    expect(withMore(before)).toBe(after);
  });

  it.each([
    ['no argument', 'f()\n', 'f(b=1, c=2)\n'],
    ['one line', 'f(a)\n', 'f(a, b=1, c=2)\n'],
    ['lines', 'f(\n    a,\n)\n', 'f(\n    a,\n    b=1,\n    c=2,\n)\n'],
    ['a comment, no comma', 'f(\n    a  # why\n)\n', 'f(\n    a,  # why\n    b=1,\n    c=2\n)\n'],
    ['leading commas', 'f(\n    z\n  , a\n)\n', 'f(\n    z\n  , a\n  , b=1\n  , c=2\n)\n'],
  ])('adds two behind %s', (_, before, after) => {
    const module = moduleOf(before);
    const call = nodeAt(module, 'f').closest('call');
    const edits =
      call &&
      keywordsAtEnd(module, call, [
        ['b', '1'],
        ['c', '2'],
      ]);
    expect(edits && applyEdits(before, edits)).toBe(after);
  });

  it('has no place in a bare generator', () => {
    expect(withMore('f(x for x in y)\n')).toBeUndefined();
  });
});

/** Puts `"first"` in front of the arguments of the first call. */
function withFirst(text: string): string | undefined {
  const module = moduleOf(text);
  const call = nodeAt(module, 'f').closest('call');
  const edit = call && argumentAtStart(module, call, '"first"');
  return edit && applyEdits(text, edit);
}

describe('argumentAtStart', () => {
  it.each([
    ['no argument', 'f()\n', 'f("first")\n'],
    ['only a comment', 'f(  # why\n)\n', 'f("first"  # why\n)\n'],
    ['one line', 'f(a, b=1)\n', 'f("first", a, b=1)\n'],
    ['a spread', 'f(*a)\n', 'f("first", *a)\n'],
    ['lines', 'f(\n    a=1,\n)\n', 'f(\n    "first",\n    a=1,\n)\n'],
    ['a comment above', 'f(  # why\n    a,\n)\n', 'f(  # why\n    "first",\n    a,\n)\n'],
    ['CRLF', 'f(\r\n\ta,\r\n)\r\n', 'f(\r\n\t"first",\r\n\ta,\r\n)\r\n'],
  ])('with %s', (_, before, after) => {
    expect(withFirst(before)).toBe(after);
  });

  it.each([
    ['no argument', 'f()\n', 'f(b=1, c=2)\n'],
    ['one line', 'f(a)\n', 'f(a, b=1, c=2)\n'],
    ['lines', 'f(\n    a,\n)\n', 'f(\n    a,\n    b=1,\n    c=2,\n)\n'],
    ['a comment, no comma', 'f(\n    a  # why\n)\n', 'f(\n    a,  # why\n    b=1,\n    c=2\n)\n'],
    ['leading commas', 'f(\n    z\n  , a\n)\n', 'f(\n    z\n  , a\n  , b=1\n  , c=2\n)\n'],
  ])('adds two behind %s', (_, before, after) => {
    const module = moduleOf(before);
    const call = nodeAt(module, 'f').closest('call');
    const edits =
      call &&
      keywordsAtEnd(module, call, [
        ['b', '1'],
        ['c', '2'],
      ]);
    expect(edits && applyEdits(before, edits)).toBe(after);
  });

  it('has no place in a bare generator', () => {
    expect(withFirst('f(x for x in y)\n')).toBeUndefined();
  });
});

/** Takes the argument `off` away. */
function without(text: string): string {
  const module = moduleOf(text);
  const argument = nodeAt(module, 'off').closest('keyword_argument');
  if (argument === undefined) throw new Error('the sample has no keyword `off`');
  return applyEdits(text, withoutArgument(module, argument));
}

describe('withoutArgument', () => {
  it.each([
    ['the only one', 'f(off=1)\n', 'f()\n'],
    ['the only one and a comma', 'f(off=1,)\n', 'f()\n'],
    ['the first', 'f(off=1, a=2)\n', 'f(a=2)\n'],
    ['one in the middle', 'f(a, off=1, b=2)\n', 'f(a, b=2)\n'],
    ['the last', 'f(a, off=1)\n', 'f(a)\n'],
    ['the last and a comma', 'f(a, off=1,)\n', 'f(a,)\n'],
    ['a line', 'f(\n    a,\n    off=1,\n    b=2,\n)\n', 'f(\n    a,\n    b=2,\n)\n'],
    ['the last line, no comma', 'f(\n    a,\n    off=1\n)\n', 'f(\n    a,\n)\n'],
    ['a line and its comment', 'f(\n    a,\n    off=1,  # why\n)\n', 'f(\n    a,\n)\n'],
    ['a comment behind the one before', 'f(\n    a,  # why\n    off=1)\n', 'f(\n    a,  # why\n    )\n'],
    ['a closing parenthesis', 'f(a,\n  off=1)\n', 'f(a)\n'],
    ['a neighbour in front', 'f(\n    a, off=1,\n    b=2,\n)\n', 'f(\n    a,\n    b=2,\n)\n'],
    ['a neighbour behind', 'f(\n    off=1, b=2,\n)\n', 'f(\n    b=2,\n)\n'],
    ['a neighbour in front, last', 'f(\n    a, off=1\n)\n', 'f(\n    a\n)\n'],
    ['CRLF', 'f(\r\n    a,\r\n    off=1,\r\n)\r\n', 'f(\r\n    a,\r\n)\r\n'],
    ['a value of several lines', 'f(\n    off=[\n        1,\n    ],\n    b=2,\n)\n', 'f(\n    b=2,\n)\n'],
  ])('of %s', (_, before, after) => {
    expect(without(before)).toBe(after);
  });
});

/** Ways to write a call; each is valid Python whatever is added to it. */
const LAYOUTS: readonly string[] = [
  'f()',
  'f( )',
  'f(\n)',
  'f( \\\n)',
  'f(\\\n    )',
  'f(\t\\\n    \\\n)',
  'f(# why\n)',
  'f(  # why\n    # twice\n)',
  'f(1)',
  'f( 1 )',
  'f( \\\n    1, \\\n    2)',
  'f( \\\n    1, \\\n    b=2 \\\n)',
  'f(1 \\\n, 2 \\\n, b=3)',
  'f(# why\n    1)',
  'f(# why\n    1,  # one\n    b=2  # two\n)',
  'f(1,  # one\n  b=2)',
  'f(1,\n  # between\n  b=2,\n  # last\n)',
  'f(\n    1\n  , b=2\n)',
  'f(\n    1\n  , b=2  # two\n  , c=3 \\\n)',
  'f(\n    1,\n    b=2)',
  'f(\n    1,\n    b=2,)',
  'f(\n    1, b=2,\n)',
  'f(\n    1\n    ,\n    b=2\n    ,\n)',
  'f(\n    1  # one\n    , b=2  # two\n    # three\n)',
  'f(\n\t1,\n\tb = 2,\n)',
  'f(\r\n    1,\r\n    b=2,\r\n)',
  'f(*[1, 2])',
  'f(1, *[2], **{"b": 3})',
  'f(\n    1,\n    **{"b": 3},\n)',
  'f(1, **{\n    "b": 3,\n}  # why\n)',
  'f((x for x in [1]))',
  'f([x for x in [1]], b={"c": (2,)})',
  'f(f"{1, 2}", b=f"{3!r:>{10}}")',
  'f("""a\n,b""", b=\'\'\'c\n)\'\'\')',
  'f(lambda a, b=1: (a, b), b=2)',
  'f(1 if True else 2, b=not 3)',
  'f((y := 1), b=(z := 2))',
  'f(\f1,\fb=2)',
  'f(\n1,\nb=2\n)',
  'f(1)(2)',
];

/** What Python gives for each expression, where `f` gives its arguments back. */
function evaluated(expressions: readonly string[]): readonly unknown[] {
  const program = [
    'import json, sys',
    'class F:',
    '    def __init__(self, *a, **k): self.told = [[g(x) for x in a], {n: g(x) for n, x in k.items()}]',
    '    def __call__(self, *a, **k): return F(self.told, *a, **k)',
    'def g(x):',
    '    if isinstance(x, F): return x.told',
    '    return list(x) if hasattr(x, "__next__") else "lambda" if callable(x) else x',
    'json.dump([eval("(" + x + ")", {"f": F}).told for x in json.load(sys.stdin)], sys.stdout, default=str)',
  ].join('\n');
  const { stdout, stderr } = spawnSync('python3', ['-c', program], {
    input: JSON.stringify(expressions),
    encoding: 'utf8',
  });
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout) as unknown[];
}

describe('in every layout', () => {
  const comments = (text: string) => text.match(/# \w+/g)?.length ?? 0;
  const changed = (change: (module: PyModule, call: PyNode) => readonly Edit[] | undefined) =>
    LAYOUTS.map((text) => {
      const module = moduleOf(`${text}\n`);
      const call = nodeAt(module, 'f(').closest('call');
      const edits = call && change(module, call);
      if (edits === undefined) throw new Error(`nothing is added to ${text}`);
      const after = applyEdits(module.text, edits);
      return after.slice(0, -1);
    });
  type Told = [unknown[], Record<string, unknown>];
  // The call that is changed is the innermost one of `f(1)(2)`.
  const inner = (told: Told): Told =>
    Array.isArray(told[0][0]) && told[0].length === 2 && Array.isArray(told[0][0][0])
      ? (told[0][0] as Told)
      : told;

  it('adds a keyword at the end, and nothing else changes', () => {
    const after = changed((module, call) => keywordsAtEnd(module, call, [['more', '1']]));
    const wanted = (evaluated(LAYOUTS) as Told[]).map((told) => {
      const target = inner(told);
      Object.assign(target[1], { more: 1 });
      return told;
    });
    const found = evaluated(after);
    for (const [index, text] of after.entries()) expect(found[index], text).toEqual(wanted[index]);
    expect(after.map(comments)).toEqual(LAYOUTS.map(comments));
  });

  it('adds an argument at the start, and nothing else changes', () => {
    const after = changed((module, call) => argumentAtStart(module, call, '"first"'));
    const wanted = (evaluated(LAYOUTS) as Told[]).map((told) => {
      inner(told)[0].unshift('first');
      return told;
    });
    const found = evaluated(after);
    for (const [index, text] of after.entries()) expect(found[index], text).toEqual(wanted[index]);
    expect(after.map(comments)).toEqual(LAYOUTS.map(comments));
  });

  it('takes each argument out, and nothing else changes', () => {
    const cases = LAYOUTS.flatMap((text) => {
      const module = moduleOf(`${text}\n`);
      const given = nodeAt(module, 'f(').closest('call')?.arguments?.named ?? [];
      return given
        .filter(({ type }) => type === 'keyword_argument')
        .map((argument) => ({
          text,
          name: argument.name?.text ?? '',
          after: applyEdits(module.text, withoutArgument(module, argument)).slice(0, -1),
        }));
    });
    expect(cases.length).toBeGreaterThan(15);
    const before = evaluated(cases.map(({ text }) => text)) as Told[];
    const after = evaluated(cases.map((each) => each.after)) as Told[];
    for (const [index, { name, after: written }] of cases.entries()) {
      delete before[index]?.[1][name];
      expect(after[index], written).toEqual(before[index]);
    }
  });
});
