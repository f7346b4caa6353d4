/** The middle of some numbers; of an even count, the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const upper = sorted[sorted.length >> 1];
  if (upper === undefined) throw new RangeError('the median of nothing');
  const lower = sorted[(sorted.length - 1) >> 1] ?? upper;
  return (lower + upper) / 2;
}

/** How far the middle value lies from the median: a spread that one disturbed run does not move. */
export function deviation(values: readonly number[]): number {
  const middle = median(values);
  return median(values.map((value) => Math.abs(value - middle)));
}

/**
 * The ratios round by round: the runs of one round lie close in time and share the machine's mood, so their ratio is
 * steadier than that of two medians. A contender that ran fewer rounds is compared over those it ran.
 */
export function ratios(subject: readonly number[], peer: readonly number[]): readonly number[] {
  return subject.slice(0, peer.length).map((value, round) => value / (peer[round] ?? Number.NaN));
}

export interface Point {
  readonly size: number;
  readonly seconds: number;
}

/**
 * How time grows with size over the last step, once the time of the smallest (the start of the process) is taken away:
 * 1 is linear, 2 quadratic.
 */
export function growth(points: readonly Point[]): number | undefined {
  const [least] = points;
  const [before, last] = points.slice(-2);
  if (least === undefined || before === undefined || last === undefined || before === least) return undefined;
  const work = before.seconds - least.seconds;
  if (work <= 0 || last.seconds <= least.seconds) return undefined;
  return Math.log((last.seconds - least.seconds) / work) / Math.log(last.size / before.size);
}
