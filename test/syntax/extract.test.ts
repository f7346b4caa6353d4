import { describe, expect, it } from 'vitest';
import { applyEdits } from '../../src/edit/apply.js';
import { statementOf } from '../../src/semantic/statements.js';
import { extractLoopBody } from '../../src/syntax/extract.js';
import { moduleOf, nodeAt } from '../support/module.js';

/** The body of the loop in `f` as a method `g`; `header`: what stands where the loop was, behind which nothing comes. */
function extracted(text: string, header?: string): string | undefined {
  const module = moduleOf(text);
  const append = nodeAt(module, 'append').closest('call');
  const loop = nodeAt(module, 'for ').closest('for_statement');
  const method = nodeAt(module, 'def ').closest('function_definition');
  const value = append?.arguments?.named[0];
  if (append === undefined || loop === undefined || method === undefined || value === undefined)
    throw new Error('the sample has no loop that appends');
  const edits = extractLoopBody(module, {
    method,
    loop,
    append: statementOf(append),
    value,
    result: header === undefined ? nodeAt(module, 'return').closest('return_statement') : undefined,
    ...(header !== undefined && { header }),
    instead: 'out.append(self.g(x))',
    definition: 'def g(self, x):',
  });
  return edits && applyEdits(text, edits);
}

const before = (body: readonly string[]): string =>
  `class C:\n  def f(self):\n    out = []\n    for x in self.xs:\n${body.map((line) => `      ${line}`.trimEnd()).join('\n')}\n    return out\n`;
const after = (body: readonly string[]): string =>
  `class C:\n  def f(self):\n    out = []\n    for x in self.xs:\n      out.append(self.g(x))\n    return out\n\n  def g(self, x):\n${body.map((line) => `    ${line}`.trimEnd()).join('\n')}\n`;

describe('extractLoopBody', () => {
  it.each([
    ['one expression', ['out.append(x + 1)'], ['return x + 1']],
    [
      'statements and comments',
      ['# a', 'y = x', '', 'out.append(y)  # b'],
      ['# a', 'y = x', '', 'return y  # b'],
    ],
    [
      'a value on lines of its own',
      ['out.append(', '  {', '    1: x,', '  },', ')'],
      ['return {', '  1: x,', '}'],
    ],
    ['a value that starts behind it', ['out.append({', '  1: x,', '})'], ['return {', '  1: x,', '}']],
    ['a string over lines', ['y = """a', 'b"""', 'out.append(y)'], ['y = """a', '  b"""', 'return y']],
  ])('%s', (_, body, expected) => {
    expect(extracted(before(body))).toBe(after(expected));
  });

  it.each([
    ['a value that needs the parentheses', ['out.append(x', '  + 1)']],
    ['a comment in front of the value', ['out.append(  # why', '  x)']],
    ['a comment behind the value', ['out.append(', '  x  # why', ')']],
  ])('refuses %s', (_, body) => {
    expect(extracted(before(body))).toBeUndefined();
  });

  it('may put something else where the loop was, behind which nothing comes', () => {
    const text = 'class C:\n  def f(self):\n    for x in self.xs:\n      # a\n      out.append(x)\n';
    expect(extracted(text, 'if all')).toBe(
      'class C:\n  def f(self):\n    if all:\n      out.append(self.g(x))\n\n  def g(self, x):\n    # a\n    return x\n',
    );
  });

  it('refuses a body on the line of the loop', () => {
    expect(
      extracted('class C:\n  def f(self):\n    for x in self.xs: out.append(x)\n    return out\n'),
    ).toBeUndefined();
  });
});
