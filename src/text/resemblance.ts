/** A word that nobody types is longer. */
const LONGEST_WORD = 100;

/** A word of a file for an error: whoever wrote the file may have made it as long as they like. */
export function shortened(word: string): string {
  return word.length > LONGEST_WORD ? `${word.slice(0, LONGEST_WORD)}…` : word;
}

/** The known name most like a mistyped one, if any is close enough to be meant. */
export function resembling(typed: string, known: Iterable<string>): string | undefined {
  if (typed.length > LONGEST_WORD) return undefined;
  const word = typed.toLowerCase();
  let best: string | undefined;
  let least = Math.max(1, Math.floor(typed.length / 3)) + 1;
  for (const name of known) {
    const distance = editDistance(word, name.toLowerCase());
    if (distance < least) {
      best = name;
      least = distance;
    }
  }
  return best;
}

/** " Did you mean `x`?", or nothing: made to be appended to a sentence. */
export function didYouMean(typed: string, known: Iterable<string>): string {
  const name = resembling(typed, known);
  return name === undefined ? '' : ` Did you mean \`${name}\`?`;
}

/** Insertions, deletions, replacements, and swaps of neighbours, each counted as one. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      let cost = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
      );
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        cost = Math.min(cost, (beforeLast[column - 2] ?? 0) + 1);
      }
      current.push(cost);
    }
    beforeLast = last;
    last = current;
  }
  return last[b.length] ?? 0;
}
