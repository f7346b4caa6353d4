import { closeSync, fsync, fsyncSync, mkdirSync, openSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { codeOf, Failure, reasonOf } from '../failure.js';
import { writeAll } from '../write.js';

/**
 * Writes a file so that a reader sees the old bytes or the new ones, never a part. What is on disk `now` is there after a
 * power cut; of what gets there `later`, there may be nothing then, and its readers know.
 */
export function writeWhole(path: string, bytes: Uint8Array | string, onDisk: 'now' | 'later' = 'now'): void {
  const draft = draftOf(path);
  try {
    const descriptor = filled(draft, bytes);
    try {
      if (onDisk === 'now') fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(draft, path);
  } catch (error) {
    throw unwritten(path, error);
  }
}

/** The same for what is to be on disk when this ends; others work while the disk takes its time. */
export async function writeLasting(path: string, bytes: Uint8Array | string): Promise<void> {
  const draft = draftOf(path);
  try {
    const descriptor = filled(draft, bytes);
    try {
      await promisify(fsync)(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(draft, path);
  } catch (error) {
    throw unwritten(path, error);
  }
}

function draftOf(path: string): string {
  return `${path}.${process.pid}.tmp`;
}

/** Open, with these bytes in it. */
function filled(draft: string, bytes: Uint8Array | string): number {
  const descriptor = opened(draft);
  try {
    writeAll(descriptor, typeof bytes === 'string' ? Buffer.from(bytes) : bytes, 0);
    return descriptor;
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

/** Nearly always, its folder is there. */
function opened(draft: string): number {
  try {
    return openSync(draft, 'w');
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    mkdirSync(dirname(draft), { recursive: true });
    return openSync(draft, 'w');
  }
}

function unwritten(path: string, error: unknown): Failure {
  rmSync(draftOf(path), { force: true });
  return new Failure(
    'A file of the campaign cannot be written',
    `${path}: ${reasonOf(error)}`,
    'Remove the cause.',
  );
}
