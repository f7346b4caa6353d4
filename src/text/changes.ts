/** The characters from `start` to `end` become `text`. Offsets are UTF-16 code units. */
export interface Change {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** More single characters than this that differ are one change. */
const MOST = 1200;

/** The fewest characters that have to be taken out and put in to make one text of another, in order. */
export function changesBetween(before: string, after: string): readonly Change[] {
  const old = [...before];
  const now = [...after];
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) head++;
  let tail = 0;
  const most = Math.min(old.length, now.length) - head;
  while (tail < most && old[old.length - 1 - tail] === now[now.length - 1 - tail]) tail++;
  const [left, right] = [old.slice(head, old.length - tail), now.slice(head, now.length - tail)];
  if (left.length === 0 && right.length === 0) return [];
  const common = left.length === 0 || right.length === 0 ? [] : commonPairs(left, right);
  const places = unitOffsets(left, before.length - unitsOf(left) - unitsOf(old.slice(old.length - tail)));
  const changes: Change[] = [];
  let [from, to] = [0, 0];
  for (const [oldAt, nowAt] of [...common, [left.length, right.length] as const]) {
    if (oldAt > from || nowAt > to)
      changes.push({
        start: places[from] ?? 0,
        end: places[oldAt] ?? 0,
        text: right.slice(to, nowAt).join(''),
      });
    [from, to] = [oldAt + 1, nowAt + 1];
  }
  return changes;
}

function unitsOf(characters: readonly string[]): number {
  return characters.reduce((sum, { length }) => sum + length, 0);
}

/** Where each character begins, and where the last one ends. */
function unitOffsets(characters: readonly string[], start: number): readonly number[] {
  const offsets = [start];
  for (const { length } of characters) offsets.push((offsets.at(-1) ?? 0) + length);
  return offsets;
}

/** Myers' greedy algorithm: the indices of a longest common part; none where more than `MOST` differ. */
function commonPairs(old: readonly string[], now: readonly string[]): readonly (readonly [number, number])[] {
  const reached: Map<number, number>[] = [];
  let furthest = new Map([[1, 0]]);
  for (let distance = 0; distance <= MOST; distance++) {
    reached.push(furthest);
    const next = new Map(furthest);
    for (let k = -distance; k <= distance; k += 2) {
      let x = startOn(furthest, k, distance);
      while (x < old.length && x - k < now.length && old[x] === now[x - k]) x++;
      next.set(k, x);
      if (x >= old.length && x - k >= now.length) return pairsBack(reached, old, now);
    }
    furthest = next;
  }
  return [];
}

/** Whether the furthest way to diagonal `k` puts a character in, rather than takes one out. */
function putsIn(furthest: ReadonlyMap<number, number>, k: number, distance: number): boolean {
  if (k === -distance || k === distance) return k === -distance;
  return (furthest.get(k - 1) ?? -1) < (furthest.get(k + 1) ?? -1);
}

function startOn(furthest: ReadonlyMap<number, number>, k: number, distance: number): number {
  return putsIn(furthest, k, distance) ? (furthest.get(k + 1) ?? 0) : (furthest.get(k - 1) ?? 0) + 1;
}

function pairsBack(
  reached: readonly ReadonlyMap<number, number>[],
  old: readonly string[],
  now: readonly string[],
): readonly (readonly [number, number])[] {
  const pairs: (readonly [number, number])[] = [];
  let [x, y] = [old.length, now.length];
  for (let distance = reached.length - 1; distance >= 0; distance--) {
    const furthest = reached[distance] ?? new Map();
    const k = x - y;
    const begin = startOn(furthest, k, distance);
    while (x > begin) pairs.push([--x, --y]);
    if (putsIn(furthest, k, distance)) y--;
    else x--;
  }
  return pairs.reverse();
}
