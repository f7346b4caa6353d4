/** The middle of several measurements, and how far they lie apart. */
export interface Measure {
  readonly median: number;
  readonly low: number;
  readonly high: number;
  readonly values: readonly number[];
}

export function measureOf(values: readonly number[]): Measure | undefined {
  const sorted = [...values].sort((a, b) => a - b);
  const [low] = sorted;
  const high = sorted.at(-1);
  if (low === undefined || high === undefined) return undefined;
  return { median: middleOf(sorted), low, high, values };
}

/** Half of the distance between the extremes: what stands behind the ±. */
export function spreadOf({ low, high }: Measure): number {
  return (high - low) / 2;
}

export function median(values: readonly number[]): number | undefined {
  return measureOf(values)?.median;
}

/**
 * How much a value rises per step: the median of the slopes between all pairs of points, which a few jumps
 * do not move (Theil and Sen).
 */
export function slopeOf(points: readonly (readonly [step: number, value: number])[]): number | undefined {
  const slopes = points.flatMap(([step, value], index) =>
    points
      .slice(index + 1)
      .flatMap(([later, other]) => (later > step ? (other - value) / (later - step) : [])),
  );
  return median(slopes);
}

function middleOf(sorted: readonly number[]): number {
  const at = sorted.length / 2;
  const right = sorted[Math.floor(at)] ?? 0;
  return sorted.length % 2 === 1 ? right : ((sorted[at - 1] ?? 0) + right) / 2;
}
