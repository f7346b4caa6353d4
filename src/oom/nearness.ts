import { sizeOf } from './message.js';
import type { Spot } from './places.js';

/**
 * How near a finding is to where memory ran out, the nearest first: it is what the message complains of; on the line of a
 * frame; in the innermost function; in another function of the stack; in the file of a frame; about that moment of a run.
 */
const NEARNESS = ['cause', 'line', 'function', 'stack', 'file', 'moment', 'other', 'unrelated'] as const;
export type Nearness = (typeof NEARNESS)[number];

/** A place that the log or the snapshot points at. */
export interface Mark {
  readonly spot: Spot;
  /** The innermost of its stack that is in the files. */
  readonly isInnermost: boolean;
  /** Its function was called once: neither a loop nor a library stands between it and the start of the program. */
  readonly isOnce?: boolean;
  /** Which frame of which traceback, each from 1; absent for a mark of the snapshot. */
  readonly frame?: { readonly number: number; readonly traceback: number };
  /** Live bytes that were allocated there or in what it calls: for a mark of the snapshot. */
  readonly bytes?: number;
}

export interface Near {
  readonly nearness: Nearness;
  readonly mark: Mark;
  /** It stands in the function, and had not run yet. */
  readonly isLater?: boolean;
  /** It stands in the function, and this call of it had not come to it. */
  readonly isAhead?: boolean;
  /** The statement that ran is the one that the fix is about, or among those. */
  readonly isRunning?: boolean;
}

export function bytesWords({ nearness, mark: { spot, bytes = 0 } }: Near): string {
  const size = `${sizeOf(bytes)} of what is live was allocated`;
  if (nearness === 'line') return `${size} on its line`;
  if (nearness === 'file') return `${size} in its file`;
  const name = spot.within === undefined ? 'the top of the file' : `\`${spot.within.name}\``;
  return `${size} ${nearness === 'function' ? 'in' : 'below'} ${name}`;
}

/** The function that it stands in is on the stack. */
export function isOnStack(near: Near | undefined): boolean {
  return near !== undefined && near.nearness !== 'file';
}

/** Of equals, the one with more bytes, or the frame that is nearer to the allocation. */
export function nearest(nears: readonly Near[]): Near | undefined {
  return nears.reduce<Near | undefined>((best, near) => {
    if (best === undefined) return near;
    const by = orderOf(near.nearness) - orderOf(best.nearness);
    const weight = ({ mark }: Near) => mark.bytes ?? mark.frame?.number ?? 0;
    return by < 0 || (by === 0 && weight(near) > weight(best)) ? near : best;
  }, undefined);
}

export function orderOf(nearness: Nearness): number {
  return NEARNESS.indexOf(nearness);
}

export function nearer(a: Nearness, b: Nearness): Nearness {
  return orderOf(a) <= orderOf(b) ? a : b;
}
