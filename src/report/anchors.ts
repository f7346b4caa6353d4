/** A line at `before` in one text and at `after` in the other. */
export interface Anchor {
  readonly before: number;
  readonly after: number;
}

/**
 * The longest run of lines that occur exactly once in both texts and keep their order.
 * They cut a large comparison into small ones, so its cost follows the size of the changes.
 */
export function anchorsBetween(before: readonly string[], after: readonly string[]): Anchor[] {
  const inAfter = soleOccurrences(after);
  const candidates: Anchor[] = [];
  for (const [line, at] of soleOccurrences(before)) {
    const match = inAfter.get(line);
    if (match !== undefined) candidates.push({ before: at, after: match });
  }
  return longestIncreasing(candidates);
}

/** In order of first occurrence; lines that repeat are left out. */
function soleOccurrences(lines: readonly string[]): Map<string, number> {
  const found = new Map<string, number>();
  const repeated = new Set<string>();
  for (const [at, line] of lines.entries()) {
    if (found.has(line)) repeated.add(line);
    else found.set(line, at);
  }
  for (const line of repeated) found.delete(line);
  return found;
}

/** Patience sorting on `after`; the candidates are already in order of `before`. */
function longestIncreasing(candidates: readonly Anchor[]): Anchor[] {
  interface Link {
    readonly anchor: Anchor;
    readonly previous: Link | undefined;
  }
  const tails: Link[] = [];
  for (const anchor of candidates) {
    let low = 0;
    let high = tails.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((tails[middle]?.anchor.after ?? Infinity) < anchor.after) low = middle + 1;
      else high = middle;
    }
    tails[low] = { anchor, previous: tails[low - 1] };
  }
  const chain: Anchor[] = [];
  for (let link = tails.at(-1); link !== undefined; link = link.previous) chain.push(link.anchor);
  return chain.reverse();
}
