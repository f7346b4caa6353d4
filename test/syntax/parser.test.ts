import { describe, expect, it } from 'vitest';
import type { PyNode } from '../../src/syntax/node.js';
import { type Backend, loadParser } from '../../src/syntax/parser.js';
import { firstError, pythonProblem, tokensOutside } from '../../src/syntax/soundness.js';

/** The native addon is missing where install scripts were refused; wasm never is. */
const native = await loadParser('native').catch(() => undefined);
const backends: readonly Backend[] = native === undefined ? ['wasm'] : ['native', 'wasm'];
const SAMPLE = [
  '\fimport torch\n\n',
  'class A(nn.Module):\n    @property\n    # why\n    def f(self, *a, k: int = 1, **kw) -> "T":\n',
  '        return f"{self.x[\'é\']!r:>{k}}" + """a\nb"""  # 😀\n\n',
  'async def g():\n\tasync for x, *y in z: await x; yield y\n',
  'match p:\n    case {"a": [b, *_]} if b: pass\n',
].join('');

function outline(root: PyNode): readonly string[] {
  return [...root.walk()].map((node) => `${node.type} ${node.start}-${node.end}`);
}

describe.each(backends)('the %s parser', (backend) => {
  it('keeps offsets in UTF-16 code units', async () => {
    const { root } = (await loadParser(backend)).parse('s = "😀é"; x = 1\n');
    const x = root.descendantAt(11);
    expect([x.type, x.text, x.start]).toEqual(['identifier', 'x', 11]);
  });

  it('reads texts over 32 KiB and over 1 MiB', async () => {
    const parser = await loadParser(backend);
    for (const count of [5_000, 120_000]) {
      const text = `${'y = f(1)\n'.repeat(count)}last = 1\n`;
      const { root, hasError } = parser.parse(text);
      expect(hasError).toBe(false);
      expect(root.descendantAt(text.length - 7).closest('expression_statement')?.text).toBe('last = 1');
    }
  });

  it('ends lines at a lone carriage return, as Python does', async () => {
    const { root } = (await loadParser(backend)).parse('# note\rx = 1\ry = 2\r');
    expect(root.named.map((node) => node.text)).toEqual(['x = 1', 'y = 2']);
  });

  it('reads thousands of comment lines in a row, and keeps what matters in them', async () => {
    const run = '    # note\n'.repeat(3_000);
    const text = `def f():\n    x = 1\n${run}    # memfix: ignore[a]\n${run}    y = 2\ns = """\n${'# a\n'.repeat(70)}# z"""\nlast = 1\n`;
    const { root, hasError } = (await loadParser(backend)).parse(text);
    expect(hasError).toBe(false);
    expect(root.descendantAt(text.indexOf('memfix')).type).toBe('comment');
    expect(root.named.at(-1)?.text).toBe('last = 1');
    expect(root.named.at(-2)?.text).toContain('# a\n# z"""');
  });

  it('gives one object per node, with its parent', async () => {
    const { root } = (await loadParser(backend)).parse('f(a, b=2)\n');
    const call = root.descendantAt(0).parent;
    expect(call?.type).toBe('call');
    expect(call?.arguments).toBe(root.descendantAt(2).parent);
    expect(call?.arguments?.parent).toBe(call);
    expect(call?.body).toBeUndefined();
  });

  it('finds the first error', async () => {
    const tree = (await loadParser(backend)).parse('x = 1\ny = (\n');
    expect(firstError(tree)?.start).toBeGreaterThan(5);
  });
});

it('chooses the native parser where it loads, and reads the same trees in wasm', async () => {
  const chosen = await loadParser();
  expect(chosen.backend).toBe(backends[0]);
  const wasm = await loadParser('wasm');
  expect(outline(chosen.parse(SAMPLE).root)).toEqual(outline(wasm.parse(SAMPLE).root));
});

describe('pythonProblem', () => {
  it.each([
    ['print "x"\n', 'Simple statements must be separated by newlines or semicolons'],
    ['def f():\n', 'Expected an indented block after function definition'],
    ['f(a=1, 2)\n', 'Positional argument cannot follow keyword argument'],
    ['x = 1\n  y = 2\n', 'Unexpected indentation'],
  ])('rejects %j, which tree-sitter takes', (text, message) => {
    expect(pythonProblem(text)?.message).toBe(message);
  });

  it('says where, and goes on after nesting that is too deep for it', () => {
    expect(pythonProblem('a = 1\n"😀"; b = = 2\n')?.at).toEqual({ line: 2, column: 10 });
    expect(pythonProblem(`${'('.repeat(20_000)}1${')'.repeat(20_000)}\n`)?.message).toContain(
      'nested too deeply',
    );
    for (let time = 0; time < 3; time++) {
      expect(pythonProblem(`x = ${'1 + '.repeat(10_000)}1\n`)?.message).toContain('nested too deeply');
    }
    expect(pythonProblem('x = f"{a["b"]}"\n')).toBeUndefined();
  });
});

it('tells tokens inside an edit from those outside', async () => {
  const { root } = (await loadParser()).parse('a = b  # c\n');
  expect(tokensOutside(root, [{ start: 4, end: 5 }])).toEqual(['identifier a', '= =', 'comment # c']);
});

it('tells them apart among many edits in any order', async () => {
  const { root } = (await loadParser()).parse('a = 1\nb = 2\nc = 3\n');
  const edits = [
    { start: 16, end: 17 },
    { start: 6, end: 6 },
    { start: 0, end: 3 },
  ];
  const left = ['integer 1', 'identifier b', '= =', 'integer 2', 'identifier c', '= ='];
  expect(tokensOutside(root, edits)).toEqual(left);
});
