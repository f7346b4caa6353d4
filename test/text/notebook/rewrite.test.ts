import { array, assert, boolean, constantFrom, integer, nat, property, record } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeNotebook, encode, type SourceText } from '../../../src/text/decode.js';
import { cellsIn } from '../../../src/text/notebook/notebook.js';
import { shownCells } from '../../../src/text/notebook/shown.js';

interface Made {
  readonly cells: readonly {
    readonly type: string;
    readonly lines: readonly string[];
    readonly whole: boolean;
    readonly splits: readonly number[];
  }[];
  readonly indent: number;
  readonly ascii: boolean;
  readonly bom: boolean;
  readonly crlf: boolean;
  readonly old: boolean;
}

const LINE = constantFrom(
  ...['x = 1', 'if a:', '    b("é", \'\\\\\')', '', '# 🙂 "quoted"', 'y = "\t\\u00e9"', 'z = [1,'],
  ...[
    '%matplotlib inline',
    '!ls \\',
    'q = !pwd',
    'print?',
    '  2]',
    '"""',
    '#:cell 1',
    '#:magic 1.',
    '\u2028',
  ],
);
const NOTEBOOK = record<Made>({
  cells: array(
    record({
      type: constantFrom('code', 'code', 'code', 'markdown', 'raw'),
      lines: array(LINE, { maxLength: 7 }),
      whole: boolean(),
      splits: array(nat(60), { maxLength: 3 }),
    }),
    { maxLength: 5 },
  ),
  indent: integer({ min: 0, max: 4 }),
  ascii: boolean(),
  bom: boolean(),
  crlf: boolean(),
  old: boolean(),
});

