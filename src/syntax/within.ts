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
  let low = 0;
  let high = bounds.length;
  // The bisection of all that is asked most often: a call for each step would take longer than the steps.
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((bounds[middle] as number) <= offset) low = middle + 1;
    else high = middle;
  }
  return low % 2 === 1;
}
