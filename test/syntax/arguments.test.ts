import { describe, expect, it } from 'vitest';
import { applyEdits } from '../../src/edit/apply.js';
import { argumentAtStart, keywordsAtEnd, withoutArgument } from '../../src/syntax/arguments.js';
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
  return edit && applyEdits(text, [edit]);
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
