import { randomBytes } from 'node:crypto';
import {
  accessSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fsyncSync,
  openSync,
  realpathSync,
  renameSync,
  type Stats,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { bytesOf } from './bounded.js';
import { codeOf, reasonOf } from './failure.js';

export type Written = { readonly ok: true } | { readonly ok: false; readonly reason: string };

const CHANGED: Written = { ok: false, reason: 'it changed on disk after it was read' };

/**
 * Replaces a file's bytes in one step: a reader sees the old bytes or the new ones, never a part.
 * Only where the file still has the bytes of `before`; its mode and, where the system lets us, its owner are kept.
 */
export function replaceBytes(path: string, before: Uint8Array, after: Uint8Array): Written {
  try {
    const target = realpathSync.native(path);
    const stats = statSync(target);
    if (!stats.isFile()) return { ok: false, reason: 'it is no longer a regular file' };
    if (!hasBytes(target, before)) return CHANGED;
    // A rename asks only the folder for permission; a read-only file says that it is not to be changed.
    if ((stats.mode & 0o222) === 0) return { ok: false, reason: 'it is read-only' };
    accessSync(target, constants.W_OK);
    return swap(target, before, after, stats);
  } catch (error) {
    return { ok: false, reason: reasonOf(error) };
  }
}

function swap(target: string, before: Uint8Array, after: Uint8Array, stats: Stats): Written {
  const folder = dirname(target);
  const draft = join(folder, `.memfix-${randomBytes(6).toString('hex')}.tmp`);
  const descriptor = openSync(draft, 'wx', 0o600);
  let renamed = false;
  try {
    try {
      writeAll(descriptor, after, 0);
      keepOwner(descriptor, stats);
      fchmodSync(descriptor, stats.mode & 0o7777);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    if (!hasBytes(target, before)) return CHANGED;
    renameSync(draft, target);
    renamed = true;
  } finally {
    if (!renamed) unlinkSync(draft);
  }
  syncFolder(folder);
  return { ok: true };
}

/** All of the bytes, from `position` of the file on. */
export function writeAll(descriptor: number, bytes: Uint8Array, position: number): void {
  let written = 0;
  while (written < bytes.length) {
    written += writeSync(descriptor, bytes, written, bytes.length - written, position + written);
  }
}

function hasBytes(path: string, bytes: Uint8Array): boolean {
  return Buffer.compare(bytesOf(path), bytes) === 0;
}

function keepOwner(descriptor: number, stats: Stats): void {
  if (process.getuid?.() === stats.uid && process.getgid?.() === stats.gid) return;
  try {
    fchownSync(descriptor, stats.uid, stats.gid);
  } catch (error) {
    if (codeOf(error) !== 'EPERM' && codeOf(error) !== 'EINVAL') throw error;
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
