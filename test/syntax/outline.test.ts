import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fixturesFolder } from '../../src/dev/fixtures.js';
import type { PyNode } from '../../src/syntax/node.js';
import { outlineOf } from '../../src/syntax/outline.js';
import { NotInPieces } from '../../src/syntax/pieces.js';
import { decode } from '../../src/text/decode.js';
import { availableParsers } from '../support/parsers.js';

const QUIET: readonly string[] = ['comment', 'string'];

const LONG = 'value = value + 1  # a line that makes the body long enough to be parsed apart\n';
const body = (indent: string, count = 4): string => `${indent}${LONG}`.repeat(count);

const TRICKY: Readonly<Record<string, string>> = {
  'comments behind the last statement': `def f(value):\n${body('    ')}    # within\n  # between\n# outside\nx = 1\n`,
  'a comment on the line of def': `def f(value):  # why: it is\n\n    # first\n${body('    ')}`,
  'strings that look like code': `def f(value):\n    """\ndef g():\n    pass\n"""\n${body('    ')}    return "def h(): #"\n\n\ny = 2\n`,
  'nested quotes in formatted strings': `def f(value):\n    a = f"{value["#"]:>{value["w"]}} {{ {value!r:{'x'}}"\n${body('    ')}\n\ndef g(value):\n    b = rf'''{value}\n{value:>{3}} # '''\n${body('    ')}`,
  'a named character': `def f(value):\n    a = f"\\N{NUMBER SIGN} {value} \\{value}"\n${body('    ')}\nz = 1\n`,
  'a prefix that is none': `def f(value):\n    if value in"{":\n        return not"{"\n${body('    ')}`,
  'brackets over lines': `def f(\n    value: dict[str, int] = {"a": 1},\n    *,\n    key=lambda x: x,\n) -> "dict[str, int]":\n${body('    ')}    return [\n1,\n# odd\n]\n`,
  'lines that are joined': `def f(value):\n    a = value + \\\n1\n${body('    ')}if True: \\\n    pass\n`,
  'one-line suites': `def f(value): return value\nclass A: x = 1\nasync def g(value): return value\ndef h(value):\n${body('    ')}`,
  'methods, decorators and nested functions': `class A:\n    @property\n    async  def f(self, value):\n${body('        ')}        def g():\n${body('            ')}        return g\n    x = 1\n    class B:\n        def h(self, value):\n${body('            ')}`,
  'functions in an if': `try:\n    def f(value):\n${body('        ')}except E:\n    def f(value):\n${body('        ')}\n`,
  'CRLF and tabs': `def f(value):\n${body('\t')}\tif value:\n\t\t${LONG}\ndef g(): pass\n`.replaceAll(
    '\n',
    '\r\n',
  ),
  'no newline at the end': `def f(value):\n${body('    ')}    return value`,
  'a semicolon at the end': `def f(value):\n${body('    ')}    return value;\nx = 1\n`,
  'clauses, decorators and comments between statements': `# head\n\nif a:\n    b\n# c\nelif d: e; f\nelse:\n    g\n    # h\n  # i\n# j\ntry:\n    k\nexcept E:\n    l\nfinally:\n    m\n@n\n# o\n@p\nclass Q:\n    r = 1\n    # s\nelsewhere = 2\nt = 3; u = 4\n# end`,
  'type parameters': `def f[T: (int, str)](value: T) -> T:\n${body('    ')}    return value\n`,
};

function shape(node: PyNode, text: string): string {
  return `${node.type} ${node.index} ${node.start}-${node.end} ${JSON.stringify(text.slice(node.start, node.start + 40))}`;
}

