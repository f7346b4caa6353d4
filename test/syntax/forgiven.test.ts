import { expect, it } from 'vitest';
import { mayBeForgiven } from '../../src/syntax/forgiven.js';
import { outlineOf } from '../../src/syntax/outline.js';
import { loadParser } from '../../src/syntax/parser.js';
import { pythonProblem } from '../../src/syntax/soundness.js';

const parser = await loadParser();

/** What tree-sitter parses and Python does not. */
it.each([
  ['an unexpected indent', 'x = 1\n    y = 2\n'],
  ['a wrong dedent', 'if x:\n        y = 1\n    z = 2\n'],
  ['an empty suite', 'for x in y:\nz = 1\n'],
  ['an empty last suite', 'def f():\n    # nothing\n'],
  ['tabs and spaces', 'if x:\n        y = 1\n\tz = 2\n'],
  ['a positional argument after a keyword', 'f(a=1, b)\n'],
  ['one after a mapping', 'f(**a, b)\n'],
  ['a keyword twice', 'f(a=1, b=2, a=3)\n'],
  ['a parameter twice', 'def f(a, b, a):\n    pass\n'],
  ['a parameter in two forms', 'def f(\u{1d4cd}, x):\n    pass\n'],
  ['a parameter without a default after one with', 'def f(a=1, b):\n    pass\n'],
  ['annotated targets', 'a, b: int = 1, 2\n'],
  ['a starred target', '*a = 1\n'],
  ['a starred value', 'x = *a\n'],
  ['a starred value in parentheses', 'x = (*a)\n'],
  ['two stars in parentheses', 'x = (**a, b)\n'],
  ['nothing to assign', 'x =  # why\ny = 1\n'],
  ['two annotations', 'x: "int": str = 1\n'],
  ['a comma after an import', 'from a import b, \n'],
  ['a name for a part of an annotation', 'def f(a: (b := c).d, e=1):\n    pass\n'],
  ['a name for a starred value', 'f((a := *b), c)\n'],
  ['a star twice', 'f(* *a)\n'],
  ['a bare generator before a comma', 'f(a for a in b, )\n'],
  ['a list of one comprehension and a comma', 'a = [b for b in c,  # last\n]\n'],
  ['a name for what a comprehension goes through', 'a = {b: c for b, c in (d := e.items)()}\n'],
  ['yield in an annotation', 'def f(a: (yield b).c):\n    pass\n'],
  ['async before a decorator', 'async @a\ndef f():\n    pass\n'],
  ['async on a line of its own', 'async \\\n\ndef f():\n    pass\n'],
])('asks about %s', (_, text) => {
  expect(mayBeForgiven(text, outlineOf(text))).toBe(true);
  expect(pythonProblem(text)).toBeDefined();
  const tree = parser.parse(text);
  expect(tree.hasError).toBe(false);
  tree.dispose();
});

/** Code that people write: asking about it would cost a tenth of a second. */
it.each([
  'def f(a, /, b=1, *c, d, e=2, **g):\n    return a\n',
  'def f(a, *, b, c=1, d): pass\n',
  'f(a, *b, c=1, *d, **e, g=2, **h)\n',
  'x = (*a, b)\ny = (*a,)\nz = (a, *b)\nfor c in (*a, *b): f((*a, 1))\n',
  'f(key=lambda a, b=1: (a, b), other=1)\n',
  'f(a == b, c <= d, e := 1, g=h[i=="j"])\n',
  'x = a + \\\n    b\nif x and \\\n        y:\n    pass\n',
  'class A(B, metaclass=C):\n\tdef f(self):\n\t\treturn [\n1,\n]\n\n\n# end\n',
  'if x: y = 1\nelse: y = 2\n',
  'a = b = c, d = e\nself.x[0], y.z = 1, 2\nx: int = 3\na += b\n',
  'for i in range(3):\n    if i: continue\n    while True:\n        break\nelse:\n    pass\n',
  '@a.b(c=1)\n@d\nasync def f():\n    async with g() as h:\n        await h\n    return {"a": 1, **h}\n',
  'x = """\nnot = code (\n"""\nf(f"{a=} {b!r:>{c}}", d=1)\n',
  'match x:\n    case A(b=1, c=d) if d:\n        pass\n    case _:\n        pass\n',
  'try:\n    x = 1\nexcept (A, B) as e:\n    raise C from e\nfinally:\n    ...\n',
  'f((a for a in b), [c for c in d], "for", e=1)\nf(a for a in b)\nf(a.g("x (") for a in b(c, d))\nf(a for a, c in b)\n[a for a, (c, d) in b if (a, c)]\n',
  'while chunk := f(a, b):\n    print(c := 1, [d for d in e], any((g := h) > 1 for h in i))\n',
  'x = lambda a: {1: 2}\ny: Callable[[int], str] = lambda b: b\nz = [a async for a in b]\n',
  'from a import *\nfrom . import b\nprint(*a, sep="")\nassert x == 1, "y = 2"\n',
])('does not ask about %j', (text) => {
  expect(pythonProblem(text)).toBeUndefined();
  expect(mayBeForgiven(text, outlineOf(text))).toBe(false);
});

it('takes time in proportion to the text', () => {
  const text = `f(${'a, '.repeat(100_000)}lambda c, d: 1, b=1)\n`;
  const started = process.cpuUsage();
  mayBeForgiven(text, outlineOf(text));
  expect(process.cpuUsage(started).user).toBeLessThan(5_000_000);
});
