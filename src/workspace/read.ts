import { closeSync, constants, fstatSync, openSync, readSync, type Stats, statSync } from 'node:fs';
import type { Skipped, SourceFile } from '../engine/outcome.js';
import { decode } from '../text/decode.js';
import type { Candidate } from './discover.js';
import { reasonOf } from './failure.js';
import { isVendored } from './places.js';

export const LARGEST_FILE = 20 * 1024 * 1024;
export const LONGEST_LINE = 1024 * 1024;

/** Opening a named pipe must not wait for a writer that never comes. */
const OPEN_FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

const COMMENT = /^[ \t]*#.*$/gm;
/** How much of a file's head may say that a tool wrote it. */
const HEAD = 1024;

/** What the system says about a file without reading it: modified, changed, size, inode. */
export type Stamp = readonly [number, number, number, number];

function stampOf({ mtimeMs, ctimeMs, size, ino }: Stats): Stamp {
  return [mtimeMs, ctimeMs, size, ino];
}

/** A file that changed so shortly before it was looked at may change again without its times telling. */
const CLOCK_GRAIN = 2000;

export function sameStamp(a: Stamp, b: Stamp): boolean {
  return a[0] === b[0] && a[1] === b[1] && a[2] === b[2] && a[3] === b[3];
}

/** Whether the stamp, taken at that time, will tell of every later change. */
export function isSettled([modified, changed]: Stamp, takenAt: number): boolean {
  return Math.max(modified, changed) < takenAt - CLOCK_GRAIN;
}

/** Undefined where there is no file, or none that may be looked at. */
export function stampAt(path: string): Stamp | undefined {
  try {
    return stampOf(statSync(path));
  } catch {
    // Reading it says why it cannot be seen.
    return undefined;
  }
}

/** Bytes that hold until the next file is read, and the file's stamp from before they were. */
export interface Opened {
  readonly kind: 'opened';
  readonly bytes: Buffer;
  readonly stamp: Stamp;
}

/** Reads files one after the other into the same memory: most of them hold no literal of any transform and are let go. */
export class Reader {
  /** Little at first: of many small projects, each has readers of its own. */
  #memory = Buffer.allocUnsafe(16 * 1024);

  open({ path, target }: Candidate): Opened | Skipped {
    let descriptor: number | undefined;
    try {
      descriptor = openSync(target, OPEN_FLAGS);
      const stats = fstatSync(descriptor);
      if (!stats.isFile()) return skipped(path, 'it is not a regular file');
      if (stats.size > LARGEST_FILE) return skipped(path, tooLarge(stats.size));
      const bytes = this.#drain(descriptor, stats.size);
      if (typeof bytes === 'string') return skipped(path, bytes);
      return { kind: 'opened', bytes, stamp: stampOf(stats) };
    } catch (error) {
      return skipped(path, reasonOf(error));
    } finally {
      if (descriptor !== undefined) closeSync(descriptor);
    }
  }

  /**
   * A file may grow while it is read, and `/proc` files claim to be empty: read until there is no more. Where there was room
   * for more than the file has, and no more came, there is none.
   */
  #drain(descriptor: number, expected: number): Buffer | string {
    this.#reserve(expected + 1, 0);
    let length = 0;
    for (;;) {
      const read = readSync(descriptor, this.#memory, length, this.#memory.length - length, null);
      length += read;
      if (read === 0 || length === expected) return this.#memory.subarray(0, length);
      if (length > LARGEST_FILE) return tooLarge(length);
      if (length === this.#memory.length) this.#reserve(length * 2, length);
    }
  }

  #reserve(size: number, keep: number): void {
    if (this.#memory.length >= size) return;
    const larger = Buffer.allocUnsafe(Math.max(size, 2 * this.#memory.length));
    this.#memory.copy(larger, 0, 0, keep);
    this.#memory = larger;
  }
}

/** Whoever names a file hears why it cannot be read, also where no transform would look at it. */
export function isWorthReading(
  { explicit, path }: Candidate,
  bytes: Buffer,
  mayMatch: boolean,
): 'yes' | 'nothing' | 'foreign' {
  if (explicit) return 'yes';
  if (!mayMatch) return 'nothing';
  return isVendored(path) || isGenerated(bytes) ? 'foreign' : 'yes';
}

/** The text of bytes from anywhere, or why they cannot be Python source. */
export function interpret(
  { path, explicit }: Pick<Candidate, 'path' | 'explicit'>,
  bytes: Uint8Array,
): { kind: 'file'; file: SourceFile } | Skipped {
  if (bytes.length > LARGEST_FILE) return skipped(path, tooLarge(bytes.length));
  const line = bytes.length > LONGEST_LINE ? longestLine(bytes) : 0;
  if (line > LONGEST_LINE) {
    return skipped(path, `it has a line of ${megabytes(line)}, over the limit of ${megabytes(LONGEST_LINE)}`);
  }
  const decoded = decode(bytes);
  if (!decoded.ok) return skipped(path, decoded.reason);
  return { kind: 'file', file: { path, source: decoded.source, ...(explicit && { named: true }) } };
}

/** The first characters of a file; undefined where it cannot be read. */
export function startOf(path: string, length: number): string | undefined {
  const memory = Buffer.alloc(length);
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, OPEN_FLAGS);
    return memory.toString('latin1', 0, readSync(descriptor, memory, 0, length, 0));
  } catch {
    return undefined;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** Marked `@generated`, or said to be generated and not to be edited: what changes it is its source. */
function isGenerated(bytes: Buffer): boolean {
  const head = bytes.toString('latin1', 0, Math.min(bytes.length, HEAD));
  const comments = head.match(COMMENT)?.join('\n') ?? '';
  return /@generated\b|generated[\s\S]*\bdo not edit\b|\bdo not edit\b[\s\S]*generated/i.test(comments);
}

function longestLine(bytes: Uint8Array): number {
  let longest = 0;
  let start = 0;
  for (let at = 0; at <= bytes.length; at++) {
    const byte = bytes[at];
    if (byte !== 0x0a && byte !== 0x0d && byte !== undefined) continue;
    longest = Math.max(longest, at - start);
    start = at + 1;
  }
  return longest;
}

function tooLarge(size: number): string {
  return `it is ${megabytes(size)}, over the limit of ${megabytes(LARGEST_FILE)}`;
}

function megabytes(size: number): string {
  return `${(size / 1024 / 1024).toFixed(1).replace(/\.0$/, '')} MB`;
}

function skipped(path: string, reason: string): Skipped {
  return { kind: 'skipped', path, reason };
}
