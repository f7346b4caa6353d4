import { type Frame, frameOf, isLibrary } from './frame.js';
import type { OutOfMemory } from './log.js';
import { sizeOf } from './message.js';

/** What is live in a memory snapshot, by the stack that allocated it. */
export interface Snapshot {
  /** Bytes that the allocator took from the device. */
  readonly reserved: number;
  /** Bytes of them that tensors hold. */
  readonly live: number;
  /** Bytes of live blocks whose stack was not recorded. */
  readonly unrecorded: number;
  /** The largest first. */
  readonly stacks: readonly AllocationStack[];
  readonly outOfMemory: readonly OutOfMemory[];
}

export interface AllocationStack {
  readonly bytes: number;
  readonly blocks: number;
  /** As in a traceback: the last is where the memory was asked for. */
  readonly frames: readonly Frame[];
}

/** What the reader of the pickle answers: frames by number, each as path, line and function. */
export interface SnapshotAnswer {
  readonly reserved: number;
  readonly live: number;
  readonly unrecorded: number;
  readonly frames: readonly (readonly [path: string, line: number, name: string])[];
  readonly stacks: readonly (readonly [bytes: number, blocks: number, frames: readonly number[]])[];
  readonly failed: readonly {
    readonly device: number;
    readonly tried: number;
    readonly free: number | null;
    readonly frames: readonly number[];
  }[];
}

export function snapshotOf(answer: SnapshotAnswer): Snapshot {
  const known = answer.frames.map(([path, line, name]) => frameOf(path, line, name));
  const framesOf = (numbers: readonly number[]) => numbers.flatMap((number) => known[number] ?? []);
  const { reserved, live, unrecorded } = answer;
  return {
    reserved,
    live,
    unrecorded,
    stacks: answer.stacks.map(([bytes, blocks, numbers]) => ({ bytes, blocks, frames: framesOf(numbers) })),
    outOfMemory: answer.failed.map(({ device, tried, free, frames }) => ({
      memory: 'GPU',
      who: 'the GPU',
      isTensor: true,
      isGuess: false,
      message: `Tried to allocate ${sizeOf(tried)} on device ${device}`,
      figures: {
        tried,
        device,
        allocated: live,
        unallocated: Math.max(0, reserved - live),
        ...(free !== null && { free }),
      },
      frames: framesOf(frames),
      line: 0,
      times: 1,
      ranks: [],
      devices: [device],
    })),
  };
}

/** The bytes of each place in code that is not installed, by the innermost such frame; the largest first. */
export function sitesOf({ stacks }: Snapshot): readonly { readonly frame: Frame; readonly bytes: number }[] {
  const sites = new Map<string, { frame: Frame; bytes: number }>();
  for (const { frames, bytes } of stacks) {
    const frame = frames.findLast((frame) => !isLibrary(frame));
    if (frame === undefined) continue;
    const key = JSON.stringify([frame.path, frame.line, frame.name]);
    const site = sites.get(key) ?? { frame, bytes: 0 };
    site.bytes += bytes;
    sites.set(key, site);
  }
  return [...sites.values()].sort((a, b) => b.bytes - a.bytes);
}
