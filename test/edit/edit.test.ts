import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyEdits } from '../../src/edit/apply.js';
import { clash, type Edit } from '../../src/edit/edit.js';
import { plan } from '../../src/edit/plan.js';

const edit = (start: number, end: number, text: string): Edit => ({ start, end, text });

describe('applyEdits', () => {
  it('replaces, inserts and removes at the offsets of the original text', () => {
    const edits = [edit(8, 8, '!'), edit(0, 1, 'A'), edit(2, 4, '')];
    expect(applyEdits('a\nbc\n😀d', edits)).toBe('A\n\n😀d!');
  });

  it('throws on an overlap instead of losing the inner edit', () => {
    expect(() => applyEdits('abcdef', [edit(0, 5, 'x'), edit(2, 3, 'y')])).toThrow(
      'edits 0..5 and 2..3 clash',
    );
    expect(() => applyEdits('abc', [edit(1, 1, 'x'), edit(1, 1, 'y')])).toThrow('clash');
    expect(() => applyEdits('abc', [edit(2, 9, 'x')])).toThrow('outside a text of 3 characters');
  });

  it('equals cutting the text by hand, for any edits that do not clash', () => {
    const sample = fc.tuple(
      fc.string({ unit: 'grapheme', maxLength: 60 }),
      fc.array(fc.tuple(fc.nat(60), fc.nat(5), fc.string({ maxLength: 4 })), { maxLength: 8 }),
    );
    fc.assert(
      fc.property(sample, ([text, raw]) => {
        const wanted = raw
          .map(([start, length, inserted]) => edit(start, start + length, inserted))
          .filter(({ end }) => end <= text.length);
        const { taken } = plan(wanted, (one) => [one]);
        let expected = text;
        for (const one of [...taken].sort((a, b) => b.start - a.start)) {
          expected = expected.slice(0, one.start) + one.text + expected.slice(one.end);
        }
        expect(applyEdits(text, taken)).toBe(expected);
      }),
    );
  });
});

describe('plan', () => {
  it('takes a fix whole or not at all', () => {
    const first = [edit(0, 2, 'x'), edit(10, 12, 'y')];
    const second = [edit(5, 6, 'z'), edit(11, 14, 'w')];
    const third = [edit(20, 21, 'v')];
    const { taken, waiting } = plan([first, second, third], (fix) => fix);
    expect(taken).toEqual([first, third]);
    expect(waiting).toEqual([second]);
  });

  it('takes what clashes with nothing that was taken before, for any fixes', () => {
    const one = fc.tuple(fc.nat(60), fc.nat(3)).map(([start, length]) => edit(start, start + length, ''));
    fc.assert(
      fc.property(fc.array(fc.array(one, { maxLength: 3 }), { maxLength: 12 }), (fixes) => {
        const sound = fixes.filter((fix) =>
          fix.every((a, at) => fix.slice(at + 1).every((b) => a.end <= b.start || b.end <= a.start)),
        );
        const taken: (readonly Edit[])[] = [];
        for (const fix of sound) if (!fix.some((a) => taken.flat().some((b) => clash(a, b)))) taken.push(fix);
        expect(plan(sound, (fix) => fix).taken).toEqual(taken);
      }),
      { numRuns: 2_000 },
    );
  });

  it('lets touching edits wait for each other', () => {
    expect(clash(edit(0, 3, ''), edit(3, 5, ''))).toBe(true);
    expect(clash(edit(4, 4, 'a'), edit(4, 4, 'b'))).toBe(true);
    expect(clash(edit(0, 3, ''), edit(4, 5, ''))).toBe(false);
  });
});
