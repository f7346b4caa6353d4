import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/** Bytes of files up to which optimising takes longer than it saves. */
const BRIEF = 64 * 1024;

/** How large a heap may become. */
interface Size {
  /** Megabytes of each half of the room for new objects. */
  readonly half: number;
  /** Percent of what is alive that it may grow by until that is counted again. */
  readonly growth: number;
}

const SMALL: Size = { half: 2, growth: 30 };
/** With less room, one small project after the other takes a tenth longer. */
const MIDDLING: Size = { half: 4, growth: 50 };

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
  optimiseLess();
  keepHeapSmall();
}

/** Before many small projects are looked into. */
export function prepareForMany(): void {
  optimiseLess();
  keepHeap(MIDDLING);
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
  keepHeap(SMALL);
}

function keepHeap({ half, growth }: Size): void {
  setFlagsFromString(`--heap-growing-percent=${growth}`);
  setFlagsFromString(`--min-semi-space-size=${half}`);
  setFlagsFromString(`--max-semi-space-size=${half}`);
  growRoomForNew(half);
  stopGrowing();
}

/** For all threads. Each one that starts takes this back, so it is the first thing for it to say again. */
export function stopGrowing(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
}

/** V8 makes room where much of what is new stays alive; where it does not, it was told so by others. */
function growRoomForNew(half: number): void {
  setFlagsFromString('--semi-space-growth-factor=2');
  const alive: unknown[] = [];
  for (let round = 0; round < 4 * half && !hasRoomForNew(half); round++)
    for (let some = 0; some < 10_000; some++) alive.push([some]);
}

function hasRoomForNew(half: number): boolean {
  const room = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space');
  return room === undefined || room.space_size >= 2 * half * 1024 * 1024;
}
