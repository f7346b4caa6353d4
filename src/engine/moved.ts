import { byPosition, type Edit } from '../edit/edit.js';
import { bisect } from '../text/bisect.js';
import type { Span } from '../text/lines.js';

/** Where the text of each edit lies once all are applied. */
export function written(edits: readonly Edit[]): readonly Span[] {
  let shift = 0;
  return [...edits]
    .sort((a, b) => a.start - b.start)
    .map((edit) => {
      const start = edit.start + shift;
      shift += edit.text.length - (edit.end - edit.start);
      return { start, end: start + edit.text.length };
    });
}

/** Where an offset that no edit covers lies after the edits. */
export function movedBy(edits: readonly Edit[]): (offset: number) => number {
  const sorted = [...edits].sort(byPosition);
  const shifts = [0];
  for (const { start, end, text } of sorted) shifts.push((shifts.at(-1) ?? 0) + text.length - (end - start));
  return (offset) => {
    const before = bisect(sorted.length, (at) => (sorted[at]?.end ?? Infinity) <= offset);
    return offset + (shifts[before] ?? 0);
  };
}
