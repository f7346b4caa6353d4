/** A stretch of both texts; what lies before and behind it is the same in both. */
interface Part {
  readonly start: number;
  readonly oldEnd: number;
  readonly newEnd: number;
}

/** Whole lines that hold every difference and the context around them: most of a large file needs no look. */
export function differingPart(before: string, after: string, context: number): Part {
  const shorter = Math.min(before.length, after.length);
  const head = commonLength(shorter, (from, to) => before.slice(from, to) === after.slice(from, to));
  const tail = commonLength(
    shorter - head,
    (from, to) =>
      before.slice(before.length - to, before.length - from) ===
      after.slice(after.length - to, after.length - from),
  );
  let start = head === 0 ? 0 : before.lastIndexOf('\n', head - 1) + 1;
  for (let line = 0; line < context && start > 0; line++) start = lineStartBefore(before, start);
  let oldEnd = before.length - tail;
  // One line more than the context: where the common part begins may be inside a line, or right before its end.
  for (let line = 0; line <= context && oldEnd < before.length; line++) oldEnd = lineEndAfter(before, oldEnd);
  return { start, oldEnd, newEnd: after.length - (before.length - oldEnd) };
}

/** How far two texts agree, at most `limit`: engines compare whole slices far faster than character by character. */
function commonLength(limit: number, agree: (from: number, to: number) => boolean): number {
  let length = 0;
  for (let step = 65_536; step >= 1; step = Math.floor(step / 16)) {
    while (length + step <= limit && agree(length, length + step)) length += step;
  }
  return length;
}

/** Start of the line above the one that starts at `start`. */
function lineStartBefore(text: string, start: number): number {
  return start < 2 ? 0 : text.lastIndexOf('\n', start - 2) + 1;
}

/** End of the line that holds `at`, its newline included. */
export function lineEndAfter(text: string, at: number): number {
  const newline = text.indexOf('\n', at);
  return newline === -1 ? text.length : newline + 1;
}

/** Lines that end before `end`. */
export function countLines(text: string, end: number): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at !== -1 && at < end; at = text.indexOf('\n', at + 1)) count++;
  return count;
}
