import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/** Bytes of files up to which optimising takes longer than it saves. */
const BRIEF = 64 * 1024;

/** Bytes of files from which on more room for new objects is worth the time it takes to get it. */
const LONG = 4 * 1024 * 1024;

/** Megabytes of each half of the room for new objects: with less, a scan takes a tenth longer. */
let half = 4;
const HALF_OF_LONG = 8;
/** Percent of what is alive that a heap may grow by until that is counted again. */
const GROWTH = 40;

/** Bytes of code that a function has run through when it is worth optimising; V8's own number is a quarter of it. */
const BUDGET = 600_000;

let isBrief = false;

/** What a run of little work wants from its start; `prepareFor` takes it back where there is more. */
export function startBriefly(): void {
  setFlagsFromString('--no-opt');
  stopGrowing();
  isBrief = true;
}

/** Before files of so many bytes are looked into. */
export function prepareFor(bytes: number): void {
  if (bytes <= BRIEF) return;
  if (isBrief) setFlagsFromString('--opt');
  if (bytes >= LONG) half = HALF_OF_LONG;
  optimiseLess();
  keepHeapSmall();
}

/** Before many small projects are looked into. */
export function prepareForMany(): void {
  optimiseLess();
  keepHeapSmall();
}

/**
 * Most functions are called now and then, and few so often that optimising them pays: left to itself, V8 takes a quarter of
 * a scan's processor time for that.
 */
function optimiseLess(): void {
  setFlagsFromString(`--interrupt-budget=${BUDGET}`);
}

/**
 * V8 lets a heap grow as long as there is memory, and a scan is as fast with half of it. How much a heap may grow is read
 * as it runs; how large the room for new objects may be only where a thread starts, but whether it grows is read again.
 */
export function keepHeapSmall(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH}`);
  setFlagsFromString(`--min-semi-space-size=${half}`);
  setFlagsFromString(`--max-semi-space-size=${half}`);
  growRoomForNew();
  stopGrowing();
}

/** For all threads. Each one that starts takes this back, so it is the first thing for it to say again. */
export function stopGrowing(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
}

/** V8 makes room where much of what is new stays alive; where it does not, it was told so by others. */
function growRoomForNew(): void {
  setFlagsFromString('--semi-space-growth-factor=2');
  const alive: unknown[] = [];
  for (let round = 0; round < 4 * half && !hasRoomForNew(); round++)
    for (let some = 0; some < 10_000; some++) alive.push([some]);
}

function hasRoomForNew(): boolean {
  const room = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space');
  return room === undefined || room.space_size >= 2 * half * 1024 * 1024;
}