describe.each(await availableParsers())('in pieces, $backend', (parser) => {
  /** The tree of a text in pieces, all of it, beside its tree as a whole. */
  function both(
    text: string,
    order: 'at once' | 'one by one',
  ): readonly [readonly string[], readonly string[]] | undefined {
    const outline = outlineOf(text);
    if (outline === undefined) return undefined;
    const whole = parser.parse(text);
    const pieces = parser.parseInPieces(text, outline);
    try {
      if (whole.hasError || pieces.hasError) return undefined;
      if (order === 'one by one')
        for (const start of outline.statements.toReversed()) pieces.root.descendantAt(start);
      const all = [whole, pieces].map((tree) => [...tree.root.walk()].map((node) => shape(node, text)));
      return [all[0] ?? [], all[1] ?? []];
    } catch (error) {
      if (error instanceof NotInPieces) return undefined;
      throw error;
    } finally {
      whole.dispose();
      pieces.dispose();
    }
  }

  it.each(Object.entries(TRICKY))('a text is the same as whole: %s', (_, text) => {
    for (const order of ['at once', 'one by one'] as const) {
      const trees = both(text, order);
      expect(trees).toBeDefined();
      expect(trees?.[1]).toEqual(trees?.[0]);
    }
  });

  /** After a look at some places: whether the rest has an error. Undefined where a part does not parse alone. */
  function errorBeside(text: string, places: readonly number[]): boolean | undefined {
    const outline = outlineOf(text);
    if (outline === undefined) return undefined;
    const pieces = parser.parseInPieces(text, outline);
    try {
      for (const place of places) pieces.root.descendantAt(place);
      return pieces.hasErrorElsewhere();
    } catch (error) {
      if (error instanceof NotInPieces) return undefined;
      throw error;
    } finally {
      pieces.dispose();
    }
  }

  function placesIn(text: string): readonly (readonly number[])[] {
    const { statements = [], pieces = [] } = outlineOf(text) ?? {};
    const places = [...statements, ...pieces.map(({ bodyStart }) => bodyStart)];
    return [[], ...places.map((place) => [place]), places];
  }

  it.each(Object.entries(TRICKY))('no error is seen elsewhere, wherever one looks: %s', (_, text) => {
    for (const places of placesIn(text)) expect(errorBeside(text, places)).toBe(false);
  });

  it.each(Object.entries(TRICKY))('no error goes unseen, wherever one looks: %s', (_, text) => {
    const lines = text.split('\n');
    const hasError = (broken: string): boolean => {
      const tree = parser.parse(broken);
      tree.dispose();
      return tree.hasError;
    };
    let seen = 0;
    for (const [at, line] of lines.entries()) {
      const indent = /^\s*/.exec(line)?.[0] ?? '';
      for (const instead of [
        `${indent}x = = 1`,
        `${indent}else:`,
        `  ${line}`,
        line.replace(/^ {1,2}/, ''),
      ]) {
        const broken = lines.with(at, instead).join('\n');
        if (instead === line || !hasError(broken)) continue;
        for (const places of placesIn(broken)) {
          if (errorBeside(broken, places) === false) expect.fail(`${broken}\n${places}`);
          seen++;
        }
      }
    }
    expect(seen).toBeGreaterThan(2);
  });

  it('every fixture is the same as whole', () => {
    let compared = 0;
    const names = readdirSync(fixturesFolder, { recursive: true, encoding: 'utf8' });
    for (const name of names.filter((each) => each.endsWith('.py'))) {
      const read = decode(readFileSync(join(fixturesFolder, name)));
      const trees = read.ok ? both(read.source.text, 'one by one') : undefined;
      if (trees === undefined) continue;
      compared++;
      expect(trees[1]).toEqual(trees[0]);
    }
    expect(compared).toBeGreaterThan(200);
  });

  it('what is quiet is a comment or a string', () => {
    for (const text of [
      ...Object.values(TRICKY),
      readFileSync(join(fixturesFolder, '_demo/train.py'), 'utf8'),
    ]) {
      const { quiet } = outlineOf(text) ?? { quiet: [] };
      const tree = parser.parse(text);
      for (let at = 0; at < quiet.length; at += 2) {
        const [start = 0, end = 0] = quiet.slice(at, at + 2);
        const found = tree.root.descendantAt(start, end).closest('comment', 'string', 'string_start');
        expect(found?.closest(...QUIET)?.type, text.slice(start, end)).toBeDefined();
      }
      tree.dispose();
    }
  });
});

describe('outline', () => {
  it.each([
    ['an open bracket', 'f(\n'],
    ['an open string', 'x = "abc\n'],
    ['an open triple string', 'x = """abc\n'],
    ['a bracket too many', 'f())\n'],
    ['a form feed', 'x = 1\n\f\ny = 2\n'],
    ['a lone carriage return', 'x = 1\ry = 2\n'],
    ['a header without end', 'def f()\n    pass\n'],
    ['a backslash in the line', 'x = 1 \\ 2\n'],
  ])('does not guess at %s', (_, text) => {
    expect(outlineOf(text)).toBeUndefined();
  });

  it('counts how deep brackets nest', () => {
    expect(outlineOf('f([{1: (2)}], "((((")\n')?.depth).toBe(4);
  });
});

it.each([
  '\\\n@a\ndef f():\n    b\n',
  'def f():\n    a\n\\\ndef g():\n    b\n',
  'if a:\n    b\n  \\\n    c\n',
])('a statement after a backslash is left to the parser: %j', (text) => {
  expect(outlineOf(text)).toBeUndefined();
});
