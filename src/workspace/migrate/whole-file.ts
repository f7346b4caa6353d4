import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { Failure, reasonOf } from '../failure.js';
import { writeAll } from '../write.js';

/**
 * Writes a file so that a reader sees the old bytes or the new ones, never a part. What is on disk `now` is there after a
 * power cut; of what gets there `later`, there may be nothing then, and its readers know.
 */
export function writeWhole(path: string, bytes: Uint8Array | string, onDisk: 'now' | 'later' = 'now'): void {
  mkdirSync(dirname(path), { recursive: true });
  const draft = `${path}.${process.pid}.tmp`;
  try {
    const descriptor = openSync(draft, 'w');
    try {
      writeAll(descriptor, typeof bytes === 'string' ? Buffer.from(bytes) : bytes, 0);
      if (onDisk === 'now') fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw new Failure(
      'A file of the campaign cannot be written',
      `${path}: ${reasonOf(error)}`,
      'Remove the cause; `memfix migrate resume` goes on from here.',
    );
  }
}
