import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Lines } from '../../src/text/lines.js';

describe('Lines', () => {
  it('ends a line at LF, CRLF and a lone CR, and not at a form feed', () => {
    const lines = new Lines('a\nb\r\nc\rd\fe');
    expect(lines.count).toBe(4);
    expect([1, 2, 3, 4].map((line) => lines.content(line))).toEqual(['a', 'b', 'c', 'd\fe']);
    expect([1, 2, 3, 4].map((line) => lines.newline(line))).toEqual(['\n', '\r\n', '\r', undefined]);
    expect(lines.newlineNear(4)).toBe('\r');
  });

  it('counts an astral character as one column', () => {
    expect(new Lines('x\n"😀" + y').position(7)).toEqual({ line: 2, column: 5 });
  });

  it('has one empty line in an empty text', () => {
    const lines = new Lines('');
    expect([lines.count, lines.content(1), lines.newlineNear(1)]).toEqual([1, '', '\n']);
  });

  it('puts the lines together again to the same text', () => {
    const text = fc.string({ unit: fc.constantFrom('a', '\n', '\r', '\r\n', '\f', '😀') });
    fc.assert(
      fc.property(text, (sample) => {
        const lines = new Lines(sample);
        let joined = '';
        for (let line = 1; line <= lines.count; line++)
          joined += lines.content(line) + (lines.newline(line) ?? '');
        expect(joined).toBe(sample);
        for (let offset = 0; offset <= sample.length; offset++) {
          const line = lines.lineAt(offset);
          expect(lines.start(line)).toBeLessThanOrEqual(offset);
          expect(offset).toBeLessThanOrEqual(lines.nextStart(line));
        }
      }),
    );
  });
});
