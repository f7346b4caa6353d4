import { randomBytes } from 'node:crypto';
import {
  accessSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  lstatSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { CAREFULLY, LARGEST_FILE, openBytes, regularBytes } from './bounded.js';
import { codeOf, reasonOf } from './failure.js';

export type Written = { readonly ok: true } | { readonly ok: false; readonly reason: string };

/** A fix can make a file longer than the longest that is read. */
export const LARGEST_RESULT = 4 * LARGEST_FILE;

const CHANGED: Written = { ok: false, reason: 'it changed on disk after it was read' };

/** Nobody has a file of this name: 48 bits of it are random. */
export function draftName(): string {
  return `.memfix-${randomBytes(6).toString('hex')}.tmp`;
}

export function isDraftName(name: string): boolean {
  return /^\.memfix-[0-9a-f]{12}\.tmp$/.test(name);
}

/**
 * Replaces a file's bytes, only where it still has those of `before`, and never through a link.
 *
 * With the name of a `draft` it happens in one step: a new file is written under that name and takes the place of the old one,
 * with its mode and owner. A reader sees the old bytes or the new ones, never a part. Without, or where the owner cannot be
 * kept, the file itself is overwritten: all that belongs to it stays, such as ACLs, and a kill may leave a part (`isCutOff`).
 */
export function replaceBytes(
  path: string,
  before: Uint8Array,
  after: Uint8Array,
  draft: string | undefined,
): Written {
  try {
    const stats = lstatSync(path);
    if (!isItself(path)) return { ok: false, reason: 'a link leads to it' };
    if (!stats.isFile()) return { ok: false, reason: 'it is no longer a regular file' };
    if (!hasBytes(path, before)) return CHANGED;
    if (stats.nlink > 1) return { ok: false, reason: linked(stats.nlink) };
    // A rename asks only the folder for permission; a read-only file says that it is not to be changed.
    if ((stats.mode & 0o222) === 0) return { ok: false, reason: 'it is read-only' };
    accessSync(path, constants.W_OK);
    const swapped = draft === undefined ? undefined : swap(path, before, after, stats, draft);
    return swapped ?? overwrite(path, before, after, stats);
  } catch (error) {
    return { ok: false, reason: reasonOf(error) };
  }
}

/** The other names may be anywhere: what belongs to another project is not to change, and not to be cut off either. */
function linked(count: number): string {
  return `it is one of ${count} hard links to the same file; give it a copy of its own first`;
}

/** Undefined where the new file could not get the owner of the old one. */
function swap(
  path: string,
  before: Uint8Array,
  after: Uint8Array,
  stats: Stats,
  draft: string,
): Written | undefined {
  const folder = dirname(path);
  const place = join(folder, draft);
  const descriptor = openSync(place, 'wx', 0o600);
  let renamed = false;
  try {
    try {
      if (!isItself(place)) return CHANGED;
      writeAll(descriptor, after, 0);
      if (!keepsOwner(descriptor, stats)) return undefined;
      fchmodSync(descriptor, stats.mode & 0o7777);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    if (!isStill(path, stats) || !hasBytes(path, before)) return CHANGED;
    renameSync(place, path);
    renamed = true;
  } finally {
    if (!renamed) rmSync(place, { force: true });
  }
  syncFolder(folder);
  return { ok: true };
}

function overwrite(path: string, before: Uint8Array, after: Uint8Array, stats: Stats): Written {
  const descriptor = openSync(path, constants.O_RDWR | CAREFULLY);
  try {
    if (!isSame(fstatSync(descriptor), stats) || !isStill(path, stats)) return CHANGED;
    if (Buffer.compare(openBytes(descriptor, LARGEST_RESULT), before) !== 0) return CHANGED;
    try {
      fill(descriptor, after);
      return { ok: true };
    } catch (error) {
      const reason = reasonOf(error);
      return { ok: false, reason: putBack(descriptor, before) ? reason : `${reason}; ${HALF_WRITTEN}` };
    }
  } finally {
    closeSync(descriptor);
  }
}

const HALF_WRITTEN = 'a part of it was written, which `memfix undo` takes back';

function putBack(descriptor: number, before: Uint8Array): boolean {
  try {
    fill(descriptor, before);
    return true;
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return false;
  }
}

function fill(descriptor: number, bytes: Uint8Array): void {
  writeAll(descriptor, bytes, 0);
  ftruncateSync(descriptor, bytes.length);
  fsyncSync(descriptor);
}

/** Whether this is what is left when overwriting `from` with `to` is cut off: a beginning of `to`, then the rest of `from`. */
export function isCutOff(bytes: Buffer, from: Buffer, to: Buffer): boolean {
  if (bytes.equals(from) || bytes.equals(to)) return false;
  let same = 0;
  while (same < bytes.length && bytes[same] === to[same]) same++;
  return bytes.subarray(same).equals(from.subarray(same));
}

/** All of the bytes, from `position` of the file on. */
export function writeAll(descriptor: number, bytes: Uint8Array, position: number): void {
  let written = 0;
  while (written < bytes.length) {
    written += writeSync(descriptor, bytes, written, bytes.length - written, position + written);
  }
}

/** No part of the path is a link. */
function isItself(path: string): boolean {
  return realpathSync.native(path) === path;
}

function isStill(path: string, stats: Stats): boolean {
  return isItself(path) && isSame(lstatSync(path), stats);
}

function isSame(a: Stats, b: Stats): boolean {
  return a.ino === b.ino && a.dev === b.dev && a.nlink === b.nlink;
}

function hasBytes(path: string, bytes: Uint8Array): boolean {
  return Buffer.compare(regularBytes(path, LARGEST_RESULT), bytes) === 0;
}

/** A folder can decide the group of a new file. */
function keepsOwner(descriptor: number, { uid, gid }: Stats): boolean {
  const own = fstatSync(descriptor);
  if (own.uid === uid && own.gid === gid) return true;
  try {
    fchownSync(descriptor, uid, gid);
    return true;
  } catch (error) {
    if (codeOf(error) !== 'EPERM' && codeOf(error) !== 'EINVAL') throw error;
    return false;
  }
}

/** Makes the rename last through a power cut, on systems whose folders can be synced. */
export function syncFolder(folder: string): void {
  try {
    const descriptor = openSync(folder, 'r');
    try {
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
  }
}
