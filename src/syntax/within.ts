import { bisect } from '../text/bisect.js';
import type { Span } from '../text/lines.js';

/** Of spans in source order, those that stand in another. Looks at no others: many ask about a part of a long file. */
export function within<S extends Span>(spans: readonly S[], around: Span): readonly S[] {
  const low = bisect(spans.length, (at) => (spans[at]?.start ?? Infinity) < around.start);
  const found: S[] = [];
  for (let at = low; (spans[at]?.start ?? Infinity) <= around.end; at++) {
    const span = spans[at];
    if (span !== undefined && span.end <= around.end) found.push(span);
  }
  return found;
}

/** Of starts and ends in turn, whether an offset lies between two. */
export function isBetween(bounds: readonly number[], offset: number): boolean {
  const low = bisect(bounds.length, (at) => (bounds[at] ?? Infinity) <= offset);
  return low % 2 === 1;
}
