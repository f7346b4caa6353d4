import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { applyEdits } from '../../src/edit/apply.js';
import { plan } from '../../src/edit/plan.js';
import { formatHunk, type Hunk, hunksBetween } from '../../src/report/diff.js';
import { shownHunksOf } from '../../src/report/shown-hunks.js';
import { Lines } from '../../src/text/lines.js';
import { processorTime } from '../support/processor-time.js';

describe('hunks', () => {
  test('equal texts have none', () => {
    expect(hunksBetween('a\nb', 'a\nb')).toEqual([]);
  });

  test('count from the line before on an empty side', () => {
    expect(shown('', 'a\nb\n')).toBe('@@ -0,0 +1,2 @@\n+a\n+b\n');
    expect(shown('a\n', '')).toBe('@@ -1 +0,0 @@\n-a\n');
  });

  test('keep three lines of context and join when they would meet', () => {
    const lines = Array.from({ length: 16 }, (_, index) => `${index + 1}\n`);
    const withChanges = (...at: number[]) =>
      lines.map((line, index) => (at.includes(index + 1) ? `x${line}` : line)).join('');
    expect(shown(lines.join(''), withChanges(4, 11))).toBe(
      '@@ -1,14 +1,14 @@\n 1\n 2\n 3\n-4\n+x4\n 5\n 6\n 7\n 8\n 9\n 10\n-11\n+x11\n 12\n 13\n 14\n',
    );
    expect(shown(lines.join(''), withChanges(4, 12))).toBe(
      '@@ -1,7 +1,7 @@\n 1\n 2\n 3\n-4\n+x4\n 5\n 6\n 7\n' +
        '@@ -9,7 +9,7 @@\n 9\n 10\n 11\n-12\n+x12\n 13\n 14\n 15\n',
    );
  });

  test('mark a last line without newline on the side that lacks it', () => {
    expect(shown('a', 'a\n')).toBe('@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n');
    expect(shown('x\na', 'y\na')).toBe('@@ -1,2 +1,2 @@\n-x\n+y\n a\n\\ No newline at end of file\n');
  });

  test('removals come before additions in one change', () => {
    expect(shown('a\nb\n', 'c\nd\n')).toBe('@@ -1,2 +1,2 @@\n-a\n-b\n+c\n+d\n');
  });

  test('an insertion among repeated lines is no larger than it has to be', () => {
    const body = '    pass\n\n'.repeat(40);
    expect(shown(body, `${body.slice(0, 200)}    new()\n${body.slice(200)}`).match(/^[-+]/gm)).toHaveLength(
      1,
    );
  });

  test('turn one text into the other', () => {
    const text = fc.array(fc.constantFrom('a\n', 'b\n', 'c\n', '\n', 'dd\r\n', 'e'), { maxLength: 40 });
    fc.assert(
      fc.property(text, text, (old, now) => {
        const before = old.join('');
        const after = now.join('');
        const hunks = hunksBetween(before, after);
        expect(applied(before, hunks)).toBe(after);
        for (const hunk of hunks) expect(hasFullContext(hunk, before)).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('the hunks of edits', () => {
  const line = fc.constantFrom('a\n', 'a\n', 'b\n', 'cc\n', '\n', 'dd\r\n', 'e\r', 'ffff\n');
  const sample = fc.tuple(
    fc.array(line, { maxLength: 60 }),
    fc.array(fc.tuple(fc.nat(160), fc.nat(5), fc.constantFrom('', 'a\n', 'a\na\n', 'x', '\n', '\nb')), {
      maxLength: 4,
    }),
  );
  const plain = (text: string) => text.replace(/\r\n?/g, '\n');

  test('turn one text into the other, seen only near the edits', () => {
    fc.assert(
      fc.property(sample, ([lines, raw]) => {
        const before = lines.join('');
        const wanted = raw
          .map(([start, length, text]) => ({ start, end: start + length, text }))
          .filter(({ end }) => end <= before.length);
        const edits = plan(wanted, (edit) => [edit]).taken;
        const hunks = shownHunksOf(new Lines(before), edits);
        expect(applied(plain(before), hunks)).toBe(plain(applyEdits(before, edits)));
        for (const hunk of hunks) expect(hasFullContext(hunk, plain(before))).toBe(true);
      }),
      { numRuns: 5_000 },
    );
  });

  test('take no longer in a large text', () => {
    const lines = new Lines(numbered(200_000).join(''));
    const taken = processorTime();
    for (let at = 0; at < 5_000; at++) {
      const edits = [5, 40 * at + 1_000].map((offset) => ({ start: offset, end: offset, text: 'x\n' }));
      expect(shownHunksOf(lines, edits)).toHaveLength(2);
    }
    expect(taken()).toBeLessThan(10_000);
  });
});

describe('large inputs stay in bounds', () => {
  const rows = 200_000;
  const worst: readonly [name: string, before: string, after: string][] = [
    ['every line changed', 'x = 1\n'.repeat(rows), 'x = 2\n'.repeat(rows)],
    ['two interleavings of two lines', 'a\nb\nb\n'.repeat(rows / 4), 'b\na\na\n'.repeat(rows / 4)],
    ['blank lines with edits everywhere', '\n'.repeat(rows), '\n\n\n\n\n\n\n\n\nx\n'.repeat(rows / 10)],
    ['unique lines reversed', numbered(rows).join(''), numbered(rows).reverse().join('')],
  ];
  test.each(worst)('%s', (_, before, after) => {
    const taken = processorTime();
    const hunks = hunksBetween(before, after);
    expect(taken()).toBeLessThan(10_000);
    expect(applied(before, hunks)).toBe(after);
  });

  test('a thousand scattered edits give a thousand small hunks', () => {
    const before = numbered(20_000);
    const after = before.map((line, index) => (index % 20 === 10 ? `new ${line}` : line));
    const hunks = hunksBetween(before.join(''), after.join(''));
    expect(hunks).toHaveLength(1_000);
    expect(hunks.every((hunk) => hunk.lines.length === 8)).toBe(true);
  });
});

function shown(before: string, after: string): string {
  return hunksBetween(before, after).map(formatHunk).join('');
}

function numbered(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `line ${index}\n`);
}

/** Three unchanged lines on both sides of the changes, fewer only at the ends of the file. */
function hasFullContext({ lines, oldStart, oldLines }: Hunk, before: string): boolean {
  const lead = lines.findIndex((line) => line.kind !== ' ');
  const trail = lines.length - 1 - lines.findLastIndex((line) => line.kind !== ' ');
  const count = before.match(/[^\n]*\n|[^\n]+$/g)?.length ?? 0;
  const reachesStart = oldStart <= 1;
  const reachesEnd = oldStart + Math.max(oldLines, 1) - 1 === count;
  return (lead === 3 || (lead < 3 && reachesStart)) && (trail === 3 || (trail < 3 && reachesEnd));
}

/** A strict reader of hunks: every line and every count must agree with the text. */
function applied(before: string, hunks: readonly Hunk[]): string {
  const old = before.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const now: string[] = [];
  let at = 0;
  const copyTo = (line: number) => {
    while (at < line) now.push(old[at++] ?? '');
  };
  for (const hunk of hunks) {
    copyTo(hunk.oldLines === 0 ? hunk.oldStart : hunk.oldStart - 1);
    if (now.length !== (hunk.newLines === 0 ? hunk.newStart : hunk.newStart - 1))
      throw new Error('newStart is off');
    const oldSide = hunk.lines.filter((line) => line.kind !== '+').map((line) => line.text);
    const newSide = hunk.lines.filter((line) => line.kind !== '-').map((line) => line.text);
    if (oldSide.join('') !== old.slice(at, at + hunk.oldLines).join(''))
      throw new Error('the old side is off');
    if (newSide.length !== hunk.newLines) throw new Error('newLines is off');
    at += hunk.oldLines;
    for (const line of newSide) now.push(line);
  }
  copyTo(old.length);
  return now.join('');
}