/** The JSON of a notebook, written in one of the ways that tools write it. */
function jsonOf({ cells, indent, ascii, bom, crlf, old }: Made): Buffer {
  const made = cells.map(({ type, lines, whole, splits }, index) => {
    const text = lines.join(crlf ? '\r\n' : '\n');
    const usual = text.match(/[^\n]*\n|[^\n]+/g) ?? [];
    const cuts = [0, ...splits.map((at) => Math.min(at, text.length)).sort((a, b) => a - b), text.length];
    const odd = cuts.slice(1).map((to, at) => text.slice(cuts[at], to));
    const source = whole ? text : splits.length > 1 ? odd : usual;
    const more = type === 'code' ? { outputs: [{ text: ['"source": ["x = 1"]\n'] }] } : {};
    const key = old && type === 'code' ? { input: source, language: 'python' } : { source };
    return { cell_type: type, metadata: { id: index }, ...more, ...key };
  });
  const whole = old
    ? { metadata: {}, nbformat: 3, worksheets: [{ cells: made }] }
    : { cells: made, metadata: { language_info: { name: 'python' } }, nbformat: 4, nbformat_minor: 5 };
  let json = JSON.stringify(whole, undefined, indent);
  if (ascii)
    json = json.replace(
      /[\u007f-\uffff]/g,
      (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
  if (crlf) json = json.replaceAll('\n', '\r\n');
  return Buffer.from(`${bom ? '\ufeff' : ''}${json}\n`);
}

function sourceOf(bytes: Buffer): SourceText {
  const decoded = decodeNotebook(bytes);
  if (!decoded.ok) throw new Error(decoded.reason);
  return decoded.source;
}

interface Step {
  readonly at: number;
  readonly length: number;
  readonly text: string;
}

const STEPS = array(
  record<Step>({
    at: nat(),
    length: nat(12),
    text: constantFrom('', 'new', 'with torch.no_grad():\n', '    ', '\n', 'é"\\', '\r\n', '🙂', '.detach()'),
  }),
  { maxLength: 4 },
);

/** Changes somewhere in the plain lines of cells. */
function changed(source: SourceText, steps: readonly Step[]): string {
  let text = source.text;
  for (const { at, length, text: put } of steps) {
    const cells = cellsIn(text);
    const cell = cells[at % Math.max(1, cells.length)];
    if (cell === undefined) break;
    const start = cell.start + (at % (cell.end - cell.start + 1));
    const end = Math.min(cell.end, start + length);
    const next = text.slice(0, start) + put + text.slice(end);
    if (next.isWellFormed()) text = next;
  }
  return text;
}

describe('a notebook', () => {
  test('gives back its bytes', () => {
    assert(
      property(NOTEBOOK, (made) => {
        const bytes = jsonOf(made);
        const source = sourceOf(bytes);
        expect(encode(source, source.text)?.equals(bytes)).toBe(true);
      }),
    );
  });

  test('changes in its source strings only, and to what its program has become', () => {
    let written = 0;
    assert(
      property(NOTEBOOK, STEPS, (made, steps) => {
        const bytes = jsonOf(made);
        const source = sourceOf(bytes);
        const after = changed(source, steps);
        const result = encode(source, after);
        // What is masked was touched.
        if (result === undefined) return;
        if (after !== source.text) written++;
        expect(sourceOf(result).notebook?.cells.map((cell) => cell.source)).toEqual(
          shownCells(source, after).map(({ text }) => text),
        );
        expect(outside(result)).toEqual(outside(bytes));
      }),
      { numRuns: 2000 },
    );
    expect(written).toBeGreaterThan(500);
  });

  test('keeps how every other character is written', () => {
    const json = `{"cells": [{"cell_type": "code", "source": ["a = \\"\\u00e9\\u0041\\/é\\"\\n",  "b(loss)"]}], "nbformat": 4}`;
    const source = sourceOf(Buffer.from(json));
    const after = source.text.replace('a =', 'with x:\n    a =').replace('loss', 'loss.detach()');
    expect(String(encode(source, after))).toBe(
      `{"cells": [{"cell_type": "code", "source": ["with x:\\n",  "    a = \\"\\u00e9\\u0041\\/é\\"\\n",  "b(loss.detach())"]}], "nbformat": 4}`,
    );
  });

  test('writes one element for each new line, as Jupyter does', () => {
    const of = (source: string) => `{"cells": [{"cell_type": "code", "source": ${source}}]}`;
    const become = (source: string, from: string, to: string) => {
      const read = sourceOf(Buffer.from(of(source)));
      return String(encode(read, read.text.replace(from, to)));
    };
    expect(become('["a\\n", "b"]', 'b', 'b\nc')).toBe(of('["a\\n", "b\\n", "c"]'));
    expect(become('["a\\n", "b\\n"]', 'b\n', 'b\n\nc\n')).toBe(of('["a\\n", "b\\n", "\\n", "c\\n"]'));
    expect(become('[\n "a\\n",\n "b\\n",\n "c"]', 'b\n', '')).toBe(of('[\n "a\\n",\n "c"]'));
    expect(become('["a"]', 'a', 'x\na')).toBe(of('["x\\n", "a"]'));
    expect(become('[]', '1\n', '1\nx\ny')).toBe(of('["x\\n", "y"]'));
    expect(become('"a\\nb"', 'b', 'x\nb')).toBe(of('"a\\nx\\nb"'));
  });

  test.each([
    ['[]', /not a notebook/],
    ['{"cells": 3}', /not a notebook/],
    ['{"cells": [{"cell_type": "code", "source": [1]}]}', /not a notebook/],
    ['{"cells": [NaN]}', /not valid JSON/],
    ['{"metadata": {"kernelspec": {"language": "julia"}}, "cells": []}', /for julia/],
    ['{"metadata": {"language_info": {"name": "R"}}, "cells": []}', /for R/],
  ])('is not in %s', (json, reason) => {
    expect(decodeNotebook(Buffer.from(json))).toMatchObject({
      ok: false,
      reason: expect.stringMatching(reason),
    });
  });

  test('of bytes that are no UTF-8 is not read', () => {
    expect(decodeNotebook(Buffer.from([0x7b, 0xff, 0x7d]))).toMatchObject({ ok: false });
  });
});

/** Everything but the sources of code cells. */
function outside(bytes: Buffer): readonly string[] {
  const { notebook } = sourceOf(bytes);
  const parts: string[] = [];
  let from = 0;
  for (const { place } of notebook?.cells ?? []) {
    parts.push(notebook?.json.slice(from, place.start) ?? '');
    from = place.end;
  }
  return [...parts, notebook?.json.slice(from) ?? '', String(bytes[0])];
}
